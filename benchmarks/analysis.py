"""How long the analysis of a large run takes, and how much memory: 24 cells of a million gaps each, from records to result.

Measures and prints; no test rests on a time of this machine.
"""

import resource
import sys
import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from specbench.analysis.judge import judge
from specbench.model.records import Block, Cell, RequestRecord, RunData
from specbench.model.result import Result
from specbench.model.scenario import ARMS, Scenario
from tests.support.evidence import a_manifest, a_scenario, cells_for
from tests.support.records import a_block, a_record

CELLS, PAIRS, EVENTS = 24, 10, 100
GAPS = 1_000_000  # per cell, both arms together
BUDGET_S, BUDGET_MB = 30.0, 2000.0
GROWTH = 1.3  # four times the gaps may take that much more than four times as long


def main() -> int:
    """Prints what was measured against the budget; answers 0 where all of it was met."""
    judge(_evidence(1, GAPS // 100), "0")  # scipy's first import is no part of the growth
    small_s = _timed(_evidence(CELLS // 4, GAPS // 4))[1] / (CELLS // 4)
    whole = _evidence(CELLS, GAPS)
    held_mb = _peak_mb()
    began = time.perf_counter()
    result, seconds = _timed(whole)
    wall_s = time.perf_counter() - began
    peak_mb = _peak_mb()
    again = judge(_evidence(1, GAPS // 10), "0") == judge(_evidence(1, GAPS // 10), "0")
    growth = seconds / CELLS / (4 * small_s)
    print(f"{CELLS} cells x {GAPS:,} gaps, {PAIRS} pairs, {len(whole.records):,} requests; verdict {result.verdict}")
    met = [
        _row("processor time", f"{seconds:.1f} s ({wall_s:.1f} s by the clock)", f"{BUDGET_S:.0f} s", seconds / BUDGET_S),
        _row("peak memory", f"{peak_mb:,.0f} MB, {held_mb:,.0f} of it the records", f"{BUDGET_MB:,.0f} MB", peak_mb / BUDGET_MB),
        _row("growth with gaps", f"x {4 * growth:.2f} for x 4", f"x {4 * GROWTH:.2f}", growth / GROWTH),
        _row("same result twice", "yes" if again else "no", "yes", 0.0 if again else 2.0),
    ]
    return 0 if all(met) else 1


def _row(what: str, seen: str, budget: str, share: float) -> bool:
    print(f"{what:<18} {seen:<44} budget {budget:<10} {share:5.2f} of it  {'met' if share <= 1 else 'MISSED'}")
    return share <= 1


def _timed(evidence: RunData) -> tuple[Result, float]:
    """The result, and the processor time it took: one thread works, so this is what the clock shows where nothing else runs."""
    began = time.process_time()
    return judge(evidence, "0"), time.process_time() - began


def _peak_mb(used: resource.struct_rusage | None = None) -> float:
    peak = (used or resource.getrusage(resource.RUSAGE_SELF)).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak / 1e3


def _evidence(n_cells: int, gaps: int) -> RunData:
    """A run of n cells, in each of which both arms together show so many gaps; two bins, two samplings."""
    scenario = a_scenario(tuple(range(1, n_cells + 1)), pairs=PAIRS)
    blocks: list[Block] = []
    records: list[RequestRecord] = []
    rng = np.random.default_rng(1)
    for cell in cells_for(scenario):
        for block in _blocks(cell, scenario):
            blocks.append(block)
            records.extend(_requests(block, gaps // (2 * PAIRS * (EVENTS - 1)), rng))
    return RunData(
        manifest=a_manifest(scenario), blocks=tuple(blocks), records=tuple(records), finished="2026-01-01T00:00:00Z", problems=()
    )


def _blocks(cell: Cell, scenario: Scenario) -> Iterator[Block]:
    for pair in range(scenario.matrix.pairs):
        for arm in ARMS:
            block = a_block(pair, arm=arm, name=f"{cell.id}/p{pair}/{arm}")
            yield replace(block, cell=cell.id, concurrency=cell.concurrency)


def _requests(block: Block, count: int, rng: np.random.Generator) -> Iterator[RequestRecord]:
    """Answers of 100 events 10 ms apart; the speculative arm's hold 1 to 4 tokens and take 1.3 times as long."""
    speculative = block.arm == "speculative"
    level = (13.0 if speculative else 10.0) * rng.lognormal(0, 0.03)
    moments = np.cumsum(rng.lognormal(np.log(level), 0.2, (count, EVENTS)), axis=1)
    tokens = rng.integers(1, 5, (count, EVENTS)) if speculative else np.ones((count, EVENTS), dtype=np.int64)
    for index in range(count):
        yield a_record(
            moments[index].tolist(),
            tokens[index].tolist(),
            block=block.id,
            index=index,
            sent_ms=58_000 * index / count,
            bin=("short", "long")[index % 2],
            sampling=("greedy", "hot")[index // 2 % 2],
            stream=index % 4,
        )


if __name__ == "__main__":
    sys.exit(main())
