"""The benefit: shown, excluded, or open; the burden of proof lies on speculation."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specbench.analysis.verdict.benefit import benefit
from specbench.model.result import Finding, FindingState, PerArm
from specbench.model.scenario import Success
from tests.support.goldens import same_text
from tests.support.judging import AT_4, a_comparison

FASTER = Success(metric="tpot_p50", improve_by=0.05)
MORE = Success(metric="output_tps", improve_by=0.05)


def _shown(ratio: float | None, se_log: float | None = 0.02, success: Success = FASTER, **fields: Any) -> Finding:
    return benefit(success, a_comparison(success.metric, ratio, se_log, **fields), AT_4, None)


@pytest.mark.parametrize(
    ("ratio", "se_log", "state"),
    [
        (0.60, 0.02, "PASS"),
        (0.95, 0.02, "PASS"),  # significant, and exactly as much as was asked for
        (0.95, 0.05, "INCONCLUSIVE"),  # as much as asked for, but it may be chance
        (0.96, 0.02, "INCONCLUSIVE"),  # significant, but short of what was asked for
        (1.00, 0.02, "FAIL"),  # a gain of 5 % is excluded
        (1.00, 0.05, "INCONCLUSIVE"),
        (1.40, 0.02, "FAIL"),
    ],
)
def test_a_latency_that_should_fall(ratio: float, se_log: float, state: FindingState) -> None:
    """Asked for: at least 5 % less."""
    assert _shown(ratio, se_log).state == state


@pytest.mark.parametrize(
    ("ratio", "state"), [(1.5, "PASS"), (1.05, "PASS"), (1.04, "INCONCLUSIVE"), (1.0, "FAIL"), (0.8, "FAIL")]
)
def test_a_throughput_that_should_rise(ratio: float, state: FindingState) -> None:
    """Asked for: at least 5 % more."""
    assert _shown(ratio, success=MORE).state == state


def test_what_is_not_settled_names_the_pairs_it_needs() -> None:
    """Between chance and gain."""
    found = _shown(0.95, 0.04)

    assert found.notes == ("more_pairs",)
    assert found.pairs_needed is not None
    assert found.pairs_needed > 10


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({"ratio": None}, "NODATA"),
        ({"ratio": 0.5, "se_log": 0.0}, "INCONCLUSIVE"),
        ({"ratio": 0.5, "se_log": None}, "INCONCLUSIVE"),
        ({"ratio": 0.5, "low_n": True}, "INCONCLUSIVE"),
        ({"ratio": None, "unbounded": PerArm(True, False)}, "INCONCLUSIVE"),
        ({"ratio": None, "unbounded": PerArm(False, True)}, "FAIL"),
    ],
)
def test_a_gain_is_never_shown_by_what_is_missing(fields: dict[str, Any], state: FindingState) -> None:
    """The same stops as for guardrails."""
    assert _shown(**fields).state == state


def test_a_gain_in_too_few_pairs_is_not_shown() -> None:
    """40 % less in 7 of 10 pairs: the others may be those without a gain. That there is none can be shown by fewer."""
    few, enough, none = _shown(0.60, pairs=7), _shown(0.60, pairs=8), _shown(1.40, pairs=7)

    assert (few.state, few.notes) == ("INCONCLUSIVE", ("pairs_missing",))
    same_text("seven pairs", few.reason)
    assert enough.state == "PASS"
    assert none.state == "FAIL"


def test_one_burst_of_failures_does_not_exclude_the_gain() -> None:
    """It is open, as the percentile has no bound; that it fails needs proof."""
    found = _shown(None, unbounded=PerArm(False, True), p_unbounded=0.5)

    assert (found.state, found.notes) == ("INCONCLUSIVE", ("unbounded_open",))


def test_a_withheld_metric_shows_no_gain() -> None:
    """Tokens that were guessed make no gain."""
    assert benefit(FASTER, a_comparison("tpot_p50", 0.5), AT_4, "tokens were guessed").state == "INCONCLUSIVE"


@given(ratio=st.floats(0.2, 5.0), worse=st.floats(1.0, 5.0), se_log=st.floats(0.001, 0.5))
def test_a_slower_arm_never_shows_more_gain(ratio: float, worse: float, se_log: float) -> None:
    """FAIL, INCONCLUSIVE, PASS in the order of the ratio."""
    order: dict[FindingState, int] = {"PASS": 2, "INCONCLUSIVE": 1, "FAIL": 0}

    assert order[_shown(ratio * worse, se_log).state] <= order[_shown(ratio, se_log).state]
