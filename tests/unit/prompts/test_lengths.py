"""Lengths without a tokenizer: characters by script, ratios fitted to counted texts, and exact counters."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specbench.errors import DataError
from specbench.prompts.lengths import STATED, characters_by_script, fitted, tokenizer_counter


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("Ab c", (4, 0, 0, 0)),
        ("x = 12\n", (3, 4, 0, 0)),
        ("naïve", (5, 0, 0, 0)),
        ("今日は", (0, 0, 3, 0)),
        ("한국어", (0, 0, 3, 0)),
        ("Привет!", (0, 1, 0, 6)),
        ("🙂", (0, 0, 0, 1)),
        ("", (0, 0, 0, 0)),
    ],
)
def test_characters_are_counted_by_their_script(text: str, counts: tuple[int, ...]) -> None:
    """Letters of Europe with their blanks, digits and signs, Chinese to Korean, and all others."""
    assert characters_by_script(text.encode()) == counts


@given(st.text())
def test_every_character_belongs_to_one_class(text: str) -> None:
    """Whatever the text, as far as it can be sent at all."""
    content = text.encode("utf-8", "ignore")

    assert sum(characters_by_script(content)) == len(content.decode())


def test_ratios_are_those_of_the_counted_texts() -> None:
    """Texts of Latin letters at 0.3 tokens each and of CJK at 1.2: both are found, and what was not there keeps its place."""
    rng = np.random.default_rng(1)
    characters = np.zeros((200, 4))
    characters[:100, 0] = rng.integers(200, 2000, 100)
    characters[100:, 2] = rng.integers(50, 500, 100)
    ratios = fitted(characters, characters @ np.array([0.3, 0.0, 1.2, 0.0]), "the endpoint")

    assert ratios.per_character[0] == pytest.approx(0.3, rel=0.03)
    assert ratios.per_character[2] == pytest.approx(1.2, rel=0.03)
    assert ratios.counted_by == "the endpoint"


def test_few_texts_move_the_level_alone_and_none_move_nothing() -> None:
    """Two texts at twice the stated ratio double all four; without a text they are estimates."""
    two = fitted(np.array([[100, 0, 0, 0], [300, 0, 0, 0]]), np.array([44.0, 132.0]), "x")

    assert two.per_character == pytest.approx([2 * ratio for ratio in STATED])
    assert fitted(np.zeros((0, 4)), np.zeros(0), "x").counted_by is None


def test_a_tokenizer_file_counts(tmp_path: Path) -> None:
    """One token a word, no special ones; what is no such file is one line."""
    pytest.importorskip("tokenizers")
    file = tmp_path / "tokenizer.json"
    model = {"type": "WordLevel", "vocab": {"a": 0, "b": 1, "[UNK]": 2}, "unk_token": "[UNK]"}
    file.write_text(json.dumps({"version": "1.0", "model": model, "pre_tokenizer": {"type": "Whitespace"}, "added_tokens": []}))

    assert tokenizer_counter(file).count(["a b a", "c", ""]) == [3, 1, 0]
    file.write_text("{}")
    with pytest.raises(DataError, match=r"tokenizer\.json: is no tokenizer\.json"):
        tokenizer_counter(file)
    with pytest.raises(DataError, match="cannot be read: No such file"):
        tokenizer_counter(tmp_path / "absent.json")
