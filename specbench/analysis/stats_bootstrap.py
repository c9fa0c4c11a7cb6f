"""Resampling of whole blocks, in a form whose cost does not grow with the number of samples times resamples.

Only arrays of numbers come in. It serves what has no closed form, and checks on what has.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from specbench.analysis.events import Floats

RESAMPLES = 2000
BINS = 400


@dataclass(frozen=True, slots=True)
class Resampled:
    """The bootstrap's answer on a log ratio: its standard error and its percentile interval."""

    se: float
    low: float
    high: float


def quantile_ratio(
    baseline: Sequence[Floats], speculative: Sequence[Floats], p: float, *, seed: int, confidence: float = 0.95
) -> Resampled | None:
    """Interval of log(p-quantile of one arm's pooled samples ÷ of the other's), by resampling pairs of blocks.

    Pair by pair the same draw holds for both arms. Each block is counted once into 400 bins, even in the logarithm, over the
    range in which any resample's quantile can lie; a resample is a weighted sum of these counts, and its quantile is
    interpolated inside its bin: the error is below a bin's width.

    Args:
        baseline: The positive finite samples of each pair's block, each (n_of_block,).
        speculative: The same of the other arm, in the same order of pairs.

    Returns:
        None with fewer than two pairs or an empty block.

    Source: Davison and Hinkley, Bootstrap Methods and their Application, section 3.8 (whole blocks).
    """
    n_pairs = len(baseline)
    if n_pairs < 2 or any(not len(block) for block in (*baseline, *speculative)):
        return None
    weights = np.random.default_rng(seed).multinomial(n_pairs, np.full(n_pairs, 1 / n_pairs), size=RESAMPLES)
    logs = _log_quantiles(speculative, p, weights) - _log_quantiles(baseline, p, weights)
    low, high = np.quantile(logs, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Resampled(float(logs.std(ddof=1)), float(low), float(high))


def _log_quantiles(blocks: Sequence[Floats], p: float, weights: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> Floats:
    """The log of the p-quantile of each resample of these blocks, (n_resamples,)."""
    logs = [np.log(block) for block in blocks]
    ends = [np.quantile(block, p) for block in logs]  # a mixture's quantile lies between those of its parts
    low, high = min(ends), max(ends)
    if low == high:
        return np.full(len(weights), low)
    edges = np.linspace(low, high, BINS + 1)
    below = np.array([np.count_nonzero(block < low) for block in logs], dtype=np.float64)
    counts = np.array([np.histogram(block, edges)[0] for block in logs], dtype=np.float64)
    sizes = np.array([len(block) for block in logs], dtype=np.float64)
    rising = (weights @ below)[:, None] + np.cumsum(weights @ counts, axis=1)
    rising = np.concatenate([(weights @ below)[:, None], rising], axis=1)
    wanted = p * (weights @ sizes)
    place = np.clip((rising < wanted[:, None]).sum(axis=1) - 1, 0, BINS - 1)
    row = np.arange(len(weights))
    start, held = rising[row, place], rising[row, place + 1] - rising[row, place]
    share = np.divide(wanted - start, held, out=np.zeros(len(weights)), where=held > 0)
    found: Floats = edges[place] + np.clip(share, 0.0, 1.0) * (edges[1] - edges[0])
    return found
