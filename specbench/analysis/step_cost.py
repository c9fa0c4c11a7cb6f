"""What an engine step costs by the tokens that it verifies and by the depth of its drafts, fitted over all loads of a run.

Step time = V(verified tokens) + D · depth, V never falling. Loads tell the two apart: 4 streams without drafts verify as many
tokens as one stream at depth 3. The fit is a screen for what to try next and never a pick: measured ratios decide.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from specbench.model.result import CellResult

LEAST_POINTS = 4  # two arms at two loads


@dataclass(frozen=True, slots=True)
class StepPoint:
    """One measured mean step time: of how many tokens, at which depth (0 without drafts)."""

    verified: float
    depth: int
    step_ms: float


@dataclass(frozen=True, slots=True)
class StepCost:
    """The fit: V at its knots, tokens ascending, and D; a line lies between two knots, and nothing is known past the last."""

    verified: tuple[float, ...]
    base_ms: tuple[float, ...]
    depth_ms: float

    def step_ms(self, verified: float, depth: int) -> float | None:
        """The mean step time there; None past the largest step that was measured."""
        if verified > self.verified[-1]:
            return None
        return _between(self.verified, self.base_ms, verified) + self.depth_ms * depth


def points_of(cells: Iterable[CellResult], depth: int) -> tuple[StepPoint, ...]:
    """Both arms' mean steps of each cell; tokens are the requests that ran, or else the streams, times a round's tokens."""
    found = []
    for cell in cells:
        for arm, of_arm in (("baseline", 0), ("speculative", depth)):
            step, running = (cell.factors.step_ms.baseline, cell.axes.running_mean.baseline)
            if arm == "speculative":
                step, running = (cell.factors.step_ms.speculative, cell.axes.running_mean.speculative)
            requests = _requests(running, cell.axes.concurrency)
            if step is not None and requests is not None:
                found.append(StepPoint(requests * (1 + of_arm), of_arm, step))
    return tuple(found)


def fitted(points: Sequence[StepPoint]) -> StepCost | None:
    """The cost of a step by these measurements; None where they cannot tell what drafting costs from what verifying does.

    D is the one by which each point lies closest to the line between its neighbours of another depth, relative to its own time
    (least squares); what is left of each time is then made to never fall (pool adjacent violators).
    """
    by_tokens = sorted(points, key=lambda point: (point.verified, point.depth))
    if len(by_tokens) < LEAST_POINTS:
        return None
    above = below = 0.0
    for before, here, after in zip(by_tokens, by_tokens[1:], by_tokens[2:], strict=False):
        share = (
            0.5 if after.verified == before.verified else (here.verified - before.verified) / (after.verified - before.verified)
        )
        apart = here.depth - (1 - share) * before.depth - share * after.depth
        off = here.step_ms - (1 - share) * before.step_ms - share * after.step_ms
        above += off * apart / here.step_ms**2
        below += apart**2 / here.step_ms**2
    if not below:
        return None
    most = min((point.step_ms / point.depth for point in by_tokens if point.depth), default=0.0)
    depth_ms = min(max(above / below, 0.0), most)
    rising = _never_falling([point.step_ms - depth_ms * point.depth for point in by_tokens])
    return StepCost(tuple(point.verified for point in by_tokens), tuple(rising), depth_ms)


def ratio_at(cost: StepCost, cell: CellResult, here: tuple[int, float], there: tuple[int, float]) -> float | None:
    """The TPOT ratio to the baseline that another depth is predicted to have in this cell; None where a part is not known.

    measured ratio · (step at that depth ÷ its tokens per step) ÷ (the same at the depth that was run)

    Args:
        here: The depth that was run, and its tokens per step.
        there: The other one, and its.
    """
    requests = _requests(cell.axes.running_mean.speculative, cell.axes.concurrency)
    measured = cell.factors.tpot_ratio
    if requests is None or measured is None:
        return None
    now, then = (cost.step_ms(requests * (1 + depth), depth) for depth, _ in (here, there))
    return None if not now or then is None else measured * (then / there[1]) / (now / here[1])


def _requests(running: float | None, concurrency: int | None) -> float | None:
    return running if running else None if concurrency is None else float(concurrency)


def _between(places: Sequence[float], values: Sequence[float], at: float) -> float:
    """The value there, on the line between two places; the first one's below it."""
    after = bisect_right(places, at)
    if after == 0:
        return values[0]
    if after == len(places):
        return values[-1]
    share = (at - places[after - 1]) / (places[after] - places[after - 1])
    return values[after - 1] + share * (values[after] - values[after - 1])


def _never_falling(values: Sequence[float]) -> list[float]:
    """The values that never fall and lie closest to these in squares."""
    pools: list[tuple[float, int]] = []
    for value in values:
        total, count = value, 1
        while pools and pools[-1][0] / pools[-1][1] > total / count:
            before = pools.pop()
            total, count = total + before[0], count + before[1]
        pools.append((total, count))
    return [total / count for total, count in pools for _ in range(count)]
