"""Findings: what a guardrail makes of a comparison, in words and in state, and what can never happen."""

import math
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specbench.analysis.verdict.findings import Case, finding, harm_p, judge_cases
from specbench.model.guardrails import DEFAULTS
from specbench.model.result import ArmEstimate, Comparison, Finding, FindingState, PerArm
from specbench.model.scenario import Guardrail
from tests.support.goldens import same_text
from tests.support.judging import AT_4, a_comparison, a_guardrail

BETTER: dict[FindingState, int] = {"PASS": 2, "INCONCLUSIVE": 1, "FAIL": 0}
T_95_9 = 1.833113  # Student's t with 9 degrees of freedom at 95 %, any printed table


def _case(comparison: Comparison, guardrail: Guardrail | None = None, **fields: Any) -> Case:
    return Case(
        guardrail=guardrail or a_guardrail(comparison.metric), comparison=comparison, setting=AT_4, in_family=True, **fields
    )


def _judged(comparison: Comparison, guardrail: Guardrail | None = None, **fields: Any) -> Finding:
    return judge_cases([_case(comparison, guardrail, **fields)], 0.05)[0]


@pytest.mark.parametrize(
    ("ratio", "se_log", "state"),
    [
        (1.00, 0.02, "PASS"),  # the bound is exp(1.83 · 0.02) = 1.037
        (1.05, 0.02, "PASS"),  # 1.089, under 1.10
        (1.065, 0.02, "INCONCLUSIVE"),  # 1.105, over it
        (1.09, 0.02, "INCONCLUSIVE"),  # significant, but under the limit: neither shown safe nor large enough to be harm
        (1.10, 0.02, "INCONCLUSIVE"),  # surely worse, and as likely within the limit as past it
        (1.14, 0.02, "INCONCLUSIVE"),  # exp(log 1.14 - 1.83 · 0.02) = 1.099: the lower bound is not past it yet
        (1.15, 0.02, "FAIL"),  # 1.109: surely worse, and surely past the limit
        (1.53, 0.02, "FAIL"),
        (1.53, 0.30, "INCONCLUSIVE"),  # far past the limit, but the spread explains it
        (0.60, 0.02, "PASS"),
    ],
)
def test_lower_is_better(ratio: float, se_log: float, state: FindingState) -> None:
    """A limit of 10 %, ten pairs."""
    assert _judged(a_comparison(ratio=ratio, se_log=se_log)).state == state


@pytest.mark.parametrize(
    ("ratio", "state"),
    [(1.5, "PASS"), (0.99, "PASS"), (0.97, "INCONCLUSIVE"), (0.95, "INCONCLUSIVE"), (0.92, "FAIL"), (0.80, "FAIL")],
)
def test_higher_is_better(ratio: float, state: FindingState) -> None:
    """Output per second may fall by 5 %: B is 1 ÷ 0.95 on the inverted ratio, so the limit is 0.95 itself."""
    found = _judged(a_comparison("output_tps", ratio=ratio, se_log=0.015), a_guardrail("output_tps", 0.05))

    assert found.state == state
    assert found.bound == pytest.approx(0.95, abs=1e-12)


@pytest.mark.parametrize(
    ("ratio", "se_log", "state"),
    [
        (1.000, 0.005, "PASS"),
        (1.000, 0.020, "INCONCLUSIVE"),
        (1.025, 0.005, "INCONCLUSIVE"),
        (1.040, 0.005, "FAIL"),
        (0.960, 0.005, "FAIL"),
        (0.250, 0.000, "FAIL"),  # C-13: 64 tokens for 256, in every pair; a length is judged by its value
        (1.000, 0.000, "PASS"),  # forced lengths that agree exactly are no artefact
    ],
)
def test_what_should_stay_equal_may_move_to_neither_side(ratio: float, se_log: float, state: FindingState) -> None:
    """The length of answers within 3 %, either way."""
    assert _judged(a_comparison("output_length", ratio=ratio, se_log=se_log), a_guardrail("output_length", 0.03)).state == state


def test_the_floor_forgives_what_nobody_feels() -> None:
    """A rise of 20 % on 2 ms is 0.4 ms, under a floor of 0.5 ms: B is 1 + 0.5 ÷ 2."""
    comparison = a_comparison(ratio=1.2, se_log=0.005, baseline=2.0)

    assert _judged(comparison, a_guardrail(floor=0.5)).state == "PASS"
    assert _judged(comparison, a_guardrail(floor=0.5)).bound == pytest.approx(1.25)
    assert _judged(comparison, a_guardrail(floor=0.0)).state == "FAIL"


def test_the_upper_bound_is_the_one_sided_t_bound() -> None:
    """exp(log 1.02 + t(.95; 9) · 0.03)."""
    found = _judged(a_comparison(ratio=1.02, se_log=0.03))

    assert found.upper == pytest.approx(1.02 * math.exp(T_95_9 * 0.03), abs=1e-6)
    assert found.supported_margin == pytest.approx(1.02 * math.exp(T_95_9 * 0.03) - 1, abs=1e-6)


def test_a_significant_loss_within_the_limit_passes_with_a_note() -> None:
    """A small regression is real, and it is allowed."""
    found = _judged(a_comparison(ratio=1.04, se_log=0.01))

    assert (found.state, found.notes) == ("PASS", ("small_regression",))


def test_harm_is_adjusted_for_all_required_tests_of_the_run() -> None:
    """One p of 0.03 is harm alone and chance among five; advisory tests neither pay nor count."""
    worse = a_comparison(ratio=1.45, se_log=0.1748)
    alone = judge_cases([_case(worse)], 0.05)[0]
    others = [_case(a_comparison(ratio=0.9, se_log=0.05)) for _ in range(4)]
    advice = [replace(case, in_family=False) for case in others]

    assert alone.p_harm == pytest.approx(0.031, abs=0.001)
    assert alone.state == "INCONCLUSIVE"
    assert "worse_limit_open" in alone.notes
    assert "worse_limit_open" not in judge_cases([_case(worse), *others], 0.05)[0].notes
    assert judge_cases([_case(worse), *others], 0.05)[0].p_harm_adjusted == pytest.approx(5 * 0.031, abs=0.005)
    assert "worse_limit_open" in judge_cases([_case(worse), *advice], 0.05)[0].notes
    assert judge_cases([_case(worse), *advice], 0.05)[1].p_harm_adjusted is None


def test_what_is_surely_worse_and_not_surely_past_its_limit_says_both() -> None:
    """1.13 ± 0.02: no chance, but 1.09 is not excluded, and 10 % are allowed; neither proof nor pass."""
    found = _judged(a_comparison(ratio=1.13, se_log=0.02))

    assert (found.state, found.notes) == ("INCONCLUSIVE", ("worse_limit_open", "more_pairs"))
    assert found.lower == pytest.approx(1.13 * math.exp(-T_95_9 * 0.02))
    assert found.pairs_needed is not None
    assert found.p_harm_adjusted is not None
    assert found.p_harm_adjusted < 0.001
    same_text("surely worse, limit open", found.reason)
    falling = _judged(a_comparison("output_tps", ratio=0.93, se_log=0.015), a_guardrail("output_tps", 0.05))
    assert falling.notes[0] == "worse_limit_open"
    same_text("surely less, limit open", falling.reason)


def test_an_open_finding_says_what_the_data_support_and_what_it_takes() -> None:
    """At 1.06 ± 0.03 the data support 12 %; 10 % needs more pairs; at 1.0999 no affordable number settles it."""
    near = _judged(a_comparison(ratio=1.06, se_log=0.03))
    at_the_edge = _judged(a_comparison(ratio=1.0999, se_log=0.03))

    assert near.supported_margin == pytest.approx(0.12, abs=0.001)
    assert near.pairs_needed is not None
    assert 30 < near.pairs_needed < 60
    assert "more_pairs" in near.notes
    assert at_the_edge.pairs_needed is None
    assert "unresolvable_at_this_margin" in at_the_edge.notes


@pytest.mark.parametrize(
    ("fields", "state", "note"),
    [
        ({"unbounded": PerArm(False, True), "ratio": None}, "FAIL", "unbounded"),
        ({"unbounded": PerArm(False, True), "ratio": None, "p_unbounded": 0.5}, "INCONCLUSIVE", "unbounded_open"),
        ({"unbounded": PerArm(False, True), "ratio": None, "p_unbounded": None}, "INCONCLUSIVE", "unbounded_open"),
        ({"unbounded": PerArm(True, True), "ratio": None}, "INCONCLUSIVE", "unbounded_both"),
        ({"unbounded": PerArm(True, False), "ratio": None}, "INCONCLUSIVE", "unbounded_baseline"),
        ({"se_log": 0.0}, "INCONCLUSIVE", "constant"),
        ({"se_log": 0.0, "ratio": 2.0}, "INCONCLUSIVE", "constant"),
        ({"low_n": True}, "INCONCLUSIVE", "low_n"),
        ({"low_n": True, "unbounded": PerArm(False, True), "ratio": None}, "INCONCLUSIVE", "low_n"),
        ({"se_log": None}, "INCONCLUSIVE", "one_pair"),
        ({"ratio": None, "value": PerArm(20.0, 20.0)}, "NODATA", "no_data"),
        ({"value": PerArm(None, 20.0)}, "NODATA", "no_data"),
        ({"ratio": None, "value": PerArm(None, None)}, "NODATA", "no_data"),
        ({"ratio": None, "value": PerArm(20.0, None)}, "NODATA", "no_data"),
        ({"ratio": 0.0}, "NODATA", "no_data"),
        ({"ratio": math.inf}, "NODATA", "no_data"),
        ({"ratio": math.nan}, "NODATA", "no_data"),
    ],
)
def test_what_no_test_can_decide(fields: dict[str, Any], state: FindingState, note: str) -> None:
    """Failures at +∞, spreads of zero, too few values, absences: each has its state and its code."""
    found = _judged(a_comparison(**fields))

    assert (found.state, found.notes) == (state, (note,))
    assert (found.upper, found.p_harm) == (None, None)


def test_a_withheld_metric_neither_passes_nor_fails() -> None:
    """Unlike work in the two arms: the numbers are there, and nothing rests on them."""
    for ratio in (0.3, 1.0, 3.0):
        found = _judged(a_comparison("e2e_p95", ratio=ratio), withheld="unlike work")
        assert (found.state, found.notes) == ("INCONCLUSIVE", ("withheld",))


@pytest.mark.parametrize(
    ("value", "bound", "state"),
    [
        (150.0, 180.0, "PASS"),
        (150.0, 200.0, "PASS"),
        (190.0, 220.0, "INCONCLUSIVE"),
        (230.0, 255.0, "FAIL"),
        (230.0, 270.0, "INCONCLUSIVE"),
    ],
)
def test_an_absolute_limit_is_judged_by_the_speculative_arm_alone(value: float, bound: float, state: FindingState) -> None:
    """TTFT p95 at most 200 ms: by its upper bound for a pass, by a significant excess for harm; the ratio plays no part."""
    comparison = a_comparison("ttft_p95", ratio=None, se_log=None, value=PerArm(None, value), bound=PerArm(None, bound))

    found = _judged(comparison, a_guardrail("ttft_p95", None, slo=200.0))

    assert (found.state, found.slo, found.bound) == (state, 200.0, 200.0)


@pytest.mark.parametrize(("value", "bound", "state"), [(0.8, 0.75, "PASS"), (0.72, 0.66, "INCONCLUSIVE"), (0.5, 0.46, "FAIL")])
def test_an_absolute_limit_from_below(value: float, bound: float, state: FindingState) -> None:
    """Alpha at least 0.7."""
    comparison = a_comparison("alpha", ratio=None, se_log=None, value=PerArm(None, value), bound=PerArm(None, bound))

    assert _judged(comparison, a_guardrail("alpha", None, slo=0.7, role="advisory")).state == state


def test_an_absolute_limit_without_a_bound_is_not_passed() -> None:
    """A value under the limit from too few samples says nothing yet; without a value there is nothing at all."""
    rule = a_guardrail("ttft_p95", None, slo=200.0)

    assert _judged(a_comparison("ttft_p95", ratio=None, value=PerArm(None, 10.0)), rule).state == "INCONCLUSIVE"
    assert _judged(a_comparison("ttft_p95", ratio=None, value=PerArm(None, None)), rule).state == "NODATA"
    assert (
        _judged(a_comparison("ttft_p95", ratio=None, value=PerArm(None, None), unbounded=PerArm(True, True)), rule).state
        == "FAIL"
    )


@pytest.mark.parametrize(
    ("alone", "state", "note"),
    [
        (ArmEstimate(value=150.0, bound=180.0, blocks=8), "PASS", ()),
        (ArmEstimate(value=150.0, bound=180.0, blocks=7), "INCONCLUSIVE", ("pairs_missing",)),
        (ArmEstimate(value=190.0, bound=220.0, blocks=7), "INCONCLUSIVE", ("pairs_missing",)),
        (ArmEstimate(value=150.0, bound=None, blocks=1), "INCONCLUSIVE", ("pairs_missing",)),
        (ArmEstimate(value=230.0, bound=255.0, blocks=7), "FAIL", ("harm",)),  # what is there is proof enough
        (ArmEstimate(value=230.0, bound=255.0, blocks=10), "FAIL", ("harm",)),
        (ArmEstimate(blocks=10, unbounded=True, p_unbounded=0.5), "INCONCLUSIVE", ("unbounded_open",)),
        (ArmEstimate(blocks=10, unbounded=True, p_unbounded=0.001), "FAIL", ("unbounded",)),
        (ArmEstimate(), "NODATA", ("no_data",)),
    ],
)
def test_an_absolute_limit_asks_for_the_blocks_in_which_only_the_baseline_is_silent(
    alone: ArmEstimate, state: FindingState, note: tuple[str, ...]
) -> None:
    """TTFT p95 at most 200 ms. In the pairs with a figure in both arms it is 10 ms, which says nothing of the others."""
    comparison = a_comparison("ttft_p95", value=PerArm(9.0, 10.0), bound=PerArm(9.5, 10.5), pairs=10, alone=alone)

    found = _judged(comparison, a_guardrail("ttft_p95", None, slo=200.0))

    assert (found.state, found.notes) == (state, note)


def test_what_keeps_a_limit_open_is_said() -> None:
    """Which blocks are missing, and what failed requests do not prove."""
    rule = a_guardrail("ttft_p95", None, slo=200.0)
    few = a_comparison("ttft_p95", alone=ArmEstimate(value=150.0, bound=180.0, blocks=3))
    burst = a_comparison("tpot_p95", ratio=None, unbounded=PerArm(False, True), p_unbounded=0.5)
    one_block = a_comparison("tpot_p50", ratio=None, unbounded=PerArm(False, True), p_unbounded=None)

    same_text("few blocks", _judged(few, rule).reason)
    same_text("a burst of failures", _judged(burst).reason)
    same_text("failures in one block", _judged(one_block).reason)


def test_a_bound_beyond_every_number_is_left_open() -> None:
    """Two pairs, log ratios 2 ± 9: the upper end would be e to the 58 at 95 %, and e to the 2,866 at an early look's level."""
    early = replace(AT_4, pairs=2, alpha=0.001)
    case = Case(guardrail=a_guardrail(), comparison=a_comparison(ratio=8.0, se_log=9.0, pairs=2), setting=early, in_family=True)

    found = judge_cases([case], 0.001)[0]

    assert (found.state, found.upper, found.supported_margin, found.detectable) == ("INCONCLUSIVE", None, None, None)
    same_text("no upper end", found.reason)


@pytest.mark.parametrize(
    ("before", "after", "state"),
    [(0.0, 0.0, "PASS"), (10.0, 11.0, "PASS"), (10.0, 12.0, "FAIL"), (0.0, 1.0, "FAIL"), (None, 0.0, "NODATA")],
)
def test_counts_are_judged_by_their_values(before: float | None, after: float, state: FindingState) -> None:
    """Preemptions may rise by 10 %: zero against zero is no division."""
    comparison = a_comparison("preemptions", ratio=None, se_log=None, value=PerArm(before, after), unit="requests", df=None)

    assert _judged(comparison, a_guardrail("preemptions", 0.10)).state == state


def test_a_count_of_too_few_pairs_proves_harm_only() -> None:
    """Preemptions told in 7 of 10 pairs by both arms: no more than before is no pass, and twice as many is harm."""

    def judged(after: float) -> Finding:
        given = a_comparison("preemptions", ratio=None, se_log=None, value=PerArm(10.0, after), unit="requests", df=None, pairs=7)
        return _judged(replace(given, df=None), a_guardrail("preemptions", 0.10))

    assert (judged(10.0).state, judged(10.0).notes) == ("INCONCLUSIVE", ("counted", "pairs_missing"))
    same_text("a count of seven pairs", judged(10.0).reason)
    assert (judged(20.0).state, judged(20.0).notes) == ("FAIL", ("counted",))


def test_the_sign_flip_test_is_heard_where_it_can_speak() -> None:
    """Ten pairs can reach 1 in 1,024; four cannot reach 1 in 20, so their silence is no contradiction."""
    contradicted = _judged(a_comparison(ratio=1.5, se_log=0.05, p_sign_flip=0.2))
    silent = _judged(a_comparison(ratio=1.5, se_log=0.05, p_sign_flip=0.2, pairs=4))

    assert contradicted.notes == ("harm", "sign_flip_disagrees")
    assert silent.notes == ("harm",)


def test_pairs_without_a_figure_keep_a_pass_back_and_no_harm() -> None:
    """Six of ten pairs have a figure: the four others may be the bad ones, which cannot excuse what the six show."""
    good, bad = _judged(a_comparison(ratio=0.6, pairs=6)), _judged(a_comparison(ratio=1.6, pairs=6))

    assert (good.state, good.notes) == ("INCONCLUSIVE", ("pairs_missing",))
    same_text("six pairs", good.reason)
    assert bad.state == "FAIL"
    assert _judged(a_comparison(ratio=0.6, pairs=8)).state == "PASS"


def _absences(metric: str) -> list[Comparison]:
    """Every way in which a comparison of this metric can lack what a test needs."""
    choices: dict[str, list[Any]] = {
        "ratio": [None, math.nan, 0.0, 1.0],
        "se_log": [None, 0.02],
        "value": [PerArm(None, None), PerArm(None, 1.0), PerArm(1.0, None), PerArm(1.0, 1.0)],
        "unbounded": [PerArm(False, False), PerArm(True, False)],
        "low_n": [False, True],
    }
    made = [a_comparison(metric, **dict(zip(choices, picked, strict=True))) for picked in product(*choices.values())]
    whole = {"ratio": 1.0, "se_log": 0.02, "value": PerArm(1.0, 1.0), "unbounded": PerArm(False, False), "low_n": False}
    return [c for c in made if any(getattr(c, name) != value for name, value in whole.items())]


@pytest.mark.parametrize("guardrail", DEFAULTS, ids=lambda guardrail: guardrail.metric)
def test_no_path_leads_from_missing_data_to_a_pass(guardrail: Guardrail) -> None:
    """Each default guardrail, and the same one with an absolute limit, over every way of lacking data."""
    rules = [guardrail, replace(guardrail, slo=1e9 if guardrail.metric != "alpha" else 0.0)]
    for rule, comparison in product(rules, _absences(guardrail.metric)):
        found = _judged(comparison, rule)
        assert found.state != "PASS", (rule, comparison)
        assert found.reason.endswith("."), found.reason


@given(
    ratio=st.floats(0.2, 5.0),
    worse=st.floats(1.0, 5.0),
    se_log=st.floats(0.001, 0.5),
    pairs=st.integers(2, 30),
    metric=st.sampled_from(["tpot_p95", "output_tps"]),
    others=st.lists(st.floats(0.5, 2.0), max_size=5),
)
def test_worsening_the_speculative_arm_never_improves_a_finding(
    ratio: float, worse: float, se_log: float, pairs: int, metric: str, others: list[float]
) -> None:
    """With the same spread, a ratio further in the harmful direction is never judged better, alone or in a family."""
    further = ratio * worse if metric == "tpot_p95" else ratio / worse
    family = [_case(a_comparison(ratio=other)) for other in others]

    def state(at: float) -> int:
        return BETTER[judge_cases([_case(a_comparison(metric, at, se_log, pairs=pairs)), *family], 0.05)[0].state]

    assert state(further) <= state(ratio)


@given(
    ratio=st.floats(0.2, 5.0), se_log=st.floats(0.001, 0.5), wider=st.floats(1.0, 10.0), flags=st.sampled_from(["low", "lost"])
)
def test_knowing_less_never_makes_a_pass(ratio: float, se_log: float, wider: float, flags: str) -> None:
    """A wider spread, too few samples or failures beyond every number: none of them turns a finding into PASS."""
    before = _judged(a_comparison(ratio=ratio, se_log=se_log)).state
    after = [_judged(a_comparison(ratio=ratio, se_log=se_log * wider)).state]
    after.append(_judged(a_comparison(ratio=ratio, low_n=True) if flags == "low" else a_comparison(ratio=None)).state)

    assert before == "PASS" or "PASS" not in after


@given(value=st.floats(1.0, 1000.0), spread=st.floats(1.001, 2.0), worse=st.floats(1.0, 5.0))
def test_worsening_never_improves_an_absolute_finding(value: float, spread: float, worse: float) -> None:
    """The same for a limit of 200 ms."""

    def state(at: float) -> int:
        comparison = a_comparison("ttft_p95", ratio=None, value=PerArm(None, at), bound=PerArm(None, at * spread))
        return BETTER[_judged(comparison, a_guardrail("ttft_p95", None, slo=200.0)).state]

    assert state(value * worse) <= state(value)


@given(ratio=st.floats(0.2, 5.0), se_log=st.floats(0.001, 0.5))
def test_harm_and_gain_are_one_scale(ratio: float, se_log: float) -> None:
    """Swapping the arms swaps harm and gain: the two one-sided p add up to 1."""
    p = harm_p(_case(a_comparison(ratio=ratio, se_log=se_log)))
    swapped = harm_p(_case(a_comparison(ratio=1 / ratio, se_log=se_log)))

    assert p is not None
    assert swapped is not None
    assert p + swapped == pytest.approx(1.0)


def test_a_finding_alone_is_the_same_as_in_a_family_of_one() -> None:
    """`finding` is the second pass of `judge_cases`."""
    case = _case(a_comparison(ratio=1.3))
    p = harm_p(case)

    assert finding(case, p, p, 0.05) == judge_cases([case], 0.05)[0]
