"""The Gateway API's rules for an HTTPRoute, as far as exported routes go, and a router that follows one. No test lives here.

Rules as in the schema of gateway.networking.k8s.io/v1: required fields, patterns, numbers of items, defaults.
"""

import re
from collections.abc import Mapping
from typing import Any

NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+\-.^_`|~]+")
MOST_RULES, MOST_MATCHES, MOST_BACKENDS, MOST_WEIGHT = 16, 64, 16, 1_000_000


def faults(route: Mapping[str, Any]) -> list[str]:
    """What of the route the schema would refuse."""
    found = _keys("route", route, {"apiVersion", "kind", "metadata", "spec"}, set())
    if (route["apiVersion"], route["kind"]) != ("gateway.networking.k8s.io/v1", "HTTPRoute"):
        found.append("kind")
    found += _keys("spec", route["spec"], {"parentRefs", "rules"}, {"hostnames"})
    names = [route["metadata"]["name"], *(parent["name"] for parent in route["spec"]["parentRefs"])]
    found += [f"name {name}" for name in names if not NAME.fullmatch(name)]
    rules = route["spec"]["rules"]
    if not 1 <= len(rules) <= MOST_RULES:
        found.append(f"{len(rules)} rules")
    if sum(len(rule.get("matches", [{}])) for rule in rules) > 128:
        found.append("matches in all")
    for rule in rules:
        found += _keys("rule", rule, {"backendRefs"}, {"matches"}) + _rule(rule)
    return found


def _rule(rule: Mapping[str, Any]) -> list[str]:
    found = [] if 1 <= len(rule["backendRefs"]) <= MOST_BACKENDS else ["backends"]
    found += [] if 1 <= len(rule.get("matches", [{}])) <= MOST_MATCHES else ["matches"]
    for match in rule.get("matches", []):
        for header in match["headers"]:
            found += _keys("header", header, {"name", "value"}, {"type"})
            if not HEADER.fullmatch(header["name"]) or not 1 <= len(header["value"]) <= 4096 or header["type"] != "Exact":
                found.append(f"header {header}")
    for backend in rule["backendRefs"]:
        found += _keys("backend", backend, {"name"}, {"group", "kind", "port", "weight"})
        if not 0 <= backend.get("weight", 1) <= MOST_WEIGHT:
            found.append("weight")
        if backend.get("kind", "Service") == "Service" and not 1 <= backend.get("port", 0) <= 65_535:
            found.append("a Service without a port")
    return found


def _keys(where: str, value: Mapping[str, Any], required: set[str], optional: set[str]) -> list[str]:
    return [f"{where}: {key}" for key in (required - set(value)) | (set(value) - required - optional)]


def shares(route: Mapping[str, Any], headers: Mapping[str, str]) -> dict[str, float]:
    """Which share of requests with these headers goes to which backend, by the rule with the most matching headers."""
    best: tuple[int, Mapping[str, Any]] | None = None
    for rule in route["spec"]["rules"]:
        for match in rule.get("matches", [{}]):
            wanted = match.get("headers", [])
            if all(headers.get(one["name"]) == one["value"] for one in wanted) and (best is None or len(wanted) > best[0]):
                best = (len(wanted), rule)
    if best is None:
        return {}
    weights = {backend["name"]: backend.get("weight", 1) for backend in best[1]["backendRefs"]}
    return {name: weight / sum(weights.values()) for name, weight in weights.items() if weight}
