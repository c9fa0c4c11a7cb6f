"""A plan as values for programs: its loads with blocks and minutes, and by metric the change that it detects."""

import json
from dataclasses import asdict
from typing import Any

from specbench.model.scenario import Scenario
from specbench.plan.answer_requests import added_requests
from specbench.plan.power import power_of
from specbench.plan.trials import Trial, cells_of, duration_s
from specbench.plan.variance import PairVariance
from specbench.units import S_PER_MIN


def plan_json(scenario: Scenario, trials: tuple[Trial, ...], spreads: PairVariance) -> str:
    """The plan as one JSON object; changes are fractions, times are minutes."""
    matrix = scenario.matrix
    loads: list[dict[str, Any]] = []
    for cell in cells_of(scenario):
        own = tuple(trial for trial in trials if trial.cell.id == cell.id)
        level = cell.concurrency if cell.concurrency is not None else cell.rate
        loads.append(
            {
                "cell": cell.id,
                "concurrency": cell.concurrency,
                "rate": cell.rate,
                "bin": cell.bin,
                "sampling": cell.sampling,
                "required": cell.required,
                "primary": level == matrix.primary,
                "blocks": len(own),
                "minutes": _minutes(scenario, own),
            }
        )
    plan = {
        "name": scenario.name,
        "profile": scenario.profile,
        "schedule": matrix.schedule,
        "pairs": matrix.pairs,
        "blocks": len(trials),
        "minutes": _minutes(scenario, trials),
        "loads": loads,
        "answers": asdict(added_requests(scenario)),
        "variance": spreads.source,
        "changes": [
            {
                "cell": one.cell,
                "metric": one.metric,
                "detects": one.detects,
                "proves": one.proves,
                "allowed": one.allowed,
                "within_noise": one.is_lost,
                "pairs_for_5_percent": one.pairs_for_5,
            }
            for one in power_of(scenario, spreads)
        ],
    }
    return json.dumps(plan, indent=2)


def _minutes(scenario: Scenario, trials: tuple[Trial, ...]) -> list[float]:
    return [round(seconds / S_PER_MIN, 2) for seconds in duration_s(scenario, trials)]
