"""The options of `export` as values, and the text of each kind of file; each refused in one line where it makes no sense."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specbench.cli.live.watch_options import limits, limits_of_run
from specbench.errors import ScenarioError

if TYPE_CHECKING:
    from specbench.export.prometheus_rules import ExportOrder
    from specbench.export.vllm_queries import LatencyLimit
    from specbench.model.live.watch_result import LiveLimit
    from specbench.model.result import Result

FAMILIES = {"tpot": "inter_token_latency", "ttft": "time_to_first_token", "e2e": "request_latency"}
"""The key of vLLM's --custom-histogram-buckets that sets the edges of each time."""

OF_LINES = frozenset({"tpot_p99", "alpha"})
"""What a line of `watch --format emf` tells that a limit can be of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PickedExport:
    """The options as they were given. `tests_for`: the name of the rule file, beside which its tests stand."""

    what: str
    speculative: str | None
    baseline: str | None
    operator: bool = False
    depth: int | None = None
    limits: tuple[str, ...] = ()
    buckets: str | None = None
    watch: str | None = None
    weight: int = 100
    gateway: str = "inference-gateway"
    allow_capped: bool = False
    name: str = "specbench"
    tests_for: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedFile:
    """The text of a file, that of its tests where it has some, and what is said of both on the way."""

    text: str
    tests: str | None = None
    remarks: tuple[str, ...] = ()


def file_of(picked: PickedExport, run: "Result | None") -> ExportedFile:
    """The file of this kind.

    Raises:
        ScenarioError: An option is missing or makes no sense.
    """
    if picked.what == "routes":
        return ExportedFile(text=_routes(picked, run))
    if picked.what == "cloudwatch":
        return ExportedFile(text=_cloudwatch(picked))
    order = order_of(picked, run)
    return _rules(picked, order) if picked.what == "rules" else ExportedFile(text=_dashboard(order))


def watched_limits(what: str, run: Path | None) -> list[str]:
    """The limits of the run's scenario that a file of this kind can hold."""
    return [one for one in limits_of_run(run) if what != "cloudwatch" or one.partition("=")[0] in OF_LINES]


def order_of(picked: PickedExport, run: "Result | None") -> "ExportOrder":
    """What rules and the dashboard are made of."""
    from specbench.analysis.live.run_reference import cited_run
    from specbench.export.prometheus_rules import ExportOrder
    from specbench.export.selectors import label_selector
    from specbench.export.vllm_queries import ArmQueries, latency_limit

    spec = label_selector(_needed(picked.speculative, "--speculative", '{job="vllm",arm="spec"}'), "--speculative")
    base = None if picked.baseline is None else label_selector(picked.baseline, "--baseline")
    if base is not None and (spec.covers(base) or base.covers(spec)):
        raise ScenarioError("--baseline: one arm's selector lets the other arm through; give each a label of its own")
    given = limits(list(picked.limits))
    edges = _edges(picked.buckets)
    return ExportOrder(
        speculative=ArmQueries(selector=spec),
        baseline=None if base is None else ArmQueries(selector=base),
        run=None if run is None else cited_run(run),
        depth=picked.depth or _depth(run),
        limits=tuple(latency_limit(one, edges.get(one.metric.partition("_p")[0])) for one in given if one.metric != "alpha"),
        least_alpha=next((one.value for one in given if one.metric == "alpha"), None),
        watch=None if picked.watch is None else label_selector(picked.watch, "--watch"),
    )


def _rules(picked: PickedExport, order: "ExportOrder") -> ExportedFile:
    from specbench.explain.live.exported_lines import NO_RULE_TESTS
    from specbench.export.prometheus_rules import prometheus_rule, remarks, rules
    from specbench.export.rule_tests import rule_tests
    from specbench.export.yaml_text import yaml_text

    if picked.operator:
        return ExportedFile(text=yaml_text(prometheus_rule(order, _object_name(picked.name, "--name")), remarks(order)))
    text = yaml_text(rules(order), remarks(order))
    arms = [arm.selector for arm in (order.speculative, order.baseline) if arm is not None]
    arms += [] if order.watch is None else [order.watch]
    if picked.tests_for is None:
        return ExportedFile(text=text)
    if any(selector.labels is None for selector in arms):
        return ExportedFile(text=text, remarks=(NO_RULE_TESTS,))
    return ExportedFile(text=text, tests=yaml_text(rule_tests(order, picked.tests_for)))


def _dashboard(order: "ExportOrder") -> str:
    from specbench.export.grafana_dashboard import dashboard

    return _json(dashboard(order))


def _cloudwatch(picked: PickedExport) -> str:
    from specbench.export.cloudwatch_alarms import cloudwatch

    given = {one.metric: one for one in limits(list(picked.limits))}
    edges = _edges(picked.buckets).get("tpot")
    if extra := sorted(set(given) - OF_LINES):
        raise ScenarioError(f"--limit {extra[0]}: is in no line of watch --format emf; cloudwatch takes tpot_p99 and alpha")
    limit = _at_edge(given["tpot_p99"], edges)
    return _json(cloudwatch(limit.edge_s * 1000, given["alpha"].value))


def _routes(picked: PickedExport, run: "Result | None") -> str:
    from specbench.export.http_routes import RouteBackends, backend, http_route, route_remarks
    from specbench.export.yaml_text import yaml_text
    from specbench.model import queries
    from specbench.report.formats.policy import policy_of

    if run is None:
        raise ScenarioError("routes: a route follows the policy of a run; name it, or latest")
    spec = backend(_needed(picked.speculative, "--speculative", "vllm-spec:8000"), "--speculative")
    base = backend(_needed(picked.baseline, "--baseline", "vllm-base:8000"), "--baseline")
    if spec == base:
        raise ScenarioError("--baseline: is the speculative arm too; name the backend of the baseline")
    policy = policy_of(run, picked.allow_capped)
    name, gateway = _object_name(picked.name, "--name"), _object_name(picked.gateway, "--gateway")
    route = http_route(policy, RouteBackends(speculative=spec, baseline=base, weight=picked.weight), name, gateway)
    return yaml_text(route, route_remarks(policy, run.config.built_in or queries.virtual(run)))


def _at_edge(limit: "LiveLimit", edges: "tuple[float, ...] | None") -> "LatencyLimit":
    from specbench.export.vllm_queries import latency_limit

    return latency_limit(limit, edges)


def _depth(run: "Result | None") -> int | None:
    """The drafted tokens per round of the run: as many as it counted positions at the load that had to show the gain."""
    from specbench.model import queries

    primary = None if run is None else queries.primary(run)
    told = None if primary is None or primary.acceptance is None else primary.acceptance.per_position
    return len(told) if told else None


def _edges(text: str | None) -> dict[str, tuple[float, ...]]:
    """The edges of each time that the engine was given, in seconds."""
    if text is None:
        return {}
    try:
        told: Any = json.loads(text)
        found = {name: tuple(float(edge) for edge in told[key]) for name, key in FAMILIES.items() if key in told}
    except (ValueError, TypeError, AttributeError):
        found = {}
    if not found or not all(edges and min(edges) > 0 for edges in found.values()):
        raise ScenarioError(
            f"--custom-histogram-buckets {text}: write it as the engine has it, such as "
            '{"inter_token_latency": [0.01, 0.02, 0.05]}; keys: ' + ", ".join(FAMILIES.values())
        )
    return found


def _needed(value: str | None, option: str, example: str) -> str:
    if value is None:
        raise ScenarioError(f"{option}: is missing; write it as {option} {example}")
    return value


def _object_name(name: str, option: str) -> str:
    from specbench.export.http_routes import NAME

    if re.fullmatch(NAME, name) is None or len(name) > 63:
        raise ScenarioError(f"{option} {name}: is no name of an object; use small letters, digits and hyphens, at most 63")
    return name


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
