"""Greedy answers: only clear differences count, both ways, and the thresholds are those of the exact tests."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specbench.analysis.answers.answers_greedy import answers_greedy, by_load, contradicts_itself, greedy_evidence
from specbench.model.answers.compared_answers import AnswerComparison
from specbench.model.result import FindingState, PerArm
from tests.support.answers import an_answer, greedy_run
from tests.support.goldens import same_text


@pytest.mark.parametrize(
    ("prompts", "clear", "state"),
    [
        (256, 0, "PASS"),
        (256, 6, "PASS"),
        (256, 7, "INCONCLUSIVE"),
        (256, 8, "FAIL"),
        (128, 2, "PASS"),
        (128, 3, "INCONCLUSIVE"),
        (128, 5, "INCONCLUSIVE"),
        (128, 6, "FAIL"),
        (64, 0, "PASS"),
        (64, 1, "INCONCLUSIVE"),
        (64, 3, "INCONCLUSIVE"),
        (64, 4, "FAIL"),
        (63, 0, "INCONCLUSIVE"),  # too few to pass, but not to fail
        (24, 0, "INCONCLUSIVE"),
        (24, 4, "FAIL"),
        (8, 2, "INCONCLUSIVE"),  # two of two are no proof against one of two
    ],
)
def test_exact_thresholds(prompts: int, clear: int, state: FindingState) -> None:
    """By the number of prompts, with none that the baseline contradicts of its own."""
    found = answers_greedy(greedy_run(prompts, clear))

    assert (found.state, found.required, found.role, found.cell) == (state, True, "safety", None)


def test_near_ties_count_for_nobody() -> None:
    """An honest engine parts from the baseline in most of its answers, by a few tenths of a nat."""
    found = answers_greedy(greedy_run(256, near=195))

    assert found.state == "PASS"
    same_text("answers-greedy-pass", found.reason)


def test_what_the_baseline_contradicts_of_its_own_is_the_null() -> None:
    """Eight clear differences fail, unless as many of the baseline's own answers part as clearly."""
    assert answers_greedy(greedy_run(256, 8)).state == "FAIL"
    assert answers_greedy(greedy_run(256, 8, clear_baseline=5)).state == "INCONCLUSIVE"


@pytest.mark.parametrize(
    ("own", "limit"),
    [
        (0.0, 0.5),
        (0.2, 0.5),  # 1.5 times 0.2 is less than what decode and prefill of one text may differ by
        (0.4, 0.6),
        (1.2, 1.8),
        (5.0, 2.0),  # never more: a difference of 2 nats is one that the baseline is sure of
    ],
)
def test_a_noisy_baseline_widens_what_counts_as_clear(own: float, limit: float) -> None:
    """One and a half times the 99th percentile of its own margins over the differences, between 0.5 and 2 nats."""
    run = AnswerComparison(compared=tuple(an_answer(own, 0.1) for _ in range(100)))

    assert greedy_evidence(run).clear_nats == pytest.approx(limit)


def test_a_margin_exactly_at_the_limit_is_a_near_tie() -> None:
    """Beyond it, it is clear."""
    at, past = (AnswerComparison(compared=(an_answer(0.0, margin),) * 8 + (an_answer(),) * 248) for margin in (0.5, 0.51))

    assert (answers_greedy(at).state, answers_greedy(past).state) == ("PASS", "FAIL")


@pytest.mark.parametrize("margin", [float("inf"), float("nan"), float("-inf")])
def test_a_log_probability_that_is_no_number_is_outside(margin: float) -> None:
    """Such a token is one that the baseline cannot yield, so the difference is clear."""
    assert answers_greedy(greedy_run(256, 8, margin=margin)).state == "FAIL"


def test_answers_that_were_scored_whole_count_by_any_of_their_tokens() -> None:
    """A corruption behind a harmless first difference is seen too."""
    behind = an_answer(0.1, 0.05, widest_gap_nats=PerArm(0.2, 4.0))
    run = AnswerComparison(compared=(behind,) * 8 + (an_answer(),) * 248)

    assert answers_greedy(run).state == "FAIL"


def test_an_equal_answer_never_counts_however_unsure_the_baseline_is_of_it() -> None:
    """What both arms say is no change."""
    odd = an_answer(widest_gap_nats=PerArm(4.0, 4.0))

    assert answers_greedy(AnswerComparison(compared=(odd,) * 256)).state == "PASS"


def test_differences_of_which_nothing_is_known_forbid_a_pass_and_prove_nothing() -> None:
    """Questions that failed: they may be the clear ones."""
    lost = an_answer(0.0, 0.0, gap_nats=None, reason="timed out")
    few, many = (AnswerComparison(compared=(lost,) * n + (an_answer(),) * (255 - n) + (an_answer(0.1, 0.1),)) for n in (6, 40))

    assert (answers_greedy(few).state, answers_greedy(many).state) == ("PASS", "INCONCLUSIVE")


@pytest.mark.parametrize(
    ("case", "run"),
    [
        ("asked, it ranks another first", greedy_run(256, 40, ruler=0.89)),
        ("no number at all", greedy_run(256, 40, ruler=float("nan"))),
        ("0 for every token", greedy_run(256, 40, margin=0.0)),
        ("refused", greedy_run(256, 40, unanswerable=(("greedy", "tgi answers 422 to details"),))),
        ("sampled alone", AnswerComparison(compared=(an_answer(temperature=0.7),) * 256)),
        ("never asked", AnswerComparison(compared=(an_answer(0.0, 0.0, gap_nats=None),) * 80)),
        ("each question failed", AnswerComparison(compared=(an_answer(0.0, 0.0, gap_nats=None, reason="HTTP 500"),) * 80)),
    ],
)
def test_a_baseline_that_cannot_be_asked_is_no_data(case: str, run: AnswerComparison) -> None:
    """Never a FAIL, never a pass, and not required; the reason says why."""
    found = answers_greedy(run)

    assert (found.state, found.required) == ("NODATA", False)
    same_text(f"answers-greedy-no-data-{case.replace(' ', '-')}", found.reason)


def test_exactly_equal_margins_of_a_few_answers_are_ties_and_no_sign_of_a_blind_baseline() -> None:
    """Two log probabilities of coarse arithmetic are often exactly equal."""
    assert answers_greedy(greedy_run(256, 7, margin=0.0)).state == "PASS"


def test_a_baseline_that_contradicts_itself_is_no_reference() -> None:
    """Its own answers part by more than two nats in more than 1 % of the prompts: nothing is proven against the other arm."""
    run = greedy_run(256, 30, clear_baseline=20)
    check = contradicts_itself(run)
    sound = contradicts_itself(greedy_run(256, 30, clear_baseline=2))

    assert check is not None
    assert sound is not None
    assert (check.id, check.cell, check.ok) == ("baseline_contradicts_itself", None, False)
    assert sound.ok is True
    assert answers_greedy(run).state == "INCONCLUSIVE"
    assert contradicts_itself(greedy_run(256, 40, ruler=0.5)) is None
    same_text("answers-contradicts", check.message, sound.message, answers_greedy(run).reason)


def test_the_sentence_splits_by_load() -> None:
    """Half of the serious defects need requests in flight together."""
    at_16 = [replace(one, cell="c16", concurrency=16) for one in greedy_run(64, 31).compared]
    at_1 = [replace(one, cell="c1", concurrency=1) for one in greedy_run(64).compared]
    after = [replace(one, cell=None, pair=None, concurrency=None) for one in greedy_run(10).compared]
    run = AnswerComparison(compared=(*at_1, *after, *at_16))

    counts = [(one.concurrency, one.counts.clear, one.counts.compared) for one in by_load(greedy_evidence(run))]

    assert counts == [(16, 31, 64), (1, 0, 64), (None, 0, 10)]
    same_text("answers-greedy-fail", answers_greedy(run).reason)


def test_an_open_finding_says_how_many_prompts_would_settle_it() -> None:
    """At the share that was seen; where none would, nothing is promised."""
    same_text(
        "answers-greedy-open",
        *(answers_greedy(greedy_run(prompts, clear)).reason for prompts, clear in ((24, 0), (64, 1), (256, 7))),
    )


@pytest.mark.parametrize(("most", "state"), [(0.01, "FAIL"), (0.05, "FAIL"), (0.25, "PASS")])
def test_what_a_scenario_allows_moves_both_limits(most: float, state: FindingState) -> None:
    """The share that a pass must stay below, and, from 5 % on, a fifth of it as the share that chance is given."""
    assert answers_greedy(greedy_run(256, 8), differ_by_at_most=most).state == state


def test_lossy_by_declaration_is_advice() -> None:
    """It is reported and decides nothing."""
    found = answers_greedy(greedy_run(256, 40), lossy=True)

    assert (found.state, found.role, found.required, found.decides) == ("FAIL", "advisory", False, False)


MARGINS = st.floats(0.0, 6.0) | st.just(float("inf"))
ANSWERS = st.builds(an_answer) | st.builds(an_answer, MARGINS, MARGINS)


@settings(max_examples=50, deadline=None)
@given(st.lists(ANSWERS, max_size=80), st.integers(0, 40))
def test_one_more_clear_difference_never_helps(answers: list[Any], more: int) -> None:
    """Replacing equal answers by clear differences moves the state from PASS towards FAIL, never back."""
    order = {"FAIL": 0, "INCONCLUSIVE": 1, "PASS": 2}
    plain = AnswerComparison(compared=(*answers, *[an_answer()] * more))
    worse = AnswerComparison(compared=(*answers, *[an_answer(0.0, 9.0)] * more))
    states = answers_greedy(plain).state, answers_greedy(worse).state

    if "NODATA" not in states:
        assert order[states[1]] <= order[states[0]]


@settings(max_examples=50, deadline=None)
@given(st.lists(ANSWERS, min_size=1, max_size=80))
def test_arms_that_change_places_cannot_both_fail(answers: list[Any]) -> None:
    """A proof needs more clear differences than the baseline has of its own."""
    swapped = [
        replace(one, gap_nats=None if one.gap_nats is None else PerArm(one.gap_nats.speculative, one.gap_nats.baseline))
        for one in answers
    ]
    states = [answers_greedy(AnswerComparison(compared=tuple(run))).state for run in (answers, swapped)]

    assert states != ["FAIL", "FAIL"]
