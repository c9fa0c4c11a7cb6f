"""What held speculation back: each case of the guides recognised from its figures, and none where nothing did."""

from dataclasses import replace

from specbench.analysis.theory import limiting_factors
from specbench.explain.notes import limiting_factor
from specbench.model.result import CellResult, Comparison, PerArm, Result
from tests.support.goldens import same_text
from tests.support.result_parts import a_cell, a_comparison
from tests.support.results import capped, promote


def _told(metric: str, baseline: float | None, speculative: float | None) -> Comparison:
    return replace(a_comparison("tpot_p50", 1.0), metric=metric, value=PerArm(baseline, speculative))


def _found(*cells: CellResult) -> list[tuple[str, str, str]]:
    result: Result = replace(capped(), cells=cells)
    return [(one.cell, *limiting_factor(one.code, one.figures)) for one in limiting_factors(result)]


def _same(name: str, found: list[tuple[str, str, str]]) -> None:
    same_text(name, *(f"{cell}: {title}: {evidence}" for cell, title, evidence in found))


def _with(cell: CellResult, *more: Comparison) -> CellResult:
    names = {one.metric for one in more}
    return replace(cell, metrics=(*(one for one in cell.metrics if one.metric not in names), *more))


def test_nothing_is_said_where_speculation_wins() -> None:
    """A promotion has no obstacles."""
    assert limiting_factors(promote()) == ()


def test_prefill_dominates_where_most_of_an_answer_is_the_wait_for_its_start() -> None:
    """Half of the median answer before the first token is enough; the speculative arm's own times do not matter."""
    slow = _with(a_cell(1, 0.9), _told("ttft_p50", 600.0, 600.0), _told("e2e_p50", 1000.0, 900.0))
    _same("prefill", _found(slow))
    assert _found(_with(a_cell(1, 0.9), _told("ttft_p50", 400.0, 900.0), _told("e2e_p50", 1000.0, 900.0))) == []


def test_low_acceptance_is_alpha_below_the_usual_alarm() -> None:
    """0.69 is low, 0.7 is not, and an alpha that nobody knows says nothing."""
    cell = a_cell(1, 0.9)
    low = replace(cell, acceptance=replace(cell.acceptance, alpha=0.69))
    _same("acceptance", _found(low))
    assert _found(replace(cell, acceptance=replace(cell.acceptance, alpha=0.7))) == []
    assert _found(replace(cell, acceptance=replace(cell.acceptance, alpha=None))) == []


def test_a_server_is_saturated_where_more_streams_bring_no_more_tokens() -> None:
    """The baseline's throughput against the next lower load decides; the lowest load can not be saturated."""
    low, high = (_with(a_cell(load, 0.9), _told("output_tps", tps, tps)) for load, tps in ((4, 400.0), (16, 420.0)))
    _same("saturated", _found(low, high))
    assert _found(low, _with(high, _told("output_tps", 800.0, 420.0))) == []


def test_a_full_cache_or_requests_put_back_mean_little_room() -> None:
    """The peak with speculation, or more preemptions than without; a count that one arm does not tell is no sign."""
    _same("a full cache", _found(_with(a_cell(1, 0.9), _told("kv_peak", 0.5, 0.97))))
    _same("requests put back", _found(_with(a_cell(1, 0.9), _told("preemptions", 1.0, 12.0))))
    assert _found(_with(a_cell(1, 0.9), _told("preemptions", None, 12.0))) == []
    assert _found(_with(a_cell(1, 0.9), _told("preemptions", 12.0, 12.0))) == []


def test_a_step_that_brings_less_than_it_costs_is_named_with_both_figures() -> None:
    """Slower, with tokens per step below break-even."""
    _same("an expensive step", _found(a_cell(16, 1.31)))
