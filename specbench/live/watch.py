"""Watches live traffic, period by period: read, record, judge, hand on. A straight script; its conclusions are made elsewhere."""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from specbench.analysis.buckets import neighbours
from specbench.analysis.live.live_judge import LiveEvidence, judged
from specbench.errors import DataError, ScenarioError, SpecbenchError
from specbench.live.live_facts import live_facts
from specbench.live.replica_pages import PeriodSpan, engine_in, live_period
from specbench.live.source import LiveSource, PrometheusServer, PrometheusSource, failed_shares
from specbench.live.state_folder import Recorded, StateFolder, WatchSettings
from specbench.model.live.cited_run import CitedRun
from specbench.model.live.live_period import LivePeriod
from specbench.model.live.watch_result import DEFAULT_LIMITS, LiveLimit, WatchResult
from specbench.model.scenario import ArmName
from specbench.telemetry import ENGINES, EngineSupport
from specbench.units import MS_PER_S

SETTLED_S = 15.0  # after a period's end, before its samples are asked for
MOST_POLLS = 20  # looks at raw pages within a period
LEAST_POLL_S = 0.25
RETRY_S = 5.0  # before a period that could not be read is asked for once more


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchOrder:
    """What to watch, and how long. `since_s`: how far back the first look goes, where the past can be fetched.

    `server` is the Prometheus server, None where the engines' own pages are read. `lasts_s` None: until interrupted.
    """

    settings: WatchSettings
    speculative: LiveSource
    baseline: LiveSource | None = None
    server: PrometheusServer | None = None
    run: CitedRun | None = None
    engine: str | None = None
    since_s: float = 86400.0
    once: bool = False
    lasts_s: float | None = None
    errors: str | None = None
    facts_url: str | None = None
    facts_headers: dict[str, str] | None = None


OnPeriod = Callable[[Recorded, WatchResult], None]


def watch(order: WatchOrder, state: StateFolder | None, on_period: OnPeriod) -> WatchResult:
    """Watches until told to end, and returns the last state; `on_period` gets every new period with the state after it.

    Raises:
        DataError: The selector matches nothing, or the period is too short for how often pages are scraped.
        UnreachableError: The Prometheus server does not answer at all.
    """
    recorded = [] if state is None else list(state.recorded)
    result: WatchResult | None = None
    began = time.time()
    for start_s, end_s in _periods(order, recorded, began):
        one = read_period(order, start_s, end_s) if not recorded else _read_or_not(order, start_s, end_s)
        if not recorded:
            _check_first(order, one)
        if state is not None:
            state.add(one)
        recorded.append(one)
        if order.server is not None and end_s + order.settings.period_s <= _last_end(order, time.time()):
            continue  # of the past, all of which is judged at once
        result = conclusion(recorded, order.settings, order.run)
        on_period(one, result)
        if order.lasts_s is not None and time.time() - began >= order.lasts_s:
            break
    if result is None and recorded:
        result = conclusion(recorded, order.settings, order.run)
    if result is None:
        raise DataError("no period has ended yet; wait for one, or make --window shorter")
    return result


def conclusion(recorded: list[Recorded], settings: WatchSettings, run: CitedRun | None) -> WatchResult:
    """The state after these periods."""
    facts = next((one.facts for one in reversed(recorded) if one.facts is not None), None)
    baseline = tuple(one.baseline for one in recorded if one.baseline is not None)
    evidence = LiveEvidence(speculative=tuple(one.speculative for one in recorded), baseline=baseline, run=run, facts=facts)
    return judged(evidence, settings.rules)


def read_period(order: WatchOrder, start_s: float, end_s: float) -> Recorded:
    """One period of both arms as their replicas counted it."""
    spec = _of_arm(order, "speculative", order.speculative, start_s, end_s)
    base = None if order.baseline is None else _of_arm(order, "baseline", order.baseline, start_s, end_s)
    if order.errors is not None and order.server is not None:
        shares = failed_shares(order.server, order.errors, end_s)
        spec = replace(spec, failed_share=_share_of(shares, "speculative", order.speculative))
        base = None if base is None else replace(base, failed_share=_share_of(shares, "baseline", order.baseline))
    facts = None
    if order.facts_url is not None and time.time() - end_s < 2 * order.settings.period_s + SETTLED_S:
        facts = live_facts(order.facts_url, order.facts_headers or {})
    return Recorded(speculative=spec, baseline=base, facts=facts)


def _read_or_not(order: WatchOrder, start_s: float, end_s: float) -> Recorded:
    """The period; one that says why it could not be read where the server is away for longer than a moment."""
    try:
        return read_period(order, start_s, end_s)
    except SpecbenchError:
        if time.time() - end_s < 2 * order.settings.period_s:  # of the past, the next periods would fail as well
            time.sleep(min(RETRY_S, order.settings.period_s / 2))
    try:
        return read_period(order, start_s, end_s)
    except SpecbenchError as error:
        unread = LivePeriod(
            arm="speculative", start_s=start_s, end_s=end_s, replicas=0, problem="unread", absent={"pages": str(error)}
        )
        base = None if order.baseline is None else replace(unread, arm="baseline")
        return Recorded(speculative=unread, baseline=base)


def _share_of(shares: Mapping[str, float], arm: ArmName, source: LiveSource | None) -> float | None:
    """The arm's share, by its own name or by what its selector asks of the label `arm`."""
    label = source.arm_label if isinstance(source, PrometheusSource) else None
    return shares.get(arm, shares.get(label) if label is not None else None)


def _of_arm(order: WatchOrder, arm: ArmName, source: LiveSource, start_s: float, end_s: float) -> LivePeriod:
    replicas = source.replicas(start_s, end_s)
    engine: EngineSupport | None = ENGINES[order.engine] if order.engine else engine_in(replicas)
    return live_period(PeriodSpan(arm=arm, start_s=start_s, end_s=end_s), replicas, engine)


def _periods(order: WatchOrder, recorded: list[Recorded], now_s: float) -> Iterator[tuple[float, float]]:
    return _of_the_clock(order, recorded, now_s) if order.server is not None else _as_they_pass(order)


def _of_the_clock(order: WatchOrder, recorded: list[Recorded], now_s: float) -> Iterator[tuple[float, float]]:
    """Periods aligned to the clock: those of the past that are not recorded, then each one as it ends."""
    span = order.settings.period_s
    first = (math.floor((now_s - order.since_s) / span) + 1) * span
    start = max(first, recorded[-1].speculative.end_s) if recorded else first
    while True:
        while start + span > _last_end(order, time.time()):
            if order.once:
                return
            time.sleep(min(1.0, max(0.05, start + span - _last_end(order, time.time()))))
        yield start, start + span
        start += span


def _last_end(order: WatchOrder, now_s: float) -> float:
    """The end of the newest period whose samples have been scraped by now."""
    span = order.settings.period_s
    return math.floor((now_s - min(SETTLED_S, span / 10)) / span) * span


def _as_they_pass(order: WatchOrder) -> Iterator[tuple[float, float]]:
    """Periods of raw pages: from one look to the one a period later, with looks between them."""
    span = order.settings.period_s
    poll_s = max(LEAST_POLL_S, span / MOST_POLLS)
    sources = [source for source in (order.speculative, order.baseline) if source is not None]

    def look() -> float:
        for source in sources:
            source.look()
        return time.time()

    start = look()
    while True:
        end = start
        while end < start + span:
            time.sleep(min(poll_s, max(0.0, start + span - end)))
            end = look()
        yield start, end
        if order.once:
            return
        start = end


def _check_first(order: WatchOrder, one: Recorded) -> None:
    """Refuses at once what no later period would mend: a selector that matches nothing, several models, a limit off the edges."""
    if order.errors is not None and order.server is not None:
        shares = failed_shares(order.server, order.errors, one.speculative.end_s)
        if shares and _share_of(shares, "speculative", order.speculative) is None:
            found = ", ".join(f"arm={name}" for name in sorted(shares))
            raise DataError(f"--errors: tells {found}, and none of them is the speculative arm; let it have arm=speculative")
    for limit in order.settings.rules.limits:
        if limit not in DEFAULT_LIMITS and limit.metric != "alpha":
            _check_limit(limit, one.speculative)
    for period, source, option in (
        (one.speculative, order.speculative, "--speculative"),
        (one.baseline, order.baseline, "--baseline"),
    ):
        if period is None or not isinstance(source, PrometheusSource):
            continue
        if period.problem == "no_series" and not source.matches_now():
            raise DataError(f"{option}: the selector matches no series of an engine; {source.nearest_values()}")
        if period.problem == "several_models":
            raise DataError(f"{option}: the series are of several models ({', '.join(period.models)}); add model_name to it")


def _check_limit(limit: LiveLimit, period: LivePeriod) -> None:
    counts = period.observed.get(limit.metric.partition("_p")[0])
    below, above = (limit.value, limit.value) if counts is None else neighbours(counts.edges, limit.value / MS_PER_S)
    if below != above:
        near = " or ".join(f"{edge * MS_PER_S:g}ms" for edge in (below, above) if edge is not None)
        raise ScenarioError(
            f"{limit.metric}={limit.value:g}ms: is no edge of the engine's buckets; the nearest are {near} (--limit, or "
            "watch.limits of the run's scenario)"
        )
