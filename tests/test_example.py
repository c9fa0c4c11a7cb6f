"""The committed run in reports/example is read by today's code: facts, result and every report, to the word."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from specbench.analysis.judge import judge
from specbench.model.result import Result
from specbench.report import FORMATS, TABLES, read_result, render, result_json, write_report
from specbench.store import RESULT, facts_sha256, read_run
from tests.support.goldens import same_file
from tests.support.same_result import differences, texts_of

EXAMPLE = Path("reports/example")
# What may differ between two machines though nothing changed: the last digits of a number, ids that matplotlib makes up.
LONG_NUMBER = re.compile(r"\d+\.\d{10,}(?:e[-+]\d+)?")
MADE_UP = re.compile(r"\b[mp][0-9a-f]{10}\b")
STYLE = re.compile(r"(?<=<style>).*?(?=</style>)", re.DOTALL)
DRAWING = re.compile(r"<svg.*?</svg>", re.DOTALL)


@pytest.fixture(scope="module")
def judged() -> Result:
    """The example's facts, judged by the code as it is."""
    return replace(judge(read_run(EXAMPLE), "0.1.0"), facts_sha256=facts_sha256(EXAMPLE))


def test_the_facts_of_an_earlier_version_still_lead_to_its_verdict(judged: Result) -> None:
    """The verdict, the range and the state of every finding are those that were committed."""
    committed = read_result(EXAMPLE / RESULT)

    assert (judged.verdict, judged.enable_range) == (committed.verdict, committed.enable_range)
    assert judged.verdict == "CAPPED"
    for now, then in zip(judged.cells, committed.cells, strict=True):
        assert [(f.metric, f.state) for f in now.findings] == [(f.metric, f.state) for f in then.findings]


def test_ratios_of_the_example_have_not_moved(judged: Result) -> None:
    """A change that moves a number shows here, and belongs under Measurement in the changelog."""
    committed = read_result(EXAMPLE / RESULT)

    for now, then in zip(judged.cells, committed.cells, strict=True):
        assert [m.metric for m in now.metrics if m.ratio is None] == [m.metric for m in then.metrics if m.ratio is None]
        ratios = {m.metric: m.ratio for m in then.metrics if m.ratio is not None}
        assert {m.metric: m.ratio for m in now.metrics if m.ratio is not None} == pytest.approx(ratios, rel=1e-9)


def test_the_result_is_the_committed_one_but_for_its_words(judged: Result) -> None:
    """Every number, state and code; so what `analyze` writes today may take the committed file's place."""
    then, now = json.loads((EXAMPLE / RESULT).read_text()), json.loads(result_json(judged))
    for one in (then, now):
        del one["digest"]  # of the words too; `read_result` holds each to its own

    assert differences(then, now) == []


@pytest.mark.parametrize("format", sorted(FORMATS.keys() - {"json"}))
def test_every_format_shows_the_example_as_it_did(judged: Result, format: str) -> None:
    """A change that changes what people read shows it here, for every format."""
    content = render(judged, format)

    same_file(f"reports/{format}.txt", everywhere(content if isinstance(content, str) else content.decode()))


def test_the_result_file_holds_the_sentences_that_it_did(judged: Result) -> None:
    """Its numbers are compared with the committed file's, its texts with the golden ones, each at the first place of it."""
    places: dict[str, str] = {}
    for path, text in texts_of(json.loads(result_json(judged))):
        places.setdefault(text, path)

    same_file("reports/json.txt", everywhere("".join(f"{path}: {text}\n" for text, path in places.items())))


@pytest.mark.parametrize("kind", TABLES)
def test_the_tables_have_the_columns_and_rows_that_they_had(kind: str, tmp_path: Path) -> None:
    """Names and types of all columns, the first rows, and how many there are."""
    write_report(EXAMPLE, kind, tmp_path)
    read = _rows_of_csv if kind == "csv" else _rows_of_parquet

    same_file(f"reports/{kind}.txt", "\n".join(read(tmp_path / f"{table}.{kind}") for table in ("requests", "events")))


def _rows_of_csv(file: Path) -> str:
    lines = file.read_text().splitlines(keepends=True)
    return f"{file.name}, {len(lines)} lines\n{''.join(lines[:20])}"


def _rows_of_parquet(file: Path) -> str:
    table: Any = parquet.read_table(file)
    types = "".join(f"{field.name}: {field.type}\n" for field in table.schema)
    rows = "".join(f"{json.dumps(row)}\n" for row in table.slice(0, 20).to_pylist())
    return f"{file.name}, {table.num_rows} rows\n{types}{rows}"


def everywhere(text: str) -> str:
    """The text as every machine makes it, its drawings one tag a line, without the page's style, which is a file of its own."""
    names: dict[str, str] = {}
    text = DRAWING.sub(lambda drawing: drawing[0].replace("> <", ">\n<"), STYLE.sub("", text))
    text = MADE_UP.sub(lambda name: names.setdefault(name[0], f"id{len(names)}"), text)
    return LONG_NUMBER.sub(lambda number: f"{float(number[0]):.9g}", text)
