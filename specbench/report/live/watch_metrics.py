"""The state of a watch as Prometheus text."""

from collections.abc import Sequence

from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily, Metric, StateSetMetricFamily
from prometheus_client.exposition import generate_latest

from specbench.model.live.live_period import LivePeriod
from specbench.model.live.watch_result import WATCH_CODES, WatchResult

FINDINGS = ("PASS", "FAIL", "INCONCLUSIVE", "NODATA")


def watch_metrics(result: WatchResult, newest: Sequence[LivePeriod]) -> bytes:
    """The metrics of the state, its findings, figures and reasons to run again; `newest`: the last period of each arm."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Listed([*_state(result), *_findings(result), *_figures(result), _replicas(newest)]))
    return bytes(generate_latest(registry))


class _Listed:
    def __init__(self, families: Sequence[Metric]) -> None:
        self._families = families

    def collect(self) -> Sequence[Metric]:
        return self._families


def _state(result: WatchResult) -> list[Metric]:
    state = StateSetMetricFamily("specbench_watch_state", "The state of the watch: 1 for the one that holds.")
    state.add_metric([], {word: word == result.state for word in WATCH_CODES})
    at = GaugeMetricFamily("specbench_watch_window_timestamp_seconds", "When the newest window ended.")
    at.add_metric([], result.at_s)
    rerun = GaugeMetricFamily("specbench_watch_rerun", "Why the run should be repeated: 1 for each reason.", labels=["reason"])
    if result.state == "RERUN":
        for reason in result.reasons:
            rerun.add_metric([reason.code], 1)
    return [state, at, rerun]


def _findings(result: WatchResult) -> list[Metric]:
    states = StateSetMetricFamily(
        "specbench_watch_finding", "The state of each guardrail by its basis.", labels=["metric", "basis"]
    )
    ratios = GaugeMetricFamily(
        "specbench_watch_ratio", "Speculative over baseline, with its bounds.", labels=["metric", "basis", "bound"]
    )
    for found in result.findings:
        states.add_metric([found.metric, found.basis], {word: word == found.state for word in FINDINGS})
        if found.basis in ("mean", "tail"):
            for bound, value in (("point", found.ratio), ("low", found.low), ("high", found.high)):
                if value is not None:
                    ratios.add_metric([found.metric, found.basis, bound], value)
    return [states, ratios]


def _figures(result: WatchResult) -> list[Metric]:
    told = result.figures
    named = (
        ("alpha", "Chance that one drafted token is accepted.", told.alpha),
        ("acceptance_length", "Tokens per verification round.", told.acceptance_length),
        ("tokens_per_step", "Tokens per decode step.", told.tokens_per_step),
        ("batch_size", "Requests per engine step.", told.batch_size),
        ("break_even_ratio", "Tokens per step that break even at this batch, by the run.", told.break_even),
        ("speed_up", "Measured where the arms share traffic at random, else modelled.", told.speed_up),
    )
    families: list[Metric] = [
        GaugeMetricFamily(f"specbench_watch_{name}", about, value=value) for name, about, value in named if value is not None
    ]
    drift = GaugeMetricFamily("specbench_watch_drift_evidence", "Log evidence of a drift; 1 alarms.", labels=["quantity"])
    for quantity, evidence in told.drift.items():
        drift.add_metric([quantity], evidence)
    return [*families, drift]


def _replicas(newest: Sequence[LivePeriod]) -> Metric:
    family = GaugeMetricFamily("specbench_watch_replicas", "Replicas in the newest window.", labels=["arm", "state"])
    for period in newest:
        for state, count in {"counted": period.replicas, **period.left_out}.items():
            family.add_metric([period.arm, state], count)
    return family
