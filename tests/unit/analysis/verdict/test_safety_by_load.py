"""Failures and stalls by load: which cells pass together, and which are counted apart."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from specbench.analysis.arrays.samples import Totals
from specbench.analysis.verdict.safety import error_finding, excess_of
from specbench.analysis.verdict.safety_by_load import CellShares, share_findings
from specbench.model.result import FindingState, PerArm
from tests.support.goldens import same_text
from tests.support.judging import a_guardrail

ERRORS = a_guardrail("error_rate", 0.005, role="safety")
STALLS = a_guardrail("stalled_answers", 0.005, role="safety")
Blocks = Sequence[float]
NONE: Blocks = (0,) * 10
BAD: Blocks = (1,) * 9 + (0,)  # 3 % of 300 requests
LEVELS = (1, 4, 16)


def _totals(failed: Blocks, judged: float = 30) -> Totals:
    return Totals(np.array(failed, dtype=np.float64), np.full(len(failed), judged))


def _cells(*speculative: Blocks, baseline: Blocks = NONE, primary: int = 0, judged: float = 30) -> list[CellShares]:
    """Cells at 1, 4 and 16 streams with these failures block by block, the baseline's everywhere alike."""
    return [
        CellShares(
            id=f"c{level}",
            place=f"At {level} streams",
            from_top=len(speculative) - 1 - place,
            above=place > primary,
            totals=PerArm(_totals(baseline, judged), _totals(failed, judged)),
        )
        for place, (level, failed) in enumerate(zip(LEVELS, speculative, strict=True))
    ]


def _states(*speculative: Blocks, primary: int = 0) -> tuple[FindingState, dict[str, FindingState]]:
    whole, apart = share_findings(ERRORS, _cells(*speculative, primary=primary), 0.05)
    return whole.state, {name: finding.state for name, finding in apart.items()}


@pytest.mark.parametrize(
    ("speculative", "primary", "run", "apart"),
    [
        ((NONE, NONE, NONE), 0, "PASS", {}),
        # 3 % at the top load alone: the loads below pass without it
        ((NONE, NONE, BAD), 0, "PASS", {"c16": "FAIL"}),
        ((NONE, BAD, BAD), 0, "PASS", {"c4": "FAIL", "c16": "FAIL"}),
        ((NONE, BAD, NONE), 0, "PASS", {"c4": "FAIL"}),
        # in the primary cell, or below it: what is left passes, and the cell itself is proof
        ((BAD, NONE, NONE), 0, "PASS", {"c1": "FAIL"}),
        ((BAD, NONE, NONE), 1, "PASS", {"c1": "FAIL"}),
        # everywhere: no load stands out, and no range passes
        (((1,) * 3 + (0,) * 7,) * 3, 0, "FAIL", {}),
        # two failures at the top: at the same rate everywhere they would all be there in one run of nine
        ((NONE, NONE, (1, 1) + (0,) * 8), 0, "INCONCLUSIVE", {}),
        ((NONE, NONE, (1, 1, 1) + (0,) * 7), 0, "PASS", {"c16": "INCONCLUSIVE"}),
        # proof over the run, and none of a single load
        ((NONE, (1,) * 3 + (0,) * 7, (1,) * 4 + (0,) * 6), 0, "PASS", {"c4": "FAIL", "c16": "FAIL"}),
        # a single burst
        ((NONE, NONE, (9,) + (0,) * 9), 0, "INCONCLUSIVE", {}),
    ],
)
def test_where_the_surplus_lies(
    speculative: tuple[Blocks, ...], primary: int, run: FindingState, apart: dict[str, FindingState]
) -> None:
    """300 requests an arm at each of three loads, in ten blocks; the baseline fails never."""
    assert _states(*speculative, primary=primary) == (run, apart)


def test_harm_at_one_load_does_not_drown_in_many_others() -> None:
    """12 of 300 at one load are a tenth of a point of 11,300 over twelve; the other eleven pass together."""
    quiet = _cells(NONE, NONE, NONE, judged=100)[0]
    cells = [replace(quiet, id=f"c{place}", from_top=11 - place, above=place > 0) for place in range(12)]
    cells[7] = replace(cells[7], totals=PerArm(_totals(NONE), _totals((2, 2) + (1,) * 8)))
    diluted = error_finding(
        ERRORS, excess_of([c.totals.baseline for c in cells], [c.totals.speculative for c in cells], 0.05), 0.05
    )

    whole, apart = share_findings(ERRORS, cells, 0.05)

    assert diluted.state == "PASS"
    assert (whole.state, {name: found.state for name, found in apart.items()}) == ("PASS", {"c7": "FAIL"})


def test_equal_failures_at_the_top_set_nothing_apart() -> None:
    """An overloaded server that fails with and without speculation is no harm of speculation."""
    whole, apart = share_findings(ERRORS, _cells(NONE, NONE, BAD, baseline=BAD), 0.05)

    assert (whole.state, apart) == ("PASS", {})


def test_an_absolute_limit_is_held_load_by_load_too() -> None:
    """At most 1 %, whatever the baseline does: 3 % at 16 streams."""
    rule = replace(ERRORS, margin=None, slo=0.01)

    whole, apart = share_findings(rule, _cells(NONE, NONE, (2,) * 10), 0.05)

    assert (whole.state, {name: found.state for name, found in apart.items()}) == ("PASS", {"c16": "FAIL"})


def test_each_load_says_what_it_counts() -> None:
    """The run's own finding names the loads that it leaves out."""
    whole, apart = share_findings(ERRORS, _cells(NONE, (1,) * 3 + (0,) * 7, (1,) * 4 + (0,) * 6), 0.05)
    stalled, _ = share_findings(STALLS, _cells(NONE, NONE, (9,) + (0,) * 9, primary=2), 0.05)

    same_text("failures by load", whole.reason, *(found.reason for found in apart.values()))
    same_text("stalls in one burst", stalled.reason)
    assert stalled.notes == ("in_bursts",)
    assert apart["c16"].cell == "c16"


@pytest.mark.parametrize(
    ("baseline", "speculative", "state"),
    [
        (0, 0, "PASS"),
        (0, 1, "FAIL"),  # 1 % of a thousand answers
        (1, 1, "PASS"),
        (3, 3, "PASS"),  # equal arms that stall at 3 % pass: as many more are allowed as the baseline has
        (3, 4, "PASS"),
        (3, 9, "FAIL"),
    ],
)
def test_stalls_may_exceed_the_baselines_by_its_own_share(baseline: int, speculative: int, state: FindingState) -> None:
    """So many stalls in each of ten blocks of 100 answers."""
    before, after = _totals((baseline,) * 10, 100), _totals((speculative,) * 10, 100)

    assert error_finding(STALLS, excess_of([before], [after], 0.05), 0.05).state == state


def test_an_arm_without_any_gap_is_no_pass() -> None:
    """Its answers came whole, so that nothing could be seen to stall."""
    nothing = _totals(NONE, 0)

    for before, after in ((_totals(NONE), nothing), (nothing, _totals(NONE)), (nothing, nothing)):
        found = error_finding(STALLS, excess_of([before], [after], 0.05), 0.05)
        assert found.state == "NODATA"
    same_text("no gap in an arm", found.reason)
