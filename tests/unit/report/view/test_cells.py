"""One cell for a reader: rows, limits, factors, distributions and curves against load, each as text or numbers to draw."""

from dataclasses import replace

import pytest

from specbench.explain.findings import limit
from specbench.model.result import ArmEstimate, Comparison, Factors, PerArm
from specbench.report.view import rows
from specbench.report.view.cells import cell_view, factor_view
from specbench.report.view.curves import curves
from specbench.report.view.engine_truth import overruns, truth_rows
from specbench.report.view.fairness import fairness
from specbench.report.view.heatmap import heat_map
from specbench.report.view.rows import quantile_tables
from tests.support.goldens import same_text
from tests.support.result_parts import a_cell, a_comparison, a_finding, counts, distributions
from tests.support.results import capped, hostile, sliced, twice_judged


@pytest.mark.parametrize(
    ("metric", "ratio", "said"),
    [
        ("tpot_p50", 0.8, "better"),
        ("tpot_p50", 1.3, "worse"),
        ("output_tps", 1.3, "better"),
        ("output_tps", 0.8, "worse"),
        ("tpot_p50", 1.01, ""),
    ],
)
def test_an_effect_is_called_only_where_the_interval_excludes_none(metric: str, ratio: float, said: str) -> None:
    """Direction decides what is better, the interval whether anything is."""
    assert rows.effect(a_comparison(metric, ratio)) == said


def _limit(comparison: Comparison, **changes: object) -> str:
    return limit(replace(a_finding(comparison, "c1"), **changes), comparison.unit)  # type: ignore[arg-type]


def test_a_limit_reads_as_what_was_allowed() -> None:
    """Relative limits on the ratio's scale, absolute ones in the metric's unit, shares in points."""
    assert _limit(a_comparison("tpot_p95", 1.0)) == "≤ 1.10"
    assert _limit(a_comparison("output_tps", 1.0)) == "≥ 0.95"
    assert _limit(a_comparison("tpot_p50", 1.0)) == "≤ 0.95"
    assert _limit(a_comparison("ttft_p95", 1.0), slo=250.0) == "at most 250 ms"
    assert _limit(a_comparison("output_tps", 1.0), slo=40.0) == "at least 40.0 tokens/s"
    same_text("limit of failures", _limit(a_comparison("tpot_p95", 1.0), metric="error_rate", role="safety", margin=0.005))
    assert _limit(a_comparison("tpot_p95", 1.0), direction="equal", margin=0.03) == "within ±3 %"
    events = a_comparison("tpot_p95", 1.0)
    same_text("limit of a count", _limit(events, metric="oom", role="safety", margin=None, bound=None))
    assert _limit(events, metric="preemptions", notes=("counted",), bound=0.0) == "at most 0"


def test_an_arm_beyond_every_limit_is_infinite_and_never_a_number() -> None:
    """A p95 that failed requests push out of reach reads ∞ in value and ratio, with its reason."""
    found = replace(a_comparison("ttft_p95", None, reason="too many failed"), unbounded=PerArm(False, True))
    row = rows.metric_row(found)
    assert (row.speculative, row.ratio, row.note) == ("∞", "∞", "too many failed")
    assert rows.ratio(replace(found, unbounded=PerArm(True, True))) == "n/a"


def test_warnings_of_a_comparison_stand_in_its_row() -> None:
    """Few samples and a missing spread are said beside the figure."""
    found = replace(a_comparison("tpot_p95", 1.0), low_n=True, constant=True)
    same_text("warnings", rows.metric_row(found).note)


def test_counts_name_every_outcome_of_both_arms() -> None:
    """An outcome that only one arm had is 0 in the other."""
    found = {row.label: (row.baseline, row.speculative) for row in rows.count_rows(PerArm(counts(120), counts(1240, 12)))}
    assert found["failed"] == ("0", "12")
    assert found["outcome: http error"] == ("0", "12")
    assert found["tokens"] == ("6,240", "63,856")


def test_metrics_that_nobody_told_are_gathered_under_their_reason() -> None:
    """They take one line instead of a row each."""
    view = cell_view(a_cell(1, 0.5, unknown=("ttft_p95", "e2e_p95")), 0)
    assert [(fact.label, fact.text) for fact in view.untold] == [
        ("TTFT p95, E2E p95", "no request of the speculative arm succeeded")
    ]
    assert "TTFT p95" not in [row.label for row in view.metrics]


def test_the_two_factors_explain_the_ratio() -> None:
    """Predicted is step-time ratio ÷ tokens per step, and the sentence says which of the two it was."""
    found = Factors(
        step_ms=PerArm(10.0, 15.0),
        step_ratio=1.5,
        tokens_per_step=PerArm(1.0, 3.0),
        tpot_ratio=0.55,
        residual=0.1,
        break_even=1.5,
    )
    view = factor_view(found)
    assert (view.predicted, view.measured, view.residual) == ("0.50", "0.55", "10 %")
    same_text("factors", view.sentence)
    unknown = factor_view(replace(found, residual=None))
    assert (unknown.predicted, unknown.sentence) == ("n/a", "")


def test_quantiles_meet_however_they_were_computed() -> None:
    """A probability of 0.95 plus rounding noise is 0.95."""
    noisy = [replace(one, probabilities=tuple(share + 1e-12 for share in one.probabilities)) for one in distributions(0.5)]
    tables = {table.label: [row.label for row in table.rows] for table in quantile_tables(noisy)}
    assert tables["TTFT"] == tables["ITL"] == ["p1", "p5", "p25", "p50", "p75", "p90", "p95", "p99", "p99.9"]


def test_each_slice_has_curves_of_its_own() -> None:
    """A mixed matrix is one group of curves, separate bins are one each, loads ascending."""
    assert [[curve.metric for curve in group] for group in curves(capped())] == [["tpot_p50", "output_tps", "ttft_p95"]]
    assert [group[0].slice for group in curves(sliced())] == ["complete, greedy", "creative, greedy"]
    backwards = replace(capped(), cells=tuple(reversed(capped().cells)))
    assert [point.load for point in curves(backwards)[0][0].points] == [1, 4, 16]


def test_the_heat_map_leaves_out_what_nobody_could_measure_and_need_not() -> None:
    """An advisory without data in every cell has no column; a required one keeps it, with its state."""
    cells = (a_cell(1, 0.5, unknown=("itl_p95", "ttft_p95")),)
    found = heat_map([cell_view(cell, index) for index, cell in enumerate(cells)])
    assert [column.label for column in found.columns] == ["TPOT p50", "TPOT p95", "pace p95", "TTFT p95", "E2E p95", "output TPS"]
    assert found.rows[0].tiles[3] is not None
    assert found.rows[0].tiles[3].state == "NODATA"


def test_a_fail_has_a_tile_beside_the_benefit_on_its_metric() -> None:
    """Two findings on one metric are two columns, by role or by number, so that none hides the other."""
    found = heat_map([cell_view(cell, index) for index, cell in enumerate(twice_judged().cells)])
    tiles = dict(zip(((one.label, one.role) for one in found.columns), found.rows[0].tiles, strict=True))
    states = {place: tile.state for place, tile in tiles.items() if tile is not None}
    assert states["TPOT p50", "benefit"] == "PASS"
    assert states["TPOT p50", "guardrail"] == "FAIL"
    assert (states["TTFT p50", "guardrail"], states["TTFT p50 (2)", "guardrail"]) == ("PASS", "INCONCLUSIVE")


def test_under_an_absolute_limit_what_was_judged_is_shown() -> None:
    """The speculative arm's figure over all of its blocks, not that of the pairs that both arms tell; of old results that one."""
    compared = a_comparison("ttft_p95", 2.0)
    found = replace(a_finding(compared, "c1"), slo=90.0)
    assert rows.finding_row(found, compared).seen == "96.0 ms"
    assert rows.finding_row(found, replace(compared, alone=ArmEstimate(value=250.0, blocks=4))).seen == "250 ms"
    assert rows.finding_row(found, replace(compared, alone=ArmEstimate(unbounded=True, blocks=4))).seen == "∞"


def test_a_ratio_past_its_limit_does_not_look_like_it() -> None:
    """1.104 is past 1.10, and two decimals would not show it."""
    row = rows.finding_row(a_finding(a_comparison("tpot_p95", 1.104), "c1"), a_comparison("tpot_p95", 1.104))
    assert (row.state, row.seen, row.limit) == ("FAIL", "1.104", "≤ 1.100")
    far = rows.finding_row(a_finding(a_comparison("tpot_p95", 1.31), "c1"), a_comparison("tpot_p95", 1.31))
    assert (far.seen, far.limit) == ("1.31", "≤ 1.10")


def test_arms_may_differ_only_where_it_is_no_fault() -> None:
    """Address and speculation may differ, the model may not, and a fact that nobody told is not known."""
    state = {row.label: row.state for row in fairness(hostile().endpoints)}
    found = [state[name] for name in ("URL", "speculation", "model", "engine", "tokenizer")]
    assert found == ["may differ", "may differ", "differs", "equal", "not known"]
    source = {row.label: row.source for row in fairness(capped().endpoints)}
    assert (source["quantization"], source["prefix caching"], source["model"]) == ("not declared", "declared", "read")


def test_the_engines_truth_stands_beside_the_measurement() -> None:
    """Mean step, acceptance and its positions are told twice; what only the engine counts has no measured side."""
    told = {
        "steps": 100.0,
        "overrun_steps": 1.0,
        "step_s": 1.5,
        "rounds": 50.0,
        "accepted": 120.0,
        "drafted": 200.0,
        "per_position.0": 41.0,
    }
    cell = replace(a_cell(1, 0.5), engine_truth=PerArm({"steps": 300.0}, told))
    rows_of = {(row.label, row.arm): (row.measured, row.engine) for row in truth_rows(cell)}
    assert rows_of["acceptance length", "speculative"] == ("3.40", "3.40")
    assert rows_of["acceptance rate", "speculative"] == ("60 %", "60 %")
    assert rows_of["accepted at position 1", "speculative"] == ("82 %", "82 %")
    assert rows_of["mean step, ms", "speculative"] == ("18.7", "15.0")
    assert rows_of["steps", "baseline"] == ("–", "300")
    assert ("accepted at position 2", "speculative") not in rows_of
    assert overruns(cell) == "1 of 400 (0.25 %)"
    assert truth_rows(replace(cell, engine_truth=None)) == ()


def test_theory_is_drawn_beside_the_measured_ratio() -> None:
    """An expected speed-up of 2 is a TPOT ratio of 0.5, and no other metric has a theory."""
    cells = tuple(replace(cell, theory={"expected_speed_up": 2.0}) for cell in capped().cells)
    group = curves(replace(capped(), cells=cells))[0]
    assert [[point.theory for point in curve.points] for curve in group[:2]] == [[0.5, 0.5, 0.5], [None, None, None]]
