"""The numbers of one cell: counts, comparisons, acceptance, factors, distributions, all that the rules and the report need.

Nothing is judged here. The columns of a cell, its largest part, do not outlive this module's one function.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from specbench.analysis.arrays.cell_arrays import FAILED, WITHOUT_LATENCY, CellArrays, arrays_of
from specbench.analysis.arrays.samples import Totals
from specbench.analysis.arrivals import Backlog, backlogs_of
from specbench.analysis.cells import CellEvidence
from specbench.analysis.comparison.censoring import bins_with_certain_percentiles, with_certain_percentiles
from specbench.analysis.comparison.compare import bin_results, cell_comparisons, figures_by_pair, shares_tests, turn_results
from specbench.analysis.comparison.exclusions import unlike_tokens
from specbench.analysis.failures.freezes import Freeze, freezes_of
from specbench.analysis.integrity.workload import Drift, drift_of
from specbench.analysis.metrics.acceptance import acceptance_length, acceptance_of
from specbench.analysis.metrics.acceptance import alpha as alpha_of
from specbench.analysis.metrics.signs import StreamSigns, stream_signs
from specbench.analysis.metrics.stalls import stall_limit_ns, stalled_answers
from specbench.analysis.metrics.throughput import error_rate
from specbench.analysis.shown import distributions_of
from specbench.analysis.stats.paired import Estimate, trend
from specbench.analysis.stats.percentile_ratio import SharesTest
from specbench.analysis.theory import factors_of
from specbench.model.records import Block, RequestRecord
from specbench.model.result import AcceptanceSummary, ArmCounts, BinResult, Comparison, Factors, PerArm
from specbench.model.scenario import ARMS, ArmName, StartSd
from specbench.model.shown import Distribution

FAILURES = FAILED | WITHOUT_LATENCY
_SHARES = {"error_rate": error_rate, "stalled_answers": stalled_answers}
DEAD_AFTER = 3  # failures without one success; fewer could be an accident


@dataclass(frozen=True, slots=True, kw_only=True)
class CellMetrics:
    """One cell's numbers. `comparisons` are by metric; `shares` holds failed (or stalled) and judged requests, block by block, by
    the metric of its share.

    `alpha_trend` is how the log of alpha moved from the first pair of the run to the last, None where it is not known of enough
    pairs. `acceptance_by_pair`: the acceptance length of each pair that has one. `unlike_tokens`: why figures per token do not
    compare between the arms, None where they do. `freezes`: when an engine stood still. `tests`: of each pooled percentile.
    `backlogs`: what each arm left behind of what arrived at a rate. `success_by_pair`: both arms' figure of the success metric.
    `signs`: what the streams of the speculative arm show.
    """

    evidence: CellEvidence
    pairs_used: int
    counts: PerArm[ArmCounts]
    comparisons: dict[str, Comparison]
    bins: tuple[BinResult, ...]
    turns: tuple[BinResult, ...]
    acceptance: AcceptanceSummary
    factors: Factors
    distributions: tuple[Distribution, ...]
    drifts: tuple[Drift, ...]
    shares: dict[str, PerArm[Totals]]
    alpha_trend: Estimate | None
    acceptance_by_pair: dict[int, float]
    unlike_tokens: str | None
    engine_truth: PerArm[dict[str, float]] | None
    freezes: tuple[Freeze, ...]
    tests: dict[str, SharesTest]
    backlogs: PerArm[Backlog | None]
    success_by_pair: dict[int, tuple[float, float]]
    signs: StreamSigns

    @property
    def dead(self) -> tuple[ArmName, ...]:
        """The arms in which requests failed and not one succeeded, or whose engine died under load here."""
        return tuple(arm for arm in ARMS if self._silent(arm) or any(map(_died, self.evidence.blocks.of(arm))))

    def _silent(self, arm: ArmName) -> bool:
        return self.counts.of(arm).ok == 0 and self.counts.of(arm).failed >= DEAD_AFTER

    @property
    def running_mean(self) -> PerArm[float | None]:
        """The mean number of requests that each arm's engine had running, as far as it tells."""
        return PerArm(_running(self.evidence.blocks.baseline), _running(self.evidence.blocks.speculative))


def measure(
    cell: CellEvidence, alpha: float, *, speculates: PerArm[bool | None], start: StartSd | None = None, success: str = ""
) -> CellMetrics:
    """Everything that the records of this cell say, for one-sided tests at alpha.

    Args:
        start: How far one start of an engine differs from the next, None where that is no part of these comparisons.
        success: The metric that must show the benefit.
        speculates: Whether the scenario or the endpoint says that an arm speculates, None where neither does.
    """
    columns = _columns(cell, speculates)
    compared = cell_comparisons(columns.baseline, columns.speculative, alpha, start)
    bins = bin_results(columns.baseline, columns.speculative, alpha, start, compared)
    comparisons = with_certain_percentiles(compared, columns.baseline, columns.speculative)
    opened = [{block.pair for block in cell.blocks.of(arm) if block.window_open_ns is not None} for arm in ARMS]
    return CellMetrics(
        evidence=cell,
        pairs_used=len(opened[0] & opened[1]),
        counts=PerArm(_counts(cell.records.baseline), _counts(cell.records.speculative)),
        comparisons={comparison.metric: comparison for comparison in comparisons},
        bins=bins_with_certain_percentiles(bins, columns),
        turns=bins_with_certain_percentiles(turn_results(columns.baseline, columns.speculative, alpha, start), columns),
        acceptance=acceptance_of(columns.speculative, 1 - alpha),
        factors=factors_of(comparisons),
        distributions=distributions_of(columns.baseline, columns.speculative),
        drifts=tuple(drift_of(cell, columns.of(arm), arm) for arm in ARMS),
        shares={name: PerArm(share(columns.baseline), share(columns.speculative)) for name, share in _SHARES.items()},
        alpha_trend=_alpha_trend(columns.speculative),
        acceptance_by_pair=_acceptance_by_pair(columns.speculative),
        unlike_tokens=unlike_tokens(cell.records, speculates=speculates.speculative is not False),
        engine_truth=_truth(cell),
        freezes=tuple(freeze for arm in ARMS for freeze in freezes_of(columns.of(arm), cell.records.of(arm))),
        tests=shares_tests(columns.baseline, columns.speculative, start),
        backlogs=backlogs_of(cell),
        success_by_pair=figures_by_pair(success, columns.baseline, columns.speculative),
        signs=stream_signs(columns.speculative),
    )


def _columns(cell: CellEvidence, speculates: PerArm[bool | None]) -> PerArm[CellArrays]:
    """The columns of both arms; what a stall is, the baseline's gaps say for both."""
    before = arrays_of(cell.blocks.baseline, cell.records.baseline, speculates=speculates.baseline)
    after = arrays_of(cell.blocks.speculative, cell.records.speculative, speculates=speculates.speculative)
    limit = stall_limit_ns(before)
    return PerArm(replace(before, stall_after_ns=limit), replace(after, stall_after_ns=limit))


def _died(block: Block) -> bool:
    """Whether the arm's engine ended by itself, or the block was given up as one request after another failed."""
    return block.engine_exit is not None or block.end_reason == "endpoint_dead"


def _alpha_trend(columns: CellArrays) -> Estimate | None:
    by_unit = alpha_of(columns).by_unit()
    return trend(np.log(by_unit[by_unit > 0]))


def _acceptance_by_pair(columns: CellArrays) -> dict[int, float]:
    lengths = acceptance_length(columns).by_unit()
    return {pair: float(length) for pair, length in zip(columns.pairs, lengths, strict=True) if length == length}


def _counts(records: Sequence[RequestRecord]) -> ArmCounts:
    outcomes = Counter(record.outcome for record in records)
    return ArmCounts(
        requests=len(records),
        ok=outcomes["ok"],
        failed=sum(count for outcome, count in outcomes.items() if outcome in FAILURES),
        cut=outcomes["cut"],
        tokens=sum(r.output_tokens if r.output_tokens is not None else sum(r.event_tokens) for r in records),
        chunks=sum(len(record.event_ns) for record in records),
        censored_chunks=sum(len(record.censored) for record in records),
        by_outcome=_sorted(record.outcome for record in records),
        finish_reasons=_sorted(record.finish_reason or "none" for record in records if record.outcome == "ok"),
        stamp_sources=_sorted(record.stamp_source for record in records),
        token_sources=_sorted(record.token_source or "none" for record in records),
    )


def _sorted(names: Iterable[str]) -> dict[str, int]:
    """How often each name occurs, by name."""
    return dict(sorted(Counter(names).items()))


def _running(blocks: Sequence[Block]) -> float | None:
    told = [b.telemetry.running_mean for b in blocks if b.telemetry is not None and b.telemetry.running_mean is not None]
    return sum(told) / len(told) if told else None


def _truth(cell: CellEvidence) -> PerArm[dict[str, float]] | None:
    """What embedded engines say that they did, summed over the blocks of each arm; None where no arm is embedded."""
    sums: list[dict[str, float]] = []
    for arm in ARMS:
        total: dict[str, float] = {}
        for block in cell.blocks.of(arm):
            for name, value in (block.engine_truth or {}).items():
                total[name] = total.get(name, 0.0) + value
        sums.append(total)
    return PerArm(sums[0], sums[1]) if any(sums) else None
