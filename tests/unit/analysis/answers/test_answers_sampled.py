"""Sampled answers: three t tests over prompts, each of a mean that is 0 where both arms sample alike."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specbench.analysis.answers.answers_sampled import answers_sampled, shifts_of
from specbench.model.answers.compared_answers import AnswerComparison, TokenScores
from specbench.model.result import Finding, FindingState
from tests.support.answers import a_sample, greedy_run, scores
from tests.support.goldens import same_text

SPREAD = 0.1  # of the mean surprise of one answer; a difference of two scatters by 0.14


def _run(
    shift: float = 0.0,
    prompts: int = 256,
    *,
    rank: float = 0.0,
    outside: float = 0.0,
    own: float = 0.0,
    seed: int = 1,
    tokens: int = 96,
) -> AnswerComparison:
    """Scores that scatter evenly around 0, the speculative arm's moved by these shifts, both arms' by `own`."""
    made = np.random.default_rng(seed).uniform(-1, 1, (prompts, 2, 3)) * np.array([SPREAD, 0.02, 0.01]) * 3**0.5
    made -= made.mean(axis=0)
    pairs = []
    for baseline, speculative in made:
        before = scores(baseline[0] + own, baseline[1], baseline[2], tokens)
        after = scores(speculative[0] + own + shift, speculative[1] + rank, speculative[2] + outside, tokens)
        pairs.append(a_sample(before, after))
    return AnswerComparison(compared=tuple(pairs), ruler=1.0)


def _state(run: AnswerComparison) -> FindingState:
    return answers_sampled(run).state


@pytest.mark.parametrize(
    ("shift", "prompts", "state"),
    [
        (0.0, 256, "PASS"),
        (0.02, 256, "PASS"),
        (-0.02, 256, "PASS"),
        (0.04, 256, "FAIL"),  # alike within 0.05 nat, and yet surely shifted
        (-0.05, 256, "FAIL"),
        (0.05, 256, "FAIL"),
        (0.05, 64, "INCONCLUSIVE"),
        (-0.2, 64, "FAIL"),
    ],
)
def test_a_shift_of_surprise(shift: float, prompts: int, state: FindingState) -> None:
    """In nats a token, either way; the difference of two answers scatters by 0.14."""
    assert _state(_run(shift, prompts)) == state


@pytest.mark.parametrize(("rank", "outside"), [(0.03, 0.0), (-0.03, 0.0), (0.0, 0.01)])
def test_tokens_that_are_the_first_or_outside_too_often(rank: float, outside: float) -> None:
    """Each of the other two means fails alone."""
    found = answers_sampled(_run(rank=rank, outside=outside))

    assert found.state == "FAIL"
    same_text(f"answers-sampled-rank-{rank}-outside-{outside}", found.reason)


def test_what_is_significant_and_too_small_to_matter_is_no_fail() -> None:
    """10,000 prompts find a shift of 0.008 nat, which changes nobody's answers; nor is it a pass."""
    assert _state(_run(0.008, 10_000)) == "INCONCLUSIVE"


def test_a_wrong_guess_of_the_engines_own_shaping_shifts_both_arms_alike() -> None:
    """The default of top_k is not known: the ruler is off for both."""
    assert _state(_run(0.0, own=0.3)) == "PASS"


def test_a_baseline_whose_own_answers_fit_worse_proves_nothing_against_the_other_arm() -> None:
    """The speculative arm samples what the baseline tells, the baseline does not."""
    own = _run(-0.1)
    turned = [
        replace(
            one,
            scores=None
            if one.scores is None
            else replace(one.scores, baseline=one.scores.speculative, speculative=one.scores.baseline),
        )
        for one in own.compared
    ]
    found = answers_sampled(replace(own, compared=tuple(turned)))

    assert (_state(own), found.state) == ("FAIL", "INCONCLUSIVE")
    same_text("answers-sampled-baseline-off", found.reason)


def test_a_baseline_that_contradicts_its_greedy_answers_proves_nothing_of_sampled_ones_either() -> None:
    """It is no reference for any."""
    broken = greedy_run(256, clear_baseline=30).compared

    assert _state(replace(_run(-0.2), compared=(*_run(-0.2).compared, *broken))) == "INCONCLUSIVE"


def test_answers_that_repeat_exactly_pass() -> None:
    """A seed in step, or arms that are one endpoint: no spread at all, and no difference."""
    same = scores(0.01)

    assert _state(AnswerComparison(compared=(a_sample(same, same),) * 64)) == "PASS"


@pytest.mark.parametrize(
    ("case", "run"),
    [
        ("63 prompts", _run(-0.5, 63)),
        ("15 tokens", _run(-0.5, 256, tokens=15)),
        ("greedy alone", AnswerComparison(compared=(a_sample(scores(0), scores(0), temperature=0.0),) * 256)),
        ("0 for every token", AnswerComparison(compared=(a_sample(scores(0.0, 0.5), scores(0.0, 0.5)),) * 256)),
        ("misaligned", replace(_run(-0.5), ruler=0.4)),
        ("refused", replace(_run(-0.5), unanswerable=(("sampled", "llama.cpp scores no text"),))),
        ("not a number", AnswerComparison(compared=(a_sample(scores(float("nan")), scores(0.1)),) * 256)),
        ("each failed", AnswerComparison(compared=(a_sample(scores(0), scores(0), scores=None, reason="HTTP 400"),) * 256)),
    ],
)
def test_no_data(case: str, run: AnswerComparison) -> None:
    """Never a FAIL, and not required; the reason says why."""
    found = answers_sampled(run)

    assert (found.state, found.required) == ("NODATA", False)
    same_text(f"answers-sampled-no-data-{case.replace(' ', '-')}", found.reason)


def test_the_worst_of_several_settings_decides() -> None:
    """Each setting is tested apart, as a fault of one would drown in the others; the tests share their error."""
    warm = [replace(one, sampling="warm", temperature=1.2) for one in _run(-0.1, seed=2).compared]
    run = AnswerComparison(compared=(*_run().compared, *warm))

    assert answers_sampled(run).state == "FAIL"
    assert [(one.sampling, one.prompts) for one in shifts_of(run)] == [("sampled", 256), ("warm", 256)]
    same_text("answers-sampled-two-settings", answers_sampled(run).reason)


def test_the_sentences_say_what_would_have_been_found() -> None:
    """(3.3 + 1.3) standard errors: nine of ten such runs find it."""
    reasons = [answers_sampled(run).reason for run in (_run(), _run(-0.05), _run(0.05, 64))]

    assert shifts_of(_run())[0].detectable_nats == pytest.approx(4.6 * SPREAD * 2**0.5 / 16, rel=0.1)
    same_text("answers-sampled", *reasons)


def test_lossy_by_declaration_is_advice() -> None:
    """It is reported and decides nothing."""
    found = answers_sampled(_run(-0.5), lossy=True)

    assert (found.state, found.role, found.required) == ("FAIL", "advisory", False)


def test_equal_arms_seldom_fail() -> None:
    """At .0025 for three tests together: 120 runs of normal scores, of which 0.3 are expected to fail."""
    random = np.random.default_rng(7)
    states = []
    for _ in range(120):
        made = random.normal(0, (SPREAD, 0.05, 0.02), (96, 2, 3))
        pairs = tuple(
            a_sample(
                TokenScores(tokens=96, surprise_nats=b[0], rank=b[1], outside=b[2]),
                TokenScores(tokens=96, surprise_nats=s[0], rank=s[1], outside=s[2]),
            )
            for b, s in made
        )
        states.append(_state(AnswerComparison(compared=pairs)))

    assert states.count("FAIL") <= 3


@settings(max_examples=25, deadline=None)
@given(st.floats(-0.5, 0.5), st.integers(0, 1000))
def test_the_direction_of_a_shift_does_not_matter(shift: float, seed: int) -> None:
    """Two-sided: the same state for the same shift the other way, with all scores turned."""

    def turned(found: TokenScores) -> TokenScores:
        return scores(-found.surprise_nats, -found.rank, -found.outside)

    run = _run(shift, 96, seed=seed)
    mirrored = tuple(
        a_sample(turned(one.scores.baseline), turned(one.scores.speculative)) for one in run.compared if one.scores is not None
    )

    def judged(which: AnswerComparison) -> Finding:
        return answers_sampled(which)

    assert judged(run).state == judged(AnswerComparison(compared=mirrored)).state
