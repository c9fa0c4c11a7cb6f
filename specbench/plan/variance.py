"""How much the log ratio of one pair scatters, by cell and metric: from an earlier run, from a pilot, or from a stated prior.

What a plan can see with such a spread is `plan/power.py`'s.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import log, sqrt
from pathlib import Path

from specbench.analysis.attempts import counted
from specbench.analysis.judge import judge
from specbench.analysis.stats.paired import STARTS, t_tail
from specbench.model.records import Block, Cell, RequestRecord, RunData
from specbench.model.result import Comparison, Result
from specbench.report.formats.result_json import read_result
from specbench.store import read_run

LEAST_PAIRS = 3  # of an earlier run: fewer tell next to nothing of their spread
SLICES = 4  # of a pilot's only pair, each taken for a small pair
# A stated prior, from the calibration's own worlds (docs/calibration.md): each block has a speed of its own, and within blocks of
# 20 s the log ratio of a pair scatters so much, by metric. Scatter within blocks falls with the root of their length.
BLOCK_SD = 0.02
PRIOR_BLOCK_S = 20.0
PRIOR_WITHIN = {"tpot_p50": 0.02, "tpot_p95": 0.06, "pace_p95": 0.055, "ttft_paired": 0.02, "ttft_p95": 0.08, "e2e_p95": 0.045}
PRIOR_WITHIN_OTHER = 0.01
PRIOR = "a stated prior, no earlier run given (docs/calibration.md)"

LABEL, AA = "calibrate", "A/A"  # how runs said that both their arms are alike before they had a design
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class PairVariance:
    """The spread (standard deviation) of one pair's log ratio by (cell, metric), and in words where it comes from.

    `values` are the baseline's own, in the metric's unit, as far as known; `offsets` how far two arms that should be alike were
    apart, on the log scale, where that was more than chance.
    """

    of: Mapping[Key, float]
    source: str
    values: Mapping[Key, float] = field(default_factory=dict)
    offsets: Mapping[Key, float] = field(default_factory=dict)


def prior(cells: Sequence[Cell], metrics: Sequence[str], block_s: float) -> PairVariance:
    """Spreads from the stated prior, scaled to blocks of this length in seconds."""
    scale = PRIOR_BLOCK_S / block_s
    known = {
        (cell.id, metric): sqrt(2 * BLOCK_SD**2 + scale * PRIOR_WITHIN.get(metric, PRIOR_WITHIN_OTHER) ** 2)
        for cell in cells
        for metric in metrics
    }
    return PairVariance(known, PRIOR)


def earlier(result: Result) -> PairVariance:
    """Spreads as an earlier run found them; empty for cells of fewer than 3 pairs."""
    told = _comparisons(result)
    known = {key: spread for key, comparison in told.items() if (spread := pair_spread(comparison)) is not None}
    values = {key: value for key in known if (value := told[key].value.baseline) is not None}
    return PairVariance(known, f"the pairs of run {result.run.id}", values)


def noise(result: Result) -> PairVariance:
    """The noise floor that an A/A run found: its spreads, and where the two endpoints differ although they should not."""
    found, told = earlier(result), _comparisons(result)
    offsets = {key: abs(log(told[key].ratio or 1.0)) for key in found.of if _differs(told[key], len(found.of))}
    return replace(found, source=f"the A/A run {result.run.id}", offsets=offsets)


def pilot(evidence: RunData) -> PairVariance:
    """Spreads from a run of a single pair or two: each block is cut in four, whose scatter stands for that within a block.

    spread² = spread of the quarters² ÷ 4 + 2 · (2 %)², as one pair cannot tell how blocks differ: that part is the prior's.
    """
    quarters = earlier(judge(_quartered(evidence), ""))
    known = {key: sqrt(spread**2 / SLICES + 2 * BLOCK_SD**2) for key, spread in quarters.of.items()}
    source = f"the pilot {evidence.manifest.run_id}, blocks cut in four, and blocks that differ by 2 %"
    return PairVariance(known, source, quarters.values)


def spreads_in(folder: Path) -> PairVariance:
    """What the run in this folder tells: its noise floor if it was an A/A, else the spread of its pairs, else that of a pilot.

    Raises:
        DataError: There is no run, or it cannot be read.
    """
    result = read_result(folder)
    if result.config.design == "aa" or result.run.labels.get(LABEL) == AA:
        return noise(result)
    found = earlier(result)
    return found if found.of else pilot(counted(read_run(folder)))


def _comparisons(result: Result) -> dict[Key, Comparison]:
    return {(cell.id, comparison.metric): comparison for cell in result.cells for comparison in cell.metrics}


def _differs(comparison: Comparison, tests: int) -> bool:
    """Whether the arms are further apart than chance leaves them in any of so many tests (Bonferroni)."""
    ratio, se, df = comparison.ratio, _error(comparison), comparison.df
    if ratio is None or se is None or df is None or se == 0.0:
        return False
    return 2 * t_tail(abs(log(ratio)) / se, df) < (1 - comparison.ci_level) / tests


def pair_spread(comparison: Comparison) -> float | None:
    """The spread of one pair's log ratio, from the larger of the two sides' errors, less what starts add; None if not known."""
    se = _error(comparison)
    if se is None or comparison.n_blocks < LEAST_PAIRS or comparison.constant:
        return None
    of_starts = 0.0 if comparison.start is None else STARTS * comparison.start.sd**2
    return sqrt(max(se**2 - of_starts, 0.0) * comparison.n_blocks)


def _error(comparison: Comparison) -> float | None:
    """The larger of the two sides' standard errors."""
    return None if comparison.se_log is None else max(comparison.se_log, comparison.se_log_above or 0.0)


def _quartered(evidence: RunData) -> RunData:
    """The same run with each block's window cut in four, as pairs of their own; a request belongs to the quarter it began in."""
    blocks: list[Block] = []
    quarters: dict[str, list[Block]] = {}
    for block in evidence.blocks:
        if block.window_open_ns is None or block.window_close_ns is None:
            continue
        length = (block.window_close_ns - block.window_open_ns) // SLICES
        cut = [
            replace(
                block,
                id=f"{block.id}/{place}",
                pair=SLICES * block.pair + place,
                window_open_ns=block.window_open_ns + place * length,
                window_close_ns=block.window_open_ns + (place + 1) * length,
            )
            for place in range(SLICES)
        ]
        quarters[block.id] = cut
        blocks.extend(cut)
    records = tuple(_placed(record, quarters[record.block]) for record in evidence.records if record.block in quarters)
    return replace(evidence, blocks=tuple(blocks), records=records)


def _placed(record: RequestRecord, quarters: Sequence[Block]) -> RequestRecord:
    began = record.sent_ns if record.scheduled_ns is None else record.scheduled_ns
    later = [block for block in quarters if (block.window_open_ns or 0) <= began]
    return replace(record, block=(later[-1] if later else quarters[0]).id)
