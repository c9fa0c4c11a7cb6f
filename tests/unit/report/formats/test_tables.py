"""Requests and events as tables: every fact in its column, absence empty, failures present, two tables that join."""

import csv
import sys
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
import pytest

from specbench.errors import DataError
from specbench.model.records import SpeculationCounts
from specbench.report import write_report
from specbench.report.formats import tables
from specbench.report.formats.tables import write_tables
from tests.support.records import a_block, a_record

BLOCKS = (a_block(0), a_block(0, arm="speculative"))
RECORDS = (
    a_record([50, 60, 70], [1, 4, 2], index=0, step_events=(1, 2), censored=(1,)),
    a_record([], index=1, outcome="http_error", status=503, reason='overloaded, "try" later\nplease', output_tokens=None),
    a_record(
        [40], index=0, block="speculative-0", acceptance=SpeculationCounts(rounds=3, drafted=12, accepted=7, per_position=None)
    ),
)


def _rows(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def test_a_request_is_a_row_with_its_place_and_its_facts(tmp_path: Path) -> None:
    """Cell and arm come from the block; times are nanoseconds since the request was sent."""
    requests, _ = write_tables(tmp_path / "new", "csv", BLOCKS, RECORDS)
    first, failed, other = _rows(requests)
    assert [first[key] for key in ("block", "index", "cell", "arm", "pair", "concurrency")] == [
        "baseline-0",
        "0",
        "c4",
        "baseline",
        "0",
        "4",
    ]
    assert [first[key] for key in ("first_event_ns", "last_event_ns", "output_tokens")] == ["50000000", "70000000", "7"]
    assert [first[key] for key in ("events", "steps", "censored")] == ["3", "2", "1"]
    assert [failed[key] for key in ("outcome", "status", "first_event_ns", "output_tokens")] == ["http_error", "503", "", ""]
    assert failed["reason"] == 'overloaded, "try" later\nplease'
    assert [other[key] for key in ("arm", "rounds", "drafted", "accepted")] == ["speculative", "3", "12", "7"]


def test_a_bare_carriage_return_ends_no_row(tmp_path: Path) -> None:
    """A finish reason is a server's text; whatever it holds reads back as one field of one row."""
    odd = a_record([50], index=0, finish_reason="stop\rfor good")
    requests, _ = write_tables(tmp_path, "csv", BLOCKS, (odd, RECORDS[1]))
    assert [(row["finish_reason"], row["outcome"], row["output_tokens"]) for row in _rows(requests)] == [
        ("stop\rfor good", "ok", "1"),
        ("stop", "http_error", ""),
    ]
    assert len(pd.read_csv(requests)) == 2


def test_an_event_is_a_row_that_joins_its_request(tmp_path: Path) -> None:
    """Block and index name the request; events of one engine step share a step."""
    _, events = write_tables(tmp_path, "csv", BLOCKS, RECORDS)
    rows = [tuple(row.values()) for row in _rows(events)]
    assert rows == [
        ("baseline-0", "0", "0", "0", "50000000", "1", "False"),
        ("baseline-0", "0", "1", "1", "60000000", "4", "True"),
        ("baseline-0", "0", "2", "1", "70000000", "2", "False"),
        ("speculative-0", "0", "0", "0", "40000000", "1", "False"),
    ]


def test_batches_make_one_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many batches a run takes, the head comes once and no row is lost; an iterator is enough."""
    whole = write_tables(tmp_path / "whole", "csv", BLOCKS, RECORDS)
    monkeypatch.setattr(tables, "BATCH", 1)
    parts = write_tables(tmp_path / "parts", "csv", BLOCKS, iter(RECORDS))
    assert [file.read_bytes() for file in parts] == [file.read_bytes() for file in whole]


def test_a_run_without_requests_has_tables_without_rows(tmp_path: Path) -> None:
    """The heads are there, so that whoever reads them finds the columns."""
    requests, events = write_tables(tmp_path, "csv", (), ())
    assert requests.read_text() == ",".join(tables.REQUESTS) + "\n"
    assert events.read_text() == ",".join(tables.EVENTS) + "\n"


def test_a_record_of_an_unknown_block_keeps_its_facts(tmp_path: Path) -> None:
    """A killed run has requests of a block that never ended: the place is empty, the rest stays."""
    requests, _ = write_tables(tmp_path, "csv", (), RECORDS[:1])
    assert [_rows(requests)[0][key] for key in ("block", "cell", "arm", "outcome")] == ["baseline-0", "", "", "ok"]


def test_parquet_without_pyarrow_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The optional library is named in one line, with the way out."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DataError, match=r"parquet needs pyarrow: pip install 'specbench-llm\[parquet\]', or ask for csv"):
        write_tables(tmp_path, "parquet", BLOCKS, RECORDS)


def test_two_tables_do_not_go_to_standard_output(tmp_path: Path) -> None:
    """'-' is refused with the option that helps."""
    with pytest.raises(DataError, match="name a folder for them with -o"):
        write_report(tmp_path, "csv", Path("-"))


if find_spec("pyarrow"):  # the optional extra `parquet`

    def test_parquet_holds_the_same_rows_with_types(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Over several batches, a column without any value keeps its type."""
        monkeypatch.setattr(tables, "BATCH", 1)
        requests, events = write_tables(tmp_path, "parquet", BLOCKS, RECORDS)
        found = pd.read_parquet(requests)
        assert found["outcome"].tolist() == ["ok", "http_error", "ok"]
        assert str(found["cached_tokens"].dtype) == "Int64"
        assert found["first_event_ns"].isna().tolist() == [False, True, False]
        assert pd.read_parquet(events)["tokens"].tolist() == [1, 4, 2, 1]


@pytest.mark.parametrize("told", ["=cmd|' /C calc'!A0", "+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "＝1"])
def test_no_cell_is_a_formula(tmp_path: Path, told: str) -> None:
    """A spreadsheet would compute what a server said; numbers below zero stay numbers."""
    odd = a_record([50], index=0, finish_reason=told)
    requests, _ = write_tables(tmp_path, "csv", BLOCKS, (odd,))

    assert _rows(requests)[0]["finish_reason"] == f"'{told}"


def test_a_table_holds_no_control_character(tmp_path: Path) -> None:
    """`cat requests.csv` is a terminal too."""
    odd = a_record([50], index=0, finish_reason="a\x1b[31m\x9b2J\u202eb")
    requests, _ = write_tables(tmp_path, "csv", BLOCKS, (odd,))

    assert _rows(requests)[0]["finish_reason"] == "a [31m 2J b"


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_no_table_is_written_through_a_link(tmp_path: Path, kind: tables.Kind) -> None:
    """A run folder may come from others."""
    (tmp_path / "victim").write_text("mine")
    (tmp_path / f"events.{kind}").symlink_to(tmp_path / "victim")
    with pytest.raises(DataError, match="cannot be written"):
        write_tables(tmp_path, kind, BLOCKS, RECORDS)

    assert (tmp_path / "victim").read_text() == "mine"
