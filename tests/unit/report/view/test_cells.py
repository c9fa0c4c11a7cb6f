"""One cell for a reader: rows, limits, factors, distributions and curves against load, each as text or numbers to draw."""

from dataclasses import replace

from specbench.explain.findings import limit
from specbench.model.result import Comparison, Factors, PerArm
from specbench.report.view import rows
from specbench.report.view.cells import cell_view, factor_view
from specbench.report.view.curves import curves
from specbench.report.view.load_tables import load_tables
from specbench.report.view.rows import quantile_tables
from tests.support.goldens import same_text
from tests.support.result_parts import a_cell, a_comparison, a_finding, counts, distributions
from tests.support.results import capped, sliced


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


def test_counts_name_every_outcome_of_both_arms() -> None:
    """An outcome that only one arm had is 0 in the other."""
    found = {row.label: (row.baseline, row.speculative) for row in rows.count_rows(PerArm(counts(120), counts(1240, 12)))}
    assert found["failed"] == ("0", "12")
    assert found["outcome: http error"] == ("0", "12")
    assert found["tokens"] == ("6,240", "63,856")


def test_metrics_that_nobody_told_are_gathered_under_their_reason() -> None:
    """They take one line instead of a row each."""
    cell = a_cell(1, 0.5, unknown=("ttft_p95", "e2e_p95"))
    (table,) = load_tables(replace(capped(), cells=(cell,)))
    view = cell_view(cell, table, 0)
    assert [(fact.label, fact.text) for fact in view.untold] == [
        ("TTFT p95, E2E p95", "no request of the speculative arm succeeded")
    ]
    assert "TTFT p95" not in [line.row.label for line in view.metrics]


def test_the_two_factors_explain_the_ratio() -> None:
    """Predicted is step-time ratio ÷ tokens per step, beside what was measured."""
    found = Factors(
        step_ms=PerArm(10.0, 15.0),
        step_ratio=1.5,
        tokens_per_step=PerArm(1.0, 3.0),
        tpot_ratio=0.55,
        residual=0.1,
        break_even=1.5,
    )
    view = factor_view(found)
    assert (view.step_change, view.predicted, view.measured) == ("×1.50", "−50 %", "−45 %")
    unknown = factor_view(replace(found, residual=None, step_ratio=None))
    assert (unknown.predicted, unknown.step_change) == ("–", "–")


def test_quantiles_meet_however_they_were_computed() -> None:
    """A probability of 0.95 plus rounding noise is 0.95."""
    noisy = [replace(one, probabilities=tuple(share + 1e-12 for share in one.probabilities)) for one in distributions(0.5)]
    tables = {table.label: [row.label for row in table.rows] for table in quantile_tables(noisy)}
    assert tables["TTFT"] == tables["ITL"] == ["p1", "p5", "p25", "p50", "p75", "p90", "p95", "p99", "p99.9"]


def test_each_slice_has_a_curve_of_its_own() -> None:
    """A mixed matrix is one curve, separate bins are one each, loads ascending."""
    assert [curve.metric for curve in curves(capped())] == ["tpot_p50"]
    assert [curve.slice for curve in curves(sliced())] == ["complete, greedy", "creative, greedy"]
    backwards = replace(capped(), cells=tuple(reversed(capped().cells)))
    assert [point.load for point in curves(backwards)[0].points] == [1, 4, 16]
