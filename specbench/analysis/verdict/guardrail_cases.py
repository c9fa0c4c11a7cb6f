"""Which guardrail meets which comparison in which cell, and the findings of a whole run that follow.

Applies the scenario's rules to cells; how one case is judged is `findings.py`'s.
"""

from collections.abc import Sequence
from dataclasses import replace

from specbench.analysis.cell_metrics import CellMetrics
from specbench.analysis.comparison.exclusions import exclusion, unlike_lengths
from specbench.analysis.verdict.backlog import backlog_finding, nothing_to_compare
from specbench.analysis.verdict.benefit import benefit
from specbench.analysis.verdict.findings import Case, judge_cases
from specbench.explain import absences
from specbench.explain.findings import FindingContext
from specbench.explain.phrases import place_of
from specbench.explain.rules.load_ranges import BASELINE_OUTRUN
from specbench.model.guardrails import RUN_WIDE, advises, applies_to
from specbench.model.metrics import METRICS
from specbench.model.records import Manifest
from specbench.model.result import Comparison, Finding, PerArm
from specbench.model.scenario import Guardrail, Success


def run_findings(cells: Sequence[CellMetrics], manifest: Manifest, alpha: float) -> dict[str, tuple[Finding, ...]]:
    """The findings of every cell by its id, all harm tests of the run taken as one family with this error budget."""
    cases = [case for cell in cells for case in _cases(cell, manifest, alpha)]
    found: dict[str, tuple[Finding, ...]] = {cell.evidence.cell.id: () for cell in cells}
    for case, finding in zip(cases, judge_cases(cases, alpha), strict=True):
        cell = case.setting.cell or ""
        found[cell] = (*found[cell], finding)
    for cell_metrics in cells:
        where = cell_metrics.evidence.cell
        if where.rate is not None:
            kept_up = backlog_finding(where, cell_metrics.backlogs, required=cell_metrics.evidence.required)
            found[where.id] = (*found[where.id], kept_up)
    return found


def benefit_of(cell: CellMetrics, success: Success, alpha: float) -> Finding:
    """The success metric judged in this cell."""
    comparison = _comparison(cell, success.metric)
    partly = _partly_reported(success.metric, None, comparison, cell.pairs_used)
    withheld_for = _uncompared(cell, None) or partly or _withheld(cell, success.metric)
    return benefit(success, comparison, _setting(cell, alpha), withheld_for, cell.tests.get(success.metric))


def _cases(cell: CellMetrics, manifest: Manifest, alpha: float) -> list[Case]:
    return [
        _case(cell, _in_this_loop(guardrail, cell, manifest), alpha)
        for guardrail in manifest.scenario.guardrails
        if guardrail.metric not in RUN_WIDE and applies_to(guardrail, cell.evidence.cell)
    ]


def _case(cell: CellMetrics, guardrail: Guardrail, alpha: float) -> Case:
    metric = guardrail.metric
    comparison = _comparison(cell, metric)
    partly = _partly_reported(metric, guardrail.slo, comparison, cell.pairs_used)
    return Case(
        guardrail=replace(guardrail, required=guardrail.required and cell.evidence.required),
        comparison=comparison,
        setting=_setting(cell, alpha),
        in_family=guardrail.decides and cell.evidence.required,
        withheld=_mixed(guardrail, cell) or _uncompared(cell, guardrail.slo) or partly or _withheld(cell, metric),
        test=cell.tests.get(metric),
    )


def _mixed(guardrail: Guardrail, cell: CellMetrics) -> str | None:
    """A guardrail for some bins has no cell of its own in mixed traffic; it must not be dropped in silence."""
    if guardrail.bins is None or cell.evidence.cell.bin is not None:
        return None
    return absences.MIXED_BINS


def _partly_reported(metric: str, slo: float | None, comparison: Comparison, pairs: int) -> str | None:
    """What an engine told of some blocks only may be the better part of the truth."""
    known = METRICS.get(metric)
    told = [comparison.n.speculative] if slo is not None else [comparison.n.baseline, comparison.n.speculative]
    if known is None or not known.engine or not 0 < min(told) < pairs:
        return None
    return absences.partly_reported(min(told), pairs)


def _in_this_loop(guardrail: Guardrail, cell: CellMetrics, manifest: Manifest) -> Guardrail:
    """The guardrail, advisory where the other kind of cell is the one that judges its metric."""
    elsewhere = advises(guardrail, cell.evidence.cell, manifest.cells)
    return replace(guardrail, role="advisory", required=False) if elsewhere else guardrail


def _uncompared(cell: CellMetrics, slo: float | None) -> str | None:
    """A baseline that was outrun is nothing to compare with; an absolute limit needs none."""
    return BASELINE_OUTRUN if slo is None and nothing_to_compare(cell.backlogs) else None


def _withheld(cell: CellMetrics, metric: str) -> str | None:
    return exclusion(metric, unlike_lengths(cell.comparisons.get("output_length")), cell.unlike_tokens)


def _setting(cell: CellMetrics, alpha: float) -> FindingContext:
    where = cell.evidence.cell
    return FindingContext(cell=where.id, place=place_of(where), pairs=cell.pairs_used, alpha=alpha)


def _comparison(cell: CellMetrics, metric: str) -> Comparison:
    """The comparison of this metric; one without any value where this version knows no such metric."""
    return cell.comparisons.get(metric) or Comparison(
        metric=metric,
        unit="",
        definition="",
        direction="lower",
        value=PerArm(None, None),
        n=PerArm(0, 0),
        ratio=None,
        ci_low=None,
        ci_high=None,
        ci_level=0.95,
        method="none",
        n_blocks=0,
        design_effect=None,
        se_log=None,
        df=None,
        unbounded=PerArm(False, False),
        constant=False,
        low_n=False,
        reason=absences.NO_SUCH_METRIC,
    )
