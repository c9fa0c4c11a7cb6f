"""Run-wide safety: failures, memory, restarts."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specbench.analysis.arrays.samples import Totals
from specbench.analysis.verdict.safety import count_finding, error_finding, excess_of, reported_counts, with_never_answered
from specbench.explain.safety import NeverAnswered, ReportedCount
from specbench.model.records import Block, Telemetry
from specbench.model.result import Finding, FindingState, PerArm
from specbench.model.scenario import ArmName
from tests.support.evidence import NONE, a_scenario, evidence
from tests.support.goldens import same_text
from tests.support.judging import a_guardrail

ERRORS = a_guardrail("error_rate", 0.005, role="safety")
OOM = a_guardrail("oom", None, role="safety")
ORDER: dict[FindingState, int] = {"PASS": 2, "INCONCLUSIVE": 1, "FAIL": 0}


def _cell(failed: Sequence[float], judged: float) -> Totals:
    """One arm of one cell: failures block by block, of so many requests each."""
    return Totals(np.array(failed, dtype=np.float64), np.full(len(failed), judged))


def _judged(baseline: Sequence[float], speculative: Sequence[float], requests: float = 100) -> Finding:
    return error_finding(ERRORS, excess_of([_cell(baseline, requests)], [_cell(speculative, requests)], 0.05), 0.05)


@pytest.mark.parametrize(
    ("baseline", "speculative", "state"),
    [
        ([0] * 10, [0] * 10, "PASS"),
        ([5] * 10, [5] * 10, "PASS"),  # as bad as before is no harm of speculation
        ([5] * 10, [0] * 10, "PASS"),
        ([0] * 10, [1] + [0] * 9, "PASS"),  # one failure in a thousand: the surplus is surely below 0.5 points
        ([0] * 3, [1, 0, 0], "INCONCLUSIVE"),  # one in three hundred proves neither
        ([0] * 10, [2] * 10, "FAIL"),
        ([0] * 10, [10] * 10, "FAIL"),
        ([0] * 10, [20] + [0] * 9, "INCONCLUSIVE"),  # one bad block is one event, not twenty
    ],
)
def test_failures_of_the_speculative_arm(baseline: Sequence[float], speculative: Sequence[float], state: FindingState) -> None:
    """Blocks of a hundred requests."""
    assert _judged(baseline, speculative).state == state


def _never(hung: int, sent: int = 300, lost: int = 0) -> NeverAnswered:
    return NeverAnswered(hung=hung, lost=lost, sent=sent)


@pytest.mark.parametrize(
    ("baseline", "speculative", "state"),
    [
        (_never(0), _never(0), "PASS"),
        (_never(3), _never(3), "INCONCLUSIVE"),  # a baseline that hangs as often makes it no better
        (_never(0), _never(1), "INCONCLUSIVE"),  # one of 300 may be one in a hundred
        (_never(3), _never(0), "PASS"),
        (_never(1, 1_000), _never(1, 1_000), "PASS"),  # surely below 0.5 points
        (_never(100, 10_000), _never(100, 10_000), "INCONCLUSIVE"),
        (_never(0), _never(0, lost=1), "INCONCLUSIVE"),  # an older version cut it
        (_never(0, lost=1), _never(0), "INCONCLUSIVE"),
    ],
)
def test_requests_that_are_never_answered_are_no_pass_unless_they_are_surely_few(
    baseline: NeverAnswered, speculative: NeverAnswered, state: FindingState
) -> None:
    """Whatever the shares of failures say: these pass."""
    found = with_never_answered(_judged([1] * 10, [1] * 10), PerArm(baseline, speculative), 0.05)

    assert found.state == state


@pytest.mark.parametrize("state", ["FAIL", "INCONCLUSIVE", "NODATA"])
def test_what_did_not_pass_stays_as_it_was(state: FindingState) -> None:
    """Only a pass is taken back; the number is told all the same."""
    found = replace(_judged([0] * 10, [2] * 10), state=state, reason="So.")
    told = with_never_answered(found, PerArm(_never(0), _never(2, 1_000)), 0.05)

    assert (told.state, told.reason.startswith("So. "), "2" in told.reason) == (state, True, True)


def test_how_many_were_never_answered_is_told() -> None:
    """By number, with the share that may be true where that is what forbids a pass; and what an older version lost."""
    passed = replace(_judged([1] * 10, [1] * 10), reason="")
    arms = [(_never(3), _never(3)), (_never(0), _never(0, lost=2)), (_never(1, 1_000), _never(1, 1_000))]

    same_text("never answered", "\n".join(with_never_answered(passed, PerArm(*each), 0.05).reason for each in arms))


def test_a_surplus_that_is_surely_small_passes() -> None:
    """Five more failures in 100,000 requests: below 0.5 points, whatever their number."""
    found = _judged([0] * 10, [1] * 5 + [0] * 5, requests=10_000)

    assert found.state == "PASS"
    assert found.upper is not None
    assert found.upper < 0.005
    same_text("a small surplus", found.reason)


def test_cells_are_counted_together() -> None:
    """A failure in each of five cells is five failures of the run."""
    quiet, noisy = [_cell([0] * 4, 50) for _ in range(5)], [_cell([2, 3, 2, 3], 50) for _ in range(5)]

    found = error_finding(ERRORS, excess_of(quiet, noisy, 0.05), 0.05)

    assert found.state == "FAIL"
    same_text("failures", found.reason)


@pytest.mark.parametrize(("before", "after"), [(0, 0), (0, 10), (10, 0)])
def test_without_requests_nothing_is_judged(before: int, after: int) -> None:
    """An arm of which no request ended by itself; never a pass."""
    cells = [Totals(np.zeros(1), np.array([float(count)])) for count in (before, after)]

    assert error_finding(ERRORS, excess_of(cells[:1], cells[1:], 0.05), 0.05).state == "NODATA"
    assert error_finding(ERRORS, excess_of([], [], 0.05), 0.05).state == "NODATA"


@pytest.mark.parametrize(
    ("failed", "state"),
    [([0] * 10, "PASS"), ([1] * 4 + [0] * 6, "PASS"), ([1] * 8 + [0] * 2, "INCONCLUSIVE"), ([3] * 10, "FAIL")],
)
def test_an_absolute_limit_on_failures(failed: Sequence[float], state: FindingState) -> None:
    """At most 1 % of a thousand requests, whatever the baseline does: 0.3 % and 0.9 % at the worst, 1.4 %, and surely more."""
    rule = a_guardrail("error_rate", None, slo=0.01, role="safety")

    found = error_finding(rule, excess_of([_cell([9] * 10, 100)], [_cell(failed, 100)], 0.05), 0.05)

    assert (found.state, found.slo) == (state, 0.01)
    same_text(f"an absolute limit, {sum(failed)} failed", found.reason)


def _ten(silent: int = 0, count: int | None = None) -> ReportedCount:
    """What an arm's engine says over ten blocks, of which so many are silent."""
    return ReportedCount(count=count, silent=silent, blocks=10)


def test_an_absolute_limit_on_restarts() -> None:
    """One restart may be planned."""
    rule = a_guardrail("restarts", None, slo=1.0, role="safety")

    found = [count_finding(rule, PerArm(_ten(count=0), _ten(count=count))).state for count in (0, 1, 2)]

    assert found == ["PASS", "PASS", "FAIL"]


@given(
    baseline=st.lists(st.integers(0, 30), min_size=4, max_size=4),
    rate=st.integers(0, 15),
    more=st.integers(0, 15),
)
def test_more_failures_never_improve_the_finding(baseline: list[int], rate: int, more: int) -> None:
    """The same number more in every block."""
    before = _judged([float(b) for b in baseline], [float(rate)] * 4).state
    after = _judged([float(b) for b in baseline], [float(rate + more)] * 4).state

    assert ORDER[after] <= ORDER[before]


@pytest.mark.parametrize(
    ("told", "state", "required"),
    [
        (PerArm(_ten(count=0), _ten(count=0)), "PASS", True),
        (PerArm(_ten(count=1), _ten(count=1)), "PASS", True),
        (PerArm(_ten(count=2), _ten(count=1)), "PASS", True),
        (PerArm(_ten(count=0), _ten(count=1)), "FAIL", True),
        (PerArm(_ten(10), _ten(count=0)), "NODATA", True),
        (PerArm(_ten(count=0), _ten(10)), "NODATA", True),
        (PerArm(_ten(count=0), _ten(1)), "NODATA", True),
        (PerArm(_ten(1), _ten(1)), "NODATA", True),
        (PerArm(_ten(10), _ten(1)), "NODATA", True),
        (PerArm(_ten(10), _ten(10)), "NODATA", False),
    ],
)
def test_counts_of_the_engines(told: PerArm[ReportedCount], state: FindingState, required: bool) -> None:
    """None more than without speculation; not known of an arm is no pass; told in no block of either arm is not asked for."""
    found = count_finding(OOM, told)

    assert (found.state, found.required) == (state, required)
    assert found.reason.endswith(".")


def test_an_absolute_limit_needs_no_baseline_but_every_block_for_a_pass() -> None:
    """Three times where none is allowed is harm, whatever the baseline tells; three of which one block is silent may be more."""
    none, five = replace(OOM, slo=0.0), replace(OOM, slo=5.0)

    assert count_finding(none, PerArm(_ten(10), _ten(count=3))).state == "FAIL"
    assert count_finding(none, PerArm(_ten(10), _ten(1, count=3))).state == "FAIL"
    assert count_finding(five, PerArm(_ten(10), _ten(count=3))).state == "PASS"
    assert count_finding(five, PerArm(_ten(count=0), _ten(1, count=3))).state == "NODATA"


def test_memory_that_ran_out_in_one_arm_is_told_with_its_count() -> None:
    """Where the other arm tells nothing it is no harm proven, and no silence either: the check stays required."""
    found = count_finding(OOM, PerArm(_ten(10), _ten(count=2)))

    assert (found.state, found.required) == ("NODATA", True)
    same_text("memory: no baseline", found.reason)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("silence: both in all", PerArm(_ten(10), _ten(10))),
        ("silence: both in some", PerArm(_ten(1), _ten(2))),
        ("silence: speculative", PerArm(_ten(count=0), _ten(1))),
        ("silence: baseline", PerArm(_ten(1), _ten(count=2))),
        ("silence: harm all the same", PerArm(_ten(count=0), _ten(1, count=2))),
    ],
)
def test_silence_is_told_as_it_was(name: str, told: PerArm[ReportedCount]) -> None:
    """An engine that missed a block is not said to tell nothing."""
    same_text(name, count_finding(OOM, told).reason)


def test_what_is_asked_of_some_loads_says_so() -> None:
    """Two findings of one metric would else contradict each other."""
    rule = a_guardrail("error_rate", 0.005, role="safety", cells=(4.0, 16.0))
    told = PerArm(_ten(count=0), _ten(count=0))

    failed = error_finding(rule, excess_of([_cell([0] * 4, 50)], [_cell([0] * 4, 50)], 0.05), 0.05)
    memory = count_finding(replace(OOM, cells=(16.0,), bins=("edit",)), told)

    same_text("some loads: failures", failed.reason)
    same_text("some loads: memory", memory.reason)


def _blocks(counts: Sequence[int | None], arm: ArmName) -> tuple[Block, ...]:
    """Blocks of one arm that tell these numbers of exhausted memory; None for one that tells nothing."""
    made = evidence(NONE, a_scenario([1], pairs=len(counts)), requests=2).blocks
    own = [block for block in made if block.arm == arm]
    return tuple(replace(b, telemetry=Telemetry(oom_events=count)) for b, count in zip(own, counts, strict=True))


@pytest.mark.parametrize(
    ("baseline", "speculative", "told", "state"),
    [
        ((0, 0), (0, 0), (0, 0), "PASS"),
        ((0, 0), (1, 2), (0, 3), "FAIL"),
        ((0, 0), (None, 2), (0, 2), "FAIL"),  # at least two, and the baseline none
        ((2, 0), (None, 2), (2, None), "NODATA"),  # perhaps more than without speculation, perhaps not
        ((None, 0), (1, 1), (None, 2), "NODATA"),
        ((None, None), (None, 2), (None, 2), "NODATA"),  # failed answers told of two, and the baseline's of nothing
        ((None, None), (None, 0), (None, None), "NODATA"),
        ((None, None), (None, None), (None, None), "NODATA"),
    ],
)
def test_a_block_that_tells_nothing_leaves_its_arm_untold_unless_the_rest_proves_harm(
    baseline: Sequence[int | None], speculative: Sequence[int | None], told: tuple[int | None, int | None], state: FindingState
) -> None:
    """Silence is no zero."""
    counts = reported_counts([PerArm(_blocks(baseline, "baseline"), _blocks(speculative, "speculative"))], "oom")

    assert (counts.baseline.count, counts.speculative.count) == told
    assert (counts.baseline.silent, counts.speculative.silent) == (baseline.count(None), speculative.count(None))
    assert count_finding(OOM, counts).state == state
