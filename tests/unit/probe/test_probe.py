"""A probe tells what an endpoint sent: counts exactly, times no earlier than they were, and whether the client was in time."""

import hashlib
import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from specbench.engine.reference_endpoint.reference_endpoint import WORDS
from specbench.errors import ScenarioError, UnreachableError
from specbench.explain.absences import NO_SPECULATION
from specbench.load.fleet.fleet_plan import FleetOptions
from specbench.probe.probe import ProbeRequest, as_text, probe
from tests.support.answering import Table, answering
from tests.support.endpoint import Behaviour, endpoint
from tests.support.raw_server import TLS
from tests.support.truthful import truth_endpoint

POINTS = {"mean", "p50", "p90", "p95", "p99"}
TEXT = "".join(WORDS[place % len(WORDS)] for place in range(32))


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """An endpoint that sends four tokens a chunk, as if speculating."""
    with truth_endpoint("--ttft-ms", "20", "--interval-us", "8000", "--tokens-per-chunk", "4") as answering:
        yield answering


def _order(url: str, **changes: Any) -> ProbeRequest:
    values: dict[str, Any] = {"url": url, "model": "truth", "concurrency": 2, "requests": 6, "max_tokens": 32}
    return ProbeRequest(**(values | changes))


def _true(url: str) -> dict[str, Any]:
    with urllib.request.urlopen(f"{url}/truth", timeout=10) as answer:
        told: dict[str, Any] = json.load(answer)
    return told


@pytest.mark.parametrize("processes", [1, 2])
def test_counts_are_those_of_the_endpoint(url: str, processes: int) -> None:
    """Requests, tokens and the answers' text in order, whatever the number of processes."""
    told = probe(_order(url + "/v1", fleet=FleetOptions(processes=processes)))

    assert told["requests"] == {"ok": 6, "failed": 0, "by_outcome": {"ok": 6}, "by_status": {}}
    assert (told["tokens"], told["engine"]) == (6 * 32, "vllm")
    assert told["text"] == {"chars": 6 * len(TEXT), "sha256": hashlib.sha256(6 * TEXT.encode()).hexdigest()}
    assert told["generator"]["stamps"] == {"kernel": 6}
    assert min(told["generator"][name] for name in ("send_delay_p95_ms", "loop_lag_p99_ms", "cpu_share")) >= 0


def test_times_are_no_earlier_than_what_was_sent(url: str) -> None:
    """Nothing can arrive before it was sent; and every kind of time has its mean and percentiles."""
    told = probe(_order(url, engine="openai"))

    for name in ("chunk_gap_ms", "itl_ms", "ttft_ms", "tpot_ms", "e2e_ms"):
        assert set(told[name]) == POINTS
    assert told["ttft_ms"]["mean"] >= 20.0
    assert told["e2e_ms"]["mean"] >= 20.0 + 7 * 8.0
    assert told["itl_ms"]["mean"] < told["chunk_gap_ms"]["mean"]
    assert told["generator"]["cpu_s"] > 0 < told["generator"]["wall_s"]


def test_acceptance_is_told_by_counters_and_never_by_an_interval(url: str) -> None:
    """Four tokens a round by the endpoint's counters; by the stream alone four tokens an event may be a stream interval."""
    by_counters, by_stream = probe(_order(url)), probe(_order(url, engine="openai"))

    assert (by_counters["acceptance"]["length"], by_counters["acceptance"]["source"]) == (4.0, "counter differences")
    assert (by_stream["acceptance"], by_stream["tokens_per_step"]) == (None, None)
    assert "no sign of speculation" in by_stream["acceptance_reason"]
    assert by_stream["flags"] == {"tokens_spread": 6}


def test_no_sign_of_speculation_is_null_with_a_reason() -> None:
    """One token a chunk, and no counters."""
    with truth_endpoint("--ttft-ms", "5", "--interval-us", "2000") as plain:
        told = probe(_order(plain, engine="openai"))

    assert told["acceptance"] is None
    assert "no sign of speculation" in told["acceptance_reason"]
    assert "no sign of speculation" in as_text(told)


COUNTED = "vllm:generation_tokens_total %d\nvllm:spec_decode_num_drafts_total %d\n"


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        ((500, "boom"), "http_500: the metrics page answers an error"),
        ((401, ""), "http_401: the metrics page wants a key, or another one"),
        ((404, ""), "http_404: there is no metrics page, or it is switched off"),
        ((200, "<html>sign in</html>"), "not_metrics: the body is no Prometheus text"),
        ((200, "vllm:generation_tokens_total 3\n"), NO_SPECULATION),
    ],
)
def test_counters_that_could_not_be_read_are_the_reason(page: tuple[int, str], reason: str) -> None:
    """N-22: "no sign" only where there was a page to look at."""
    with endpoint(Behaviour(metrics=(page,))) as url:
        told = probe(_order(url, model="scripted", engine="vllm", requests=2))

    assert (told["acceptance"], told["acceptance_reason"]) == (None, reason)
    assert reason in as_text(told)


@pytest.mark.parametrize(("after", "share"), [(112, 0.0), (113, 1 / 13), (224, 112 / 124), (106, 0.0)])
def test_what_others_asked_of_the_engine_meanwhile_is_named(after: int, share: float) -> None:
    """Two answers of six tokens, and a counter that rose by more: what it tells is of other requests too."""
    pages = tuple((200, COUNTED % (count, 0)) for count in (100, after))
    with endpoint(Behaviour(metrics=pages)) as url:
        told = probe(_order(url, model="scripted", engine="vllm", requests=2))

    assert told["foreign_traffic"] == pytest.approx(share)
    assert ("foreign_traffic: " in as_text(told)) == (share > 0.05)


def test_a_failed_answer_may_have_kept_the_engine_busy() -> None:
    """One of two requests failed: the 32 tokens that it was allowed are no stranger's; with no counter nothing is said."""
    with endpoint(Behaviour(good=1, metrics=((200, COUNTED % (100, 0)), (200, COUNTED % (138, 0))))) as url:
        assert probe(_order(url, model="scripted", engine="vllm", requests=2))["foreign_traffic"] == 0.0
    with endpoint(Behaviour()) as url:
        assert probe(_order(url, model="scripted", requests=2))["foreign_traffic"] is None


def test_its_json_is_strict(url: str) -> None:
    """No NaN, no Infinity, whatever could not be measured."""
    assert json.dumps(probe(_order(url, requests=1, max_tokens=1)), allow_nan=False)


def test_people_read_a_small_table(url: str) -> None:
    """It fits 80 columns, but for the reasons of a client that was late."""
    lines = [line for line in as_text(probe(_order(url))).splitlines() if not line.startswith("client: LATE")]

    assert lines[0].startswith("vllm: 6 requests ok, 0 failed, 192 tokens")
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"concurrency": 0}, "--concurrency 0"),
        ({"engine": "magic"}, "--engine magic"),
        ({"fleet": FleetOptions(processes=3)}, "--processes 3"),
    ],
)
def test_orders_that_make_no_sense_are_refused(changes: dict[str, Any], what: str) -> None:
    """With the option and what is wrong with it."""
    with pytest.raises(ScenarioError, match=what):
        probe(_order("http://127.0.0.1:1", **changes))


def test_nobody_there_is_an_error() -> None:
    """Recognised or named, an endpoint that does not answer is not reachable."""
    with pytest.raises(UnreachableError, match=r"^nothing listens at http://127\.0\.0\.1:1 \(connection refused\); start the"):
        probe(_order("http://127.0.0.1:1"))


def test_what_wants_a_key_is_told_so() -> None:
    """N-35: one sentence for every failure helps with none."""
    refused = pytest.raises(UnreachableError, match=r"refuses /v1/models \(HTTP 401\); .* --api-key-env")
    with answering(Table({"/v1/models": (401, "{}")})) as table, refused:
        probe(_order(table.url))


@pytest.mark.parametrize("status", [200, 404])
def test_what_answers_and_is_no_known_engine_is_tried(status: int) -> None:
    """It may know the way it is asked and nothing else; its answers then say what is wrong."""
    with answering(Table({"/v1/models": (status, "{}")})) as table:
        found = probe(_order(table.url))

    assert (found["requests"]["ok"], set(found["requests"]["by_outcome"])) == (0, {"http_error"})


def test_a_certificate_that_is_refused_is_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """N-35: not whether the endpoint is up."""
    monkeypatch.setenv("SSL_CERT_FILE", str(TLS / "authority.pem"))
    refused = r"CERTIFICATE_VERIFY_FAILED.*name its authority's file in SSL_CERT_FILE"
    table = Table({"/v1/models": (200, "{}")}, certificate=TLS / "localhost.pem")
    with answering(table), pytest.raises(UnreachableError, match=refused):
        probe(_order(table.url))


def test_it_loads_no_heavy_library() -> None:
    """Neither scipy, nor pandas, nor matplotlib, nor Locust in this process."""
    heavy = "{'scipy', 'pandas', 'matplotlib', 'locust', 'gevent', 'pydantic'}"
    code = f"import sys, specbench.probe; print(sorted({heavy} & set(sys.modules)))"

    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
