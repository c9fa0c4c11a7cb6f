"""What a search for capacity is asked, from the words of the command line and the scenario's own absolute limits. Pure."""

from collections.abc import Sequence
from math import isfinite

from specbench.errors import ScenarioError, did_you_mean
from specbench.model.capacity.capacity_values import CapacityPlan, ServiceLimit
from specbench.model.metrics import METRICS
from specbench.model.scenario import Scenario

FAILURES = "error_rate"
LIMITED = (*(name for name in METRICS if name.rpartition("_p")[0] in ("ttft", "tpot", "e2e")), FAILURES)
MOST_HEADROOM = 0.9
_UNITS = (("ms", 1.0), ("s", 1000.0))


def capacity_plan(scenario: Scenario, slos: Sequence[str], traffic: float | None, headroom: str, minutes: float) -> CapacityPlan:
    """What the search is asked; without limits on the command line, those of the scenario's guardrails that have an `slo`.

    Raises:
        ScenarioError: no limit, one that is not of requests, or a figure out of its range.
    """
    if traffic is not None and not (isfinite(traffic) and traffic > 0):
        raise ScenarioError(f"--traffic {traffic:g}: give the requests per second at the peak, above 0")
    share = _share(headroom)
    if share is None or not 0 <= share <= MOST_HEADROOM:
        raise ScenarioError(f"--headroom {headroom}: give a share from 0% to 90%, such as 20%")
    limits = tuple(_given(slo) for slo in slos) or _own(scenario)
    if not limits:
        raise ScenarioError(
            f"{scenario.path}: no absolute limit to hold; give one, such as --slo ttft_p95=400ms, or a guardrail with slo"
        )
    names = [limit.metric for limit in limits]
    if double := next((name for name in names if names.count(name) > 1), None):
        raise ScenarioError(f"--slo {double}: is given twice; give one limit for each metric")
    return CapacityPlan(limits=limits, traffic=traffic, headroom=share, minutes=minutes)


def _given(slo: str) -> ServiceLimit:
    """One limit as people write it: ttft_p95=400ms, tpot_p95=0.02s, error_rate=1%."""
    metric, equals, text = (part.strip() for part in slo.partition("="))
    if not equals:
        raise ScenarioError(f"--slo {slo}: write METRIC=LIMIT, such as ttft_p95=400ms")
    if metric not in LIMITED:
        why = "is not counted request by request" if metric in METRICS else "is no metric"
        raise ScenarioError(f"--slo {metric}: {why}{did_you_mean(metric, LIMITED)}; use one of {', '.join(LIMITED)}")
    value = _share(text) if metric == FAILURES else _ms(text)
    if value is None:
        example = "1%" if metric == FAILURES else "400ms"
        raise ScenarioError(f"--slo {slo}: {text or 'nothing'} is no limit; write it such as {metric}={example}")
    return _limit(metric, value, f"--slo {slo}")


def _own(scenario: Scenario) -> tuple[ServiceLimit, ...]:
    """The absolute limits of the scenario's guardrails, as far as they are of requests."""
    found = [one for one in scenario.guardrails if one.slo is not None and one.decides and one.metric in LIMITED]
    return tuple(_limit(one.metric, one.slo or 0.0, f"{scenario.path}: guardrails: {one.metric}") for one in found)


def _limit(metric: str, value: float, where: str) -> ServiceLimit:
    if not (isfinite(value) and value > 0) or (metric == FAILURES and value >= 1):
        asked = "above 0% and below 100%" if metric == FAILURES else "above 0 ms"
        raise ScenarioError(f"{where}: a limit must be {asked}")
    share = 1 - value if metric == FAILURES else METRICS[metric].quantile
    assert share is not None
    return ServiceLimit(metric, value, share)


def _ms(text: str) -> float | None:
    unit, factor = next(((unit, factor) for unit, factor in _UNITS if text.endswith(unit)), ("", 1.0))
    return _number(text.removesuffix(unit), factor)


def _share(text: str) -> float | None:
    """'20%', '20 %' or '0.2'."""
    return _number(text.removesuffix("%"), 0.01) if text.endswith("%") else _number(text, 1.0)


def _number(text: str, factor: float) -> float | None:
    try:
        return float(text) * factor
    except ValueError:
        return None
