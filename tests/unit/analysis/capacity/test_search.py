"""Which rates a search tries, on servers whose limit is known."""

from collections.abc import Callable

import pytest

from specbench.analysis.capacity.search import RateBlock, SearchBounds, is_probe, next_rate
from specbench.model.capacity.capacity_values import BlockShare, ServiceLimit

TTFT, TPOT = ServiceLimit("ttft_p95", 400.0, 0.95), ServiceLimit("tpot_p95", 20.0, 0.95)
BOUNDS = SearchBounds(first=1.0, lowest=0.1, blocks=8)


def searched(in_time: Callable[[float], float], bounds: SearchBounds = BOUNDS) -> tuple[list[float], list[bool]]:
    """The rates of a whole search, and which of them looked for the bracket; `in_time` is the share at a rate."""
    blocks: list[RateBlock] = []
    probes: list[bool] = []
    while (rate := next_rate(bounds, (TTFT,), blocks)) is not None:
        probes.append(is_probe(bounds, (TTFT,), blocks))
        blocks.append(a_block(rate, in_time(rate)))
    return [block.rate for block in blocks], probes


def a_block(rate: float, share: float, fit: bool = True) -> RateBlock:
    return RateBlock(rate, (BlockShare("", rate, 10_000, round(10_000 * share), fit),))


def test_it_doubles_then_bisects_then_stays_around_the_crossing() -> None:
    rates, probes = searched(lambda rate: 0.99 if rate <= 5 else 0.8)
    assert rates[:6] == pytest.approx([1, 2, 4, 8, 32**0.5, 4 * 2**0.25], rel=1e-6)
    assert probes == [True] * 6 + [False] * 8
    assert min(rates[6:]) > 5 / 1.3
    assert max(rates[6:]) < 5 * 1.3


def test_a_server_that_surely_misses_at_every_rate_is_tried_down_to_the_lowest() -> None:
    rates, _ = searched(lambda rate: 0.5)
    assert rates == pytest.approx([1, 0.5, 0.25, 0.125, 0.1])


def test_a_server_that_may_miss_by_chance_is_tried_three_times_at_the_lowest() -> None:
    rates, _ = searched(lambda rate: 0.9499)
    assert rates == pytest.approx([1, 0.5, 0.25, 0.125, 0.1, 0.1, 0.1])


def test_a_server_below_the_first_rate_is_found() -> None:
    rates, probes = searched(lambda rate: 0.99 if rate <= 0.3 else 0.8)
    assert rates[:3] == [1, 0.5, 0.25]
    assert probes.count(False) == 8


def test_a_server_without_a_limit_ends_the_search_too() -> None:
    assert len(searched(lambda rate: 1.0)[0]) == 24


def test_a_block_that_the_client_could_not_drive_is_tried_once_more() -> None:
    late = a_block(1.0, 1.0, fit=False)
    assert next_rate(BOUNDS, (TTFT,), [late]) == 1.0
    assert next_rate(BOUNDS, (TTFT,), [late, a_block(1.0, 1.0)]) == 2.0
    assert next_rate(BOUNDS, (TTFT,), [late, late]) == 0.5


def test_one_limit_that_is_missed_is_enough() -> None:
    both = RateBlock(1.0, (BlockShare("", 1.0, 100, 100), BlockShare("", 1.0, 100, 50)))
    assert next_rate(BOUNDS, (TTFT, TPOT), [both]) == 0.5
