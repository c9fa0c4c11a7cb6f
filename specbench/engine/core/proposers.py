"""What is drafted: by a smaller model, by looking the text up in itself, or by heads that look several tokens ahead.

Pure functions of the text so far; whether a draft stands is decided in `verify.py`, what drafting costs in `roofline.py`.
"""

import random
from collections.abc import Sequence

from specbench.engine.core.verify import Drafted, Node
from specbench.engine.models.distribution import Shaping, draw
from specbench.engine.models.ngram_model import LanguageModel


def propose_by_model(
    context: Sequence[int], count: int, draft: LanguageModel, shaping: Shaping, rng: random.Random | None
) -> list[Drafted]:
    """`count` tokens, one after the other, from the draft model: drawn under the request's own settings, or its best guess.

    Args:
        context: The text so far.
        count: How many tokens to draft.
        draft: The smaller model.
        shaping: The request's sampling settings, which the draft follows too.
        rng: Where draws come from; None for best guesses, whose q is one-hot.
    """
    text = list(context)
    drafts: list[Drafted] = []
    for _ in range(count):
        if rng is None:
            drafted = Drafted(draft.next_token(text).tokens[0], None)
        else:
            q = draft.next_token(text, shaping)
            drafted = Drafted(draw(q, rng.random()), q)
        drafts.append(drafted)
        text.append(drafted.token)
    return drafts


def propose_by_lookup(context: Sequence[int], count: int, shortest: int, longest: int) -> list[Drafted]:
    """What followed the last time that the text ended like this; nothing where it never did.

    The longest earlier match of the last `shortest` to `longest` tokens counts, the latest of equally long ones.
    """
    text = list(context)
    last = len(text) - 1
    best, length = -1, shortest - 1
    at = -1
    while last >= 0:
        try:
            at = text.index(text[last], at + 1, last)
        except ValueError:
            break
        matched = 1
        while matched < longest and matched <= at and text[at - matched] == text[last - matched]:
            matched += 1
        if matched >= max(length, shortest):
            best, length = at, matched
    return [Drafted(token, None) for token in text[best + 1 : best + 1 + count]] if best >= 0 else []


def propose_by_heads(
    context: Sequence[int], heads: Sequence[LanguageModel], shaping: Shaping, rng: random.Random | None
) -> list[Drafted]:
    """One token per head, all from the same state: the text up to the last token but one, as that state made the last token.

    A head does not see what the heads before it drafted, which is why acceptance falls faster with depth than a draft model's.
    Source: Cai et al. 2024, arXiv 2401.10774, section 2.1.
    """
    state = list(context[:-1])
    drafts: list[Drafted] = []
    for head in heads:
        if rng is None:
            drafts.append(Drafted(head.next_token(state).tokens[0], None))
        else:
            q = head.next_token(state, shaping)
            drafts.append(Drafted(draw(q, rng.random()), q))
    return drafts


def propose_tree(context: Sequence[int], heads: Sequence[LanguageModel], widths: Sequence[int]) -> tuple[Node, ...]:
    """Every path over the `widths[k]` best guesses of head k; source as `propose_by_heads`, section 2.1.2."""
    state = list(context[:-1])
    below: tuple[Node, ...] = ()
    for head, width in reversed(list(zip(heads, widths, strict=True))):
        below = tuple(Node(token, below) for token in head.next_token(state).tokens[:width])
    return below
