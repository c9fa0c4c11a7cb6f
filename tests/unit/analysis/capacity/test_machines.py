"""How many machines traffic needs, and when fewer are claimed."""

from hypothesis import given
from hypothesis import strategies as st

from specbench.analysis.capacity.machines import compared, machines_for
from specbench.model.capacity.capacity_values import ArmCapacity, Band, Machines, SearchEnd
from specbench.model.result import PerArm

NO_MACHINES: PerArm[Machines | None] = PerArm(None, None)
RATES = st.floats(0.5, 20.0)


def an_arm(low: float | None, high: float | None, end: SearchEnd = "found", tokens: float | None = 100.0) -> ArmCapacity:
    rate = None if low is None or high is None else (low * high) ** 0.5
    return ArmCapacity(
        end=end,
        binding="ttft_p95",
        rate=rate,
        low=low,
        high=high,
        crossings=(),
        brackets=(),
        requests=1000,
        blocks=12,
        lowest_rate=0.5,
        highest_rate=8.0,
        output_tokens_mean=tokens,
    )


def test_both_ends_of_the_interval_give_a_range_of_machines_and_of_money() -> None:
    found = machines_for(an_arm(2.0, 2.5), traffic=10.0, headroom=0.2, price_per_hour=2.0, gpus=8)
    assert found is not None
    assert (found.fewest, found.most) == (5, 7)
    assert found.gpus == Band(40, 56)
    assert found.cost_month == Band(5 * 730 * 2.0, 7 * 730 * 2.0)
    # 10 requests/s of 100 tokens are 2,628 million tokens in 730 hours.
    assert found.cost_per_million_tokens == Band(7300 / 2628, 10220 / 2628)


def test_traffic_that_fits_exactly_needs_no_machine_more() -> None:
    found = machines_for(an_arm(2.5, 2.5), traffic=10.0, headroom=0.2, price_per_hour=None, gpus=None)
    assert found is not None
    assert (found.fewest, found.most, found.cost_month) == (5, 5, None)


def test_without_a_capacity_there_are_no_machines() -> None:
    assert machines_for(an_arm(None, None, "too_little"), 10.0, 0.2, 2.0, None) is None


@given(RATES, RATES, RATES, RATES, st.floats(0.1, 200.0))
def test_fewer_machines_are_claimed_only_where_the_ranges_do_not_meet(
    base: float, wide: float, spec: float, broad: float, traffic: float
) -> None:
    arms = PerArm(an_arm(base, base + wide), an_arm(spec, spec + broad))
    before, after = (machines_for(arms.of(arm), traffic, 0.2, None, None) for arm in ("baseline", "speculative"))
    assert before is not None
    assert after is not None
    said = compared(arms, PerArm(before, after), None)
    meet = before.fewest <= after.most and after.fewest <= before.most
    assert said == ("no_difference" if meet else "fewer" if after.most < before.fewest else "more")


def test_without_traffic_the_interval_of_the_ratio_decides() -> None:
    arms, none = PerArm(an_arm(2.0, 2.5), an_arm(3.0, 3.5)), NO_MACHINES
    assert compared(arms, none, (1.1, 1.6)) == "fewer"
    assert compared(arms, none, (0.6, 0.9)) == "more"
    assert compared(arms, none, (0.9, 1.2)) == "no_difference"
    assert compared(arms, none, None) == "not_known"


def test_an_arm_that_cannot_at_any_rate_is_told_apart_from_one_that_is_not_known() -> None:
    cannot, can, unknown = an_arm(None, None, "no_rate"), an_arm(2.0, 2.5), an_arm(None, None, "too_little")
    none = NO_MACHINES
    assert compared(PerArm(cannot, can), none, None) == "only_speculative"
    assert compared(PerArm(can, cannot), none, None) == "only_baseline"
    assert compared(PerArm(cannot, cannot), none, None) == "neither"
    assert compared(PerArm(cannot, unknown), none, None) == "not_known"
