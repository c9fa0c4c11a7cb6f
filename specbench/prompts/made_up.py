"""Text for requests of which only the lengths are known: cut from a built-in corpus, so that prefixes are shared as they were.

It is real prose, and nobody's traffic: acceptance on it says nothing of the requests whose lengths it has.
"""

import random
from collections.abc import Sequence
from functools import lru_cache

from specbench.prompts.token_estimate import TokenEstimator, cut

CORPUS = "prose"
BLOCK_TOKENS = 512  # what an id stands for in Mooncake's published traces


def text_of_blocks(documents: Sequence[str], unit: TokenEstimator, tokens: int, blocks: Sequence[int], number: int) -> str:
    """A text of about so many tokens: a block's id always gives the same text, and what has no id is the request's own.

    Args:
        documents: what is cut; the same ones in the same order give the same text.
        blocks: ids of the blocks of 512 tokens that the prompt begins with.
        number: of the request, which draws what no block covers.
    """
    parts: list[str] = []
    left = tokens
    for one in blocks:
        if left <= 0:
            break
        parts.append(_drawn(tuple(documents), unit, f"block/{one}", min(left, BLOCK_TOKENS)))
        left -= BLOCK_TOKENS
    if left > 0:
        parts.append(_drawn(tuple(documents), unit, f"row/{number}", left))
    return "\n".join(parts)


@lru_cache(maxsize=1024)
def _drawn(documents: tuple[str, ...], unit: TokenEstimator, name: str, tokens: int) -> str:
    """So many tokens from a place that the name draws, on through further documents where one ends."""
    rng = random.Random(name)
    text = ""
    while (missing := tokens - unit.of(text)) >= 1:
        document = documents[rng.randrange(len(documents))]
        start = 0 if text else document.rfind(" ", 0, rng.randrange(max(1, len(document) // 2))) + 1
        text += (" " if text else "") + cut(document, start, missing, unit)
    return text
