"""Two live arms that get their traffic at random, guardrail by guardrail, at every look: harm, its absence, or neither yet.

Means are judged by log ratios of windows, tails by brackets of edges; nothing is interpolated. What makes the arms incomparable
refuses every relative word by name. Windows are matched by time and by arrivals per replica, never by running requests: those are
an outcome of speed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import exp, inf, log, sqrt

import numpy as np

from specbench.analysis.arrays.events import Floats
from specbench.analysis.buckets import added, resolving_edges, variation
from specbench.analysis.live import live_figures as figures
from specbench.analysis.stats.anytime import LEAST_WINDOWS, AnytimeMean, anytime_mean
from specbench.explain.live import live_reasons
from specbench.model.guardrails import DEFAULT_EXCESS
from specbench.model.live.cited_run import CitedRun
from specbench.model.live.live_period import BucketCounts, LivePeriod
from specbench.model.live.watch_result import LiveFinding, WatchRules
from specbench.model.result import OPEN, Reason
from specbench.model.scenario import Guardrail
from specbench.units import MS_PER_S

ALIKE_PROMPTS = 0.05  # total variation over the buckets of prompt lengths
ALIKE_LOAD = 1.2  # arrivals per replica, one arm's ÷ the other's, either way
ALIKE_PREFIX = 0.05
ALIKE_ABANDONED = 0.01
TIMES = ("tpot", "ttft", "e2e")
NOT_OF_COUNTERS = ("demand_not_capacity", "not_told_by_counters")
# Families of vLLM's --custom-histogram-buckets.
_FAMILIES = {"tpot": "inter_token_latency", "ttft": "time_to_first_token", "e2e": "request_latency"}

Pair = tuple[LivePeriod, LivePeriod]  # baseline, speculative


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveComparison:
    """What two arms came to: findings, why none is relative (`refusals`), and why nothing may pass (`doubts`)."""

    findings: tuple[LiveFinding, ...]
    refusals: tuple[Reason, ...] = ()
    doubts: tuple[Reason, ...] = ()
    windows: int = 0
    tpot_ratio: float | None = None

    @property
    def harmful(self) -> tuple[LiveFinding, ...]:
        """The findings that failed."""
        return tuple(found for found in self.findings if found.state == "FAIL")

    @property
    def open_means(self) -> tuple[LiveFinding, ...]:
        """The means, and the errors, that could pass and have not."""
        return tuple(
            found
            for found in self.findings
            if found.basis in ("mean", "share") and found.state in OPEN and found.code not in NOT_OF_COUNTERS
        )


def compared(pairs: Sequence[Pair], guardrails: Sequence[Guardrail], rules: WatchRules, run: CitedRun | None) -> LiveComparison:
    """The comparison over these periods of both arms, matched by time.

    Args:
        pairs: Periods of both arms with the same start, in order.
        guardrails: Those of the run, or the defaults.
        rules: How traffic is assigned, and the error over all looks and required findings.
        run: Says on which hosts the arms were shown to be equal.
    """
    elsewhere = _not_judged(guardrails)
    if rules.assignment != "random":
        code = "arms_have_different_traffic"
        judged = [LiveFinding(metric=rule.metric, basis="mean", state="NODATA", code=code) for rule in _judged(guardrails)]
        return LiveComparison(findings=(*judged, *elsewhere))
    known = [pair for pair in pairs if len(figures.usable(pair)) == 2]
    joined = [(row[0], row[1]) for row in figures.windows_of_both(known)]
    alike = [pair for pair in joined if _same_load(pair)]
    refusals = _refusals(joined, alike, run)
    rows = _judged(guardrails)
    alpha = rules.alpha / max(1, sum(2 if "_p" in rule.metric and "paired" not in rule.metric else 1 for rule in rows) + 1)
    times = {name: _Times(alike, name) for name in TIMES}
    findings = [found for rule in rows for found in _of_guardrail(rule, times, alpha, rules, run)]
    findings.append(_errors(alike, alpha, rules))
    if refusals:
        code = refusals[0].code
        findings = [replace(found, state="NODATA", code=code) for found in findings]
    if not _same_prefix_hits(alike):
        code = "prefix_hits_not_alike"
        findings = [replace(one, state="NODATA", code=code) if one.metric.startswith("ttft") else one for one in findings]
    doubts = _doubts(alike)
    if doubts:
        findings = [
            replace(found, state="INCONCLUSIVE", code=doubts[0].code) if found.state == "PASS" else found for found in findings
        ]
    ratio = times["tpot"].mean(alpha)
    return LiveComparison(
        findings=(*findings, *elsewhere),
        refusals=refusals,
        doubts=doubts,
        windows=len(alike),
        tpot_ratio=None if ratio is None or refusals else exp(ratio.mean),
    )


def _judged(guardrails: Sequence[Guardrail]) -> list[Guardrail]:
    """One guardrail for each metric of a whole request that a histogram knows."""
    first = {rule.metric: rule for rule in guardrails if rule.decides and rule.metric.partition("_")[0] in TIMES and rule.margin}
    return list(first.values())


def _not_judged(guardrails: Sequence[Guardrail]) -> list[LiveFinding]:
    """The guardrails that no counter can speak of, each with why."""
    codes = {"output_tps": "demand_not_capacity", "completed_rps": "demand_not_capacity"}
    left = {
        rule.metric: codes.get(rule.metric, "not_told_by_counters")
        for rule in guardrails
        if rule.decides and rule.metric.partition("_")[0] not in TIMES and rule.metric != "error_rate"
    }
    return [LiveFinding(metric=metric, basis="mean", state="NODATA", code=code) for metric, code in left.items()]


class _Times:
    """One time over all windows, which several guardrails ask for: every bound is worked out once."""

    def __init__(self, pairs: Sequence[Pair], name: str) -> None:
        self.windows = len(pairs)
        means = [(figures.mean_s(base, name), figures.mean_s(spec, name)) for base, spec in pairs]
        self.ratios = [log(spec / base) for base, spec in means if base and spec]
        self.baseline = [base for base, _ in means if base is not None]
        self._counts = tuple(_Shares([pair[arm].observed.get(name) for pair in pairs]) for arm in (0, 1))
        self._means: dict[float, AnytimeMean | None] = {}

    def mean(self, alpha: float) -> AnytimeMean | None:
        """The mean log ratio with bounds of this error."""
        if alpha not in self._means:
            self._means[alpha] = anytime_mean(self.ratios, alpha)
        return self._means[alpha]

    def bracket(self, arm: int, quantile: float, alpha: float) -> tuple[float, float] | None:
        """Between which edges the quantile surely lies, in seconds; None before it can be said at all."""
        return self._counts[arm].bracket(quantile, alpha)


class _Shares:
    """The shares over each edge of one arm's windows, those with the newest edges alone."""

    def __init__(self, told: Sequence[BucketCounts | None]) -> None:
        held = [one for one in told if one is not None and one.count > 0]
        held = [one for one in held if one.edges == held[-1].edges]
        self._windows = len(held)
        self._edges = held[-1].edges if held else ()
        self._counts = np.array([one.count for one in held])
        up_to = np.fromiter(chain.from_iterable(one.up_to for one in held), dtype=np.float64)
        self._over = (1 - up_to.reshape(len(held), -1) / self._counts[:, None]).T if held else np.empty((0, 0))
        self._bounds: dict[tuple[int, float], AnytimeMean | None] = {}

    def bracket(self, quantile: float, alpha: float) -> tuple[float, float] | None:
        """Between which edges the quantile surely lies; None before it can be said at all."""
        if self._windows < LEAST_WINDOWS:
            return None
        low, high = 0.0, inf
        for place, edge in enumerate(self._edges):
            bounds = self._share(place, alpha)
            if bounds is None:
                return None
            if bounds.low > 1 - quantile:
                low = edge
            elif bounds.high < 1 - quantile:
                high = edge
                break
        return low, high

    def _share(self, place: int, alpha: float) -> AnytimeMean | None:
        if (place, alpha) not in self._bounds:
            self._bounds[place, alpha] = _share_bounds(self._over[place], self._counts, alpha)
        return self._bounds[place, alpha]


def _of_guardrail(
    rule: Guardrail, times: Mapping[str, _Times], alpha: float, rules: WatchRules, run: CitedRun | None
) -> list[LiveFinding]:
    name = rule.metric.partition("_")[0]
    found = _mean(rule, times[name], alpha, rules.alpha)
    quantile = rule.metric.rpartition("_p")[2]
    if not quantile.isdecimal():
        return [found]
    return [found, _tail(rule, times[name], alpha, run, rules)]


def _mean(rule: Guardrail, times: _Times, harm_alpha: float, pass_alpha: float) -> LiveFinding:
    """The mean of the times: harm surely above 1 and seen past the limit, a pass surely below the limit."""
    harm, passing = times.mean(harm_alpha), times.mean(pass_alpha)
    found = LiveFinding(metric=rule.metric, basis="mean", state="INCONCLUSIVE", windows=len(times.ratios))
    if harm is None or passing is None:
        code = "too_few_windows" if len(times.ratios) < LEAST_WINDOWS else "no_spread"
        return replace(found, code=code, state="INCONCLUSIVE")
    bound = _bound(rule, sum(times.baseline) / len(times.baseline))
    found = replace(found, ratio=exp(harm.mean), low=exp(harm.low), high=exp(passing.high), bound=bound, windows=harm.windows)
    if harm.low > 0 and exp(harm.mean) >= bound:
        return replace(found, state="FAIL")
    return replace(found, state="PASS") if exp(passing.high) < bound else found


def _tail(rule: Guardrail, times: _Times, alpha: float, run: CitedRun | None, rules: WatchRules) -> LiveFinding:
    """The quantile by the edges between which it surely lies in each arm: harm and pass by the far ends of both brackets."""
    quantile = int(rule.metric.rpartition("_p")[2]) / 100
    base, spec = (times.bracket(arm, quantile, alpha / 2) for arm in (0, 1))
    found = LiveFinding(metric=rule.metric, basis="tail", state="INCONCLUSIVE", windows=times.windows)
    if base is None or spec is None:
        return replace(found, code="too_few_windows")
    low = spec[0] / base[1] if base[1] < inf else 0.0
    high = spec[1] / base[0] if base[0] > 0 else inf
    bound = _bound(rule, base[1])
    found = replace(found, low=low, high=None if high == inf else high, bound=bound)
    if low >= _bound(rule, base[0] or base[1]):
        return replace(found, state="FAIL")
    if high < bound:
        return replace(found, state="PASS")
    return replace(found, code="buckets_too_wide", remedy=_remedy(rule, run, rules))


def _share_bounds(shares: Floats, counts: Floats, alpha: float) -> AnytimeMean | None:
    """Bounds of a mean share; where few exceed, the spread is at least that of a share of one more."""
    total = float(counts.sum())
    near = (float(shares @ counts) + 1) / (total + 2)
    return anytime_mean(shares, alpha, least_sd=sqrt(near * (1 - near) * len(counts) / total))


def _errors(pairs: Sequence[Pair], alpha: float, rules: WatchRules) -> LiveFinding:
    """The share of failed requests, where a gateway tells it."""
    found = LiveFinding(metric="error_rate", basis="share", state="INCONCLUSIVE", bound=DEFAULT_EXCESS)
    if rules.errors == "none":
        return replace(found, state="PASS", code="errors_accepted_unknown")
    told = [(one.failed_share, two.failed_share, two) for one, two in pairs]
    differences = [spec - base for base, spec, _ in told if base is not None and spec is not None]
    if rules.errors is None or not differences:
        return replace(found, state="NODATA", code="errors_not_told")
    if len(differences) >= LEAST_WINDOWS and not any(differences):
        return replace(found, state="PASS", ratio=0.0, windows=len(differences))
    counts = [max(two.finished or 1.0, 1.0) for base, spec, two in told if base is not None and spec is not None]
    least = sqrt(2 * DEFAULT_EXCESS * len(counts) / sum(counts))
    harm, passing = (anytime_mean(differences, one, least) for one in (alpha, rules.alpha))
    if harm is None or passing is None:
        return replace(found, code="too_few_windows")
    found = replace(found, ratio=harm.mean, low=harm.low, high=passing.high, windows=harm.windows)
    if harm.low > 0 and harm.mean >= DEFAULT_EXCESS:
        return replace(found, state="FAIL")
    return replace(found, state="PASS") if passing.high < DEFAULT_EXCESS else found


def _bound(rule: Guardrail, baseline_s: float) -> float:
    return max(1 + (rule.margin or 0), 1 + rule.floor / (baseline_s * MS_PER_S))


def _same_load(pair: Pair) -> bool:
    base, spec = map(figures.arrivals_per_replica, pair)
    return bool(base and spec) and 1 / ALIKE_LOAD <= (spec or 0) / (base or 1) <= ALIKE_LOAD


def _refusals(pairs: Sequence[Pair], alike: Sequence[Pair], run: CitedRun | None) -> tuple[Reason, ...]:
    """Why no word may be relative, the whole traffic considered."""
    found = []
    if pairs and len(alike) < len(pairs) / 2:
        found.append(live_reasons.load_not_alike(len(alike), len(pairs)))
    if alike:
        base, spec = (added(pair[arm].observed[_PROMPTS] for pair in alike if _PROMPTS in pair[arm].observed) for arm in (0, 1))
        distance = None if base is None or spec is None else variation(base, spec)
        if distance is not None and distance > ALIKE_PROMPTS:
            found.append(live_reasons.traffic_not_alike(distance, ALIKE_PROMPTS))
        if not _place_controlled(alike[-1], run):
            found.append(live_reasons.live_place_not_controlled())
    return tuple(found)


_PROMPTS = "prompt_tokens"


def _place_controlled(pair: Pair, run: CitedRun | None) -> bool:
    base, spec = pair
    if len({*base.hosts, *spec.hosts}) == 1 or min(base.replicas, spec.replicas) >= 2:
        return True
    shown = run is not None and run.verdict in ("PROMOTE", "CAPPED")
    return shown and run is not None and (set(base.hosts), set(spec.hosts)) == ({run.hosts[0]}, {run.hosts[1]})


def _same_prefix_hits(pairs: Sequence[Pair]) -> bool:
    """Whether the prefix cache helps both arms alike; where that is not told, nothing speaks against it."""
    if not pairs:
        return True
    base, spec = (figures.prefix_share_of([pair[arm] for pair in pairs]) for arm in (0, 1))
    return base is None or spec is None or abs(base - spec) <= ALIKE_PREFIX


def _doubts(pairs: Sequence[Pair]) -> tuple[Reason, ...]:
    """Why nothing may pass, though harm may still be shown."""
    if not pairs:
        return ()
    base, spec = (figures.abandoned_share_of([pair[arm] for pair in pairs]) for arm in (0, 1))
    if base is None or spec is None or abs(base - spec) <= ALIKE_ABANDONED:
        return ()
    return (live_reasons.slow_requests_vanish(base, spec),)


def _remedy(rule: Guardrail, run: CitedRun | None, rules: WatchRules) -> str | None:
    """The value of vLLM's --custom-histogram-buckets that resolves the margin; None where no run says where the times lie."""
    name = rule.metric.partition("_")[0]
    known = None if run is None else run.p50_p99_ms.get(name)
    if known is None or rule.margin is None:
        return None
    also = [limit.value / MS_PER_S for limit in rules.limits if limit.metric.startswith(f"{name}_")]
    edges = resolving_edges(known[0] / MS_PER_S, known[1] / MS_PER_S, rule.margin, also)
    return f'{{"{_FAMILIES[name]}": [{", ".join(f"{edge:g}" for edge in edges)}]}}'
