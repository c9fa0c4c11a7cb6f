"""Events become engine steps by the engine's rule, and of steps read under one stamp only the last is timed."""

from hypothesis import given
from hypothesis import strategies as st

from specbench.stream.grouping import censored, step_sizes
from specbench.units import ns_of_ms
from tests.support.captures import BY_BURST, BY_EVENT


def _ns(*times_ms: float) -> list[int]:
    return [ns_of_ms(time) for time in times_ms]


def test_where_an_event_is_a_step_speed_does_not_matter() -> None:
    """Events 0.01 ms apart are steps of their own."""
    assert step_sizes(_ns(1, 1.01, 1.02), [1, 1, 1], BY_EVENT) is None


def test_an_event_without_tokens_belongs_to_the_step_before() -> None:
    """One output split in two events, of which running usage counts the second as nothing."""
    assert step_sizes(_ns(1, 1, 10, 20), [2, 0, 1, 3], BY_EVENT) == (2, 1, 1)


def test_a_burst_is_one_step_where_an_event_is_a_token() -> None:
    """Gaps up to 1.5 ms join; 2.4 ms, the shortest step seen in recordings, does not."""
    assert step_sizes(_ns(0, 0.1, 0.36, 2.76, 4.26, 20), [1] * 6, BY_BURST) == (3, 2, 1)


def test_of_four_steps_in_one_read_three_are_censored() -> None:
    """Four events, one stamp: the last is timed."""
    assert censored(_ns(40, 40, 40, 40), None) == (0, 1, 2)


def test_events_of_one_step_are_never_censored() -> None:
    """They were made together; their common stamp is right for all."""
    assert censored(_ns(40, 40, 40, 50), (3, 1)) == ()


def test_a_whole_step_is_censored_by_the_next_under_its_stamp() -> None:
    """Only those of its events that carry that stamp."""
    assert censored(_ns(39, 40, 40, 40), (2, 2)) == (1,)


times = st.lists(st.integers(0, 4), min_size=1, max_size=40).map(lambda gaps: [sum(gaps[: n + 1]) for n in range(len(gaps))])


@given(times)
def test_one_event_per_stamp_stays_timed(stamps: list[int]) -> None:
    """Every stamp that was read leaves exactly its last event timed."""
    left_out = set(censored(stamps, None))
    timed = [stamp for place, stamp in enumerate(stamps) if place not in left_out]

    assert timed == sorted(set(stamps))


@given(times)
def test_steps_hold_every_event_once(stamps: list[int]) -> None:
    """Sizes add up to the number of events."""
    sizes = step_sizes(stamps, [1] * len(stamps), BY_BURST)

    assert sizes is None or sum(sizes) == len(stamps)
