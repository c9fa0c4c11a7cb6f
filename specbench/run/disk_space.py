"""How much a run will write, from what the arms' first answers showed, and whether the disk has room for it."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from specbench.explain.notes import disk_short
from specbench.model.records import RequestRecord
from specbench.model.scenario import Scenario
from specbench.plan.trials import Trial
from specbench.units import seconds

RECORD_BYTES, EVENT_BYTES = 900, 18  # of a line of requests.jsonl, and for each event in it; measured


def expected_bytes(scenario: Scenario, trials: Sequence[Trial], first: Sequence[RequestRecord]) -> int:
    """How much the records of these blocks take, at least; 0 where no first answer tells how fast the arms are.

    As fast as an answer comes alone it comes under no load, so a closed loop may write less than this.
    """
    told = [record for record in first if record.outcome == "ok" and len(record.event_ns) > 1]
    if not told:
        return 0
    first_s = fmean(seconds(record.event_ns[0]) for record in told)
    step_s = fmean(seconds(record.event_ns[-1] - record.event_ns[0]) / (len(record.event_ns) - 1) for record in told)
    token_s = fmean(seconds(record.event_ns[-1] - record.event_ns[0]) / max(1, sum(record.event_tokens[1:])) for record in told)
    bins = scenario.workload.bins
    tokens = sum(band.weight * fmean(band.output_tokens) for band in bins) / sum(band.weight for band in bins)
    answer_s = first_s + tokens * token_s
    events = tokens * token_s / step_s if step_s else tokens
    size, lasts_s = scenario.matrix.block, scenario.matrix.block.min_s + scenario.matrix.block.ramp_s
    requests = 0.0
    for trial in trials:
        a_second = trial.cell.rate if trial.cell.rate is not None else (trial.cell.concurrency or 1) / max(answer_s, 1e-3)
        requests += max(size.min_requests, a_second * lasts_s)
    return round(requests * (RECORD_BYTES + EVENT_BYTES * events))


def disk_warning(folder: Path, needed: int) -> str | None:
    """A sentence where the disk of this folder, which need not be there yet, has less room than that."""
    there = next(one for one in (folder, *folder.absolute().parents) if one.exists())
    free = shutil.disk_usage(there).free
    return disk_short(str(folder), needed, free) if free < needed else None
