"""The simulated server of the searches, where its answers are known without it."""

import random
from dataclasses import replace

import pytest

from specbench.calibrate.worlds.capacity_searches import SERVERS, searched, simulated_block

TTFT, TPOT = SERVERS["ttft"], SERVERS["tpot"]


def test_a_server_that_is_nearly_idle_serves_everybody_in_time() -> None:
    for server in (TTFT, TPOT):
        block = simulated_block(server, 0.2, 600.0, random.Random(1))
        assert block.share == 1.0


def test_a_server_with_more_work_than_it_can_do_leaves_nobody_in_time() -> None:
    # 12 at once, each for some 146 steps of 12 ms, are 6.8 requests a second.
    assert simulated_block(TTFT, 14.0, 300.0, random.Random(1)).share < 0.05


def test_requests_that_run_alone_take_the_flat_step() -> None:
    limit = replace(TPOT.limit, limit=1000 * TPOT.step_s * 1.1)
    assert simulated_block(replace(TPOT, limit=limit), 0.2, 600.0, random.Random(1)).share == 1.0
    limit = replace(TPOT.limit, limit=1000 * TPOT.step_s * 0.9)
    assert simulated_block(replace(TPOT, limit=limit), 0.2, 600.0, random.Random(1)).share == 0.0


def test_a_search_comes_close_to_the_true_rate() -> None:
    assert searched("ttft", 0).rate == pytest.approx(4.7, rel=0.15)  # as `specbench calibrate capacity` finds it
