"""Prompts from users' files, in every shape that such files have in the field."""

import os
from pathlib import Path

import pytest

from specbench.errors import DataError
from specbench.prompts.dataset import Dataset, Row, dataset_notes, read_dataset, row_of

SHAREGPT = [
    {"from": "system", "value": "Be brief"},
    {"from": "gpt", "value": "Hello!"},
    {"from": "human", "value": "2+2?"},
    {"from": "gpt", "value": "4"},
]
OPENAI = [
    {"role": "system", "content": "Be brief"},
    {"role": "assistant", "content": "Hello!"},
    {"role": "user", "content": "2+2?"},
    {"role": "assistant", "content": "4"},
]


@pytest.mark.parametrize(
    ("value", "row"),
    [
        ("2+2?", Row("2+2?")),
        ({"prompt": "2+2?"}, Row("2+2?")),
        ({"text": "2+2?"}, Row("2+2?")),
        ({"conversations": SHAREGPT}, Row("2+2?", "Be brief")),
        ({"conversations": OPENAI}, Row("2+2?", "Be brief")),
        ({"messages": OPENAI}, Row("2+2?", "Be brief")),
        ({"conversations": []}, "no user turn"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "a turn of role 'tool'"),
        ({"prompt": "  "}, "empty prompt"),
        ({"question": "2+2?"}, "no prompt, text, messages or conversations"),
        (7, "neither text nor a mapping"),
    ],
)
def test_a_row_is_a_prompt_or_a_reason(value: object, row: Row | str) -> None:
    """The first user turn is the prompt, whatever the spelling; what cannot be used says why."""
    assert row_of(value) == row


def test_bom_blank_lines_crlf_and_a_missing_last_newline_change_nothing(tmp_path: Path) -> None:
    """Two rows, no carriage return left, and no cut at U+2028."""
    path = tmp_path / "d.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"prompt":"a"}\r\n\r\n   \r\n{"prompt":"b\xe2\x80\xa8c"}')

    assert read_dataset(path).rows == (Row("a"), Row("b\u2028c"))


def test_a_json_array_is_as_good_as_lines(tmp_path: Path) -> None:
    """One array, rows skipped by reason."""
    path = tmp_path / "d.json"
    path.write_text('[{"prompt": "a"}, {"conversations": []}, {"conversations": []}, 3]')

    dataset = read_dataset(path)

    assert dataset.rows == (Row("a"),)
    assert dataset.skipped == {"no user turn": 2, "neither text nor a mapping": 1}


def test_broken_json_names_file_and_line(tmp_path: Path) -> None:
    """Line 7 of the file, not the seventh row."""
    path = tmp_path / "d.jsonl"
    path.write_text('{"prompt": "a"}\n' * 5 + "\n" + '{"prompt": \n')

    with pytest.raises(DataError, match=r"d.jsonl:7: not JSON") as error:
        read_dataset(path)
    assert int(error.value.exit_code) == 65


DEEP = "[" * 5000 + "]" * 5000


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (f'{{"prompt": "a"}}\n{{"prompt": {DEEP}}}', r"d\.jsonl:2: not JSON: brackets are nested too deeply"),
        (DEEP, r"d\.jsonl: not a JSON array: brackets are nested too deeply"),
    ],
    ids=["line", "array"],
)
def test_brackets_by_the_thousand_are_one_line(tmp_path: Path, content: str, message: str) -> None:
    """Whether the file is lines or one array."""
    path = tmp_path / "d.jsonl"
    path.write_text(content)

    with pytest.raises(DataError, match=message):
        read_dataset(path)


@pytest.mark.parametrize("content", ["", "[]", '{"question": "x"}\n'])
def test_a_file_without_a_usable_row_is_refused(tmp_path: Path, content: str) -> None:
    """The message says what was there and what is needed."""
    path = tmp_path / "d.jsonl"
    path.write_text(content)

    with pytest.raises(DataError, match="a row needs prompt, text, messages or conversations"):
        read_dataset(path)


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    """No traceback."""
    with pytest.raises(DataError, match=r"absent\.jsonl: cannot be read: No such file"):
        read_dataset(tmp_path / "absent.jsonl")


def test_prompts_that_repeat_themselves_are_called_unrepresentative() -> None:
    """One sentence 200 times compresses 100 : 1; words that differ do not."""
    sentence = "The quick brown fox jumps over the lazy dog near the bank of the river."
    copied = Dataset(tuple(Row(sentence) for _ in range(200)), {})
    varied = Dataset(
        tuple(Row(f"{number * 7919} is {number**3} or {hash((number, 1))}") for number in range(200)), {"empty prompt": 3}
    )

    assert [note.split(":")[0] for note in dataset_notes(copied)] == ["unrepresentative_prompts"]
    assert dataset_notes(varied) == ("3 rows of the dataset were skipped: empty prompt",)


def test_a_pipe_or_a_device_is_no_dataset(tmp_path: Path) -> None:
    """A pipe would be waited for, and a device may never end."""
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero"), Path("/dev/urandom")):
        with pytest.raises(DataError, match="is a pipe or a device, no file; copy what it holds into one"):
            read_dataset(path)


@pytest.mark.parametrize(
    ("encoding", "named"),
    [("utf-16", "UTF-16"), ("utf-16-le", "UTF-16"), ("utf-16-be", "UTF-16"), ("utf-32", "UTF-32"), ("utf-32-be", "UTF-32")],
)
def test_a_file_of_another_encoding_is_named(encoding: str, named: str, tmp_path: Path) -> None:
    """With its mark or without: a table program's export, or a shell's redirection."""
    (tmp_path / "prompts.jsonl").write_bytes('{"prompt": "Explain TCP"}\n'.encode(encoding))

    with pytest.raises(DataError, match=f"is {named} text; save it as UTF-8"):
        read_dataset(tmp_path / "prompts.jsonl")
