"""What is on record of how a run was made, and which of it is another one on either side of a change."""

from collections.abc import Mapping, Sequence

from specbench.model.facts import same_fact
from specbench.model.history.run_history import FactChange
from specbench.model.result import Result
from specbench.model.run_info import EndpointInfo
from specbench.model.scenario import ARMS

AROUND = 1  # runs beside a change whose facts are named too: noise may shift a change by one
Facts = Mapping[str, str]


def facts_of(result: Result) -> dict[str, str]:
    """Every fact on record; those of an arm begin with its name, as in 'speculative engine_version'."""
    run, config = result.run, result.config
    found: dict[str, str | None] = {
        "specbench": result.tool_version,
        "scenario_sha256": config.sha256,
        "resolved_sha256": config.resolved_sha256,
        "profile": run.profile,
        "seed": str(run.seed),
        "pairs": str(config.pairs),
        "schedule": config.schedule,
        "prompts": config.source,
        **{f"label {name}": value for name, value in run.labels.items()},
    }
    for arm in ARMS:
        found |= {f"{arm} {name}": value for name, value in _endpoint(result.endpoints.of(arm)).items()}
    return {name: value for name, value in found.items() if value is not None}


def _endpoint(info: EndpointInfo) -> dict[str, str | None]:
    own = {
        "engine": info.engine,
        "engine_version": info.engine_version,
        "model": info.model,
        "speculation": info.speculation,
        "url": info.url,
        "slow_by": f"{info.slow_by:g}" if info.slow_by else None,
    }
    return {**info.facts, **{name: value for name, value in own.items() if value is not None}}


def facts_changed(facts: Sequence[Facts], at: int, previous: int, following: int) -> tuple[FactChange, ...]:
    """What differs between the run before `at` and the run there, then between their neighbours.

    Args:
        facts: Those of each run of the series, in their order.
        previous: Where the level before began.
        following: Where the next level begins; the number of runs for the last one.
    """
    names = list(dict.fromkeys(name for one in facts[previous:following] for name in one))
    found: dict[str, FactChange] = {}
    for away in sorted(range(-AROUND, AROUND + 1), key=abs):
        place = at + away
        if not previous < place < following:
            continue
        for name in names:
            before, after = facts[place - 1].get(name), facts[place].get(name)
            if name not in found and not _same(before, after):
                held = _held(facts[previous:place], name) and _held(facts[place:following], name)
                found[name] = FactChange(fact=name, before=before, after=after, runs_away=away, held=held)
    return tuple(sorted(found.values(), key=lambda one: (not one.held, abs(one.runs_away))))


def _held(facts: Sequence[Facts], name: str) -> bool:
    return all(_same(facts[0].get(name), one.get(name)) for one in facts)


def _same(one: str | None, other: str | None) -> bool:
    return one == other or (one is not None and other is not None and same_fact(one, other))
