"""What acceptance and draft cost predict: tokens per round, speed-up, the best depth, the load at which the gain ends.

A model to set beside the measurement: it takes each drafted token as accepted independently with probability alpha. Nothing
here decides a verdict. Source throughout: Leviathan, Kalman and Matias 2022, arXiv 2211.17192, section 3; Chen et al. 2023,
arXiv 2302.01318.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp, log

from specbench.model.judged import AcceptanceSummary, Factors

DEEPEST = 16


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


def best_gamma(alpha: float, cost: float, deepest: int = DEEPEST) -> int:
    """The depth of at most `deepest` with the largest speed-up; 0 where no depth is faster than not drafting."""
    return max(range(deepest + 1), key=lambda gamma: (speed_up(alpha, gamma, cost), -gamma))


def implied_alpha(tokens: float, gamma: int) -> float | None:
    """The alpha at which a round of this depth is expected to bring so many tokens; None outside [1, gamma + 1]."""
    if gamma < 1 or not 1 <= tokens <= gamma + 1:
        return None
    low, high = 0.0, 1.0
    for _ in range(60):  # halves to the last bit of a double
        middle = (low + high) / 2
        low, high = (middle, high) if expected_tokens(middle, gamma) < tokens else (low, middle)
    return (low + high) / 2


def implied_cost(alpha: float, gamma: int, gain: float) -> float:
    """The draft cost at which the model would predict this speed-up; below 0 where even free drafts could not explain it."""
    return (expected_tokens(alpha, gamma) / gain - 1) / gamma


def gain_ends(points: Sequence[tuple[float, float]]) -> float | None:
    """The load at which speculation stops to pay: where the TPOT ratio, step-time ratio ÷ tokens per step, first reaches 1.

    Between two measured loads the log of the ratio is taken as linear in the log of the load.

    Args:
        points: (load, TPOT ratio) of each cell, loads ascending and above 0.

    Returns:
        The lowest load where it does not pay even there; None where it still pays at the highest.
    """
    for (below, ratio), (above, next_ratio) in pairwise(points):
        if ratio >= 1:
            return below
        if next_ratio >= 1:
            share = log(ratio) / (log(ratio) - log(next_ratio))
            return exp(log(below) + share * (log(above) - log(below)))
    return points[-1][0] if points and points[-1][1] >= 1 else None


def theory_of(acceptance: AcceptanceSummary, factors: Factors, gamma: int | None) -> dict[str, float | None]:
    """The model's numbers of one cell beside the measured ones; None where one of its inputs is missing.

    The effective draft cost is what the measured step-time ratio r leaves for one drafted token, (r - 1) ÷ gamma: drafting and
    whatever verification costs beyond a plain step.

    Args:
        gamma: Drafted tokens per round where they are constant: as configured, else as many as positions were counted.
    """
    depth = gamma or (len(acceptance.per_position) if acceptance.per_position else None)
    alpha, ratio = acceptance.alpha, factors.step_ratio
    told: dict[str, float | None] = {
        "gamma": None if depth is None else float(depth),
        "alpha": alpha,
        "expected_tokens_per_round": None,
        "measured_tokens_per_round": acceptance.length,
        "effective_draft_cost": None,
        "expected_speed_up": None,
        "measured_speed_up": None if not factors.tpot_ratio else 1 / factors.tpot_ratio,
        "best_gamma": None,
        "speed_up_at_best_gamma": None,
    }
    if depth and ratio is not None:
        told["effective_draft_cost"] = (ratio - 1) / depth
    if depth and alpha is not None:
        told["expected_tokens_per_round"] = expected_tokens(alpha, depth)
    if depth and alpha is not None and ratio is not None:
        cost = max((ratio - 1) / depth, 0.0)  # a step that came out shorter than the baseline's is noise, not a gift
        best = best_gamma(alpha, cost)
        told["expected_speed_up"] = expected_tokens(alpha, depth) / ratio
        told["best_gamma"], told["speed_up_at_best_gamma"] = float(best), speed_up(alpha, best, cost)
    return told


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotation:
    """A speed-up as quoted by a source: quoted, not as fact. `cost` is draft parameters ÷ target parameters (70 billion)."""

    task: str
    draft: str
    gamma: int
    cost: float
    alpha: float | None
    speed_up: float
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """What the model says of a quotation: at a draft cost by parameter count, at no cost, and what the quotation implies."""

    quotation: Quotation
    expected_tokens: float | None
    speed_up: float | None
    ceiling: float | None
    implied_cost: float | None
    implied_alpha: float | None


GUIDE = "a guide to serving with speculative decoding"
PAPER = "arXiv 2302.01318, as far as known"
QUOTED: tuple[Quotation, ...] = (
    Quotation(task="XSum", draft="7B", gamma=5, cost=0.100, alpha=0.72, speed_up=2.5, source=GUIDE),
    Quotation(task="HumanEval", draft="7B", gamma=5, cost=0.100, alpha=0.85, speed_up=3.5, source=GUIDE),
    Quotation(task="WMT", draft="4B", gamma=5, cost=0.057, alpha=0.65, speed_up=2.1, source=GUIDE),
    Quotation(task="XSum", draft="4B", gamma=4, cost=0.057, alpha=None, speed_up=1.95, source=PAPER),
    Quotation(task="HumanEval", draft="4B", gamma=4, cost=0.057, alpha=None, speed_up=2.5, source=PAPER),
)


def predicted(quotation: Quotation) -> Prediction:
    """The quotation beside what the model predicts from its alpha; the alpha that it implies at a cost by parameter count."""
    alpha, gamma = quotation.alpha, quotation.gamma
    return Prediction(
        quotation=quotation,
        expected_tokens=None if alpha is None else expected_tokens(alpha, gamma),
        speed_up=None if alpha is None else speed_up(alpha, gamma, quotation.cost),
        ceiling=None if alpha is None else speed_up(alpha, gamma, 0.0),
        implied_cost=None if alpha is None else implied_cost(alpha, gamma, quotation.speed_up),
        implied_alpha=implied_alpha(quotation.speed_up * (1 + gamma * quotation.cost), gamma),
    )
