"""The generator's health is counted from what it brought home: lag, delay, streams kept busy."""

from array import array
from dataclasses import replace

import pytest
from msgspec import structs

from specbench.load.health import HealthCounter, events_in, merged_health
from specbench.load.messages import BlockClosed, BlockSpec
from specbench.model.captures import Capture
from specbench.model.records import GeneratorHealth, Outcome
from specbench.units import ns_of_ms

ORDER = BlockSpec(block="b", url="", path="", headers={}, concurrency=2, min_requests=0, min_s=0.0, max_s=1.0, ramp_s=0.0)


def _answer(
    stream: int, sent_ms: float, end_ms: float, lags_ms: tuple[float, ...] = (), *, scheduled_ms: float | None = None,
    failed: bool = False, kernel: bool = True, connect_ms: float | None = None,
) -> Capture:  # fmt: skip
    stamps = [ns_of_ms(sent_ms)] * len(lags_ms)
    return Capture(
        block="b",
        index=0,
        stream=stream,
        scheduled_ns=None if scheduled_ms is None else ns_of_ms(scheduled_ms),
        sent_ns=ns_of_ms(sent_ms),
        connect_ns=None if connect_ms is None else ns_of_ms(connect_ms),
        reused=True,
        retries=0,
        status=200,
        headers={},
        stamps=array("q", stamps).tobytes(),
        reads=array("q", [stamp + ns_of_ms(lag) for stamp, lag in zip(stamps, lags_ms, strict=True)]).tobytes(),
        firsts=array("q", [-1] * len(lags_ms)).tobytes(),
        sizes=array("q", [1] * len(lags_ms)).tobytes(),
        body=b"x" * len(lags_ms),
        end_ns=ns_of_ms(end_ms),
        stamp_source="kernel" if kernel else "user",
        problem=None,
        problem_text=None,
        clock_step=False,
        failed=failed,
    )


def _closed(opened_ms: float | None, closed_ms: float | None) -> BlockClosed:
    return BlockClosed(
        block="b",
        window_open_ns=None if opened_ms is None else ns_of_ms(opened_ms),
        window_close_ns=None if closed_ms is None else ns_of_ms(closed_ms),
        short=False,
        end_reason="complete",
        aborted=False,
        in_flight_limit_reached=False,
        cpu_share=0.5,
    )


def _tally(*answers: Capture) -> HealthCounter:
    tally = HealthCounter(ORDER)
    for answer in answers:
        tally.add(answer)
    return tally


def test_lag_is_read_minus_arrival() -> None:
    """The 99th percentile over all reads."""
    health = _tally(_answer(0, 0, 90, (0.1,) * 99), _answer(0, 100, 190, (5.0,))).health(_closed(0, 200))

    assert health.read_lag_ms_p99 == pytest.approx(0.149, rel=0.003)
    assert (health.chunks, health.cpu_share) == (100, 0.5)


def test_stamps_of_the_reader_tell_no_lag() -> None:
    """Without the kernel's stamps it is not known."""
    assert _tally(_answer(0, 0, 90, (0.0,), kernel=False)).health(_closed(0, 100)).read_lag_ms_p99 is None


def test_delay_is_from_free_to_sent() -> None:
    """Of the same stream; the first request of a stream has none."""
    tally = _tally(_answer(0, 0, 100), _answer(1, 0, 150), _answer(0, 101, 200), _answer(1, 153, 300))

    assert tally.health(_closed(0, 300)).send_delay_ms_p95 == pytest.approx(2.9)


def test_a_connection_that_the_endpoint_had_closed_is_no_delay_of_the_client() -> None:
    """Free at 100, sent at 131, of which 30 went into opening the next connection."""
    tally = _tally(_answer(0, 0, 100), _answer(0, 131, 200, connect_ms=30))

    assert tally.health(_closed(0, 200)).send_delay_ms_p95 == pytest.approx(1.0)


def test_events_are_counted_by_the_stamps_that_they_share() -> None:
    """Five events in two reads; of an answer without any it is not known."""
    answer = replace(_answer(0, 0, 90, (0.1, 0.1)), body=b"data: a\n\n" * 5)

    assert _tally(answer).health(_closed(0, 100)).events_per_stamp == 2.5
    assert _tally(_answer(0, 0, 90, (0.1,))).health(_closed(0, 100)).events_per_stamp is None


@pytest.mark.parametrize(
    ("body", "events"),
    [
        (b"", 0),
        (b'data: {"text": "data: a"}\n\ndata: {"text": "metadata: b\\ndata: c"}\n\n', 2),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", 2),
        (b"data:a\r\rdata:b\r\r", 2),
        (b": data: a comment\n\nevent: x\ndata: a\n\n", 1),
    ],
)
def test_the_word_inside_an_answer_is_no_event(body: bytes, events: int) -> None:
    """Only where a line begins."""
    assert events_in(body) == events


def test_the_pause_after_a_failure_is_no_delay() -> None:
    """A stream waits there on purpose, whatever failed: a 503 or an error in the stream are whole answers to the transport."""
    tally = _tally(_answer(0, 0, 100, failed=True), _answer(0, 900, 950), _answer(0, 951, 999))

    assert tally.health(_closed(0, 1000)).send_delay_ms_p95 == pytest.approx(1.0)


def test_the_pause_after_a_failure_is_no_lack_of_concurrency() -> None:
    """Both streams wait for 100 ms inside the window, one of them up to its end: the load is held up as it is meant to be."""
    tally = _tally(_answer(0, 0, 100, failed=True), _answer(1, 0, 300, failed=True), _answer(0, 200, 400))

    assert tally.health(_closed(0, 400)).achieved_concurrency == pytest.approx(1.0)


def test_longer_than_the_longest_pause_is_a_lack() -> None:
    """One stream of two is away for 500 ms after a failure, 250 ms of them on purpose."""
    tally = _tally(_answer(0, 0, 100, failed=True), _answer(0, 600, 1000), _answer(1, 0, 1000))

    assert tally.health(_closed(0, 1000)).achieved_concurrency == pytest.approx(0.875)


def test_in_the_open_loop_delay_is_from_the_schedule() -> None:
    """How late the generator was, whatever the streams did."""
    assert _tally(_answer(0, 12, 50, scheduled_ms=10)).health(_closed(0, 60)).send_delay_ms_p95 == pytest.approx(2.0)


def test_achieved_concurrency_is_the_share_of_busy_streams_inside_the_window() -> None:
    """Two streams planned: one busy all the time, one for half of it, the rest outside."""
    tally = _tally(_answer(0, 0, 400), _answer(1, 50, 150), _answer(1, 310, 390))

    assert tally.health(_closed(100, 200)).achieved_concurrency == pytest.approx(0.75)


@pytest.mark.parametrize("problem", ["unanswered", "timeout_first_token", "stalled", "timeout_total", "cut"])
@pytest.mark.parametrize(
    ("body", "alive", "stuck"),
    [
        ([], 0.5, 0.5),
        ([(20, b"data: a\n\n"), (60, b"data: b\n\n")], 0.8, 0.2),
        ([(20, b"data: a\n\n"), (60, b": ping\n\n")], 0.6, 0.4),  # kept open, and brought nothing
    ],
)
def test_a_stream_in_a_request_that_is_never_answered_is_stuck_and_not_in_flight(
    problem: Outcome, body: list[tuple[float, bytes]], alive: float, stuck: float
) -> None:
    """Of two streams one works on; the other is stuck from its last token on, in a window of 100 ms."""
    given_up = replace(
        _answer(1, 0, 300),
        problem=problem,
        failed=True,
        stamps=array("q", [ns_of_ms(at) for at, _ in body]).tobytes(),
        reads=array("q", [ns_of_ms(at) for at, _ in body]).tobytes(),
        sizes=array("q", [len(piece) for _, piece in body]).tobytes(),
        body=b"".join(piece for _, piece in body),
    )
    health = _tally(_answer(0, 0, 400), given_up).health(_closed(0, 100))

    assert health.achieved_concurrency == pytest.approx(alive)
    assert health.stuck_share == pytest.approx(stuck)


def test_an_answer_that_ended_was_never_stuck() -> None:
    """Not even one that brought its last token long before."""
    health = _tally(_answer(0, 0, 400, (0.1,)), _answer(1, 0, 400)).health(_closed(0, 100))

    assert (health.achieved_concurrency, health.stuck_share) == (1.0, 0.0)


@pytest.mark.parametrize("bounds", [(None, None), (100, 100)])
def test_without_a_window_nothing_was_achieved_or_missed(bounds: tuple[float | None, float | None]) -> None:
    """None, not zero."""
    assert _tally(_answer(0, 0, 400)).health(_closed(*bounds)).achieved_concurrency is None


def test_a_worker_without_a_stream_held_none_and_missed_none() -> None:
    """Of one stream the second worker has no part; the first one's figures are those of both."""
    idle = HealthCounter(structs.replace(ORDER, concurrency=0)).health(_closed(0, 400))
    busy = HealthCounter(structs.replace(ORDER, concurrency=1))
    busy.add(_answer(0, 0, 400))

    assert (idle.achieved_concurrency, idle.stuck_share) == (None, None)
    assert merged_health([(1, busy.health(_closed(0, 400))), (0, idle)]).achieved_concurrency == 1.0


def test_who_thinks_holds_a_stream_and_delays_nothing() -> None:
    """Two streams for 400 ms: one thinks for 100 ms before its next turn, the other from 300 ms on and beyond the window."""
    first, second = _answer(0, 0, 100), _answer(0, 203, 400)
    other = replace(_answer(1, 0, 300), think_ns=ns_of_ms(5000))
    health = _tally(replace(first, think_ns=ns_of_ms(100)), other, second).health(_closed(0, 400))

    assert health.send_delay_ms_p95 == pytest.approx(3.0)
    assert health.achieved_concurrency == pytest.approx(797 / 800)


def test_who_thinks_after_a_failure_waits_for_both() -> None:
    """The pause after a failure follows the thought."""
    failed = replace(_answer(0, 0, 100, failed=True), think_ns=ns_of_ms(100))
    health = _tally(failed, _answer(0, 300, 400), _answer(1, 0, 400)).health(_closed(0, 400))

    assert health.achieved_concurrency == pytest.approx(1.0)
    assert health.send_delay_ms_p95 is None


def test_of_several_workers_the_worst_counts() -> None:
    """Late by the later one; streams and chunks of both together."""
    calm = GeneratorHealth(
        cpu_share=0.2,
        read_lag_ms_p99=0.1,
        send_delay_ms_p95=None,
        achieved_concurrency=1.0,
        chunks=100,
        clock_steps=0,
        stuck_share=0.0,
    )
    late = replace(calm, cpu_share=0.95, send_delay_ms_p95=12.0, achieved_concurrency=0.5, chunks=50, clock_steps=2)

    merged = merged_health([(3, calm), (1, late)])

    assert (merged.cpu_share, merged.send_delay_ms_p95, merged.chunks, merged.clock_steps) == (0.95, 12.0, 150, 2)
    assert merged.achieved_concurrency == 0.875
    assert merged.events_per_stamp is None
