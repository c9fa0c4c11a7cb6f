"""One window of one arm as a JSON object, and as a line that CloudWatch takes metrics from (EMF). What is unknown is not in it.

The names of the metrics are those that public guides use: `acceptance_rate` is alpha, and what engines call so is
`draft_acceptance_rate`.
"""

import json
from datetime import UTC, datetime
from math import inf
from typing import Any

from specbench.analysis.buckets import bracket
from specbench.analysis.live import live_figures as figures
from specbench.model.live.live_period import LivePeriod
from specbench.model.live.watch_result import WatchResult
from specbench.units import MS_PER_S

NAMESPACE = "VLLMSpeculative"
PERCENTILES = (50, 95, 99)
TIMES = ("tpot", "ttft", "e2e")
UNITS = {
    "TPOT_P99": "Milliseconds",
    "acceptance_rate": "None",
    "draft_acceptance_rate": "None",
    "acceptance_length": "None",
    "num_speculative_tokens": "Count",
    "speedup_ratio": "None",
    "batch_size": "Count",
}
"""The metrics of an EMF line with their units, as CloudWatch names units."""


def window_object(window: LivePeriod, result: WatchResult) -> dict[str, Any]:
    """The window as an object; times in ms, a percentile as the two edges between which it lies (null: above every edge)."""
    speculative = window.arm == "speculative"
    told: dict[str, Any] = {
        "window_start": _iso(window.start_s),
        "window_end": _iso(window.end_s),
        "arm": window.arm,
        "model_name": ",".join(window.models) or None,
        "state": result.state,
        "problem": window.problem,
        "replicas": window.replicas,
        "replicas_left_out": window.left_out or None,
        "requests": window.finished,
        **_times(window),
        "acceptance_rate": figures.alpha(window),
        "draft_acceptance_rate": figures.draft_acceptance_rate(window),
        "acceptance_length": figures.acceptance_length(window),
        "num_speculative_tokens": _rounded(figures.draft_depth(window)),
        "tokens_per_step": figures.tokens_per_step(window),
        "step_ms": _ms(figures.step_s(window)),
        "batch_size": _rounded(figures.batch_size(window)),
        "running": window.told.running_mean,
        "waiting": window.told.waiting_mean,
        "kv_peak": window.told.kv_usage_peak,
        "preemptions": window.told.preemptions,
        "arrivals_per_replica": figures.arrivals_per_replica(window),
        "abandoned_share": figures.abandoned_share(window),
        "failed_share": window.failed_share,
        "speedup_ratio": result.figures.speed_up if speculative else None,
        "speedup_source": result.figures.speed_up_source if speculative else None,
        "absent": {**window.absent, **window.told.absent} or None,
    }
    return {name: value for name, value in told.items() if value is not None}


def emf_line(window: LivePeriod, result: WatchResult) -> str:
    """The object with what makes it an EMF event; the empty set of dimensions is the speculative arm's alone.

    So an alarm without dimensions sees no other arm. TPOT_P99 is the upper edge of its bucket, so that "above 50" is exact where
    50 ms is an edge; above every edge it is the last one, and `TPOT_P99_censored` says so.
    """
    told = window_object(window, result)
    told.pop("absent", None)
    told.setdefault("model_name", "unknown")
    counts = window.observed.get("tpot")
    span = None if counts is None else bracket(counts, 0.99)
    if span is not None:
        told["TPOT_P99"] = (span[0] if span[1] == inf else span[1]) * MS_PER_S
        if span[1] == inf:
            told["TPOT_P99_censored"] = True
    own = [[], ["arm", "model_name"]] if window.arm == "speculative" else [["arm", "model_name"]]
    metrics = [{"Name": name, "Unit": unit} for name, unit in UNITS.items() if name in told]
    event: dict[str, Any] = {"Timestamp": round(window.end_s * MS_PER_S)}
    event["CloudWatchMetrics"] = [{"Namespace": NAMESPACE, "Dimensions": own, "Metrics": metrics}] if metrics else []
    return json.dumps({"_aws": event, **told}, ensure_ascii=False)


def _times(window: LivePeriod) -> dict[str, Any]:
    told: dict[str, Any] = {}
    for name in TIMES:
        told[f"{name}_ms_mean"] = _ms(figures.mean_s(window, name))
        counts = window.observed.get(name)
        for percentile in PERCENTILES:
            span = None if counts is None else bracket(counts, percentile / 100)
            if span is not None:
                told[f"{name}_ms_p{percentile}"] = [_ms(span[0]), None if span[1] == inf else _ms(span[1])]
    told["queue_ms_mean"] = _ms(figures.mean_s(window, "queue"))
    return told


def _ms(value_s: float | None) -> float | None:
    return None if value_s is None else round(value_s * MS_PER_S, 6)


def _rounded(value: float | None) -> int | None:
    return None if value is None else round(value)


def _iso(at_s: float) -> str:
    return datetime.fromtimestamp(at_s, UTC).isoformat(timespec="seconds")
