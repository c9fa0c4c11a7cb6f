"""Blocks that settle late are found out, and steady ones are left alone."""

from collections.abc import Callable

import numpy as np
import pytest

from specbench.analysis.columns import Columns
from specbench.analysis.settling import settling_of
from tests.support.records import a_record, blocks_of


def _arm(token_ms: Callable[[float], float]) -> Columns:
    """Three blocks of 20 s with one long answer each, whose tokens take so long at each moment in seconds."""
    rng = np.random.default_rng(1)
    blocks = []
    for _ in range(3):
        moments, now = [], 0.0
        while now < 20_000:
            now += token_ms(now / 1000) * rng.lognormal(0, 0.1)
            moments.append(now)
        blocks.append([a_record(moments)])
    return blocks_of("baseline", blocks, window_ms=(0.0, 20_000.0))


def test_a_late_start_is_found() -> None:
    """Slow for 5 s of 20: the window should have opened 5 s later, to the step of the rule (1.25 s)."""
    found = settling_of(_arm(lambda at_s: 30.0 if at_s < 5 else 10.0))

    assert found is not None
    assert (found.blocks, found.unsettled) == (3, 0)
    assert found.warm_up_s == pytest.approx(5.0, abs=1.3)


def test_a_steady_block_needs_little_or_no_warm_up() -> None:
    """On steady noise no block is called unsettled, little is cut, and most bins are independent."""
    found = settling_of(_arm(lambda _: 10.0))

    assert found is not None
    assert found.unsettled == 0
    assert found.warm_up_s <= 5.0
    assert found.bins == 240
    assert found.effective > 120


def test_a_block_that_becomes_faster_to_its_end_never_settles() -> None:
    """No cut within the first half leaves a steady rest."""
    found = settling_of(_arm(lambda at_s: 30.0 - at_s))

    assert found is not None
    assert found.unsettled == 3


def test_short_or_empty_blocks_say_nothing() -> None:
    """Fewer than 20 bins of tokens are too few for the rule, and none are no series."""
    assert settling_of(blocks_of("baseline", [[a_record([100.0 * i for i in range(1, 30)])]])) is None
    assert settling_of(blocks_of("baseline", [[], []])) is None
