"""How many requests the comparison of answers adds to a run, at most."""

from dataclasses import dataclass

from specbench.model.scenario import Scenario
from specbench.net.urls import share_server
from specbench.plan.trials import cells_of

LEAST_PROMPTS = 128
"""Prompts of each sampling setting that are compared, where the scenario asks for no fewer and the load brought no more."""

RESERVED = 20  # for so many missing prompts one more is asked
EACH_PROMPT = 2  # questions to the baseline: one an arm's answer


@dataclass(frozen=True, slots=True)
class AddedRequests:
    """Requests of a run beside its load, at most: answers that each arm is asked for, and questions to the baseline."""

    answers_per_arm: int
    questions: int


def added_requests(scenario: Scenario) -> AddedRequests:
    """What comparing answers adds; nothing where it is switched off."""
    if not scenario.answers.check:
        return AddedRequests(0, 0)
    matrix, settings = scenario.matrix, len(scenario.workload.sampling)
    salted = share_server([scenario.baseline.url, scenario.speculative.url])
    required = [cell for cell in cells_of(scenario) if cell.required]
    shared = sum(matrix.pairs * matrix.block.min_requests // (1 if cell.sampling else settings) for cell in required)
    brought = 0 if salted else shared // (settings if any(cell.sampling for cell in required) else 1)
    wanted = min(LEAST_PROMPTS, scenario.answers.prompts)
    compared = max(wanted, min(brought, scenario.answers.prompts))
    return AddedRequests(settings * with_reserve(wanted - brought), settings * EACH_PROMPT * compared)


def with_reserve(missing: int) -> int:
    """How many prompts to send for so many missing ones: a few get no answer of both arms that is long enough to judge."""
    return 0 if missing <= 0 else missing + missing // RESERVED + 1
