"""Whether what arrived at a rate was served as it came: a queue that grows has no latency but that of a block's length.

A block begins empty, so answers under way grow in number at first whatever the rate: what is served is counted in the second half
of the steady window. A queue from which 97 % of the arrivals come out makes the next request wait longer by 3 % of the time that
passes: that is what TTFT may rise from half to half. Judged over all blocks of an arm together, as few requests come in one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from specbench.analysis.arrays.events import Floats
from specbench.analysis.cells import CellEvidence
from specbench.analysis.failures.hanging import HANGING, sent_inside
from specbench.analysis.stats.paired import t_quantile
from specbench.model.records import Block, Outcome, RequestRecord
from specbench.model.result import PerArm
from specbench.model.scenario import ArmName
from specbench.units import seconds

LEFT_BEHIND = 0.03  # of the arrivals
RISE, LEAST_RISE_S = 0.15, 0.02  # of TTFT, as its default guardrail has them; less is no queue
SIGN_ALPHA, PROOF_ALPHA = 0.05, 0.01  # no pass beside a sign, no harm without proof: docs/adr/0030
_REFUSED: frozenset[Outcome] = frozenset({"client_resource", "prompt_too_long"})


@dataclass(frozen=True, slots=True, kw_only=True)
class BacklogFigure:
    """One figure of an arm over its blocks: the mean, its bounds, and what is allowed; `by_pair` is what it is made of."""

    mean: float
    least: float
    proven: float
    allowed: float
    by_pair: dict[int, float]

    @property
    def sign(self) -> bool:
        """Whether it lies past what is allowed, and not by a chance that often does it."""
        return self.mean > self.allowed and self.least > 0

    @property
    def proof(self) -> bool:
        """Whether it surely lies past what is allowed."""
        return self.proven > self.allowed


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """What one arm left behind: `unserved`, a share of arrivals; `rise_s`, of TTFT from a block's first half to its second."""

    unserved: BacklogFigure
    rise_s: BacklogFigure

    @property
    def sign(self) -> bool:
        """Whether arrivals may have outrun the arm."""
        return self.unserved.sign or self.rise_s.sign

    @property
    def proof(self) -> bool:
        """Whether they surely did."""
        return self.unserved.proof or self.rise_s.proof


def backlogs_of(cell: CellEvidence) -> PerArm[Backlog | None]:
    """Both arms' backlogs in a cell of arrivals; None where it is a closed loop, or fewer than two blocks tell."""
    if cell.cell.rate is None:
        return PerArm(None, None)
    return PerArm(_backlog(cell, "baseline"), _backlog(cell, "speculative"))


def outran_more(baseline: Backlog, speculative: Backlog) -> bool:
    """Whether what proves that speculation was outrun is surely more than in the baseline, which got the same arrivals."""
    figures = ((baseline.unserved, speculative.unserved), (baseline.rise_s, speculative.rise_s))
    return any(after.proof and _surely_more(before.by_pair, after.by_pair) for before, after in figures)


def _surely_more(before: dict[int, float], after: dict[int, float]) -> bool:
    both = np.array([after[pair] - before[pair] for pair in sorted(before.keys() & after.keys())])
    return len(both) > 1 and _bound(both, SIGN_ALPHA) > 0


@dataclass(frozen=True, slots=True)
class _Half:
    """Of one block: how many requests arrived and were served in the second half of its window; mean TTFT (s) of either half."""

    pair: int
    length_s: float
    arrived: int
    served: int
    first_s: float | None
    second_s: float | None


def _backlog(cell: CellEvidence, arm: ArmName) -> Backlog | None:
    records: dict[str, list[RequestRecord]] = {block.id: [] for block in cell.blocks.of(arm)}
    for record in cell.records.of(arm):
        if record.outcome not in _REFUSED:
            records[record.block].append(record)
    found = [half for block in cell.blocks.of(arm) if (half := _half(block, records[block.id])) is not None]
    halves = [half for half in found if half.arrived]
    waits = [
        (h.pair, h.length_s, h.first_s, h.second_s - h.first_s)
        for h in halves
        if h.first_s is not None and h.second_s is not None
    ]
    if len(halves) < 2 or len(waits) < 2:
        return None
    return Backlog(unserved=_unserved(halves), rise_s=_rise(waits))


def _half(block: Block, records: Sequence[RequestRecord]) -> _Half | None:
    opened_ns, closed_ns = block.window_open_ns, block.window_close_ns
    if opened_ns is None or closed_ns is None:
        return None
    middle_ns = (opened_ns + closed_ns) // 2
    begun = [record for record in records if sent_inside(block, record)]
    served = sum(middle_ns <= record.sent_ns + record.end_ns < closed_ns for record in records if record.outcome == "ok")
    parts = [[_ttft_s(record) for record in begun if (_start_ns(record) >= middle_ns) is late] for late in (False, True)]
    means = [float(np.mean(known)) if (known := [each for each in part if each is not None]) else None for part in parts]
    return _Half(block.pair, seconds(closed_ns - middle_ns), len(parts[1]), served, means[0], means[1])


def _start_ns(record: RequestRecord) -> int:
    return record.sent_ns if record.scheduled_ns is None else record.scheduled_ns


def _ttft_s(record: RequestRecord) -> float | None:
    """How long its first token took since its arrival, at least so long where none came; None where it was refused."""
    late_ns = record.sent_ns - _start_ns(record)
    if record.event_ns:
        return seconds(late_ns + record.event_ns[0])
    return seconds(late_ns + record.end_ns) if record.outcome in HANGING or record.outcome == "cut" else None


def _unserved(halves: Sequence[_Half]) -> BacklogFigure:
    """The share of all arrivals that did not come out; its error is that of a ratio of sums, block by block."""
    arrived = np.array([half.arrived for half in halves], dtype=np.float64)
    left = arrived - np.array([half.served for half in halves])
    share = float(left.sum() / arrived.sum())
    around = share + (left - share * arrived) / arrived.mean()
    by_pair = {half.pair: float(each) for half, each in zip(halves, left / arrived.mean(), strict=True)}
    return _figure(around, LEFT_BEHIND, by_pair)


def _rise(waits: Sequence[tuple[int, float, float, float]]) -> BacklogFigure:
    pairs, length_s, first_s, rise_s = zip(*waits, strict=True)
    allowed = max(RISE * float(np.mean(first_s)), LEAST_RISE_S, LEFT_BEHIND * float(np.mean(length_s)))
    return _figure(np.array(rise_s), allowed, dict(zip(pairs, rise_s, strict=True)))


def _figure(values: Floats, allowed: float, by_pair: dict[int, float]) -> BacklogFigure:
    return BacklogFigure(
        mean=float(values.mean()),
        least=_bound(values, SIGN_ALPHA),
        proven=_bound(values, PROOF_ALPHA),
        allowed=allowed,
        by_pair=by_pair,
    )


def _bound(values: Floats, alpha: float) -> float:
    """The one-sided lower bound of the mean over blocks."""
    return float(values.mean()) - t_quantile(1 - alpha, len(values) - 1) * float(values.std(ddof=1)) / sqrt(len(values))
