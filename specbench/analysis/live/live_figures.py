"""What a live period says of its arm: exact means, tokens per step, step time, batch size, acceptance, and periods added up.

Absence is None; why is in the period's own `absent`. Nothing is judged.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from specbench.analysis.buckets import added, mean
from specbench.analysis.metrics.acceptance import alpha_of
from specbench.model.live.live_period import BucketCounts, LivePeriod
from specbench.model.records import SpeculationCounts, Telemetry

LEAST_REQUESTS = 20
"""Finished requests of a window: periods with fewer are joined with the next ones."""


def mean_s(period: LivePeriod, quantity: str) -> float | None:
    """The exact mean of a time, in seconds; of TPOT, where the engine tells, decode time ÷ decoded tokens."""
    if quantity == "tpot":
        decode, answers = period.observed.get("decode"), period.observed.get("answer_tokens")
        if decode is not None and answers is not None and answers.sum > answers.count:
            return decode.sum / (answers.sum - answers.count)
    counts = period.observed.get(quantity)
    return None if counts is None else mean(counts)


def tokens_per_step(period: LivePeriod) -> float | None:
    """Tokens after the first one ÷ decode steps of a request."""
    tokens, first, steps = period.told.generated_tokens, period.first_tokens, period.observed.get("step_gap")
    return None if tokens is None or first is None or steps is None or steps.count <= 0 else (tokens - first) / steps.count


def step_s(period: LivePeriod) -> float | None:
    """The mean time of a decode step, in seconds, as a request sees it."""
    counts = period.observed.get("step_gap")
    return None if counts is None else mean(counts)


def batch_size(period: LivePeriod) -> float | None:
    """Requests per engine step, decoding or getting their first token; the gauge's mean where steps are not told."""
    steps, gaps, first = period.observed.get("step_tokens"), period.observed.get("step_gap"), period.first_tokens
    if steps is not None and gaps is not None and first is not None and steps.count > 0:
        return (gaps.count + first) / steps.count
    running = period.told.running_mean
    return None if running is None or not period.replicas else running / period.replicas


def alpha(period: LivePeriod) -> float | None:
    """The per-token acceptance probability; chains only."""
    return None if period.told.acceptance is None else alpha_of(period.told.acceptance)


def acceptance_length(period: LivePeriod) -> float | None:
    """1 + accepted ÷ rounds."""
    counts = period.told.acceptance
    if counts is None or not counts.rounds or counts.accepted is None:
        return None
    return 1 + counts.accepted / counts.rounds


def draft_acceptance_rate(period: LivePeriod) -> float | None:
    """Accepted ÷ drafted, as engines report it."""
    counts = period.told.acceptance
    return None if counts is None or not counts.drafted or counts.accepted is None else counts.accepted / counts.drafted


def draft_depth(period: LivePeriod) -> float | None:
    """Drafted tokens per round."""
    counts = period.told.acceptance
    return None if counts is None or not counts.rounds or counts.drafted is None else counts.drafted / counts.rounds


def arrivals_per_replica(period: LivePeriod) -> float | None:
    """Requests that got a first token, per second and replica."""
    return None if period.first_tokens is None or period.seconds <= 0 else period.first_tokens / period.seconds


def abandoned_share(period: LivePeriod) -> float | None:
    """About the share of requests that were given up after their first token: first tokens − finished − rise of running."""
    return abandoned_share_of([period])


def abandoned_share_of(periods: Sequence[LivePeriod]) -> float | None:
    """The share of requests given up, as `abandoned_share` has it, over all of these periods; None where one does not tell."""
    told = [(period.first_tokens, period.finished, period.running_rise) for period in periods]
    known = [(a, b, c) for a, b, c in told if a is not None and b is not None and c is not None]
    first = sum(one[0] for one in known)
    if len(known) < len(told) or first <= 0:
        return None
    return max(0.0, (first - sum(one[1] for one in known) - sum(one[2] for one in known)) / first)


def prefix_share_of(periods: Sequence[LivePeriod]) -> float | None:
    """The share of prompt tokens that were found in the prefix cache, over these periods."""
    told = [(period.told.prefix_queries, period.told.prefix_hits) for period in periods]
    known = [(queries, hits) for queries, hits in told if queries is not None and hits is not None]
    queries = sum(one[0] for one in known)
    return sum(one[1] for one in known) / queries if queries and len(known) == len(told) else None


def usable(periods: Iterable[LivePeriod]) -> list[LivePeriod]:
    """The periods of which something is known."""
    return [period for period in periods if period.problem is None and period.replicas > 0]


def added_up(periods: Sequence[LivePeriod]) -> LivePeriod:
    """These periods of one arm as one; a quantity that one of them lacks is absent, histograms keep the newest edges."""
    if len(periods) == 1:
        return periods[0]
    last = periods[-1]
    names = [name for name in last.observed if all(name in period.observed for period in periods)]
    observed: dict[str, BucketCounts] = {}
    for name in names:
        total = added(period.observed[name] for period in periods)
        observed[name] = last.observed[name] if total is None else total
    rises = [period.running_rise for period in periods]
    return replace(
        last,
        start_s=periods[0].start_s,
        replicas=min(period.replicas for period in periods),
        seconds=sum(period.seconds for period in periods),
        told=_telemetry([period.told for period in periods]),
        observed=observed,
        running_rise=None if any(rise is None for rise in rises) else sum(rise for rise in rises if rise is not None),
        absent={name: reason for period in periods for name, reason in period.absent.items()},
    )


def windows(periods: Sequence[LivePeriod]) -> list[LivePeriod]:
    """The periods of one arm, joined with the next ones until each has LEAST_REQUESTS finished requests; a poor rest is left."""
    return [joined[0] for joined in windows_of_both([(period,) for period in usable(periods)])]


def windows_of_both(rows: Sequence[tuple[LivePeriod, ...]]) -> list[tuple[LivePeriod, ...]]:
    """Periods of arms side by side, joined until every arm has LEAST_REQUESTS finished requests."""
    made: list[tuple[LivePeriod, ...]] = []
    held: list[tuple[LivePeriod, ...]] = []
    for row in rows:
        if not held and all((period.finished or 0) >= LEAST_REQUESTS for period in row):
            made.append(row)
            continue
        held.append(row)
        if all(sum(part[arm].finished or 0 for part in held) >= LEAST_REQUESTS for arm in range(len(row))):
            made.append(held[0] if len(held) == 1 else tuple(added_up([part[arm] for part in held]) for arm in range(len(row))))
            held = []
    return made


def running_last(flags: Sequence[bool | None]) -> int:
    """How many of the newest are true without a break; what is not known breaks nothing and counts nothing."""
    count = 0
    for flag in reversed([flag for flag in flags if flag is not None]):
        if not flag:
            break
        count += 1
    return count


def _telemetry(told: Sequence[Telemetry]) -> Telemetry:
    peaks = [one.kv_usage_peak for one in told if one.kv_usage_peak is not None]
    means = [one.running_mean for one in told if one.running_mean is not None]
    return replace(
        told[-1],
        acceptance=_counts([one.acceptance for one in told]),
        generated_tokens=_sum(told, lambda one: one.generated_tokens),
        prompt_tokens=_sum(told, lambda one: one.prompt_tokens),
        prefix_queries=_sum(told, lambda one: one.prefix_queries),
        prefix_hits=_sum(told, lambda one: one.prefix_hits),
        preemptions=_sum(told, lambda one: one.preemptions),
        decode_steps=_sum(told, lambda one: one.decode_steps),
        kv_usage_peak=max(peaks, default=None),
        running_mean=sum(means) / len(means) if means else None,
    )


def _counts(told: Sequence[SpeculationCounts | None]) -> SpeculationCounts | None:
    known = [one for one in told if one is not None]
    if len(known) < len(told):
        return None
    positions = [one.per_position for one in known if one.per_position is not None]
    width = max(map(len, positions), default=0)
    padded = [row + (0,) * (width - len(row)) for row in positions]
    return SpeculationCounts(
        rounds=_sum(known, lambda one: one.rounds),
        drafted=_sum(known, lambda one: one.drafted),
        accepted=_sum(known, lambda one: one.accepted),
        per_position=tuple(map(sum, zip(*padded, strict=True))) if len(positions) == len(known) else None,
    )


def _sum(told: Sequence[object], value: Callable[..., int | None]) -> int | None:
    values = [value(one) for one in told]
    return None if any(one is None for one in values) else sum(one for one in values if one is not None)
