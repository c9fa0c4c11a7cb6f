"""The campaigns: what is right, what is void, what the machine explains; and that each keeps to its section of the page."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.known_run import Error, Kind, Known
from benchmarks.machine import Shares
from benchmarks.results import write_section
from benchmarks.starved import Place, Row
from benchmarks.tune_seeds import PARTS, finished, is_right, losses, main, mean_ratios
from specbench.tune.picks import write_tune
from tests.support.tunes import a_load, a_tune

CLOSE, OFF = Error("baseline", "chunk_gap_p99", 10.09, 10.0), Error("speculative", "ttft_p95", 50.7, 50.0)
QUIET, BUSY = Shares(foreign=0.01, stolen=0.0), Shares(foreign=0.02, stolen=0.2)


KINDS: tuple[Kind, ...] = ("same", "slower", "faster")


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
        ("faster", "PROMOTE", (CLOSE,), True),
        ("faster", "HOLD", (CLOSE,), True),
        ("faster", "ROLLBACK", (CLOSE,), False),
    ],
)
def test_a_run_is_right_by_its_verdict_and_its_figures(kind: Kind, verdict: str, errors: tuple[Error, ...], right: bool) -> None:
    """Arms that are the same show nothing, a slower one no gain; 0.7 of 50 ms is past the budget of 0.5, 0.09 of 10 is not."""
    assert _known(kind, verdict, *errors).right is right


def test_harm_that_was_not_shown_is_missed() -> None:
    """HOLD of the slower or the faster arm; of arms that are the same it is the truth, and INVALID says that nothing is known."""
    missed = [(kind, verdict) for kind in KINDS for verdict in ("HOLD", "ROLLBACK", "INVALID") if _known(kind, verdict).missed]

    assert missed == [("slower", "HOLD"), ("faster", "HOLD")]


@pytest.mark.parametrize(
    ("place", "known", "shares", "word", "failed"),
    [
        ("starved", _known("same", "INVALID"), QUIET, "void", False),
        ("starved", _known("same", "PROMOTE"), BUSY, "WRONG", True),
        ("starved", _known("slower", "ROLLBACK", CLOSE), QUIET, "as must be", False),
        ("starved", _known("slower", "HOLD"), QUIET, "missed", False),
        ("starved", _known("slower", "HOLD", OFF), QUIET, "WRONG", True),
        ("free", _known("same", "HOLD", CLOSE), BUSY, "as must be", False),
        ("free", _known("same", "INVALID"), QUIET, "void", True),
        ("free", _known("same", "INVALID"), BUSY, "disturbed", False),
        ("free", _known("same", "HOLD", OFF), BUSY, "WRONG", True),
        ("free", _known("slower", "HOLD"), QUIET, "missed", True),
        ("free", _known("slower", "HOLD"), BUSY, "disturbed", False),
        ("free", _known("slower", "ROLLBACK"), QUIET, "as must be", False),
    ],
)
def test_a_busy_machine_explains_what_is_not_shown_and_never_what_is_wrong(
    place: Place, known: Known, shares: Shares, word: str, failed: bool
) -> None:
    """On the free machine only the true verdict will do, unless others took more than 5 % of the processors."""
    row = Row(place, known, shares, 30.0)

    assert (row.word, row.failed) == (word, failed)


def test_a_section_is_written_in_its_place(tmp_path: Path) -> None:
    """The others stay as they are, in their order; a new one goes to the end."""
    page = tmp_path / "RESULTS.md"
    for title, body in (("One", "1"), ("Two", "2\n\n| a |"), ("One", "new"), ("Three", "3")):
        write_section(title, body, page)

    assert page.read_text() == "# One\n\nnew\n\n# Two\n\n2\n\n| a |\n\n# Three\n\n3\n"


def test_a_pick_is_right_within_5_percent_of_the_best() -> None:
    """4.2 % at four streams is right, 10 % is not; the best itself loses nothing."""
    truth = {1: {"off": 1.0, "depth-4": 0.5}, 4: {"off": 1.0, "depth-2": 0.72, "depth-4": 0.75, "depth-8": 0.8}}

    assert losses({1: "depth-4", 4: "depth-4"}, truth) == pytest.approx({1: 0.0, 4: 0.0417}, abs=1e-4)
    assert is_right({1: "depth-4", 4: "depth-4"}, truth)
    assert not is_right({1: "depth-4", 4: "depth-8"}, truth)


def test_seeds_that_are_there_are_kept_and_one_that_was_cut_off_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nine seeds right and one cut off: 2, and it is named. Once it is there too, and wrong, nine of ten are enough."""
    best, worse = (a_load(1, pick, off=1.0, depth_1=0.66, depth_4=0.48) for pick in ("depth-4", "depth-1"))

    def put(name: str, **changes: object) -> None:
        (tmp_path / name).mkdir(exist_ok=True)
        write_tune(tmp_path / name, a_tune(**{"loads": (best,), **changes}))

    for name in PARTS:
        put(name)
    put("seed-3", finished=None)
    assert (finished(tmp_path / "seed-3"), finished(tmp_path / "none")) == (None, None)
    assert main([str(tmp_path), "--only", "none"]) == 2
    assert capsys.readouterr().out.splitlines()[-1] == "missing: seed-3"

    put("seed-3", loads=(worse,))
    assert main([str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "9 of 10 seeds right"

    put("seed-4", loads=(replace(worse, pick=None),))
    assert main([str(tmp_path)]) == 1


def test_the_truth_is_the_mean_of_long_tunes() -> None:
    """Geometric, of candidates that all of them have."""
    parts = [{1: {"off": 1.0, "depth-1": 0.64, "depth-4": 0.5}}, {1: {"off": 1.0, "depth-1": 0.81}}]

    assert mean_ratios(parts) == {1: pytest.approx({"off": 1.0, "depth-1": 0.72})}
