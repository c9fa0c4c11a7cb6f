"""The default guardrails, and how listed ones take their place."""

from dataclasses import replace

from specbench.model.guardrails import DEFAULTS, advises, effective_guardrails, with_later_defaults
from specbench.model.metrics import METRICS
from specbench.model.scenario import Guardrail, Matrix
from tests.support.evidence import a_scenario, cells_for
from tests.support.judging import a_guardrail


def _loads(*concurrency: int, rate: tuple[float, ...] = (), optional: tuple[float, ...] = ()) -> Matrix:
    return replace(a_scenario(concurrency).matrix, rate=rate, optional=optional)


def _asked(
    metric: str, matrix: Matrix, *listed: Guardrail, bins: tuple[str, ...] = ("edit", "prose")
) -> list[tuple[object, ...]]:
    """Margin, loads, bins and whether it decides, of each guardrail of this metric."""
    rules = effective_guardrails(listed, True, "forced", matrix, bins)
    return [(rule.margin, rule.cells, rule.bins, rule.required) for rule in rules if rule.metric == metric]


def test_the_defaults_that_decide() -> None:
    """Role, margin and floor of each required guardrail."""
    assert {g.metric: (g.role, g.margin, g.floor) for g in DEFAULTS if g.required} == {
        "tpot_p95": ("guardrail", 0.10, 0.5),
        "pace_p95": ("guardrail", 0.10, 0.5),
        "ttft_paired": ("guardrail", 0.15, 20.0),
        "ttft_p95": ("guardrail", 0.40, 50.0),
        "e2e_p95": ("guardrail", 0.10, 0.0),
        "output_tps": ("guardrail", 0.05, 0.0),
        "completed_rps": ("guardrail", 0.05, 0.0),
        "error_rate": ("safety", 0.005, 0.0),
        "stalled_answers": ("safety", 0.005, 0.0),
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


def test_where_a_listed_guardrail_is_not_asked_the_default_stays() -> None:
    """At the other loads, and in the other bins of its loads."""
    high = a_guardrail("tpot_p95", 0.30, cells=(16.0,))
    edits = a_guardrail("tpot_p95", 0.30, cells=(16.0,), bins=("edit",))
    everywhere = a_guardrail("tpot_p95", 0.30, bins=("edit",))

    assert _asked("tpot_p95", _loads(1, 16), high) == [(0.30, (16.0,), None, True), (0.10, (1.0,), None, True)]
    assert _asked("tpot_p95", _loads(1, 16), edits) == [
        (0.30, (16.0,), ("edit",), True),
        (0.10, (1.0,), None, True),
        (0.10, (16.0,), ("prose",), True),
    ]
    assert _asked("tpot_p95", _loads(1, 16), everywhere)[1:] == [(0.10, (1.0, 16.0), ("prose",), True)]
    assert _asked("tpot_p95", _loads(1, 16), high, replace(high, cells=(1.0,)))[2:] == []


def test_what_is_counted_over_the_run_keeps_its_default_for_required_loads() -> None:
    """Optional ones are not counted, so that a default for them alone would have nothing to count and could not pass."""
    low = a_guardrail("error_rate", 0.01, role="safety", cells=(1.0,))

    assert _asked("error_rate", _loads(1, 4, 16, optional=(16.0,)), low)[1:] == [(0.005, (4.0,), None, True)]
    assert _asked("error_rate", _loads(1, 16, optional=(16.0,)), low)[1:] == []


def test_a_default_decides_no_more_for_what_takes_its_place_elsewhere() -> None:
    """TTFT is judged at rates: what is listed there leaves advice at the streams; what is listed at 16 streams leaves both."""
    at_rate, at_streams = a_guardrail("ttft_p95", 0.30, cells=(2.0,)), a_guardrail("ttft_p95", 0.30, cells=(16.0,))

    assert _asked("ttft_p95", _loads(1, 16, rate=(2.0,)), at_rate)[1:] == [(0.40, (1.0, 16.0), None, False)]
    assert _asked("ttft_p95", _loads(1, 16, rate=(2.0,)), at_streams)[1:] == [(0.40, (1.0, 2.0), None, True)]
    assert _asked("ttft_p95", _loads(1, 16, rate=(2.0,), optional=(2.0,)), at_rate)[1:] == [(0.40, (1.0, 16.0), None, True)]


def test_a_guardrail_advises_only_where_it_decides_in_the_other_loop() -> None:
    """Asked of streams alone, or of rates that are optional, it decides at the streams."""
    whole, high = a_guardrail("ttft_p95", 0.15), a_guardrail("ttft_p95", None, slo=500.0, cells=(16.0,))

    def advice(rule: Guardrail, matrix: Matrix) -> list[str]:
        cells = cells_for(replace(a_scenario(), matrix=matrix))
        return [cell.id for cell in cells if advises(rule, cell, cells)]

    assert advice(whole, _loads(1, 16, rate=(2.0,))) == ["c1", "c16"]
    assert advice(whole, _loads(1, 16)) == []
    assert advice(whole, _loads(1, 16, rate=(2.0,), optional=(2.0,))) == []
    assert advice(high, _loads(1, 16, rate=(2.0,))) == []
    assert advice(a_guardrail("output_tps", 0.05), _loads(1, 16, rate=(2.0,))) == ["r2"]
    assert advice(a_guardrail("tpot_p95", 0.10), _loads(1, 16, rate=(2.0,))) == []


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


def test_a_run_of_an_older_version_is_asked_for_later_safety_too() -> None:
    """Its facts tell; one that was asked for no defaults stays as it is."""
    old = tuple(rule for rule in DEFAULTS if rule.metric != "stalled_answers")
    own = (a_guardrail("tpot_p95", 0.1),)

    assert {rule.metric for rule in with_later_defaults(old)} == {rule.metric for rule in DEFAULTS}
    assert with_later_defaults(DEFAULTS) == DEFAULTS
    assert with_later_defaults(own) == own
