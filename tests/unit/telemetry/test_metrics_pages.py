"""Any answer of a metrics URL makes a page: one with samples, one with records, or one that says why there are none."""

import pytest

from specbench.telemetry.metrics_pages import HttpAnswer, page_of
from tests.support.scrapes import answer


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (401, "http_401: the metrics page wants a key, or another one"),
        (403, "http_403: the metrics page wants a key, or another one"),
        (404, "http_404: there is no metrics page, or it is switched off"),
        (501, "http_501: there is no metrics page, or it is switched off"),
        (503, "http_503: the metrics page answers an error"),
        (302, "http_302: the metrics page answers an error"),
        (None, "unreachable: refused"),
    ],
)
def test_a_refused_page_has_its_reason(status: int | None, reason: str) -> None:
    """M-05, M-09: a page that is off, locked or gone is absent with a reason, and no error."""
    assert page_of(answer("a_total 1", status=status)).absent == reason


@pytest.mark.parametrize("body", ["<!doctype html><html><body>login</body></html>", '{"error": "x"}', "[1, 2]", "[not json"])
def test_a_page_of_something_else_is_no_metrics(body: str) -> None:
    """A login page, an error object or another JSON list in place of metrics is named as such."""
    absent = page_of(answer(body)).absent

    assert absent is not None
    assert absent.startswith("not_metrics")


def test_an_empty_page_is_a_page() -> None:
    """A server without any series answers nothing, which is not the same as no page."""
    assert page_of(answer("")).absent is None


def test_a_json_list_of_records_is_kept_as_it_is() -> None:
    """TensorRT-LLM and llama.cpp's /slots answer JSON where others answer Prometheus text."""
    page = page_of(answer('\n[{"iter": 1}, {"iter": 2}]'))

    assert page.records == ({"iter": 1}, {"iter": 2})
    assert page.samples is None


def test_the_process_is_known_by_its_start() -> None:
    """The standard metric first, then the earliest creation time; else it is not known."""
    created = "x_total 1\nx_created 1.7e9\ny_created 1.6e9\n"

    assert page_of(answer("process_start_time_seconds 1.5e9\n" + created)).started_s == 1.5e9
    assert page_of(answer(created)).started_s == 1.6e9
    assert page_of(answer("x_total 1\n")).started_s is None
    assert page_of(answer("x_total 1\n")).process is None


def test_llamacpp_s_start_header_is_a_name_and_not_a_time() -> None:
    """A real server sent 2236882172 (microseconds since boot): in Unix seconds that would be the year 2040."""
    page = page_of(answer("x_total 1\n", headers={"process-start-time-unix": "2236882172"}))

    assert (page.process, page.started_s) == ("2236882172", None)


def test_an_answer_is_json_only_where_it_is_good() -> None:
    """The JSON body of an error is not the fact that was asked for."""
    assert HttpAnswer(url="u", status=200, body='{"a": 1}').json() == {"a": 1}
    assert HttpAnswer(url="u", status=404, body='{"a": 1}').json() is None
    assert HttpAnswer(url="u", status=200, body="<html>").json() is None
    assert HttpAnswer(url="u", failure="not_reached", problem="refused").json() is None


def test_a_page_of_too_many_series_is_not_read() -> None:
    """So many that reading takes minutes; comments alone count too, and the reason names what to do."""
    line = 'vllm:s{i="1"} 1\n'
    for body in (line * 30_001, "# TYPE a counter\n" * 120_004, line * 20_000 + "# HELP a b\n" * 120_000):
        absent = page_of(answer(body)).absent
        assert absent is not None
        assert absent.startswith("too_many_series: the page has ")
        assert absent.endswith("more than 30000 are not read; name one engine's own page (metrics_url)")


def test_a_line_of_absurd_length_costs_itself_alone() -> None:
    """Its labels would be read over and over."""
    page = page_of(answer('a_total{l="' + "x" * 70_000 + '"} 1\nb_total 2\n'))

    assert page.samples is not None
    assert (page.samples.values, page.samples.unreadable) == ({("b", ()): 2.0}, 1)


def test_an_answer_that_is_too_large_is_called_so() -> None:
    """It was reached; it was left."""
    page = page_of(HttpAnswer(url="http://h/metrics", failure="too_large", problem="the answer is larger than 8 MiB"))

    assert page.absent == "too_large: the answer is larger than 8 MiB"
