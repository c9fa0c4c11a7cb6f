"""What a Prometheus server's answers become, and one line for each that is none."""

import json
import re
import socket
from collections.abc import Callable
from email.utils import formatdate
from time import time
from urllib.parse import parse_qs, urlsplit

import pytest

from specbench.errors import DataError, SpecbenchError
from specbench.live.source import PrometheusServer, PrometheusSource, failed_shares
from tests.support.goldens import same_text
from tests.support.serving import serving, target_of, whole


def server(
    body: object, status: str = "200 OK", kind: str = "application/json", date_s: float | None = None
) -> Callable[..., None]:
    """A handler that answers everything so."""
    text = body if isinstance(body, str) else json.dumps(body)
    date = [] if date_s is None else [f"Date: {formatdate(date_s, usegmt=True)}"]

    def handle(connection: socket.socket, _: bytes) -> None:
        connection.sendall(whole(text.encode(), f"Content-Type: {kind}", *date, status=status))

    return handle


def matrix(*series: tuple[dict[str, str], list[tuple[float, str]]]) -> dict[str, object]:
    """An answer of Prometheus with these series."""
    result = [{"metric": metric, "values": values} for metric, values in series]
    return {"status": "success", "data": {"resultType": "matrix", "result": result}}


def labels(name: str, instance: str = "10.0.0.1:8000", **more: str) -> dict[str, str]:
    """A series of the engine at that instance."""
    return {"__name__": name, "instance": instance, "job": "vllm", "model_name": "m", **more}


def test_samples_of_one_target_and_moment_are_one_page() -> None:
    """Counters lose `_total`, the target's own labels are no labels of a series, and each page has its own time."""
    answer = matrix(
        (labels("vllm:generation_tokens_total"), [(100.0, "5"), (115.0, "9")]),
        (labels("vllm:num_requests_running"), [(100.0, "2"), (115.0, "NaN")]),
        (labels("process_start_time_seconds"), [(100.0, "50"), (115.0, "50")]),
        (labels("vllm:generation_tokens_total", "10.0.0.2:8000"), [(101.0, "7")]),
    )
    with serving(server(answer)) as url:
        first, second = PrometheusSource(PrometheusServer(url=url), '{job="vllm"}').replicas(100.0, 160.0)

    assert (first.name, first.host, [at for at, _ in first.pages]) == ("10.0.0.1:8000", "10.0.0.1", [100.0, 115.0])
    key = ("vllm:generation_tokens", (("job", "vllm"), ("model_name", "m")))
    samples = [page.samples for _, page in first.pages]
    assert [one.values[key] for one in samples if one] == [5.0, 9.0]
    assert samples[1] is not None
    assert key in samples[1].monotone
    assert ("vllm:num_requests_running", key[1]) in samples[1].not_finite
    assert first.pages[0][1].started_s == 50.0
    assert len(second.pages) == 1


def test_one_query_of_raw_samples_a_period() -> None:
    """No rate() and no increase(), the selector's matchers within, a reach of one and a half periods."""
    asked: list[str] = []

    def handle(connection: socket.socket, request: bytes) -> None:
        asked.append(target_of(request))
        connection.sendall(whole(json.dumps(matrix()).encode(), "Content-Type: application/json"))

    with serving(handle) as url:
        PrometheusSource(PrometheusServer(url=url), '{job="vllm",arm="spec"}', "vllm").replicas(700.0, 1000.0)

    query = parse_qs(urlsplit(asked[0].split(" ")[1]).query)
    assert len(asked) == 1
    assert query["query"] == ['{__name__=~"(vllm:|ray_vllm_).+|process_start_time_seconds",job="vllm",arm="spec"}[450s]']
    assert query["time"] == ["1000.000"]


ANSWERS: dict[str, Callable[..., None]] = {
    "a key is wanted": server("no", "401 Unauthorized", "text/plain"),
    "a wrong selector": server({"status": "error", "error": "parse error: unexpected }"}, "422 Unprocessable Entity"),
    "a web page": server("<html>login</html>", kind="text/html"),
    "a clock that is ahead": server(matrix(), date_s=time() + 86_400),
    "no samples": server({"status": "success", "data": {"resultType": "vector", "result": [{"metric": 1}]}}),
    "no data": server({"status": "success", "data": {"result": [{"metric": {}, "values": [[1.0]]}]}}),
    "once": server(matrix((labels("vllm:generation_tokens_total"), [(0.0, "1")]))),
    "too seldom": server(matrix((labels("vllm:generation_tokens_total"), [(0.0, "1"), (40.0, "2"), (80.0, "3")]))),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_what_is_no_answer_ends_in_one_line(name: str) -> None:
    """What, where, what to try."""
    with serving(ANSWERS[name]) as url:
        with pytest.raises(SpecbenchError) as error:
            PrometheusSource(PrometheusServer(url=url), '{job="vllm"}').replicas(40.0, 100.0)
        said = str(error.value).replace(url, "http://prometheus")

    assert "\n" not in said
    same_text(name, re.sub(r"is \d+ s behind", "is 300 s behind", said))


@pytest.mark.parametrize("selector", ["vllm", "{}", "up{job=1}", '{job="a"'])
def test_what_is_no_selector_is_refused(selector: str) -> None:
    """Before anything is asked."""
    with pytest.raises(DataError):
        PrometheusSource(PrometheusServer(url="http://127.0.0.1:9"), selector)


def test_a_selector_that_matches_nothing_names_the_nearest_value() -> None:
    """By the values that the label has there."""
    with serving(server({"status": "success", "data": ["speculative", "baseline"]})) as url:
        found = PrometheusSource(PrometheusServer(url=url), '{arm="speculativ"}').nearest_values()

    same_text("nearest", found)


def test_shares_of_failed_requests_come_by_arm() -> None:
    """A series without the label is the speculative arm's; what is no share is refused."""

    def vector(*rows: tuple[dict[str, str], str]) -> dict[str, object]:
        result = [{"metric": metric, "value": [1.0, value]} for metric, value in rows]
        return {"status": "success", "data": {"resultType": "vector", "result": result}}

    with serving(server(vector(({"arm": "baseline"}, "0.01"), ({}, "0.02"), ({"arm": "x"}, "NaN")))) as url:
        assert failed_shares(PrometheusServer(url=url), "q", 1.0) == {"baseline": 0.01, "speculative": 0.02}
    with serving(server(vector(({}, "3")))) as url, pytest.raises(DataError):
        failed_shares(PrometheusServer(url=url), "q", 1.0)
