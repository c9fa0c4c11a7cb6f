"""What results of other tools may say: INVALID, ROLLBACK or HOLD, and an indication of medians."""

from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specbench.model.data.imported_result import ImportedWord
from tests.support.imported import a_run, judged


@pytest.mark.parametrize(
    ("speculative", "said"),
    [(12.0, "faster"), (15.6, "unclear"), (20.0, "unclear"), (26.0, "unclear"), (28.0, "slower")],
)
def test_one_run_an_arm_indicates_what_runs_do_not_differ_by(speculative: float, said: str) -> None:
    """With 10 % from run to run, nothing below about 24 % faster or 32 % slower."""
    found = judged([a_run(20.0)], [a_run(speculative)])

    assert (found.verdict, found.exit_code, found.indication) == ("HOLD", 10, said)
    assert {one.code for one in found.reasons} == {"indication", "imported", "to_decide"}


def test_a_smaller_stated_spread_indicates_more() -> None:
    """Equal files are alike where 1 % is taken for the spread between runs."""
    assert judged([a_run(20.0)], [a_run(20.0)], 0.01).indication == "alike"
    assert judged([a_run(20.0)], [a_run(17.0)], 0.01).indication == "faster"


def test_a_tail_of_one_run_is_shown_and_indicates_nothing() -> None:
    """A p95 three times as long is a number of that run."""
    found = judged([a_run(20.0)], [a_run(60.0)])
    tails = [one for one in found.cells[0].metrics if one.ours.endswith("_p95")]

    assert tails
    assert all(one.indication is None and one.reason == "tail_of_few_runs" for one in tails)


def test_a_gain_with_a_later_first_token_is_mixed() -> None:
    """Faster tokens after a first one that takes twice as long."""
    assert judged([a_run(20.0, 100.0)], [a_run(12.0, 200.0)]).indication == "mixed"


def test_from_three_runs_an_arm_on_the_spread_is_measured() -> None:
    """Runs that repeat within 1 % need no stated 10 %."""
    found = judged([a_run(20.0), a_run(20.1), a_run(19.9)], [a_run(17.0), a_run(17.1), a_run(16.9)])

    assert found.between_measured
    assert (found.verdict, found.indication) == ("HOLD", "faster")


@pytest.mark.parametrize(("runs", "verdict"), [(3, "HOLD"), (4, "ROLLBACK")])
def test_harm_needs_four_runs_an_arm(runs: int, verdict: str) -> None:
    """Tokens that take half as long again, in every run."""
    baseline = [a_run(20.0 + at / 10) for at in range(runs)]
    speculative = [a_run(30.0 + at / 10) for at in range(runs)]

    assert judged(baseline, speculative).verdict == verdict


def test_runs_in_turn_are_pairs() -> None:
    """A machine that slows down from run to run hides a gain from Welch, and not from pairs."""
    slowing = [1.0, 1.4, 1.9, 2.5]
    baseline = [a_run(20.0 * by, started_s=10.0 * at) for at, by in enumerate(slowing)]
    speculative = [a_run(16.0 * by * (1 + at / 100), started_s=10.0 * at + 5) for at, by in enumerate(slowing)]
    apart = [a_run(16.0 * by * (1 + at / 100), started_s=100.0 + at) for at, by in enumerate(slowing)]

    assert judged(baseline, speculative).indication == "faster"
    assert judged(baseline, apart).indication == "unclear"


@pytest.mark.parametrize(
    ("baseline", "speculative", "verdict", "code"),
    [
        (a_run(good=24), a_run(good=0, bad=24), "ROLLBACK", "no_success"),
        (a_run(good=20), a_run(good=0, bad=20), "ROLLBACK", "no_success"),
        (a_run(good=3), a_run(good=0, bad=3), "HOLD", "imported"),
        (a_run(good=200), a_run(good=190, bad=10), "ROLLBACK", "failures"),
        (a_run(good=200), a_run(good=197, bad=3), "HOLD", "imported"),
        (a_run(good=190, bad=10), a_run(good=190, bad=10), "HOLD", "imported"),
        (a_run(good=0, bad=24), a_run(), "INVALID", "not_comparable"),
        (a_run(good=0, bad=24), a_run(good=0, bad=24), "INVALID", "not_comparable"),
    ],
)
def test_failures_prove_harm_where_chance_does_not_explain_them(baseline: Any, speculative: Any, verdict: str, code: str) -> None:
    """No success beside 20, or a surplus of a point that Fisher's test finds; without a success in the baseline there is none."""
    found = judged([baseline], [speculative])

    assert found.verdict == verdict
    assert code in {one.code for one in found.reasons}


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        ({"tool": "guidellm"}, "guidellm"),
        ({"model": "other"}, "other"),
        ({"route": "openai"}, "openai"),
        ({"dataset": "two"}, "two"),
        ({"seed": "2"}, "2"),
        ({"load": "8 streams"}, "8 streams"),
        ({"streamed": False}, "a.json"),
        ({"broken_off": "cancelled"}, "a.json"),
    ],
)
def test_unlike_arms_are_invalid(fields: dict[str, Any], shown: str) -> None:
    """Another tool, model, route, dataset, seed or load, no stream, a cancelled run; the sentence has what differs."""
    told: dict[str, Any] = {"route": "chat", "dataset": "one", "seed": "1"}
    found = judged([a_run(**told)], [a_run(**(told | fields))])

    assert (found.verdict, found.exit_code) == ("INVALID", 30)
    assert shown in found.reasons[0].message
    assert found.reasons[0].code == "not_comparable"


@pytest.mark.parametrize(
    ("fields", "shown"),
    [({"tool": "guidellm"}, "guidellm, vllm"), ({"model": "other"}, "m, other"), ({"speculated": True}, "4 streams")],
)
@pytest.mark.parametrize("arms", [(1, 0), (0, 1), (1, 1)])
def test_an_arm_of_two_kinds_is_invalid(fields: dict[str, Any], shown: str, arms: tuple[int, int]) -> None:
    """Two tools, two models, or drafts in some runs of a load alone are no repeats, also where both arms have the same two."""
    one, other = a_run(20.0), a_run(21.0, **fields)
    baseline, speculative = ([one, other] if arm else [one] for arm in arms)
    found = judged(baseline, speculative)

    assert (found.verdict, found.exit_code) == ("INVALID", 30)
    assert any(shown in reason.message for reason in found.reasons if reason.code == "not_comparable")


def test_what_one_file_does_not_tell_is_no_difference() -> None:
    """A model or a seed that only one of them names."""
    assert judged([a_run(model=None, seed="1")], [a_run(model="m")]).verdict == "HOLD"


def test_other_prompts_are_invalid() -> None:
    """More than one in a hundred with another length, or missing."""
    longer = [one.input_tokens for one in a_run().requests]
    assert longer[0] == 100
    other = a_run()
    changed = tuple(
        type(one)(ok=True, prompt=one.prompt, input_tokens=(one.input_tokens or 0) + 1, output_tokens=64, times_ms=one.times_ms)
        for one in other.requests
    )

    assert judged([a_run()], [a_run(requests=changed)]).verdict == "INVALID"
    assert judged([a_run()], [a_run(good=20)]).verdict == "INVALID"


@pytest.mark.parametrize(("tokens", "verdict"), [(64, "HOLD"), (59, "HOLD"), (57, "INVALID"), (71, "INVALID")])
def test_answers_of_another_length_are_invalid(tokens: int, verdict: str) -> None:
    """More than 10 % in the mean."""
    shorter = tuple(
        type(one)(ok=True, prompt=one.prompt, input_tokens=one.input_tokens, output_tokens=tokens, times_ms=one.times_ms)
        for one in a_run().requests
    )

    assert judged([a_run()], [a_run(requests=shorter)]).verdict == verdict


def test_a_summary_without_values_is_compared_by_its_percentiles() -> None:
    """And a note says so; the interval is that of the runs alone."""
    baseline = a_run(requests=(), summary={"tpot_classic_p50": 20.0}, pairing=None)
    speculative = a_run(requests=(), summary={"tpot_classic_p50": 10.0}, pairing=None)
    found = judged([baseline], [speculative])
    tpot = found.cells[0].metrics[0]

    assert [tpot.ratio, tpot.low] == pytest.approx([0.5, 0.379], abs=1e-3)
    assert found.indication == "faster"
    assert len(found.notes) == 2  # that, and that neither file shows drafts


RUNS = st.builds(
    a_run,
    st.floats(0.001, 1e6),
    st.floats(0.0, 1e6),
    good=st.integers(0, 30),
    bad=st.integers(0, 30),
    load=st.sampled_from(["4 streams", "8 streams"]),
    speculated=st.sampled_from([None, True]),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(RUNS, min_size=1, max_size=5), st.lists(RUNS, min_size=1, max_size=5), st.floats(0.01, 1.0))
def test_no_import_promotes(baseline: Any, speculative: Any, between: float) -> None:
    """Whatever the numbers are."""
    found = judged(baseline, speculative, between)

    assert found.verdict in get_args(ImportedWord) == ("INVALID", "ROLLBACK", "HOLD")
    assert found.exit_code == {"INVALID": 30, "ROLLBACK": 20, "HOLD": 10}[found.verdict]
