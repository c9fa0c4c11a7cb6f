"""Who holds which stream and gets which request."""

from collections.abc import Sequence

from specbench.load.block_phases import spread_s
from specbench.load.fleet.dealing import AHEAD, Dealer, stream_numbers
from specbench.load.messages import RequestJob


def jobs(*indices: int) -> list[RequestJob]:
    return [RequestJob(index=index, body=b"") for index in indices]


def dealt(dealer: Dealer) -> list[tuple[int, int]]:
    return [(worker, job.index) for worker, job in dealer.deals()]


def of(worker: int, deals: Sequence[tuple[int, int]]) -> list[int]:
    return [index for one, index in deals if one == worker]


def test_streams_are_dealt_round_robin() -> None:
    """Seven streams over three workers; every number once."""
    assert stream_numbers(3, 7) == ((0, 3, 6), (1, 4), (2, 5))


def test_fewer_streams_than_workers_leave_some_idle() -> None:
    """One stream is one worker's."""
    assert stream_numbers(3, 1) == ((0,), (), ())


def test_starts_are_a_millisecond_apart_for_the_fullest_worker() -> None:
    """A thousand streams of one process take a second to start, a hundred the half second that they always took."""
    assert (spread_s(0.5, 1000), spread_s(0.5, 100)) == (1.0, 0.5)


def test_a_closed_loop_deals_two_a_stream_and_some_ahead() -> None:
    """Until a request has ended, no worker gets more."""
    dealer = Dealer([2, 1], open_loop=False)
    dealer.take(jobs(*range(1000)))

    first = dealt(dealer)

    assert len(of(0, first)) == 2 * 2 + AHEAD
    assert len(of(1, first)) == 2 * 1 + AHEAD
    assert dealer.ahead == 0  # all that was wanted before load is dealt
    assert sorted(index for _, index in first) == list(range(len(first)))


def test_a_worker_gets_as_many_more_as_have_ended() -> None:
    """Demand decides, not turns."""
    dealer = Dealer([1, 1], open_loop=False)
    dealer.take(jobs(*range(100)))
    dealt(dealer)

    dealer.ended(1, 3)

    assert [worker for worker, _ in dealt(dealer)] == [1, 1, 1]


def test_an_idle_worker_gets_nothing() -> None:
    """It has no stream to send it on."""
    dealer = Dealer([1, 0], open_loop=False)
    dealer.take(jobs(*range(5)))

    assert of(1, dealt(dealer)) == []


def test_demand_that_cannot_be_met_is_kept() -> None:
    """What comes later goes to whoever waits."""
    dealer = Dealer([1], open_loop=False)
    assert dealt(dealer) == []

    dealer.take(jobs(7))

    assert dealt(dealer) == [(0, 7)]


def test_the_open_loop_deals_requests_like_cards() -> None:
    """Request i goes to worker i mod N, however many are under way."""
    dealer = Dealer([256, 256, 256], open_loop=True)
    dealer.take(jobs(0, 1, 2, 3, 4))

    assert dealt(dealer) == [(0, 0), (1, 1), (2, 2), (0, 3), (1, 4)]


def test_the_end_of_work_is_said_once_when_all_is_dealt() -> None:
    """Not before the last request has gone."""
    dealer = Dealer([1], open_loop=False)
    dealer.take(jobs(0))
    dealer.no_more()
    assert not dealer.just_done()

    dealt(dealer)

    assert (dealer.just_done(), dealer.just_done()) == (True, False)
