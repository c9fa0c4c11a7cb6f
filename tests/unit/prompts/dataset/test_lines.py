"""A file of prompts is read value by value, whatever its form, and what is wrong with it is one line."""

import builtins
import csv
import gzip
import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from specbench.errors import DataError
from specbench.model.data.datasets import DatasetReading
from specbench.prompts.dataset.survey import survey
from tests.support.datasets import texts_in

SKIP = DatasetReading(broken="skip")
DEEP = "[" * 5000 + "]" * 5000


def refusal(path: Path, reading: DatasetReading | None = None) -> str:
    """The one line with which the file is refused, without its folder; its exit code is that of bad data."""
    with pytest.raises(DataError) as error:
        survey(path, reading or DatasetReading(), 0)
    assert int(error.value.exit_code) == 65
    assert "\n" not in str(error.value)
    return str(error.value).replace(f"{path.parent}/", "")


def test_bom_blank_lines_crlf_and_a_missing_last_newline_change_nothing(tmp_path: Path) -> None:
    """Two rows, no carriage return left, and no cut at U+2028."""
    path = tmp_path / "d.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"prompt":"a"}\r\n\r\n   \r\n{"prompt":"b\xe2\x80\xa8c"}')

    assert texts_in(path) == ["a", "b\u2028c"]


ROWS = [{"prompt": f"question {number}, with a comma", "task": "code"} for number in range(3)]


def written(folder: Path, name: str) -> Path:
    """The three rows in the form that the name says."""
    path, form = folder / name, name.removesuffix(".gz").rsplit(".", 1)[1]
    if form == "parquet":
        sink = pa.BufferOutputStream()
        pq.write_table(pa.Table.from_pylist([*ROWS, {"task": "none"}]), sink)
        content = sink.getvalue().to_pybytes()
    elif form in ("csv", "tsv"):
        mark = "," if form == "csv" else "\t"
        lines = [f"prompt{mark}task", *(f'"{row["prompt"]}"{mark}{row["task"]}' for row in ROWS)]
        content = "\r\n".join(lines).encode("utf-8-sig")
    elif form == "json":
        content = json.dumps(ROWS, indent=1).encode()
    else:
        content = "\n".join(map(json.dumps, ROWS)).encode()
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


@pytest.mark.parametrize("form", ["jsonl", "json", "csv", "tsv", "parquet"])
@pytest.mark.parametrize("packed", ["", ".gz"])
def test_each_form_holds_the_same_rows(form: str, packed: str, tmp_path: Path) -> None:
    """Lines, one array, tables and Parquet, each also in gzip."""
    path = written(tmp_path, f"d.{form}{packed}")

    assert sorted(texts_in(path)) == [row["prompt"] for row in ROWS]


def test_one_object_over_many_lines_is_its_data_or_itself(tmp_path: Path) -> None:
    """AIPerf's inputs.json lists its sessions under `data`; a single request is a row, whatever else it has."""
    whole, single = tmp_path / "inputs.json", tmp_path / "single.json"
    body = {"messages": [{"role": "user", "content": "a"}]}
    whole.write_text(json.dumps({"data": [{"session_id": "s", "payloads": [body, body | {"max_tokens": 3}]}]}, indent=2))
    single.write_text(json.dumps(body | {"data": [1, 2]}, indent=2))

    assert survey(whole, DatasetReading(), 0).shapes == {"AIPerf inputs": 1}
    assert texts_in(single) == ["a"]
    single.write_text(json.dumps(body | {"data": [1, 2]}))
    assert texts_in(single) == ["a"]


def test_broken_json_names_file_and_line(tmp_path: Path) -> None:
    """Line 7 of the file, not the seventh row, and how to go on."""
    path = tmp_path / "d.jsonl"
    path.write_text('{"prompt": "a"}\n' * 5 + "\n" + '{"prompt": \n{"prompt": "b"}\n')

    assert refusal(path).startswith("d.jsonl:7: not JSON: ")
    assert refusal(path).endswith("mend it, or set workload.source.broken: skip")


def test_broken_lines_are_counted_on_request(tmp_path: Path) -> None:
    """As other rows that cannot be used."""
    path = tmp_path / "d.jsonl"
    path.write_text('{"prompt": \n{"prompt": "b"}\n')

    assert survey(path, SKIP, 0).skipped == {"not JSON": 1}


@pytest.mark.parametrize("tail", ['{"prompt": "c', '{"prompt"', '{"prompt": "b", "n": ['])
def test_a_last_line_that_is_cut_off_says_how_to_drop_it(tail: str, tmp_path: Path) -> None:
    """Line 3 is cut, so two lines are whole."""
    path = tmp_path / "d.jsonl"
    path.write_text('{"prompt": "a"}\n{"prompt": "b"}\n' + tail)

    assert refusal(path) == "d.jsonl:3: the file ends inside this line; cut it off (head -n 2)"


@pytest.mark.parametrize("packed", [False, True])
def test_an_array_that_is_cut_off_names_the_element(packed: bool, tmp_path: Path) -> None:
    """Brackets, braces and commas in texts are none of the array's."""
    content = b'[{"prompt": "a, [b"}, "c", {"prompt": "d \\" ]", "n": [1, 2'
    path = tmp_path / "d.json"
    path.write_bytes(gzip.compress(content) if packed else content)

    assert refusal(path) == "d.json: ends inside element 3; copy the file again, or cut it off there"


def test_an_element_of_the_wrong_kind_is_counted(tmp_path: Path) -> None:
    """Of twelve elements the last is a number."""
    path = tmp_path / "d.json"
    path.write_text(json.dumps(["a"] * 11 + [3]))

    assert survey(path, DatasetReading(), 0).skipped == {"neither text nor a mapping": 1}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (f'{{"prompt": "a"}}\n{{"prompt": {DEEP}}}', "d.jsonl:2: not JSON: brackets are nested too deeply"),
        (DEEP, "d.jsonl: not a JSON array: brackets are nested too deeply"),
    ],
    ids=["line", "array"],
)
def test_brackets_by_the_thousand_are_one_line(tmp_path: Path, content: str, message: str) -> None:
    """Whether the file is lines or one array."""
    path = tmp_path / "d.jsonl"
    path.write_text(content)

    assert refusal(path).startswith(message)


def test_damaged_gzip_csv_and_parquet_are_one_line_each(tmp_path: Path) -> None:
    """Copied half, not what their names say, or of another encoding."""
    half = tmp_path / "d.jsonl.gz"
    half.write_bytes(gzip.compress(b'{"prompt": "a"}\n' * 500)[:-20])
    latin = tmp_path / "d.csv"
    latin.write_bytes("prompt\nnaïve\n".encode("latin-1"))
    table = tmp_path / "d.parquet"
    table.write_bytes(b"PAR1 and nothing of the kind")

    assert refusal(half) == "d.jsonl.gz: the file ends inside its compressed data; copy it again"
    assert refusal(latin).endswith("is not UTF-8 text; save it as UTF-8")
    assert refusal(table).startswith("d.parquet: is damaged Parquet: ")
    whole = bytearray(written(tmp_path, "e.parquet").read_bytes())
    whole[4:40] = bytes(36)
    table.write_bytes(whole)
    assert refusal(table).startswith("d.parquet: is damaged Parquet: ")


def test_parquet_without_its_package_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra of this very package."""
    path = written(tmp_path, "d.parquet")
    usual = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return usual(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)

    assert refusal(path) == "d.parquet: is Parquet; to read it: pip install 'specbench-llm[parquet]'"


def test_a_missing_file_and_a_folder_are_one_line(tmp_path: Path) -> None:
    """No traceback."""
    assert refusal(tmp_path / "absent.jsonl") == "absent.jsonl: cannot be read: No such file or directory"
    assert refusal(tmp_path).endswith(": cannot be read: Is a directory")


def test_a_pipe_or_a_device_is_no_dataset(tmp_path: Path) -> None:
    """A pipe would be waited for, and a device may never end."""
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero"), Path("/dev/urandom")):
        assert refusal(path).endswith("is a pipe or a device, no file; copy what it holds into one")


@pytest.mark.parametrize(
    ("encoding", "named"),
    [("utf-16", "UTF-16"), ("utf-16-le", "UTF-16"), ("utf-16-be", "UTF-16"), ("utf-32", "UTF-32"), ("utf-32-be", "UTF-32")],
)
def test_a_file_of_another_encoding_is_named(encoding: str, named: str, tmp_path: Path) -> None:
    """With its mark or without: a table program's export, or a shell's redirection."""
    (tmp_path / "d.jsonl").write_bytes('{"prompt": "Explain TCP"}\n'.encode(encoding))

    assert refusal(tmp_path / "d.jsonl") == f"d.jsonl: is {named} text; save it as UTF-8"


def test_a_file_that_was_changed_since_its_bins_were_made_is_refused(tmp_path: Path) -> None:
    """The scenario names the content that its bins were made of."""
    path = tmp_path / "d.jsonl"
    path.write_text('{"prompt": "a"}\n')
    known = survey(path, DatasetReading(), 0).sha256
    reading = DatasetReading(sha256=known)

    assert survey(path, reading, 0).rows == 1
    path.write_text('{"prompt": "b"}\n')
    assert refusal(path, reading).startswith("d.jsonl: its sha256 differs")
    assert "specbench bins" in refusal(path, reading)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("d.jsonl", b"BZh91AY&SY\x10\x00", "d.jsonl: is packed; unpack it with bunzip2"),
        ("d.jsonl", b"PK\x03\x04\x14\x00\x00\x00", "d.jsonl: is packed; unpack it with unzip"),
        ("d.jsonl.gz", gzip.compress(gzip.compress(b'"a"', mtime=0), mtime=0), "d.jsonl.gz: is packed; unpack it with gunzip"),
        ("d.jsonl", bytes(500), "d.jsonl: holds zeros alone, so what it held is lost; copy it again"),
        (
            "d.jsonl",
            b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n",
            "d.jsonl: is a pointer of Git LFS, not the data; fetch them with: git lfs pull",
        ),
        (
            "d.jsonl",
            b"prompt,task\na,b\n",
            "d.jsonl: is neither JSON lines nor a JSON array; a table's name ends in .csv or .tsv (docs/data.md)",
        ),
        ("d.jsonl", '"a"\n"na\xefve"\n'.encode("latin-1"), "d.jsonl:2: is not UTF-8 text; save it as UTF-8"),
        (
            "d.jsonl",
            b'{\n"prompt": "a"\n}\n{\n"prompt": "b"\n}\n',
            "d.jsonl: holds several JSON values over many lines each; write one on a line, as jq -c . does",
        ),
        ("d.csv", b"prompt;task\na;b\n", "d.csv:1: its columns are parted by ';'; save it with commas (.csv)"),
        ("d.tsv", b"prompt,task\na,b\n", "d.tsv:1: its columns are parted by ','; save it with tabs (.tsv)"),
        ("d.csv", b"prompt,prompt\na,b\n", "d.csv:1: two columns are named 'prompt'; rename one"),
        ("d.csv", b'prompt\na\n"b, half a', "d.csv:3: the file ends inside a quoted cell; copy it again, or cut the row off"),
        ("d.csv", "prompt\na\nna\xefve\n".encode("latin-1"), "d.csv:3: is not UTF-8 text; save it as UTF-8"),
    ],
)
def test_a_file_that_is_something_else_is_named_for_what_it_is(name: str, content: bytes, said: str, tmp_path: Path) -> None:
    """Packed, lost, a pointer, a table under another name, cut: what to do differs, and skipping lines helps none of them."""
    (tmp_path / name).write_bytes(content)

    assert refusal(tmp_path / name) == said


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("d.json", b'{"data": [{"prompt": "a"}, {"prompt": "b"}]}'),
        ("d.json", b'{"rows": [{"prompt": "a"}, {"prompt": "b"}]}\n'),
        ("d.csv", b" prompt , task\na,x\nb,y\n"),
        ("D.CSV.GZ", gzip.compress(b'prompt\n"a"\n"b"', mtime=0)),
    ],
    ids=["data-on-one-line", "rows-on-one-line", "blanks-in-the-head", "a-name-in-capitals"],
)
def test_rows_are_read_however_their_file_is_laid_out(name: str, content: bytes, tmp_path: Path) -> None:
    """An object that lists its rows may stand on one line, and a table's head may have blanks."""
    (tmp_path / name).write_bytes(content)

    assert texts_in(tmp_path / name) == ["a", "b"]


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_table_holds_turns_as_json_and_prompts_as_they_stand(form: str, tmp_path: Path) -> None:
    """A prompt that is JSON, such as data to explain, is no list of token ids; turns in a column of their own are turns."""
    turns = [json.dumps([{"role": "user", "content": text}]) for text in ("a", "b")]
    rows = [{"prompt": "[1, 2]"}, {"prompt": '{"b": 3}'}, {"prompt": turns[0]}, {"messages": turns[1]}]
    table, path = {name: [row.get(name) for row in rows] for name in ("prompt", "messages")}, tmp_path / f"d.{form}"
    if form == "parquet":
        pq.write_table(pa.table(table), path)
    else:
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(table))
            writer.writeheader()
            writer.writerows(rows)

    assert sorted(texts_in(path)) == ["[1, 2]", "a", "b", '{"b": 3}']
