"""The default guardrails, and how listed ones take their place."""

from dataclasses import replace

from specbench.analysis.guardrails import DEFAULTS, effective_guardrails
from specbench.analysis.metrics import METRICS
from tests.support.judging import a_guardrail


def test_the_defaults_that_decide() -> None:
    """Role, margin and floor of each required guardrail."""
    assert {g.metric: (g.role, g.margin, g.floor) for g in DEFAULTS if g.required} == {
        "tpot_p95": ("guardrail", 0.10, 0.5),
        "pace_p95": ("guardrail", 0.10, 0.5),
        "ttft_p95": ("guardrail", 0.15, 20.0),
        "e2e_p95": ("guardrail", 0.10, 0.0),
        "output_tps": ("guardrail", 0.05, 0.0),
        "completed_rps": ("guardrail", 0.05, 0.0),
        "error_rate": ("safety", 0.005, 0.0),
        "oom": ("safety", None, 0.0),
        "restarts": ("safety", None, 0.0),
        "output_length": ("safety", 0.03, 0.0),
    }


def test_every_default_guards_a_metric_that_is_measured() -> None:
    """A guardrail on a name that nothing measures would be silent for ever."""
    assert {g.metric for g in DEFAULTS} <= set(METRICS)


def test_the_time_of_single_tokens_is_advice() -> None:
    """After a rejection one token carries a whole step, so ITL p95 rises where TPOT falls by half."""
    assert {g.role for g in DEFAULTS if g.metric.startswith(("itl", "chunk_gap"))} == {"advisory"}


def test_without_a_list_the_defaults_hold() -> None:
    """With forced lengths as they stand; with natural ones the length of answers is only shown."""
    assert effective_guardrails((), True, "forced") == DEFAULTS
    natural = {g.metric: g for g in effective_guardrails((), True, "natural")}
    assert (natural["output_length"].role, natural["output_length"].required) == ("advisory", False)
    assert [g for g in natural.values() if g.metric != "output_length"] == [g for g in DEFAULTS if g.metric != "output_length"]


def test_a_listed_guardrail_replaces_the_default_of_its_metric() -> None:
    """In its place; the others stay."""
    mine = a_guardrail("ttft_p95", 0.30)

    rules = effective_guardrails((mine,), True, "forced")

    assert rules == tuple(mine if g.metric == "ttft_p95" else g for g in DEFAULTS)


def test_a_metric_may_be_listed_for_different_cells() -> None:
    """Both stand in the place of the default."""
    low, high = a_guardrail("tpot_p95", 0.05, cells=(1.0,)), a_guardrail("tpot_p95", 0.20, cells=(16.0,))

    rules = effective_guardrails((low, high), True, "forced")

    assert [g for g in rules if g.metric == "tpot_p95"] == [low, high]
    assert len(rules) == len(DEFAULTS) + 1


def test_a_guardrail_on_another_metric_is_added() -> None:
    """Promoted advice, or a metric without a default."""
    stall = a_guardrail("stall_p95", None, slo=200.0)
    promoted = replace(a_guardrail("itl_p95", 0.20), floor=1.0)

    rules = effective_guardrails((stall, promoted), True, "natural")

    assert rules[-1] == stall
    assert promoted in rules
    assert len([g for g in rules if g.metric == "itl_p95"]) == 1


def test_defaults_off_leaves_the_list_alone() -> None:
    """Safety included: the user said so."""
    mine = a_guardrail("ttft_p95", 0.30)

    assert effective_guardrails((mine,), False, "forced") == (mine,)
    assert effective_guardrails((), False, "forced") == ()
