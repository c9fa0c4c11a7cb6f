"""The endpoint that knows what it sent: it keeps to its schedule, counts what it wrote, and ends with whoever holds its input."""

import socket
import subprocess
import sys
import time
from array import array
from itertools import pairwise

import httpx
import pytest

from specbench.engine.reference_endpoint.reference_endpoint import ask_for_stamps, received
from specbench.engine.reference_endpoint.send_log import SendLog, percentiles
from tests.support.truthful import delivered, scripted_endpoint, truth_endpoint


def test_what_it_tells_is_what_it_wrote() -> None:
    """Twelve tokens, four an event: three events, two gaps, one time to the first; the answer is whole."""
    with truth_endpoint("--ttft-ms", "10", "--interval-us", "4000", "--tokens-per-chunk", "4") as url:
        answer = httpx.post(f"{url}/v1/chat/completions", json={"max_tokens": 12}, trust_env=False).text
        true = httpx.get(f"{url}/truth", trust_env=False).json()

    assert (true["requests"], true["tokens"], true["gap_ms"]["n"], true["ttft_ms"]["n"]) == (1, 12, 2, 1)
    assert true["ttft_ms"]["p50"] >= 10
    assert answer.count('"content"') == 3
    assert answer.endswith("data: [DONE]\n\n")


def test_a_request_counts_from_its_arrival_however_late_it_is_read() -> None:
    """Read later than it came: the moment told is that of the coming, on the monotonic clock."""
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()) as client:
        sock, _ = listener.accept()
        with sock:
            ask_for_stamps(sock)
            time.sleep(0.02)
            before_ns = time.monotonic_ns()
            client.sendall(b"hello")
            time.sleep(0.06)
            slept_ns = time.monotonic_ns()
            data, arrived_ns = received(sock)

    assert data == b"hello"
    assert before_ns <= arrived_ns < slept_ns


def test_it_ends_when_its_input_is_closed() -> None:
    """So that it cannot outlive the doctor, however that ends."""
    command = [sys.executable, "-m", "specbench.engine.reference_endpoint.reference_endpoint", "--while-input-lasts"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as endpoint:
        assert endpoint.stdin is not None
        assert endpoint.stdout is not None
        assert endpoint.stdout.readline().startswith("http://127.0.0.1:")
        endpoint.stdin.close()
        assert endpoint.wait(10) == 0


def test_percentiles_interpolate_and_rise() -> None:
    """Of 1 to 5: the median is 3, the 90th percentile 4.6; of nothing there is none."""
    told = percentiles([5.0, 1.0, 2.0, 3.0, 4.0])

    assert told is not None
    assert (told["n"], told["mean"], told["max"], told["p50"]) == (5.0, 3.0, 5.0, 3.0)
    assert told["p90"] == pytest.approx(4.6)
    assert all(lower <= higher for lower, higher in pairwise(told[point] for point in ("p50", "p90", "p95", "p99", "max")))
    assert percentiles([]) is None


def test_a_window_holds_the_gaps_between_its_bounds() -> None:
    """Of gaps of 4 ms that end at 10, 14 and 18 ms: one lies between 9 and 15 whole; of two requests one came then."""
    sent = SendLog(ttft_ms=array("d", [5.0, 6.0]), asked_ns=array("q", [1_000_000, 9_500_000]))
    sent.gap_ms.extend([4.0, 4.0, 4.0])
    sent.gap_end_ns.extend([10_000_000, 14_000_000, 18_000_000])

    assert sent.inside(9_000_000, 15_000_000) == {"gap_ms": [4.0], "ttft_ms": [6.0]}


def test_its_counters_have_vllms_names() -> None:
    """So that acceptance is read from it as from an engine."""
    assert 'vllm:spec_decode_num_accepted_tokens_total{engine="0",model_name="truth"} 7' in SendLog(accepted=7).metrics()


def test_a_request_asks_for_a_script_by_its_name() -> None:
    """Four events with 1, 4, 3 and 4 tokens, each with a moment; no key came with the request."""
    with scripted_endpoint() as url:
        answer = httpx.post(f"{url}/v1/chat/completions", json={"model": "several_tokens"}, trust_env=False)
        (told,) = delivered(url)

    assert answer.text.endswith("data: [DONE]\n\n")
    assert (told["name"], told["tokens"], told["keys"]) == ("several_tokens", [1, 4, 3, 4], False)
    assert len(told["sent_ns"]) == 4
    assert told["asked_ns"] < told["sent_ns"][0] < told["sent_ns"][3]
