"""How long a text is in tokens, near enough to cut it: pieces are counted here, tokens are the endpoint's word.

A piece is a run of letters with its leading space, up to three digits, a run of other signs, or a run of white space, which
is how byte-pair tokenizers split text before they merge. Tokens per piece differ by tokenizer and text, so the ratio is
measured on the endpoint where it can count tokens, and what a request really held is read from its answer's usage.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_PIECE = re.compile(r" ?[^\W\d_]+|\d{1,3}| ?[^\s\w]+|_+|\s+(?!\S)|\s+")
TOLERATED = 0.10
TEMPLATE = 48  # tokens that a chat template may add to a prompt without being a disagreement
TOKENS_PER_PIECE_UNMEASURED = 1.2


@dataclass(frozen=True, slots=True)
class TokenEstimator:
    """Tokens per piece, and whether an endpoint was asked for it."""

    per_piece: float
    measured: bool

    def of(self, text: str) -> float:
        """About how many tokens `text` has."""
        return self.per_piece * len(_PIECE.findall(text))


DEFAULT_ESTIMATOR = TokenEstimator(TOKENS_PER_PIECE_UNMEASURED, measured=False)


def measured(texts: list[str], counts: list[int]) -> TokenEstimator:
    """Tokens per piece from texts that an endpoint counted; texts without pieces do not count."""
    pieces = sum(len(_PIECE.findall(text)) for text in texts)
    return TokenEstimator(sum(counts) / pieces, measured=True) if pieces and sum(counts) else DEFAULT_ESTIMATOR


def cut(text: str, start: int, tokens: float, unit: TokenEstimator) -> str:
    """The part of `text` from character `start` that is about `tokens` long, whole pieces only; shorter where the text ends."""
    wanted = max(1, round(tokens / unit.per_piece))
    end = start
    for count, piece in enumerate(_PIECE.finditer(text, start), 1):
        end = piece.end()
        if count >= wanted:
            break
    return text[start:end]


def disagreement(
    counted: Sequence[float], told: Sequence[int | None], bands: Mapping[str, tuple[int, int]] | None = None
) -> str | None:
    """A sentence with the ratio endpoint ÷ drawing over the prompts of which both are known; None where they agree.

    Args:
        counted: (n_prompts,) tokens as the prompts were drawn.
        told: (n_prompts,) the same in the endpoint's usage, None where an answer had none.
        bands: Each bin's band of prompt tokens as drawn, to be named in both counts.
    """
    both = [(own, theirs) for own, theirs in zip(counted, told, strict=True) if theirs is not None]
    drawn, served = sum(own for own, _ in both), sum(theirs for _, theirs in both)
    if not drawn or -TOLERATED * drawn <= served - drawn <= TOLERATED * drawn + TEMPLATE * len(both):
        return None
    factor = served / drawn
    both_counts = "; ".join(
        f"{name} {low} to {high} as drawn, about {low * factor:.0f} to {high * factor:.0f} as the endpoint counts"
        for name, (low, high) in (bands or {}).items()
    )
    return (
        f"The endpoint counts {factor:.2f} times the prompt tokens that were drawn: its count is the one in this report, the"
        f" bins' bands are as drawn{f' ({both_counts})' if both_counts else ''}."
    )
