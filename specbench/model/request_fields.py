"""What the bodies of the two arms' requests hold, and where they differ: vocabulary and comparison, no request is made here."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from hashlib import sha256
from typing import Any

from specbench.model.scenario import Arm, Sampling, Scenario

EXTRA_BODY = "extra_body"
# Where the scenario came from, by which words it was changed, and what it is for: no run is another one by these.
_OF_THE_FILE = ("path", "sha256", "flags", "tune", "confirms", "watch_limits")


def differing_fields(scenario: Scenario) -> tuple[str, ...]:
    """The fields of requests that the arms do not send alike, each by its dotted name, as in `chat_template_kwargs.thinking`.

    Model, prompt and what an engine is asked for besides are put alike to both arms, unless `extra_body` replaces them.
    """
    found: dict[str, None] = {}
    for sampling in scenario.workload.sampling:
        found |= dict.fromkeys(_differing(_fields(scenario.baseline, sampling), _fields(scenario.speculative, sampling)))
    return tuple(sorted(found))


def is_accepted(field: str, accepted: tuple[str, ...]) -> bool:
    """Whether a field's difference is accepted: by its own name, by that of a field that holds it, or with all of extra_body."""
    names = [name.removeprefix(f"{EXTRA_BODY}.") for name in accepted]
    return EXTRA_BODY in accepted or any(field == name or field.startswith(f"{name}.") for name in names)


def accepted_fields(scenario: Scenario) -> tuple[str, ...]:
    """The names under `accept_differences` that a differing field of the requests answers to."""
    fields = differing_fields(scenario)
    return tuple(name for name in scenario.accept_differences if any(is_accepted(field, (name,)) for field in fields))


def refused_fields(scenario: Scenario) -> tuple[str, ...]:
    """The differing fields that the scenario does not accept by name."""
    return tuple(field for field in differing_fields(scenario) if not is_accepted(field, scenario.accept_differences))


def resolved_sha256(scenario: Scenario) -> str:
    """The sha256 of the scenario as it is run, all defaults and what the command line changed included; not of its file."""
    whole = {name: value for name, value in asdict(scenario).items() if name not in _OF_THE_FILE}
    return sha256(json.dumps(whole, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _fields(arm: Arm, sampling: Sampling) -> dict[str, Any]:
    """What a request of this arm holds where arms may differ; None for what `extra_body` leaves out that engines are asked."""
    own = {name: getattr(sampling, name) for name in ("temperature", "top_p", "top_k", "seed")}
    whole = {**own, arm.limit_key: "the most tokens", **arm.extra_body}
    return {name: value for name, value in whole.items() if value is not None or name not in own}


def _differing(baseline: Mapping[str, Any], speculative: Mapping[str, Any], above: str = "") -> list[str]:
    found: list[str] = []
    for name in sorted({*baseline, *speculative}):
        ours, theirs = baseline.get(name), speculative.get(name)
        if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
            found += _differing(ours, theirs, f"{above}{name}.")
        elif (name in baseline) != (name in speculative) or not _alike(ours, theirs):
            found.append(f"{above}{name}")
    return found


def _alike(one: Any, other: Any) -> bool:
    """Whether two values say the same to a server: 1 and 1.0 do, 1 and true do not."""
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return not _differing(one, other)
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)
