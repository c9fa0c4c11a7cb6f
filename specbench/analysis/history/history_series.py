"""Results of runs to series, and each series to its changes. Results come in, in their order; no file is read here."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import exp, log, sqrt

import numpy as np

from specbench.analysis.history.history_facts import facts_changed, facts_of
from specbench.analysis.stats.change_points import change_points
from specbench.explain import numbers
from specbench.model.history.run_history import (
    FEWEST_RUNS,
    HistoryChange,
    HistoryPoint,
    HistoryRun,
    HistorySeries,
    RunHistory,
    WhyNotUsed,
)
from specbench.model.metrics import METRICS
from specbench.model.result import CellResult, Comparison, Result

ALPHA, LENGTH = "alpha", "acceptance_length"
TOLD = (ALPHA, LENGTH)
"""What a series can be of besides compared metrics: of the speculative arm alone."""
EVERY = "all"
_WITHIN = 2.0  # standard errors of the runs' own that a change must pass
Key = tuple[str, bool, str, str, str]


@dataclass(frozen=True, slots=True)
class RunResult:
    """A run as it was read: its folder's name, when it began, and its result, or why that cannot be read."""

    run: str
    started: str
    result: Result | None
    problem: str = ""


def run_history(folder: str, found: Sequence[RunResult], metrics: Sequence[str] = ()) -> RunHistory:
    """The runs and their series.

    Args:
        found: Oldest first.
        metrics: Of which series are made: ids, 'all', or none for the metric that must gain and alpha.
    """
    runs = _runs(found)
    series: dict[Key, list[HistoryPoint]] = {}
    about: dict[Key, tuple[str, str]] = {}
    for run, one in zip(runs, found, strict=True):
        if one.result is None:
            continue
        for cell in one.result.cells:
            for metric in _wanted(one.result, cell, metrics):
                key = (one.result.run.name, one.result.config.built_in, one.result.config.design, cell.id, metric)
                series.setdefault(key, []).append(_point(run, cell, metric))
                about[key] = (_load(cell), _unit(metric))
    facts = {run.run: run.facts or {} for run in runs}
    return RunHistory(folder=folder, runs=runs, series=tuple(_series(key, series[key], about[key], facts) for key in series))


def _runs(found: Sequence[RunResult]) -> tuple[HistoryRun, ...]:
    runs: list[HistoryRun] = []
    seen: dict[str, str] = {}
    for one in found:
        if (result := one.result) is None:
            runs.append(HistoryRun(run=one.run, started=one.started, why_not="unreadable", problem=one.problem))
            continue
        # A folder that was copied is no second measurement.
        identity = result.facts_sha256 or f"{result.run.id} {result.run.started}"
        original = seen.setdefault(identity, one.run)
        runs.append(
            HistoryRun(
                run=one.run,
                started=one.started,
                scenario=result.run.name,
                verdict=result.verdict,
                facts=facts_of(result),
                why_not=_why_not(result, original != one.run),
                problem=original if original != one.run else "",
            )
        )
    return tuple(runs)


def _why_not(result: Result, copied: bool) -> WhyNotUsed | None:
    if copied:
        return "copy"
    if result.run.partial:
        return "partial"
    return "invalid_run" if result.verdict == "INVALID" else None


def _wanted(result: Result, cell: CellResult, metrics: Sequence[str]) -> Iterable[str]:
    known = [one.metric for one in cell.metrics]
    if EVERY in metrics:
        return [*known, *TOLD]
    if metrics:
        return [one for one in dict.fromkeys(metrics) if one in known or one in TOLD]
    return [*(one for one in known if one == result.config.success_metric), ALPHA]


def _point(run: HistoryRun, cell: CellResult, metric: str) -> HistoryPoint:
    alpha = cell.acceptance.alpha
    if metric in TOLD:
        value = alpha if metric == ALPHA else cell.acceptance.length
        low, high = (None, None) if metric == ALPHA else (cell.acceptance.length_low, cell.acceptance.length_high)
        found = HistoryPoint(
            run=run.run, started=run.started, verdict=run.verdict, value=value, low=low, high=high, speculative=value, alpha=alpha
        )
    else:
        compared = next(one for one in cell.metrics if one.metric == metric)
        found = _ratio(run, compared, alpha)
    usable = found.value is not None and found.value > 0
    why = run.why_not or ("invalid_load" if cell.state == "INVALID" else None if usable else "no_value")
    return replace(found, why_not=why)


def _ratio(run: HistoryRun, compared: Comparison, alpha: float | None) -> HistoryPoint:
    unbounded = compared.unbounded.baseline or compared.unbounded.speculative
    return HistoryPoint(
        run=run.run,
        started=run.started,
        verdict=run.verdict,
        value=None if unbounded else compared.ratio,
        low=compared.ci_low,
        high=compared.ci_high,
        baseline=compared.value.baseline,
        speculative=compared.value.speculative,
        alpha=alpha,
        se_log=compared.se_log,
    )


def _series(key: Key, points: Sequence[HistoryPoint], about: tuple[str, str], facts: dict[str, dict[str, str]]) -> HistorySeries:
    scenario, demonstration, design, cell, metric = key
    found = HistorySeries(
        scenario=scenario,
        demonstration=demonstration,
        design=design,
        cell=cell,
        load=about[0],
        metric=metric,
        unit=about[1],
        points=tuple(points),
        changes=(),
        why_not_tested=None if sum(one.why_not is None for one in points) >= FEWEST_RUNS else "too_few_runs",
    )
    return found if found.why_not_tested else replace(found, changes=_changes(found, facts))


def _changes(series: HistorySeries, facts: dict[str, dict[str, str]]) -> tuple[HistoryChange, ...]:
    used = series.used
    logs = np.array([log(one.value) for one in used if one.value is not None])
    found = change_points(logs)
    edges = [0, *(one.at for one in found), len(used)]
    told = [facts[one.run] for one in used]
    return tuple(
        HistoryChange(
            run=used[one.at].run,
            started=used[one.at].started,
            number=one.at + 1,
            before=exp(one.before),
            after=exp(one.after),
            p=one.p,
            within_error=_within(used[previous : one.at], used[one.at : following], one.after - one.before),
            facts=facts_changed(told, one.at, previous, following),
        )
        for one, previous, following in zip(found, edges, edges[2:], strict=False)
    )


def _within(before: Sequence[HistoryPoint], after: Sequence[HistoryPoint], step: float) -> bool:
    """Whether errors that the runs state of themselves explain the step; not where one states none."""
    errors = [one.se_log for one in (*before, *after) if one.se_log is not None]
    if len(errors) < len(before) + len(after):
        return False
    variance = sum((error / len(before)) ** 2 for error in errors[: len(before)])
    variance += sum((error / len(after)) ** 2 for error in errors[len(before) :])
    return abs(step) < _WITHIN * sqrt(variance)


def _load(cell: CellResult) -> str:
    part = numbers.slice_name(cell.axes)
    return f"{numbers.load(cell.axes)}, {part}" if part else numbers.load(cell.axes)


def _unit(metric: str) -> str:
    known = METRICS.get(metric)
    return "" if known is None else known.unit
