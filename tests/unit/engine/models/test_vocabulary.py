"""Text becomes tokens and the same text again, whatever the text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specbench.engine.models.vocabulary import EOS, FIRST_WORD, Vocabulary, decode, encode, pieces_of, vocabulary_of

WORDS = Vocabulary((b" return", b"\n    ", b"("))


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_text_survives(text: str) -> None:
    """Encoding loses nothing."""
    assert decode(WORDS, encode(WORDS, text)) == text


@given(st.binary())
def test_pieces_join_to_the_text(text: bytes) -> None:
    """Cutting loses nothing either, even of bytes that are no UTF-8."""
    assert b"".join(pieces_of(text)) == text


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        (b"def f(x):\n    return x", [b"def", b" f", b"(", b"x", b")", b":", b"\n    ", b"return", b" x"]),
        (b"a  b\n\n\tc42 = 3.5", [b"a", b"  ", b"b", b"\n\n", b"\t", b"c", b"42", b" =", b" 3", b".", b"5"]),
        ("naïve 🎉".encode(), [b"na", "ï".encode(), b"ve", " 🎉".encode()]),
    ],
)
def test_pieces_are_words_lines_and_signs(text: bytes, pieces: list[bytes]) -> None:
    """A word keeps the space before it, a line's end the indentation after it."""
    assert pieces_of(text) == pieces


def test_an_unknown_word_is_its_bytes() -> None:
    """What the vocabulary lacks is spelled out, and known words around it stay words."""
    assert encode(WORDS, " return xy") == [FIRST_WORD, *b" xy"]


def test_half_a_character_shows_as_a_replacement() -> None:
    """A token sequence may end inside a character; the end of an answer has no text."""
    assert decode(WORDS, [*"é".encode()[:1], EOS]) == "�"


def test_a_lone_surrogate_is_a_question_mark() -> None:
    """JSON may bring half a surrogate pair, which UTF-8 cannot carry."""
    assert decode(WORDS, encode(WORDS, "a\ud800b")) == "a?b"


def test_a_vocabulary_holds_the_frequent_pieces() -> None:
    """Pieces seen twice or more, the most frequent first, ties in byte order; a single byte is a token anyway."""
    pieces = [b"bb", b"aa", b"cc", b"bb", b"aa", b"cc", b"cc", b"x", b"x", b"once"]

    assert vocabulary_of(pieces, FIRST_WORD + 2).words == (b"cc", b"aa")
