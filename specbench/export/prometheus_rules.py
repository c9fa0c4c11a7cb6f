"""Recording rules and alarms for Prometheus. No alarm fires without traffic, and a target that is gone is an alarm of its own."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from specbench.explain.live import exported_lines as lines
from specbench.export.selectors import LabelSelector
from specbench.export.vllm_queries import ArmQueries, LatencyLimit, break_even
from specbench.model.guardrails import FULL_KV
from specbench.model.live.cited_run import CitedRun

FALL = 0.05  # below the run's alpha
LEAST_DRAFTS = 1  # a second; fewer make alpha noise
LEAST_ANSWERS = 20  # within five minutes, as a window of `watch`
SILENT_S = 1800
PREFIX = "model_name:specbench_"
WARNING, CRITICAL = "warning", "critical"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOrder:
    """What is exported: both arms' selectors, the run that they are held against, its drafted tokens, and the limits.

    `watch`: the selector of a scraped `specbench watch --listen`; None where it is not scraped.
    """

    speculative: ArmQueries
    baseline: ArmQueries | None
    run: CitedRun | None
    depth: int | None
    limits: tuple[LatencyLimit, ...]
    least_alpha: float | None
    watch: LabelSelector | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """One alarm: its expression, how long it must hold, how grave it is and its text."""

    name: str
    expr: str
    lasts: str
    severity: str
    summary: str

    def rule(self) -> dict[str, Any]:
        """The alarm as an entry of Prometheus' rule file."""
        return {
            "alert": self.name,
            "expr": self.expr,
            "for": self.lasts,
            "labels": {"severity": self.severity},
            "annotations": {"summary": self.summary},
        }


def rules(order: ExportOrder) -> dict[str, Any]:
    """The rule file as plain values."""
    records = [{"record": name, "expr": expr} for name, expr in recorded(order).items()]
    return {"groups": [{"name": "specbench", "rules": [*records, *(alarm.rule() for alarm in alarms(order))]}]}


def prometheus_rule(order: ExportOrder, name: str) -> dict[str, Any]:
    """The rule file as an object of the Prometheus operator."""
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {"name": name},
        "spec": rules(order),
    }


def remarks(order: ExportOrder) -> list[str]:
    """What stands above the rules: of which run they are made, and which alarms are not among them and why."""
    run = order.run
    made = [lines.made_of(None, None) if run is None else lines.made_of(run.id, run.verdict), lines.VLLM]
    if run is not None and run.demonstration:
        made.append(lines.DEMONSTRATION)
    return [*made, *(lines.left_out(name, lacks) for name, lacks in missing(order))]


def missing(order: ExportOrder) -> Iterator[tuple[str, str]]:
    """The alarms that cannot be exported, each with what it lacks."""
    if order.depth is None:
        yield from (("SpeculationAcceptanceLow", "depth"), ("SpeculationDepthChanged", "depth"))
    if order.run is None or order.run.alpha is None or order.depth is None:
        yield "SpeculationAcceptanceFell", "run" if order.run is None else "depth" if order.depth is None else "run alpha"
    if order.run is None or not order.run.loads:
        yield "SpeculationBelowBreakEven", "run" if order.run is None else "loads"
    if order.baseline is None:
        yield "SpeculationBaselineNotScraped", "baseline"
    if order.watch is None:
        yield from (("SpeculationRerunNeeded", "watch"), ("SpeculationWatchSilent", "watch"))


def recorded(order: ExportOrder) -> dict[str, str]:
    """The recording rules by name, each before those that read it."""
    arm = order.speculative
    found = {
        f"{PREFIX}drafts:rate5m": arm.drafts(),
        f"{PREFIX}answered:rate5m": arm.answered(),
        f"{PREFIX}acceptance_length:ratio_rate5m": arm.acceptance_length(),
        f"{PREFIX}tokens_per_step:ratio_rate5m": arm.tokens_per_step(),
        f"{PREFIX}batch_size:ratio_rate5m": arm.batch_size(),
    }
    if order.depth is not None:
        found[f"{PREFIX}alpha:ratio_rate5m"] = arm.alpha(order.depth)
    for limit in order.limits:
        found[over_name(limit)] = arm.share_over(limit)
    if order.run is not None and order.run.loads:
        batch, steps = (f"{PREFIX}{name}:ratio_rate5m" for name in ("batch_size", "tokens_per_step"))
        found[f"{PREFIX}speed_up:ratio_rate5m"] = f"{steps} / ({break_even(order.run.loads, batch)})"
    return found


def over_name(limit: LatencyLimit) -> str:
    """The recorded share of requests above this limit."""
    return f"{PREFIX}{limit.quantity}_over_{limit.edge_s * 1000:g}ms:ratio_rate5m".replace(".", "_")


def over_alarm(limit: LatencyLimit) -> str:
    """The alarm of this limit."""
    return f"Speculation{limit.quantity.capitalize()}P{limit.percentile}High"


def untold_alarm(limit: LatencyLimit) -> str:
    """The alarm of an engine that does not tell this limit."""
    return f"Speculation{limit.quantity.capitalize()}P{limit.percentile}Untold"


def alarms(order: ExportOrder) -> list[Alarm]:
    """The alarms, each with its guard against an engine without traffic."""
    return [replace(alarm, summary=alarm.summary or lines.ALARMS[alarm.name]) for alarm in _alarms(order)]


def _alarms(order: ExportOrder) -> Iterator[Alarm]:
    arm = order.speculative
    yield from _acceptance(order)
    served = f"{PREFIX}answered:rate5m * 300 >= {LEAST_ANSWERS}"
    for limit in order.limits:
        text = lines.over_limit_alarm(limit.percentile, limit.quantity, limit.edge_s * 1000)
        expr = f"{over_name(limit)} > {limit.share:g} and {served}"
        yield Alarm(name=over_alarm(limit), expr=expr, lasts="10m", severity=CRITICAL, summary=text)
        # Without this, an engine with other edges would never break a limit.
        text, expr = lines.no_edge_alarm(limit.quantity, limit.edge_s * 1000), f"{served} unless {arm.under(limit)} >= 0"
        yield Alarm(name=untold_alarm(limit), expr=expr, lasts="10m", severity=WARNING, summary=text)
    if order.run is not None and order.run.loads:
        yield _alarm("SpeculationBelowBreakEven", f"{PREFIX}speed_up:ratio_rate5m < 1 and {served}", "15m", CRITICAL)
    # Without speculation an engine has no series of drafts, which is as silent as a counter that stands still.
    tokens = arm.rate("generation_tokens_total")
    yield _alarm("SpeculationStopped", f"{tokens} > 1 unless {PREFIX}drafts:rate5m > 0", "10m", CRITICAL)
    yield _alarm("SpeculationMemoryShort", f"{arm.kv_usage()} >= {FULL_KV:g} and {arm.preemptions()} > 0", "10m", WARNING)
    yield _alarm("SpeculationNotScraped", f"absent({arm.series('num_requests_running')})", "5m", CRITICAL)
    if order.baseline is not None:
        gone = f"absent({order.baseline.series('num_requests_running')})"
        yield _alarm("SpeculationBaselineNotScraped", gone, "5m", CRITICAL)
    if order.watch is not None:
        rerun, ended = (f"specbench_watch_{name}{{{order.watch.text}}}" for name in ("rerun", "window_timestamp_seconds"))
        yield _alarm("SpeculationRerunNeeded", f"max by (reason) ({rerun}) == 1", "10m", WARNING)
        yield _alarm("SpeculationWatchSilent", f"time() - max({ended}) > {SILENT_S} or absent({ended})", "5m", WARNING)


def _acceptance(order: ExportOrder) -> Iterator[Alarm]:
    if order.depth is None:
        return
    alpha, drafting = f"{PREFIX}alpha:ratio_rate5m", f"{PREFIX}drafts:rate5m > {LEAST_DRAFTS}"
    if order.least_alpha is not None:
        yield _alarm("SpeculationAcceptanceLow", f"{alpha} < {order.least_alpha:g} and {drafting}", "15m", WARNING)
    if order.run is not None and order.run.alpha is not None:
        expr = f"{alpha} < {order.run.alpha - FALL:.4g} and {drafting}"
        yield _alarm("SpeculationAcceptanceFell", expr, "1h", WARNING)
    changed = f"{order.speculative.other_depth(order.depth)} and {drafting}"
    yield _alarm("SpeculationDepthChanged", changed, "15m", WARNING)


def _alarm(name: str, expr: str, lasts: str, severity: str) -> Alarm:
    return Alarm(name=name, expr=expr, lasts=lasts, severity=severity, summary="")
