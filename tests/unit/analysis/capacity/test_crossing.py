"""Up to which rate a limit holds: found on curves that are known, and not found where the blocks do not say."""

from math import exp, log

import pytest

from specbench.analysis.capacity.crossing import crossing_of, held_and_missed
from specbench.model.capacity.capacity_values import BlockShare, ServiceLimit

TTFT = ServiceLimit("ttft_p95", 400.0, 0.95)


def a_block(rate: float, in_time: int, requests: int = 1000, fit: bool = True) -> BlockShare:
    return BlockShare(f"r{rate:g}", rate, requests, in_time, fit)


def on_a_curve(rate: float, crossing: float = 4.0, slope: float = 12.0, off: int = 0) -> BlockShare:
    """A block of 20,000 requests on a logistic curve that is at 95 % at `crossing`; `off` requests more or fewer in time."""
    share = 1 / (1 + exp(-(log(19) - slope * log(rate / crossing))))
    return a_block(rate, round(20_000 * share) + off, 20_000)


def test_the_crossing_of_a_known_curve_is_found() -> None:
    found = crossing_of([on_a_curve(rate) for rate in (3.5, 3.8, 3.9, 4.1, 4.2, 4.5)], TTFT)
    assert found.end == "found"
    assert found.rate == pytest.approx(4.0, rel=0.002)


def test_blocks_that_scatter_widen_the_interval() -> None:
    rates = (3.5, 3.7, 3.9, 4.1, 4.3, 4.5)
    even = crossing_of([on_a_curve(rate) for rate in rates], TTFT)
    uneven = crossing_of(
        [on_a_curve(rate, off=off) for rate, off in zip(rates, (90, -80, 100, -120, 70, -90), strict=True)], TTFT
    )
    assert even.low is not None
    assert even.high is not None
    assert uneven.low is not None
    assert uneven.high is not None
    assert even.rate == pytest.approx(4.0, rel=0.001)
    assert uneven.low < 4.0 < uneven.high
    assert uneven.high / uneven.low > 2 * (even.high / even.low - 1) + 1


def test_a_limit_that_held_at_every_rate_has_no_rate_of_its_own() -> None:
    found = crossing_of([a_block(rate, 990) for rate in (1, 2, 4, 8, 16)], TTFT)
    assert (found.end, found.rate, found.tested) == ("not_reached", None, (1, 16))


def test_a_limit_that_was_missed_at_every_rate_cannot_be_held() -> None:
    assert crossing_of([a_block(rate, 500) for rate in (1.0, 0.5, 0.1)], TTFT).end == "no_rate"


def test_two_late_requests_of_ten_prove_no_miss() -> None:
    assert crossing_of([a_block(0.1, 8, 10)], TTFT).end == "too_little"


def test_blocks_that_the_client_could_not_drive_do_not_count() -> None:
    assert crossing_of([a_block(4, 990), a_block(8, 100, fit=False)], TTFT).end == "client"
    assert crossing_of([a_block(4, 100, fit=False)], TTFT).end == "client"


def test_without_blocks_nothing_is_known() -> None:
    assert crossing_of([], TTFT).end == "too_little"


def test_few_blocks_give_no_rate() -> None:
    assert crossing_of([on_a_curve(rate) for rate in (3.5, 3.9, 4.1, 4.5)], TTFT).end == "too_little"


def test_a_share_that_rises_with_the_rate_gives_no_rate() -> None:
    assert (
        crossing_of([a_block(rate, in_time) for rate, in_time in ((1, 900), (2, 920), (3, 940), (4, 955), (5, 960))], TTFT).rate
        is None
    )


def test_one_unlucky_block_is_taken_together_with_its_neighbours() -> None:
    blocks = [a_block(1, 1000), a_block(2, 940), a_block(3, 990), a_block(4, 980), a_block(5, 500)]
    assert held_and_missed(blocks, 0.95) == (4, 5)


def test_blocks_of_one_rate_are_taken_together() -> None:
    assert held_and_missed([a_block(1, 1000), a_block(2, 940), a_block(2, 970), a_block(3, 800)], 0.95) == (2, 3)
