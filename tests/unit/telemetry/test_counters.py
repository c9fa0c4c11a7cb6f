"""Counters are differenced per series and summed, gauges peak and average, and what cannot be known is None with a reason."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specbench.telemetry.counters import (
    NOT_ASKED,
    Reported,
    gauge_mean,
    gauge_peak,
    increase,
    increase_by_label,
    observed_mean,
    records,
    span_of,
)
from tests.support.scrapes import answer, scrape_of, span

A, B = "http://a/metrics", "http://b/metrics"


def test_differences_are_taken_per_series_and_summed() -> None:
    """Two engines of one process: 60 and 20 make 80."""
    block = span('x_total{engine="0"} 100\nx_total{engine="1"} 500\n', 'x_total{engine="0"} 160\nx_total{engine="1"} 520\n')

    assert increase(block, "x") == Reported(80.0)


def test_a_prefix_is_not_a_name() -> None:
    """M-02: `accepted` is not `accepted_per_pos`."""
    block = span("accepted_total 1\naccepted_per_pos_total 5\n", "accepted_total 2\naccepted_per_pos_total 50\n")

    assert increase(block, "accepted") == Reported(1.0)


def test_a_series_created_in_the_block_started_at_zero() -> None:
    """M-05 (a): the family appears with the first speculative request, and the process is the same."""
    start = "process_start_time_seconds 111\n"

    assert increase(span(start, f"{start}accepted_total 110\n"), "accepted") == Reported(110.0)


def test_a_family_at_neither_end_is_unknown() -> None:
    """M-05 (b): absent is not 0."""
    assert increase(span("x_total 1\n", "x_total 2\n"), "accepted") == Reported(None, "not_exposed: no series accepted")


@pytest.mark.parametrize("status", [501, 404, 401, 403])
def test_a_page_that_is_refused_gives_its_reason(status: int) -> None:
    """M-05 (c), (d) and M-09: null, and the reason says which."""
    told = increase(span(answer("", status=status), answer("", status=status)), "accepted")

    assert told.value is None
    assert told.reason is not None
    assert told.reason.startswith(f"http_{status}")


def test_a_page_that_answers_at_the_end_alone_is_unknown() -> None:
    """Without a start there is no difference, even for a series that would otherwise count from 0."""
    told = increase(span(answer("", status=None), "accepted_total 110\n"), "accepted")

    assert told == Reported(None, "unreachable: refused")


@pytest.mark.parametrize("pages", [("x_total NaN\n", "x_total 5\n"), ("x_total 1\n", "x_total NaN\n")])
def test_a_wanted_sample_that_is_no_number_makes_the_sum_unknown(pages: tuple[str, str]) -> None:
    """M-04: a NaN at the start must not pass for a series created in the block."""
    assert increase(span(*pages), "x") == Reported(None, "not_a_number: x was NaN or infinite")


def test_a_restart_makes_every_difference_unknown() -> None:
    """M-03: not the plausible quotient of two negative differences."""
    block = span("accepted_total 1000\ndrafted_total 2000\n", "accepted_total 120\ndrafted_total 300\n")

    assert increase(block, "accepted").value is None
    assert (increase(block, "drafted").reason or "").startswith("counter_reset")


def test_replicas_with_urls_of_their_own_are_summed() -> None:
    """M-08: with a list of replica URLs the differences add up."""
    before = scrape_of(answer("x_total 1000\n", A), answer("x_total 1600\n", B))
    after = scrape_of(answer("x_total 1300\n", A), answer("x_total 1700\n", B), second=1)

    assert increase(span_of(before, [], after), "x") == Reported(400.0)


def test_a_silent_replica_makes_the_sum_unknown() -> None:
    """The part that answered must not pass for the whole."""
    before = scrape_of(answer("x_total 1000\n", A), answer("x_total 1600\n", B))
    after = scrape_of(answer("x_total 1300\n", A), answer("", B, status=None), second=1)
    during = scrape_of(answer("g 4\n", A), answer("", B, status=None), second=1)

    assert increase(span_of(before, [], after), "x") == Reported(None, "unreachable: refused")
    assert gauge_mean(span_of(before, [during], after), "g") == Reported(None, "unreachable: refused")


@pytest.mark.parametrize(
    ("first", "second", "paths"),
    [
        ("http://gw/r1/metrics", "http://gw/r2/metrics", ("/metrics",)),
        ("http://gw/r1/metrics?job=a", "http://gw/r2/metrics/?job=b", ("/metrics",)),
        ("http://gw/worker-1", "http://gw/worker-2", ("/metrics", "/slots")),
        ("http://gw/r1/prometheus/metrics", "http://gw/r2/prometheus/metrics", ("/metrics", "/prometheus/metrics")),
    ],
)
def test_replicas_that_differ_by_path_are_replicas(first: str, second: str, paths: tuple[str, ...]) -> None:
    """The second one is silent at the end, so that the first one's 300 are no sum."""
    before = scrape_of(answer("x_total 1000\n", first), answer("x_total 1600\n", second))
    after = scrape_of(answer("x_total 1300\n", first), answer("", second, status=None), second=1)

    assert increase(span_of(before, [], after, paths), "x") == Reported(None, "unreachable: refused")


def test_an_engine_s_two_pages_are_two_kinds_though_one_path_ends_as_the_other() -> None:
    """TensorRT-LLM's list of iterations is silent; its counters stand."""
    listed, counters = "http://t/r1/metrics", "http://t/r1/prometheus/metrics"
    before = scrape_of(answer("", listed, status=404), answer("x_total 1\n", counters))
    after = scrape_of(answer("", listed, status=404), answer("x_total 5\n", counters), second=1)

    assert increase(span_of(before, [], after, ("/metrics", "/prometheus/metrics")), "x") == Reported(4.0)


def test_a_silent_page_of_another_kind_does_not_matter() -> None:
    """llama.cpp without --slots still has its counters."""
    before = scrape_of(answer("x_total 1\n", A), answer("", "http://a/slots", status=501))
    after = scrape_of(answer("x_total 5\n", A), answer("", "http://a/slots", status=501), second=1)
    block = span_of(before, [], after, ("/metrics", "/slots"))

    assert increase(block, "x") == Reported(4.0)
    assert increase(block, "y") == Reported(None, "not_exposed: no series y")


def test_without_any_url_nothing_was_asked() -> None:
    """An engine without metrics has no counters, for a reason of its own."""
    assert increase(span_of(scrape_of(), [], scrape_of(second=1)), "x") == Reported(None, NOT_ASKED)


def test_a_counter_is_split_by_one_label() -> None:
    """Positions are summed over engines."""
    before = 'p_total{engine="0",position="0"} 5\n'
    after = 'p_total{engine="0",position="0"} 60\np_total{engine="1",position="0"} 5\np_total{engine="1",position="1"} 1\n'

    assert increase_by_label(span(before, after), "p", "position") == Reported({"0": 60.0, "1": 1.0})


def test_a_histograms_mean_is_exact() -> None:
    """Rise of the sum over rise of the count; none where nothing was observed."""
    block = span("w_sum 1\nw_count 10\n", "w_sum 3\nw_count 14\n")

    assert observed_mean(block, "w") == Reported(0.5)
    assert observed_mean(span("w_sum 1\nw_count 10\n", "w_sum 1\nw_count 10\n"), "w") == Reported(
        None, "no_observation: w saw nothing in this block"
    )


def test_a_gauge_peaks_over_all_scrapes_and_averages_under_load_alone() -> None:
    """Two engines: the peak is the fullest one's, the mean is of their sum, and the idle ends count for no mean."""
    low, high = 'g{engine="0"} 1\ng{engine="1"} 2\n', 'g{engine="0"} 4\ng{engine="1"} 3\n'
    block = span('g{engine="0"} 0\n', 'g{engine="0"} 0\n', low, high)

    assert gauge_peak(block, "g") == Reported(4.0)
    assert gauge_mean(block, "g") == Reported(5.0)


def test_a_gauge_that_nobody_watched_has_no_mean() -> None:
    """A block shorter than the sampling period says so."""
    assert gauge_mean(span("g 0\n", "g 0\n"), "g") == Reported(None, "not_sampled: g was not scraped within the block")


def test_records_of_the_first_scrape_belong_to_the_time_before() -> None:
    """A page that hands out each record once is read from the second scrape on."""
    block = span('[{"i": 1}]', '[{"i": 4}]', '[{"i": 2}, {"i": 3}]', "[]")

    assert [record["i"] for record in records(block)] == [2, 3, 4]


@given(st.lists(st.tuples(st.integers(0, 10**9), st.integers(0, 10**9)), min_size=1, max_size=5))
def test_the_sum_does_not_depend_on_how_series_are_cut(parts: list[tuple[int, int]]) -> None:
    """Any split over engines and replicas gives the same total, and totals over consecutive blocks add up."""
    middle = [start + grown // 2 for start, grown in parts]
    ends = [start + grown for start, grown in parts]

    def page(values: list[int]) -> str:
        return "".join(f'x_total{{engine="{index}"}} {value}\n' for index, value in enumerate(values))

    texts = [page([start for start, _ in parts]), page(middle), page(ends)]
    whole = increase(span(texts[0], texts[2]), "x").value
    halves = [increase(span(texts[0], texts[1]), "x").value, increase(span(texts[1], texts[2]), "x").value]

    assert whole == sum(grown for _, grown in parts)
    assert whole == sum(half for half in halves if half is not None)
