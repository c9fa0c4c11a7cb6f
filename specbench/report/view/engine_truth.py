"""What the embedded engine counted of itself, beside what the client measured of it. No other engine tells this much.

The engine counts whole blocks, the client its steady windows, so both agree closely but not to the last digit.
"""

from dataclasses import dataclass

from specbench.explain import numbers
from specbench.model.result import CellResult
from specbench.model.scenario import ARMS, ArmName
from specbench.units import MS_PER_S


@dataclass(frozen=True, slots=True)
class TruthRow:
    """One quantity of one arm: as the client measured it and as the engine knows it."""

    label: str
    arm: str
    measured: str
    engine: str


def truth_rows(cell: CellResult) -> tuple[TruthRow, ...]:
    """Mean step, tokens per step and acceptance, measured and true; then the engine's bare counts. Empty where none told."""
    if cell.engine_truth is None:
        return ()
    told = [row for arm in ARMS for row in _derived(cell, arm, cell.engine_truth.of(arm))]
    return tuple(row for row in told if row.engine != numbers.ABSENT)


def _derived(cell: CellResult, arm: ArmName, told: dict[str, float]) -> list[TruthRow]:
    step = _share(told.get("step_s"), told.get("steps"))
    rows = [
        TruthRow(
            "mean step, ms",
            arm,
            numbers.number(cell.factors.step_ms.of(arm)),
            numbers.number(step * MS_PER_S if step is not None else None),
        ),
        TruthRow("steps", arm, "–", _count(told.get("steps"))),
        TruthRow("steps that overran their virtual time", arm, "–", _count(told.get("overrun_steps"))),
        TruthRow("steps that a stall of the machine made late", arm, "–", _count(told.get("late_steps"))),
    ]
    rounds, accepted = told.get("rounds"), told.get("accepted")
    if arm == "speculative" and rounds and accepted is not None:
        found = cell.acceptance
        positions = [told.get(f"per_position.{index}") for index in range(len(found.per_position or ()))]
        rows += [
            TruthRow("acceptance length", arm, numbers.ratio(found.length), numbers.ratio(1 + accepted / rounds)),
            TruthRow("acceptance rate", arm, numbers.percent(found.rate), numbers.percent(_share(accepted, told.get("drafted")))),
            *(
                TruthRow(
                    f"accepted at position {index + 1}", arm, numbers.percent(measured), numbers.percent(_share(counted, rounds))
                )
                for index, (measured, counted) in enumerate(zip(found.per_position or (), positions, strict=True))
            ),
        ]
    return rows


def _share(part: float | None, whole: float | None) -> float | None:
    return part / whole if part is not None and whole else None


def _count(value: float | None) -> str:
    return numbers.ABSENT if value is None else numbers.count(round(value))


def overruns(cell: CellResult) -> str:
    """How many of the engine's steps took longer than their virtual time, '' where no engine told."""
    if cell.engine_truth is None:
        return ""
    arms = (cell.engine_truth.baseline, cell.engine_truth.speculative)
    steps, late = (sum(told.get(name, 0.0) for told in arms) for name in ("steps", "overrun_steps"))
    return f"{numbers.count(round(late))} of {numbers.count(round(steps))} ({numbers.percent(late / steps)})" if steps else ""
