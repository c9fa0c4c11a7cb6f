"""A routing policy as an HTTPRoute of the Gateway API: enabled slices by header, the last rule for all other traffic."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from specbench.errors import ScenarioError
from specbench.explain.live import exported_lines as lines

HEADER = "x-specbench-slice"
MOST_RULES, MOST_MATCHES = 16, 64  # of an HTTPRoute; of one of its rules
POOL_GROUP = "inference.networking.k8s.io"
NAME = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_BACKEND = re.compile(rf"(?P<service>{NAME}):(?P<port>[1-9]\d{{0,4}})|InferencePool/(?P<pool>{NAME})")


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteBackends:
    """Where both arms are, and which share of an enabled slice (percent) the speculative one gets."""

    speculative: Mapping[str, Any]
    baseline: Mapping[str, Any]
    weight: int = 100


def backend(text: str, option: str) -> dict[str, Any]:
    """A backend as NAME:PORT of a Service, or as InferencePool/NAME.

    Raises:
        ScenarioError: It is neither.
    """
    found = _BACKEND.fullmatch(text.strip())
    if found is None or (found["port"] and int(found["port"]) > 65_535):
        raise ScenarioError(f"{option}: {text} is no backend; write vllm-spec:8000 for a Service, or InferencePool/vllm-spec")
    if found["pool"]:
        return {"group": POOL_GROUP, "kind": "InferencePool", "name": found["pool"]}
    return {"name": found["service"], "port": int(found["port"])}


def http_route(policy: Mapping[str, Any], backends: RouteBackends, name: str, gateway: str) -> dict[str, Any]:
    """The route of this policy. What no entry of `enable` names goes to the baseline; with none, everything does."""
    entries: Sequence[Mapping[str, Any]] = policy["enable"]
    both = _split(backends)
    if any(_slice(entry) is None for entry in entries):
        made = [{"backendRefs": both}]
    else:
        made = [{"matches": matches, "backendRefs": both} for matches in _matches(entries)]
        made.append({"backendRefs": [dict(backends.baseline)]})
    return {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": {"name": name},
        "spec": {"parentRefs": [{"name": gateway}], "rules": made},
    }


def route_remarks(policy: Mapping[str, Any], demonstration: bool) -> list[str]:
    """What stands above the route: its run, what it leaves with the baseline, and caps that no route holds."""
    told = [lines.made_of(policy["run"], policy["verdict"]), *([lines.DEMONSTRATION] if demonstration else [])]
    entries: Sequence[Mapping[str, Any]] = policy["enable"]
    if policy["proposed"]:
        told.append(lines.not_confirmed(len(policy["proposed"])))
    if not entries:
        return [*told, lines.NOTHING_ENABLED]
    if all(_slice(entry) is not None for entry in entries):
        told.append(f"{lines.SLICES} ({HEADER})")
    for entry in entries:
        streams, rate = entry["running_at_cap"] or entry["max_streams"], entry["max_requests_per_second"]
        if streams is not None or rate is not None:
            told.append(lines.cap_remark(_slice(entry) or lines.ALL_TRAFFIC, streams, rate, entry.get("setting")))
    return told


def _split(backends: RouteBackends) -> list[dict[str, Any]]:
    spec = {**backends.speculative, "weight": backends.weight}
    return [spec, {**backends.baseline, "weight": 100 - backends.weight}]


def _slice(entry: Mapping[str, Any]) -> str | None:
    """The header's value for this slice, such as edit/greedy; None for all traffic."""
    parts = [entry["bin"], entry["sampling"]]
    words = [re.sub(r"[^a-z0-9.]+", "-", part.lower()).strip("-") for part in parts if part is not None]
    return "/".join(words) or None


def _matches(entries: Sequence[Mapping[str, Any]]) -> list[list[dict[str, Any]]]:
    """The matches of each rule: one slice a rule while there are rules enough, else several."""
    values = [name for entry in entries if (name := _slice(entry)) is not None]
    if len(set(values)) < len(values):
        raise ScenarioError(f"routes: two slices have one name in the header ({', '.join(values)}); rename a bin of the scenario")
    a_rule = -(-len(values) // (MOST_RULES - 1)) if values else 1
    if a_rule > MOST_MATCHES:
        raise ScenarioError(f"routes: {len(values)} slices are more than one HTTPRoute holds ({MOST_MATCHES * (MOST_RULES - 1)})")
    matches = [{"headers": [{"type": "Exact", "name": HEADER, "value": value}]} for value in values]
    return [matches[at : at + a_rule] for at in range(0, len(matches), a_rule)]
