"""A workload of short answers is told what it can never show."""

from collections.abc import Sequence
from dataclasses import replace

from specbench.model.scenario import Bin, Scenario, Success
from specbench.plan.describe import describe
from specbench.plan.short_answers import never_shown
from specbench.plan.trials import cells_of, trials_of
from tests.support.evidence import a_scenario, with_guardrails
from tests.support.goldens import same_text
from tests.support.judging import a_guardrail


def _scenario(*most: int, separate: bool = False) -> Scenario:
    scenario = a_scenario([1, 4])
    bins = tuple(
        Bin(name=f"bin{place}", input_tokens=(32, 64), output_tokens=(1, tokens), weight=1.0) for place, tokens in enumerate(most)
    )
    matrix = replace(scenario.matrix, traffic="separate" if separate else "mixed")
    return replace(scenario, workload=replace(scenario.workload, bins=bins), matrix=matrix)


def _named(lines: Sequence[str]) -> set[str]:
    text = " ".join(lines)
    return {metric for metric in ("tpot_p50", "tpot_p95", "pace_p95", "bin0", "bin1") if metric in text}


def test_answers_below_eight_tokens_have_no_time_per_token() -> None:
    """Neither the gain nor the tails can be shown; from nine tokens on both can."""
    assert _named(never_shown(_scenario(7))) == {"tpot_p50", "tpot_p95", "pace_p95"}
    assert _named(never_shown(_scenario(8))) == {"pace_p95"}
    assert never_shown(_scenario(9)) == []
    same_text("answers of at most 7 tokens", *never_shown(_scenario(7)))


def test_one_bin_of_long_answers_is_enough_in_mixed_traffic() -> None:
    """With cells of its own the short bin is judged alone, and named."""
    assert never_shown(_scenario(4, 64)) == []
    assert _named(never_shown(_scenario(4, 64, separate=True))) == {"tpot_p50", "tpot_p95", "pace_p95", "bin0"}


def test_what_is_not_asked_for_is_not_missed() -> None:
    """Another gain, and tails as advice."""
    scenario = replace(_scenario(4), success=Success(metric="e2e_p50", improve_by=0.05))
    advice = [a_guardrail(metric, 0.1, role="advisory") for metric in ("tpot_p95", "pace_p95")]

    assert _named(never_shown(scenario)) == {"tpot_p95", "pace_p95"}
    assert never_shown(with_guardrails(scenario, *advice)) == []


def test_the_plan_says_it() -> None:
    """In lines that fit a terminal."""
    scenario = _scenario(4)
    text = describe(scenario, trials_of(scenario, cells_of(scenario)))

    assert text.endswith("\n".join(never_shown(scenario)))
    assert max(map(len, text.splitlines())) <= 80
