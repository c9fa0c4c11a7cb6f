"""The campaigns: what is right, what is void, what the machine explains; and that each keeps to its section of the page."""

from pathlib import Path

import pytest

from benchmarks.known_run import Error, Kind, Known
from benchmarks.machine import Shares
from benchmarks.results import write_section
from benchmarks.starved import Place, Row

CLOSE, OFF = Error("baseline", "chunk_gap_p99", 10.09, 10.0), Error("speculative", "ttft_p95", 50.7, 50.0)
QUIET, BUSY = Shares(foreign=0.01, stolen=0.0), Shares(foreign=0.02, stolen=0.2)


def _known(kind: Kind, verdict: str, *errors: Error) -> Known:
    return Known(kind, verdict, (), errors, 0)


@pytest.mark.parametrize(
    ("kind", "verdict", "errors", "right"),
    [
        ("same", "HOLD", (CLOSE,), True),
        ("same", "HOLD", (CLOSE, OFF), False),
        ("same", "INVALID", (OFF,), True),
        ("same", "ROLLBACK", (CLOSE,), False),
        ("same", "PROMOTE", (), False),
        ("slower", "ROLLBACK", (CLOSE,), True),
        ("slower", "HOLD", (), True),
        ("slower", "PROMOTE", (CLOSE,), False),
        ("slower", "CAPPED", (CLOSE,), False),
    ],
)
def test_a_run_is_right_by_its_verdict_and_its_figures(kind: Kind, verdict: str, errors: tuple[Error, ...], right: bool) -> None:
    """Arms that are the same show nothing, a slower one no gain; 0.7 of 50 ms is past the budget of 0.5, 0.09 of 10 is not."""
    assert _known(kind, verdict, *errors).right is right


@pytest.mark.parametrize(
    ("place", "known", "shares", "as_must_be", "explained"),
    [
        ("starved", _known("same", "INVALID"), QUIET, True, False),
        ("starved", _known("same", "PROMOTE"), BUSY, False, False),
        ("free", _known("same", "HOLD", CLOSE), BUSY, True, False),
        ("free", _known("same", "INVALID"), QUIET, False, False),
        ("free", _known("same", "INVALID"), BUSY, False, True),
        ("free", _known("same", "HOLD", OFF), BUSY, False, False),
    ],
)
def test_a_busy_machine_explains_a_void_run_and_never_a_wrong_one(
    place: Place, known: Known, shares: Shares, as_must_be: bool, explained: bool
) -> None:
    """On the free machine INVALID is a failure, unless others took more than 5 % of the processors."""
    row = Row(place, known, shares, 30.0)

    assert (row.as_must_be, row.explained and not row.as_must_be) == (as_must_be, explained)


def test_a_section_is_written_in_its_place(tmp_path: Path) -> None:
    """The others stay as they are, in their order; a new one goes to the end."""
    page = tmp_path / "RESULTS.md"
    for title, body in (("One", "1"), ("Two", "2\n\n| a |"), ("One", "new"), ("Three", "3")):
        write_section(title, body, page)

    assert page.read_text() == "# One\n\nnew\n\n# Two\n\n2\n\n| a |\n\n# Three\n\n3\n"
