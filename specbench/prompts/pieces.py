"""How long a text is in tokens, near enough to cut it: pieces are counted here, tokens are the endpoint's word.

A piece is a run of letters with its leading space, up to three digits, a run of other signs, or a run of white space, which
is how byte-pair tokenizers split text before they merge. Tokens per piece differ by tokenizer and text, so the ratio is
measured on the endpoint where it can count tokens, and what a request really held is read from its answer's usage.
"""

import re
from dataclasses import dataclass

_PIECE = re.compile(r" ?[^\W\d_]+|\d{1,3}| ?[^\s\w]+|_+|\s+(?!\S)|\s+")
TOKENS_PER_PIECE_UNMEASURED = 1.2


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens per piece, and whether an endpoint was asked for it."""

    per_piece: float
    measured: bool

    def of(self, text: str) -> float:
        """About how many tokens `text` has."""
        return self.per_piece * len(_PIECE.findall(text))


UNMEASURED = Tokens(TOKENS_PER_PIECE_UNMEASURED, measured=False)


def measured(texts: list[str], counts: list[int]) -> Tokens:
    """Tokens per piece from texts that an endpoint counted; texts without pieces do not count."""
    pieces = sum(len(_PIECE.findall(text)) for text in texts)
    return Tokens(sum(counts) / pieces, measured=True) if pieces and sum(counts) else UNMEASURED


def cut(text: str, start: int, tokens: float, unit: Tokens) -> str:
    """The part of `text` from character `start` that is about `tokens` long, whole pieces only; shorter where the text ends."""
    wanted = max(1, round(tokens / unit.per_piece))
    end = start
    for count, piece in enumerate(_PIECE.finditer(text, start), 1):
        end = piece.end()
        if count >= wanted:
            break
    return text[start:end]
