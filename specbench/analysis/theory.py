"""Why TPOT moved, and what acceptance and draft cost predict: tokens per round, speed-up, the best depth, where the gain ends;
and what held speculation back in a cell, recognised from its numbers.

The factors are measured. The model is to be set beside them: it takes each drafted token as accepted independently with
probability alpha. Nothing here may decide a verdict, no sentence may be made. Source throughout: Leviathan, Kalman and Matias
2022, arXiv 2211.17192, section 3; Chen et al. 2023, arXiv 2302.01318.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp, log

from specbench.model import queries
from specbench.model.guardrails import FULL_KV, LOW_ALPHA
from specbench.model.result import AcceptanceSummary, CellResult, Comparison, Factors, PerArm, Result

DEEPEST = 16
PREFILL_SHARE = 0.5  # of the whole answer's time, before its first token: decode can shorten only what is left
SATURATED = 1.1  # a larger batch that brings less than this times the tokens is no gain any more
SLOWER = 1.0


def expected_tokens(alpha: float, gamma: int) -> float:
    """Tokens per verification round, the corrected or bonus token included: (1 - alpha^(gamma + 1)) ÷ (1 - alpha).

    Args:
        alpha: Probability that a drafted token is accepted, in [0, 1].
        gamma: Drafted tokens per round.
    """
    if alpha >= 1.0:
        return gamma + 1.0
    return float((1 - alpha ** (gamma + 1)) / (1 - alpha))


def speed_up(alpha: float, gamma: int, cost: float) -> float:
    """How many times faster tokens come: expected tokens ÷ (1 + gamma · cost).

    Args:
        cost: One draft pass ÷ one target pass; verifying is taken to cost one target pass.
    """
    return expected_tokens(alpha, gamma) / (1 + gamma * cost)


def best_gamma(alpha: float, cost: float) -> int:
    """The depth of at most DEEPEST with the largest speed-up; 0 where no depth is faster than not drafting."""
    return max(range(DEEPEST + 1), key=lambda gamma: (speed_up(alpha, gamma, cost), -gamma))


def crossing(points: Sequence[tuple[float, float]]) -> float | None:
    """The first load between two neighbours at which the ratio passes 1, either way; None where it never does.

    The log of the ratio is taken as linear in the log of the load.

    Args:
        points: (load, ratio) of each cell, loads ascending and above 0.
    """
    for (below, before), (above, after) in pairwise(points):
        if (before - 1) * (after - 1) < 0:
            share = log(before) / (log(before) - log(after))
            return exp(log(below) + share * (log(above) - log(below)))
    return None


def gain_ends(points: Sequence[tuple[float, float]]) -> float | None:
    """The load at which speculation stops to pay: where the TPOT ratio, step-time ratio ÷ tokens per step, first reaches 1.

    Returns:
        The lowest load where it does not pay even there; None where it still pays at the highest.
    """
    reached = next((index for index, (_, ratio) in enumerate(points) if ratio >= 1), None)
    if reached is None:
        return None
    return crossing(points[max(reached - 1, 0) : reached + 1]) or points[reached][0]


def factors_of(comparisons: Iterable[Comparison]) -> Factors:
    """The two factors of one cell's TPOT ratio, read from its comparisons.

    TPOT ratio ≈ r ÷ tokens per step, with r = mean step time of the speculative arm ÷ of the baseline, and tokens per step
    relative to the baseline's (1 without speculation). `residual` is what is left: TPOT ratio · tokens per step ÷ r - 1, so 0
    where the two factors explain all. `break_even` is the tokens per step that the speculative arm must exceed to be faster: r
    times the baseline's.
    """
    by_id = {comparison.metric: comparison for comparison in comparisons}
    steps, tokens, tpot = by_id.get("step_time"), by_id.get("tokens_per_step"), by_id.get("tpot_p50")
    step_ratio = None if steps is None else steps.ratio
    gain = None if tokens is None else tokens.ratio
    tpot_ratio = None if tpot is None else tpot.ratio
    base_tokens = None if tokens is None else tokens.value.baseline
    return Factors(
        step_ms=PerArm(None, None) if steps is None else steps.value,
        step_ratio=step_ratio,
        tokens_per_step=PerArm(None, None) if tokens is None else tokens.value,
        tpot_ratio=tpot_ratio,
        residual=None if step_ratio is None or gain is None or tpot_ratio is None else tpot_ratio * gain / step_ratio - 1,
        break_even=None if step_ratio is None or base_tokens is None else step_ratio * base_tokens,
    )


def predicted_ratio(factors: Factors) -> float | None:
    """The TPOT ratio that the factors predict: step-time ratio ÷ (tokens per step, speculative ÷ baseline)."""
    if factors.tpot_ratio is None or factors.residual is None:
        return None
    return factors.tpot_ratio / (1 + factors.residual)


def theory_of(acceptance: AcceptanceSummary, factors: Factors, gamma: int | None) -> dict[str, float | None]:
    """The model's numbers of one cell beside the measured ones; None where one of its inputs is missing.

    The effective draft cost is what the measured step-time ratio r leaves for one drafted token, (r - 1) ÷ gamma: drafting and
    whatever verification costs beyond a plain step.

    Args:
        gamma: Drafted tokens per round where they are constant: as configured, else as many as positions were counted.
    """
    depth = gamma or (len(acceptance.per_position) if acceptance.per_position else None)
    alpha, ratio = acceptance.alpha, factors.step_ratio
    tokens = expected_tokens(alpha, depth) if depth and alpha is not None else None
    cost = (ratio - 1) / depth if depth and ratio is not None else None
    spent = None if cost is None else max(cost, 0.0)  # a step that came out shorter than the baseline's is noise, not a gift
    best = None if alpha is None or spent is None else best_gamma(alpha, spent)
    return {
        "gamma": None if depth is None else float(depth),
        "alpha": alpha,
        "expected_tokens_per_round": tokens,
        "measured_tokens_per_round": acceptance.length,
        "effective_draft_cost": cost,
        "expected_speed_up": None if tokens is None or ratio is None else tokens / ratio,
        "measured_speed_up": None if not factors.tpot_ratio else 1 / factors.tpot_ratio,
        "best_gamma": None if best is None else float(best),
        "speed_up_at_best_gamma": None if alpha is None or spent is None or best is None else speed_up(alpha, best, spent),
    }


@dataclass(frozen=True, slots=True)
class LimitingFactor:
    """One thing that held speculation back in one cell, with the figures that show it, in the order of its sentence."""

    cell: str
    code: str
    figures: tuple[float, ...]


def limiting_factors(result: Result) -> tuple[LimitingFactor, ...]:
    """What held speculation back, cell by cell in the result's order; empty where nothing did.

    The cases are those that any guide to speculative decoding warns of: prefill dominates, acceptance is low, the server is
    saturated by batching, the KV cache has little room, or verifying simply costs more than it brings.
    """
    return tuple(LimitingFactor(cell.id, code, figures) for cell in result.cells for code, figures in _limits(result, cell))


def _limits(result: Result, cell: CellResult) -> Iterator[tuple[str, tuple[float, ...]]]:
    first, whole, alpha = _value(cell, "ttft_p50").baseline, _value(cell, "e2e_p50").baseline, cell.acceptance.alpha
    if first is not None and whole and first / whole >= PREFILL_SHARE:
        yield "prefill", (first / whole,)
    if alpha is not None and alpha < LOW_ALPHA:
        yield "acceptance", (alpha,)
    yield from _saturated(result, cell)
    peak, put_back = _value(cell, "kv_peak").speculative, _value(cell, "preemptions")
    if peak is not None and peak >= FULL_KV:
        yield "kv_full", (peak,)
    elif put_back.speculative is not None and put_back.baseline is not None and put_back.speculative > put_back.baseline:
        yield "put_back", (put_back.speculative, put_back.baseline)
    factors, tokens = cell.factors, cell.factors.tokens_per_step.speculative
    slower = factors.tpot_ratio is not None and factors.tpot_ratio > SLOWER
    if slower and factors.break_even is not None and tokens is not None and tokens < factors.break_even:
        yield "step_cost", (tokens, factors.break_even)


def _saturated(result: Result, cell: CellResult) -> Iterator[tuple[str, tuple[float, ...]]]:
    """The baseline's throughput hardly grew from the next lower load to this one."""
    load, tps = cell.axes.concurrency, _value(cell, "output_tps").baseline
    if load is None or tps is None:
        return
    lower = [
        (one.axes.concurrency, below)
        for one in result.cells
        if (one.axes.bin, one.axes.sampling) == (cell.axes.bin, cell.axes.sampling)
        and one.axes.concurrency is not None
        and one.axes.concurrency < load
        and (below := _value(one, "output_tps").baseline)
    ]
    if lower and tps / max(lower)[1] < SATURATED:
        yield "saturated", (tps / max(lower)[1], max(lower)[0])


def _value(cell: CellResult, metric: str) -> PerArm[float | None]:
    found = queries.comparison(cell, metric)
    return PerArm(None, None) if found is None else found.value
