"""Exact inference on few events: of one share, and of two answers to one prompt. Only counts come in."""

from math import sqrt

from specbench.analysis.stats.rates import share_upper_bound


def at_least_by_chance(hits: int, judged: int, share: float) -> float:
    """The probability of at least so many of `judged` events if each comes with probability `share`: a binomial tail."""
    from scipy.special import betainc

    if hits <= 0:
        return 1.0
    return float(betainc(hits, judged - hits + 1, share)) if hits <= judged else 0.0


def mcnemar(only_speculative: int, only_baseline: int, *, mid_p: bool = False) -> float:
    """The one-sided probability that at least so many of the prompts with one event have it in the speculative arm, by chance.

    P(X ≥ b) of Binomial(b + c, ½); with `mid_p` half of the probability of b itself is left out, which keeps the level where few
    prompts have one event, and the exact test cannot reach it.

    Source: McNemar 1947, Psychometrika 12; Fagerland, Lydersen and Laake 2013, BMC Medical Research Methodology 13, 91.
    """
    apart = only_speculative + only_baseline
    if not apart:
        return 1.0
    tail = at_least_by_chance(only_speculative, apart, 0.5)
    return (tail + at_least_by_chance(only_speculative + 1, apart, 0.5)) / 2 if mid_p else tail


def paired_excess_bound(only_speculative: int, only_baseline: int, prompts: int, alpha: float) -> float:
    """The upper bound, wrong with probability alpha, of the share of one arm's events minus the other's over the same prompts.

    d + sqrt((u - b ÷ n)² + (c ÷ n - l)²), where u and l are the exact bounds of the shares b ÷ n and c ÷ n: with c = 0 it is the
    exact bound of b ÷ n. 1 without a prompt.

    Source: Newcombe 1998, Statistics in Medicine 17, 2635 (square-and-add); Clopper and Pearson 1934 for the two bounds.
    """
    if prompts <= 0:
        return 1.0
    more, fewer = only_speculative / prompts, only_baseline / prompts
    high = share_upper_bound(only_speculative, prompts, alpha) or 0.0
    kept = share_upper_bound(prompts - only_baseline, prompts, alpha)
    low = 0.0 if kept is None else 1 - kept
    return more - fewer + sqrt((high - more) ** 2 + (fewer - low) ** 2)
