"""At how many streams missing answers are asked of both arms, and the baseline its questions. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from specbench.load.messages import IN_FLIGHT_LIMIT
from specbench.model.scenario import Scenario
from specbench.plan.trials import cells_of

MOST_QUESTIONS = 8  # to the baseline at once
RATE_STREAMS = 8  # where no load is a number of streams
LOWER_PART = 4  # one in so many prompts is asked at the loads below the highest


@dataclass(frozen=True, slots=True)
class AnswerLoads:
    """The loads of the missing answers, in streams, the lowest first, and how many questions the baseline gets at once."""

    answers: tuple[int, ...]
    questions: int


def loads_after_run(scenario: Scenario) -> AnswerLoads:
    """The highest required load, as the run has been at all others, and questions at the primary one."""
    return AnswerLoads(_levels(scenario)[-1:], int(max(1, min(MOST_QUESTIONS, scenario.matrix.primary))))


def loads_without_run(scenario: Scenario) -> AnswerLoads:
    """All required loads, as some faults act in large batches alone."""
    levels = _levels(scenario)
    return AnswerLoads(levels, min(MOST_QUESTIONS, levels[-1]))


def spread(count: int, loads: Sequence[int]) -> list[int]:
    """The load of each of so many prompts: a quarter of them at the lower loads in equal parts, the others at the highest."""
    *lower, highest = loads
    each = count // (LOWER_PART * len(lower)) if lower else 0
    low = [load for load in lower for _ in range(each)]
    return [*low, *[highest] * (count - len(low))]


def _levels(scenario: Scenario) -> tuple[int, ...]:
    levels = {min(cell.concurrency, IN_FLIGHT_LIMIT) for cell in cells_of(scenario) if cell.required and cell.concurrency}
    return tuple(sorted(levels)) or (RATE_STREAMS,)
