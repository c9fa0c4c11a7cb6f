"""The fast bootstrap answers what the slow one does."""

from math import log

import numpy as np
import pytest
from arch.bootstrap import IIDBootstrap

from specbench.analysis.events import Floats
from specbench.analysis.stats_bootstrap import quantile_ratio


def _blocks(seed: int, pairs: int, size: int, typical: float) -> list[Floats]:
    """Blocks whose level varies by 5 %, with log-normal samples inside."""
    rng = np.random.default_rng(seed)
    return [typical * np.exp(rng.normal(0, 0.05) + rng.normal(0, 0.3, size)) for _ in range(pairs)]


@pytest.mark.parametrize("p", [0.5, 0.95])
def test_interval_and_error_are_those_of_archs_bootstrap_over_pairs(p: float) -> None:
    """arch resamples the pairs and numpy takes the pooled quantiles anew: both ends agree within Monte-Carlo error."""
    before, after = _blocks(1, 12, 300, 10.0), _blocks(2, 12, 300, 8.0)

    def statistic(pairs: Floats) -> Floats:
        chosen = pairs.ravel().astype(int)
        quantiles = [np.quantile(np.concatenate([blocks[i] for i in chosen]), p) for blocks in (after, before)]
        return np.array([log(quantiles[0] / quantiles[1])])

    slow = IIDBootstrap(np.arange(12.0)[:, None], seed=np.random.default_rng(3))
    interval = slow.conf_int(statistic, reps=2000, method="percentile", size=0.95)
    spread = float(np.sqrt(np.ravel(slow.cov(statistic, reps=2000))[0]))

    found = quantile_ratio(before, after, p, seed=4)

    assert found is not None
    assert (found.low, found.high) == pytest.approx((interval[0, 0], interval[1, 0]), abs=0.15 * spread)
    assert found.se == pytest.approx(spread, rel=0.08)


def test_the_same_seed_gives_the_same_answer_and_swapping_arms_turns_it_around() -> None:
    """Nothing is random but the seed; the arms share each draw, so that exchanging them only changes the sign."""
    before, after = _blocks(1, 6, 50, 10.0), _blocks(2, 6, 50, 8.0)

    there, again, back = (quantile_ratio(a, b, 0.95, seed=9) for a, b in ((before, after), (before, after), (after, before)))

    assert there is not None
    assert back is not None
    assert there == again
    assert (back.low, back.high) == pytest.approx((-there.high, -there.low), abs=1e-9)


def test_an_effect_common_to_both_arms_of_a_pair_cancels() -> None:
    """Pairs that differ a lot from each other but not inside: the ratio is sure although its parts are not."""
    before = _blocks(1, 8, 100, 10.0)
    after = [block * 0.8 for block in before]

    found = quantile_ratio(before, after, 0.95, seed=1)

    assert found is not None
    assert (found.low, found.high) == pytest.approx((log(0.8), log(0.8)), abs=0.005)


def test_too_little_has_no_interval() -> None:
    """One pair, or an empty block, cannot be resampled."""
    assert quantile_ratio(_blocks(1, 1, 10, 1.0), _blocks(2, 1, 10, 1.0), 0.5, seed=1) is None
    assert quantile_ratio([np.ones(3), np.zeros(0)], [np.ones(3), np.ones(3)], 0.5, seed=1) is None
    assert quantile_ratio([np.ones(3)] * 2, [np.full(3, 2.0)] * 2, 0.5, seed=1) is not None
