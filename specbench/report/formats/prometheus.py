"""The result as metrics: Prometheus text for a textfile collector or a Pushgateway, OpenMetrics for GitLab. It writes no file.

The scenario's name is the only label that tells runs apart, so that the next run takes the place of the last one's series; the
run's id and endpoints stand in `specbench_run_info`, its age in `specbench_run_timestamp_seconds`.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily, Metric, StateSetMetricFamily
from prometheus_client.exposition import generate_latest
from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics
from prometheus_client.registry import Collector

from specbench.explain import labels
from specbench.model import queries
from specbench.model.result import Result
from specbench.model.scenario import ARMS

DIGITS = 3  # GitLab compares values as text, so noise beyond these would be shown as a change


class _Families(Collector):
    """The families of one result, as the client library collects them."""

    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = tuple(families)

    def collect(self) -> Iterator[Metric]:
        return iter(self._families)


def prometheus(result: Result) -> bytes:
    """Every figure as Prometheus text: write it to a `.prom` file of the node exporter, or push it under a stable key."""
    families = [*_headline(result), *_cells(result), *_findings(result), _info(result)]
    return generate_latest(_registry(families))


def gitlab(result: Result) -> bytes:
    """Verdict and ratios as OpenMetrics, rounded, for GitLab's metrics report."""
    families = [*_headline(result, timestamp=False), _ratios(result, bounds=("point",), digits=DIGITS)]
    made: bytes = generate_openmetrics(_registry(families))  # type: ignore[no-untyped-call]  # the library leaves it untyped
    return made


def _registry(families: Iterable[Metric]) -> CollectorRegistry:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Families(families))
    return registry


def _headline(result: Result, timestamp: bool = True) -> list[Metric]:
    run = [result.run.name]
    verdict = StateSetMetricFamily("specbench_verdict", "The verdict of the last run: 1 for the one that holds.", labels=["run"])
    verdict.add_metric(run, {word: word == result.verdict for word in labels.VERDICTS})
    code = GaugeMetricFamily("specbench_exit_code", "What specbench gate answers for this run.", labels=["run"])
    code.add_metric(run, result.exit_code)
    top = GaugeMetricFamily("specbench_enabled_up_to", "The highest load for which speculation may be on.", labels=["run", "by"])
    for one in queries.ranges(result):
        if one.high is not None:
            top.add_metric([*run, one.by], one.high)
    at = GaugeMetricFamily(
        "specbench_run_timestamp_seconds", "When the run ended, or began where it did not end.", labels=["run"]
    )
    at.add_metric(run, _seconds(result.run.finished or result.run.started))
    return [verdict, code, top, *([at] if timestamp else [])]


def _seconds(moment: str) -> float:
    found = datetime.fromisoformat(moment)
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def _info(result: Result) -> Metric:
    spec = result.endpoints.speculative
    info = InfoMetricFamily("specbench_run", "Which run the figures are of.", labels=["run"])
    told = {"id": result.run.id, "model": spec.model, "engine": spec.engine, "speculation": spec.speculation or ""}
    info.add_metric([result.run.name], told | {"version": result.tool_version})
    return info


def _ratios(result: Result, bounds: tuple[str, ...] = ("point", "low", "high"), digits: int | None = None) -> Metric:
    ratios = GaugeMetricFamily(
        "specbench_ratio", "Speculative over baseline, with the ends of its interval.", labels=["run", "cell", "metric", "bound"]
    )
    for cell in result.cells:
        for found in cell.metrics:
            ends = {"point": found.ratio, "low": found.ci_low, "high": found.ci_high}
            for bound in bounds:
                value = ends[bound]
                if value is not None:
                    rounded = value if digits is None else float(f"{value:.{digits}g}")
                    ratios.add_metric([result.run.name, cell.id, found.metric, bound], rounded)
    return ratios


def _cells(result: Result) -> list[Metric]:
    values = GaugeMetricFamily(
        "specbench_value",
        "A metric of one arm, in the unit that its label names.",
        labels=["run", "cell", "metric", "unit", "arm"],
    )
    length = GaugeMetricFamily("specbench_acceptance_length", "Tokens per verification round.", labels=["run", "cell"])
    alpha = GaugeMetricFamily("specbench_alpha", "Chance that one drafted token is accepted.", labels=["run", "cell"])
    for cell in result.cells:
        for found in cell.metrics:
            for arm in ARMS:
                value = found.value.of(arm)
                if value is not None:
                    values.add_metric([result.run.name, cell.id, found.metric, found.unit, arm], value)
        for family, figure in ((length, cell.acceptance.length), (alpha, cell.acceptance.alpha)):
            if figure is not None:
                family.add_metric([result.run.name, cell.id], figure)
    return [_ratios(result), values, length, alpha]


def _findings(result: Result) -> list[Metric]:
    family = StateSetMetricFamily(
        "specbench_finding",
        "The state of each guardrail: 1 for the one that holds.",
        labels=["run", "cell", "metric", "role", "number"],
    )
    states = ("PASS", "FAIL", "INCONCLUSIVE", "NODATA")
    for place in (*(cell.findings for cell in result.cells), result.run_findings):
        for found, number in queries.numbered(place):
            labels = [result.run.name, found.cell or "", found.metric, found.role, str(number)]
            family.add_metric(labels, {state: state == found.state for state in states})
    return [family]
