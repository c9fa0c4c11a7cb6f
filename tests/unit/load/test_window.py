"""A block's window opens and closes by the rules, exactly on time, and the block ends when nothing that counts is in flight."""

from hypothesis import given
from hypothesis import strategies as st

from specbench.load.block_phases import Window
from specbench.load.messages import BlockSpec
from specbench.units import ns_of_s

START = ns_of_s(1000.0)


def _order(streams: int | None = 2, **changes: float) -> BlockSpec:
    numbers: dict[str, float] = {"min_s": 2.0, "max_s": 10.0, "ramp_s": 1.0, "drain_s": 5.0} | changes
    return BlockSpec(
        block="b",
        url="",
        path="",
        headers={},
        concurrency=streams,
        min_requests=3,
        stagger_s=0.0,
        **numbers,  # type: ignore[arg-type]
    )


def _at(seconds: float) -> int:
    return START + ns_of_s(seconds)


def _run(window: Window, *steps: tuple[float, str, int]) -> None:
    """Requests of streams that are sent, end well or fail, at these seconds."""
    for seconds, what, stream in steps:
        if what == "sent":
            window.sent(stream, _at(seconds))
        else:
            window.ended(stream, _at(seconds), failed=what == "failed")


def _rounds(window: Window, first: float, last: float, *, what: str = "ended", each: float = 0.5) -> None:
    """Both streams send, and their requests end after `each` seconds; rounds begin from `first` to `last`."""
    for place in range(round((last - first) / each) + 1):
        begin = first + place * each
        _run(window, *[(begin, "sent", stream) for stream in (0, 1)], *[(begin + each, what, stream) for stream in (0, 1)])


def test_it_opens_when_every_stream_has_finished_one_request() -> None:
    """The last of them decides."""
    window = Window(_order(), START)
    _run(window, (0, "sent", 0), (0, "sent", 1), (0.2, "ended", 0), (0.2, "sent", 0), (0.3, "ended", 0))
    assert window.opened_ns is None

    _run(window, (0.4, "ended", 1))
    assert window.opened_ns == _at(0.4)


def test_it_opens_after_the_ramp_at_the_latest() -> None:
    """Exactly then, although nobody looked at the time before."""
    window = Window(_order(), START)
    _run(window, (0, "sent", 0), (7.3, "ended", 0))

    assert window.opened_ns == _at(1)


def test_it_closes_when_both_minima_are_reached() -> None:
    """Enough requests since it opened, and `min_s`; on the second, not at the next event."""
    window = Window(_order(), START)
    _rounds(window, 0, 1.5)
    assert (window.opened_ns, window.closed_ns) == (_at(0.5), None)

    window.advance(_at(2.7))
    assert (window.closed_ns, window.short, window.reason) == (_at(2.5), False, "complete")


def test_requests_that_failed_are_no_minimum() -> None:
    """Only those that ended well count: two here, of three."""
    window = Window(_order(), START)
    _rounds(window, 0, 0)
    _rounds(window, 0.5, 3, what="failed")
    _rounds(window, 3.5, 3.5)
    assert window.closed_ns is None

    _rounds(window, 4, 4)
    assert window.closed_ns == _at(4.5)


def test_past_its_longest_time_it_is_short() -> None:
    """It closes then, whatever is missing."""
    window = Window(_order(), START)
    _run(window, (0, "sent", 0), (0, "sent", 1), (12, "ended", 0))

    assert (window.closed_ns, window.short, window.reason) == (_at(11), True, "max_time")


def test_the_block_waits_for_what_was_sent_inside_the_window() -> None:
    """Not for the filler that is sent afterwards."""
    window = Window(_order(), START)
    _rounds(window, 0, 1.5)
    _run(window, (2.1, "sent", 0), (2.2, "sent", 1), (2.8, "ended", 1), (2.8, "sent", 1))
    assert window.closed_ns == _at(2.5)
    assert not window.over(_at(3))

    _run(window, (3.1, "ended", 0), (3.1, "sent", 0))
    assert window.over(_at(3.2))


def test_it_does_not_wait_for_ever() -> None:
    """`drain_s` after closing it is over."""
    window = Window(_order(), START)
    _rounds(window, 0, 1.5)
    _run(window, (2.1, "sent", 0))

    assert not window.over(_at(7.4))
    assert window.over(_at(7.5))


def test_a_shorter_drain_lasts_four_times_the_slowest_answer() -> None:
    """Half a second each here; a second is what it lasts at least, so two."""
    window = Window(_order(shorter_drain_s=1.0), START)
    _rounds(window, 0, 1.5)
    _run(window, (2.1, "sent", 0))

    assert not window.over(_at(4.4))
    assert window.over(_at(4.5))
    assert [window.holds(_at(when)) for when in (0.4, 0.5, 2.4, 2.5)] == [False, True, True, False]


def test_without_a_single_answer_a_shorter_drain_is_a_whole_one() -> None:
    """Nobody knows yet how long answers take at this load: eleven seconds of window and ramp, five of drain."""
    window = Window(_order(shorter_drain_s=1.0), START)
    _run(window, (1.1, "sent", 0))

    assert not window.over(_at(15.9))
    assert window.over(_at(16.0))


def test_a_dead_endpoint_ends_the_block_soon() -> None:
    """Twenty failures in a row, and a second: no flood, and no waiting for the longest time."""
    window = Window(_order(), START)
    _rounds(window, 0, 0.9, what="failed", each=0.1)
    assert window.over(_at(1.0))
    assert (window.closed_ns, window.short, window.reason) == (_at(1.0), True, "endpoint_dead")


def test_failures_of_the_first_second_are_not_yet_death() -> None:
    """An endpoint may be starting."""
    window = Window(_order(), START)
    _rounds(window, 0, 0.9, what="failed", each=0.02)

    assert not window.over(_at(0.95))


def test_one_good_answer_shows_that_it_lives() -> None:
    """The failures are counted anew."""
    window = Window(_order(), START)
    _rounds(window, 0, 0.8, what="failed", each=0.1)
    _rounds(window, 0.9, 0.9, each=0.1)
    _rounds(window, 1.0, 1.8, what="failed", each=0.1)

    assert not window.over(_at(1.9))


def test_it_ends_with_its_work() -> None:
    """When no more is handed over and the last request has ended."""
    window = Window(_order(), START)
    _run(window, (0, "sent", 0), (0, "sent", 1), (0.5, "ended", 0))
    window.no_more_work(_at(0.5))
    assert not window.over(_at(0.6))

    _run(window, (0.7, "ended", 1))
    assert window.over(_at(0.7))
    assert (window.closed_ns, window.short, window.reason) == (_at(0.7), False, "work_done")


def test_stopping_is_at_once() -> None:
    """Whatever is in flight."""
    window = Window(_order(), START)
    _run(window, (0, "sent", 0))
    window.stop(_at(0.3), "aborted")

    assert window.over(_at(0.3))
    assert (window.opened_ns, window.reason) == (None, "aborted")


def test_an_open_loop_opens_after_its_ramp() -> None:
    """There is no number of streams to wait for."""
    window = Window(_order(streams=None), START)
    _run(window, (0, "sent", 0), (0.1, "ended", 0))
    assert window.opened_ns is None

    window.advance(_at(1.5))
    assert window.opened_ns == _at(1)


moves = st.lists(st.tuples(st.integers(0, 400), st.sampled_from(["ended", "failed"]), st.integers(0, 1)), max_size=80)


@given(moves)
def test_bounds_never_move_and_are_in_order(steps: list[tuple[int, str, int]]) -> None:
    """Whatever happens, it opens once and closes once, later, and within its longest time."""
    window, now_ms, seen = Window(_order(), START), 0, set()
    for wait_ms, what, stream in steps:
        _run(window, (now_ms / 1000, "sent", stream), ((now_ms := now_ms + wait_ms) / 1000, what, stream))
        seen.add((window.opened_ns, window.closed_ns))

    assert len({opened for opened, _ in seen if opened is not None}) <= 1
    assert len({closed for _, closed in seen if closed is not None}) <= 1
    if window.opened_ns is not None and window.closed_ns is not None:
        assert window.opened_ns <= window.closed_ns <= window.opened_ns + ns_of_s(10.0)
