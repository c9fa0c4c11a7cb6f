"""A restart and another replica are told apart, and nothing is differenced across either."""

from specbench.telemetry.metrics_pages import Scrape
from specbench.telemetry.process_continuity import MIXED, RESET, continuity_of
from tests.support.scrapes import BEFORE_S, answer, scrape_of


def page(accepted: int, started: float | None, labels: str = "") -> str:
    """A page of one counter, from a process that started then."""
    start = "" if started is None else f"process_start_time_seconds {started}\n"
    return f"{start}accepted_total{labels} {accepted}\n"


def test_one_process_is_whole() -> None:
    """The same start and rising counters: nothing is broken, no restart."""
    found = continuity_of([scrape_of(page(100, 111.0)), scrape_of(page(130, 111.0), second=1)])

    assert (found.broken, found.restarts, found.reset) == (None, 0, False)


def test_a_counter_that_fell_is_a_restart() -> None:
    """M-03: accepted 1000, then 120."""
    found = continuity_of([scrape_of(page(1000, None)), scrape_of(page(120, None), second=1)])

    assert (found.broken, found.restarts, found.reset) == (RESET, 1, True)


def test_a_busy_server_that_passes_its_old_value_is_caught_by_its_start() -> None:
    """A process that started after the first scrape is a restart, whatever its counters say."""
    found = continuity_of([scrape_of(page(1000, 111.0)), scrape_of(page(1600, BEFORE_S + 0.5), second=1)])

    assert (found.broken, found.restarts) == (RESET, 1)


def test_a_process_that_was_up_already_is_another_replica() -> None:
    """M-08: replica A (1000, started at 111), then replica B (1600, started at 222): not +600."""
    found = continuity_of([scrape_of(page(1000, 111.0)), scrape_of(page(1600, 222.0), second=1)])

    assert (found.broken, found.restarts, found.reset) == (MIXED, None, False)


def named(accepted: int, process: str, second: int) -> Scrape:
    """A scrape of a process that has a name and no start time, as llama.cpp's have."""
    return scrape_of(answer(page(accepted, None), headers={"process-start-time-unix": process}), second=second)


def test_another_process_of_unknown_age_is_a_restart_if_a_counter_fell() -> None:
    """Else it is taken for another replica; nothing is differenced in either case."""
    assert continuity_of([named(1000, "111", 0), named(20, "222", 1)]).broken == RESET
    assert continuity_of([named(1000, "111", 0), named(1600, "222", 1)]).broken == MIXED
    assert continuity_of([named(1000, "111", 0), named(1600, "111", 1)]).broken is None


def test_replicas_that_take_turns_are_found_in_between() -> None:
    """Both ends from replica A, a sample from B in the middle: one URL answers for several processes."""
    pages = [page(1000, 111.0), page(1600, 222.0), page(1300, 111.0)]

    assert continuity_of([scrape_of(one, second=second) for second, one in enumerate(pages)]).broken == MIXED


def test_a_series_that_vanishes_is_another_replica() -> None:
    """M-08, the label set: without a start time, a process that lost a series is another one."""
    found = continuity_of([scrape_of(page(1000, None, '{pod="a"}')), scrape_of(page(1600, None, '{pod="b"}'), second=1)])

    assert found.broken == MIXED


def test_a_series_that_vanishes_from_a_known_process_is_no_sign() -> None:
    """Some exporters forget idle series; the start time knows better."""
    found = continuity_of([scrape_of(page(1000, 111.0, '{pod="a"}')), scrape_of(page(1, 111.0, '{pod="b"}'), second=1)])

    assert found.broken is None


def test_two_restarts_are_two() -> None:
    """Restarts are counted over every scrape in between, not between the ends alone."""
    starts = [111.0, BEFORE_S + 0.5, BEFORE_S + 1.5]
    found = continuity_of([scrape_of(page(5, start), second=second) for second, start in enumerate(starts)])

    assert found.restarts == 2


def test_a_restart_of_one_replica_breaks_the_sum() -> None:
    """With a list of replica URLs, each is followed by itself."""
    before = scrape_of(answer(page(10, 1.0), "http://a/metrics"), answer(page(10, 2.0), "http://b/metrics"))
    after = scrape_of(answer(page(20, 1.0), "http://a/metrics"), answer(page(3, 2.0), "http://b/metrics"), second=1)

    assert continuity_of([before, after]).broken == RESET


def test_where_no_page_answers_twice_nothing_is_known_of_restarts() -> None:
    """An engine without metrics does not tell that it never restarted."""
    found = continuity_of([scrape_of(answer("", status=404)), scrape_of(page(5, 1.0), second=1)])

    assert (found.broken, found.restarts) == (None, None)
