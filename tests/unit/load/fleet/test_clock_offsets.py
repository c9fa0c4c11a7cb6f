"""How far a worker's clock is from the master's."""

from hypothesis import given
from hypothesis import strategies as st

from specbench.load.fleet.clock_offsets import ClockOffset, Echo, clocks_agree, drift_ns, offset_of
from specbench.units import ns_of_ms


def test_the_quickest_ping_tells_the_offset() -> None:
    """Of two pings the one with the shorter way counts, and half of that way is what may be wrong."""
    slow = Echo(sent_ns=1_000, worker_ns=9_000_000, back_ns=9_000)
    quick = Echo(sent_ns=20_000, worker_ns=5_020_050, back_ns=20_100)

    assert offset_of([slow, quick]) == ClockOffset(offset_ns=5_000_000, error_ns=50)


def test_without_an_echo_nothing_is_known() -> None:
    """A worker that answers no ping has no clock."""
    assert offset_of([]) is None


@given(st.integers(-(10**15), 10**15), st.lists(st.tuples(st.integers(0, 10**7), st.integers(0, 10**7)), min_size=1, max_size=20))
def test_the_true_offset_lies_within_the_error(offset_ns: int, ways: list[tuple[int, int]]) -> None:
    """Whatever the ways there and back took."""
    echoes = [Echo(at, at + there + offset_ns, at + there + back) for at, (there, back) in enumerate(ways)]

    found = offset_of(echoes)

    assert found is not None
    assert abs(found.offset_ns - offset_ns) <= found.error_ns + 1


def test_a_drift_is_what_doubt_does_not_explain() -> None:
    """Two offsets that may be the same are no drift."""
    assert drift_ns(ClockOffset(1_000, 300), ClockOffset(1_500, 300)) == 0
    assert drift_ns(ClockOffset(1_000, 300), ClockOffset(5_000, 700)) == 3_000


def test_clocks_agree_up_to_five_milliseconds() -> None:
    """Doubt and drift together."""
    assert clocks_agree(ns_of_ms(3), ns_of_ms(2))
    assert not clocks_agree(ns_of_ms(3), ns_of_ms(2) + 1)
