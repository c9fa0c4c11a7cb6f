"""Text to tokens and back: words, indentation and punctuation from the training text, single bytes for everything else.

No model and no training may live here; a vocabulary is a frozen list of byte strings.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

BYTES = 256
EOS = 256
FIRST_WORD = 257

# One alternative matches at every position whatever the bytes, so that cutting loses nothing: the pieces always join to the text.
PIECE = re.compile(
    rb" ?[A-Za-z_]+"  # a word with the space before it
    rb"| ?[0-9]+"
    rb"|\n[ \n]*"  # a line's end with the indentation of the next line
    rb"| ?[\x80-\xff]+"  # text beyond ASCII
    rb"| ?[^\sA-Za-z_0-9\x80-\xff]"  # one sign
    rb"|[ \t\r\f\v]+"
)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Token i is byte i below 256, the end of an answer at 256, and one of `words` from 257 on."""

    words: tuple[bytes, ...]
    ids: dict[bytes, int] = field(init=False, repr=False, compare=False)
    spellings: tuple[bytes, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "ids", {word: FIRST_WORD + i for i, word in enumerate(self.words)})
        object.__setattr__(self, "spellings", (*(bytes([i]) for i in range(BYTES)), b"", *self.words))

    def __len__(self) -> int:
        return len(self.spellings)


def vocabulary_of(pieces: Iterable[bytes], size: int) -> Vocabulary:
    """The most frequent pieces that occur at least twice, ties in byte order; `size` bounds all tokens together."""
    counts = Counter(pieces)
    frequent = sorted(
        (piece for piece, n in counts.items() if n > 1 and len(piece) > 1), key=lambda piece: (-counts[piece], piece)
    )
    return Vocabulary(tuple(frequent[: size - FIRST_WORD]))


def pieces_of(text: bytes) -> list[bytes]:
    """The text cut into pieces; joined they are the text again."""
    return PIECE.findall(text)


def encode_pieces(vocabulary: Vocabulary, pieces: Iterable[bytes]) -> list[int]:
    """Token ids of those pieces; a piece that is no word of the vocabulary becomes its bytes."""
    ids = vocabulary.ids
    tokens: list[int] = []
    for piece in pieces:
        token = ids.get(piece)
        if token is None:
            tokens.extend(piece)
        else:
            tokens.append(token)
    return tokens


def encode(vocabulary: Vocabulary, text: str) -> list[int]:
    """Token ids of the text; `decode` gives the same text back.

    A lone surrogate, which no UTF-8 can carry, is read as a question mark.
    """
    return encode_pieces(vocabulary, pieces_of(text.encode("utf-8", errors="replace")))


def decode(vocabulary: Vocabulary, tokens: Sequence[int]) -> str:
    """The text of those tokens; bytes that are no UTF-8 show as U+FFFD, the end of an answer as nothing."""
    spellings = vocabulary.spellings
    return b"".join([spellings[token] for token in tokens]).decode("utf-8", errors="replace")
