"""The cases that people met with load generators, on the real one: every claim by its number, with the right value."""

import json
import os
import resource
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from specbench.errors import InternalError, ScenarioError
from specbench.load.client import LoadChild
from specbench.load.limits import SPARE, check_open_files
from specbench.load.orders import BlockEnd, BlockOrder, Work
from specbench.model.seen import Capture, RequestRecord
from specbench.probe import ProbeOrder, probe
from specbench.stream.clock import now_ns
from specbench.stream.connection import CLIENT_CERTIFICATE
from specbench.stream.exchange import Exchange
from specbench.stream.record import Asked, record_of
from specbench.stream.transport import EXCHANGE, StampingTransport, Timeouts
from specbench.telemetry import ENGINES
from specbench.units import ms, ns_of_s, seconds
from tests.support.captures import DONE, final_usage, finish, said
from tests.support.raw_server import CERTIFICATE, END, KEY, STREAM_HEAD, chunk, head, playing, read_request
from tests.support.streaming import streaming
from tests.support.truthful import truth_endpoint

pytestmark = pytest.mark.slow
RULE = ENGINES["openai"].stream
GOOD = STREAM_HEAD + chunk(said("a")) + chunk(finish() + final_usage(1) + DONE) + END
PAGE = b"<html><script>alert(1)</script>Bad gateway</html>"
BAD_GATEWAY = head("Content-Type: text/html", f"Content-Length: {len(PAGE)}", status="502 Bad Gateway") + PAGE


def _driven(url: str, requests: int, concurrency: int, **changes: object) -> tuple[list[Capture], BlockEnd]:
    values: dict[str, object] = {
        "block": "b",
        "url": url,
        "path": "/v1/chat/completions",
        "headers": {},
        "concurrency": concurrency,
        "min_requests": requests,
        "min_s": 0.0,
        "max_s": 60.0,
        "ramp_s": 0.0,
        "stagger_s": 0.0,
    }
    works = (Work(index=index, body=b'{"max_tokens":1}') for index in range(requests))
    with LoadChild() as child:
        *captures, end = child.run_block(BlockOrder(**(values | changes)), works)  # type: ignore[arg-type]
    assert isinstance(end, BlockEnd)
    return [capture for capture in captures if isinstance(capture, Capture)], end


def _records(captures: list[Capture]) -> list[RequestRecord]:
    return [record_of(capture, Asked("", "", 1), RULE) for capture in captures]


class Endpoint:
    """Answers by number, counts what comes and what is under way at once."""

    def __init__(self, *first: bytes, then: bytes = GOOD, after_s: float = 0.0) -> None:
        self._first, self._then, self._after_s = list(first), then, after_s
        self._lock = threading.Lock()
        self._open = 0
        self.most_open = self.asked = 0

    def __call__(self, connection: socket.socket) -> None:
        """One request is answered."""
        with self._lock:
            self.asked += 1
            self._open += 1
            self.most_open = max(self.most_open, self._open)
            answer = self._first.pop(0) if self._first else self._then
        time.sleep(self._after_s)
        with self._lock:
            self._open -= 1
        connection.sendall(answer)


def test_a_refusal_is_one_attempt_and_one_failure() -> None:
    """S-13: 429 with Retry-After: the second try would be answered at once, and is never made."""
    endpoint = Endpoint(head("Retry-After: 2", "Content-Length: 0", status="429 Too Many Requests"))
    with streaming(endpoint) as url:
        (record,) = _records(_driven(url, 1, 1)[0])

    assert (endpoint.asked, record.outcome, record.status, record.retries) == (1, "http_error", 429, 0)


def test_a_probe_tells_which_status_refused() -> None:
    """S-13, S-14: three times 429, twice 502, and one answer; nothing is tried again."""
    limited = head("Retry-After: 2", "Content-Length: 0", status="429 Too Many Requests")
    endpoint = Endpoint(limited, BAD_GATEWAY, limited, BAD_GATEWAY, limited)
    with streaming(endpoint) as url:
        told = probe(ProbeOrder(url=url, model="scripted", engine="openai", concurrency=1, requests=6, max_tokens=1))

    assert told["requests"] == {
        "ok": 1,
        "failed": 5,
        "by_outcome": {"http_error": 5, "ok": 1},
        "by_status": {"429": 3, "502": 2},
    }
    assert endpoint.asked == 6


def test_error_pages_are_failures_and_the_load_goes_on() -> None:
    """S-14: five pages of a gateway among a hundred answers, the very first among them."""
    endpoint = Endpoint(*[BAD_GATEWAY] * 5)
    with streaming(endpoint) as url:
        captures, end = _driven(url, 100, 4)
    records = _records(captures)
    failed = [record for record in records if record.outcome != "ok"]

    assert Counter(record.outcome for record in records) == {"ok": 95, "http_error": 5}
    assert {(record.status, record.reason) for record in failed} == {(502, f"HTTP 502: {PAGE.decode()}")}
    assert end.end_reason == "work_done"


def test_a_run_whose_first_answer_is_an_error_page_ends_in_one_line(tmp_path: Path) -> None:
    """S-14: exit 69 and the status by name before minutes are spent, and no traceback."""
    with streaming(Endpoint(then=BAD_GATEWAY)) as url:
        words = ["run", "scenarios/code.yaml", "--profile", "smoke", "--baseline", url, "--speculative", url]
        command = [sys.executable, "-m", "specbench", *words, "--out", str(tmp_path / "run")]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)

    assert done.returncode == 69, done.stderr
    assert "HTTP 502" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_a_redirect_is_not_followed_and_says_where_to() -> None:
    """The body is not sent to another host by itself, and the sentence names the address to use."""
    moved = head("Location: http://127.0.0.1:9/v1/x", "Content-Length: 0", status="307 Temporary Redirect")
    with streaming(Endpoint(then=moved)) as url:
        (record,) = _records(_driven(url, 1, 1)[0])

    assert (record.outcome, record.status) == ("http_error", 307)
    assert record.reason == "HTTP 307: redirects are not followed under load; use http://127.0.0.1:9/v1/x"


def test_all_users_are_in_flight_at_once() -> None:
    """L-03: 128 users, an endpoint that takes half a second: nobody waits for a connection of somebody else."""
    endpoint = Endpoint(after_s=0.5)
    with streaming(endpoint) as url:
        captures, _ = _driven(url, 128, 128)
    sent = sorted(capture.sent_ns for capture in captures)

    assert endpoint.most_open == 128
    assert seconds(sent[-1] - sent[0]) < 0.5
    assert {record.outcome for record in _records(captures)} == {"ok"}


def test_a_thousand_streams_are_in_flight_on_one_process() -> None:
    """Every one is answered, and at one moment all of them were under way: nothing lowered the concurrency in silence."""
    with truth_endpoint("--ttft-ms", "4000", "--interval-us", "10000") as url:
        captures, end = _driven(url, 1000, 1000)
    last_sent_ns, first_ended_ns = max(one.sent_ns for one in captures), min(one.end_ns for one in captures)

    assert Counter(record.outcome for record in _records(captures)) == {"ok": 1000}
    assert len({capture.stream for capture in captures}) == 1000
    assert last_sent_ns < first_ended_ns
    assert (end.health.achieved_concurrency or 0.0) > 0.8


@pytest.mark.parametrize("place", [0, 1])
def test_a_lost_generator_process_ends_the_measurement_at_once(place: int) -> None:
    """L-08: either of two is killed in its second answer: one line says so before the other has sent its 20 requests."""
    killed: list[int] = []

    def kill_one() -> None:
        deadline_ns = now_ns() + ns_of_s(20.0)
        while not killed and now_ns() < deadline_ns:
            time.sleep(0.05)
            for task in Path(f"/proc/{os.getpid()}/task").iterdir():
                children = (task / "children").read_text().split()
                drivers = [int(pid) for pid in children if b"specbench.load.child" in Path(f"/proc/{pid}/cmdline").read_bytes()]
                if len(drivers) == 2:
                    time.sleep(1.5)
                    os.kill(drivers[place], signal.SIGKILL)
                    killed.append(drivers[place])

    with truth_endpoint("--ttft-ms", "50", "--interval-us", "10000") as url:
        thread = threading.Thread(target=kill_one)
        thread.start()
        with pytest.raises(InternalError, match=r"the load generator ended \(exit code -9\)"):
            probe(ProbeOrder(url=url, model="truth", engine="openai", concurrency=4, requests=40, max_tokens=64, processes=2))
        asked = httpx.get(f"{url}/truth", trust_env=False).json()["requests"]
        thread.join()

    assert len(killed) == 1
    assert asked < 20


def test_a_run_that_loses_its_generator_keeps_and_judges_what_it_has(tmp_path: Path) -> None:
    """L-08: exit 70 with one line; the records are on disk, and the result is that of a partial run."""
    folder = tmp_path / "run"
    with truth_endpoint("--ttft-ms", "50", "--interval-us", "5000") as url:
        words = ["run", "scenarios/code.yaml", "--profile", "smoke", "--baseline", url, "--speculative", url]
        command = [sys.executable, "-m", "specbench", *words, "--set", "matrix.concurrency=[1]", "--out", str(folder)]
        with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
            while running.poll() is None and not (folder / "blocks.jsonl").exists():
                time.sleep(0.05)
            while running.poll() is None and not (folder / "blocks.jsonl").read_bytes():
                time.sleep(0.05)
            children = Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text().split()
            (driver,) = [pid for pid in children if b"specbench.load.child" in Path(f"/proc/{pid}/cmdline").read_bytes()]
            os.kill(int(driver), signal.SIGKILL)
            _, said = running.communicate(timeout=60)
    result = json.loads((folder / "result.json").read_text())

    assert (running.returncode, said.splitlines()[-1]) == (
        70,
        "specbench: the load generator ended (exit code -9): it said nothing",
    )
    assert len((folder / "requests.jsonl").read_text().splitlines()) > 0
    assert (result["run"]["partial"], result["verdict"] in ("HOLD", "INVALID")) == (True, True)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_proxy_in_the_environment_leaves_loopback_alone(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """L-04: nobody listens at the proxy, and the load arrives."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "localhost")
    with streaming(Endpoint()) as url:
        captures, _ = _driven(url.replace("127.0.0.1", host), 2, 1)

    assert [record.outcome for record in _records(captures)] == ["ok", "ok"]


def test_a_low_soft_limit_of_open_files_is_raised() -> None:
    """L-09: 64 files allowed to the parent, 96 streams asked for, every one of them served at once."""
    soft, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    endpoint = Endpoint(after_s=0.3)
    with streaming(endpoint) as url:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        code = CHILD_OF_A_LIMITED_PARENT.format(url=url)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, most))

    assert json.loads(done.stdout) == {"None": 96}
    assert endpoint.most_open == 96


CHILD_OF_A_LIMITED_PARENT = """
import json, resource
from collections import Counter
from collections.abc import Iterator
resource.setrlimit(resource.RLIMIT_NOFILE, (64, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
from tests.e2e.test_generator_cases import _driven
captures, _ = _driven("{url}", 96, 96)
print(json.dumps(Counter(str(capture.problem) for capture in captures)))
"""


def test_a_low_hard_limit_of_open_files_is_named() -> None:
    """L-09: 256 files, 300 streams: refused with the numbers before anything is sent."""
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))\n"
        "from specbench.load.limits import check_open_files\n"
        "check_open_files(192)\n"
        "try: check_open_files(300)\n"
        "except Exception as error: print(error)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert said == (
        "300 streams at once: a process may open 256 files here, enough for 192 streams; raise the hard limit (ulimit -Hn), "
        "or use more processes or fewer streams\n"
    )


def test_an_order_beyond_the_limit_is_refused_before_load() -> None:
    """The generator itself asks, so no command can forget it."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most == resource.RLIM_INFINITY:
        check_open_files(10_000_000)
        return
    with pytest.raises(ScenarioError, match=f"a process may open {most} files"):
        _driven("http://127.0.0.1:9", 1, most - SPARE + 1)


def test_an_address_of_the_sixth_version_is_reached() -> None:
    """Written as URLs write it."""
    with streaming(Endpoint(), "::1") as url:
        captures, _ = _driven(url, 2, 1)

    assert url.startswith("http://[::1]:")
    assert [(record.outcome, record.connect_ns is None) for record in _records(captures)] == [("ok", False), ("ok", True)]


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_localhost_is_found_by_either_address_before_the_clock_starts(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """L-10: ::1 first, an endpoint on one of the two, a resolver that takes 300 ms: all of it is in the time to connect, once."""

    def resolver(name: str, port: int, *_: object) -> list[tuple[object, ...]]:
        time.sleep(0.3)
        return [
            (socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("::1", port, 0, 0)),
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port)),
        ]

    exchanges = [Exchange(Timeouts()), Exchange(Timeouts())]
    with streaming(Endpoint(), host) as url, httpx.Client(transport=StampingTransport()) as client:
        monkeypatch.setattr(socket, "getaddrinfo", resolver)
        for exchange in exchanges:
            client.post(f"http://localhost:{url.rsplit(':', 1)[1]}/v1/x", content=b"{}", extensions={EXCHANGE: exchange})
    first, second = (exchange.capture("b", 0, 0) for exchange in exchanges)

    assert ms(first.connect_ns or 0) >= 300
    assert ms(first.frames[0].stamp_ns - first.sent_ns) < 300
    assert (second.connect_ns, second.problem) == (None, None)


@pytest.fixture
def proxied(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bytes]]:
    """What a proxy hears, which answers plain requests itself and opens tunnels to an endpoint under TLS."""
    heard: list[bytes] = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE, KEY)

    def proxy(connection: socket.socket) -> None:
        heard.append(read_request(connection))
        if not heard[-1].startswith(b"CONNECT"):
            connection.sendall(GOOD)
            return
        connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        with context.wrap_socket(connection, server_side=True) as inside:
            heard.append(read_request(inside))
            inside.sendall(GOOD)

    with playing([proxy]) as url:
        for name in ("HTTP_PROXY", "HTTPS_PROXY"):
            monkeypatch.setenv(name, url.replace("http://", "http://me:secret@"))
        monkeypatch.setenv("NO_PROXY", "")
        yield heard


@pytest.mark.parametrize(
    ("url", "lines"),
    [
        ("http://gpu.example:8000", [b"POST http://gpu.example:8000/v1/chat/completions HTTP/1.1"]),
        ("https://gpu.example", [b"CONNECT gpu.example:443 HTTP/1.1", b"POST /v1/chat/completions HTTP/1.1"]),
    ],
)
def test_load_goes_by_the_proxy_and_keeps_the_kernels_stamps(url: str, lines: list[bytes], proxied: list[bytes]) -> None:
    """L-04: plain or through a tunnel; the password is for the proxy and never reaches the endpoint."""
    (capture,), _ = _driven(url, 1, 1, verify=False)
    (record,) = _records([capture])

    assert (record.outcome, record.stamp_source, record.reason) == ("ok", "kernel", None)
    assert [request.split(b"\r\n")[0] for request in proxied] == lines
    assert [b"Proxy-Authorization: Basic bWU6c2VjcmV0" in request for request in proxied] == [True, False][: len(lines)]


def test_a_client_certificate_is_shown_where_one_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it the endpoint ends the handshake or the connection; with it the answer comes."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE, KEY)
    context.load_verify_locations(CERTIFICATE)
    context.verify_mode = ssl.CERT_REQUIRED

    def asking(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as talking:
            read_request(talking)
            talking.sendall(GOOD)

    with playing([asking, asking]) as url:
        (without,), _ = _driven(url.replace("http:", "https:"), 1, 1, verify=False)
    with tempfile.NamedTemporaryFile(suffix=".pem") as both, playing([asking]) as url:
        both.write(CERTIFICATE.read_bytes() + KEY.read_bytes())
        both.flush()
        monkeypatch.setenv(CLIENT_CERTIFICATE, both.name)
        (shown,), _ = _driven(url.replace("http:", "https:"), 1, 1, verify=False)

    assert without.problem in ("disconnected", "connect_failed")
    assert (shown.problem, shown.status) == (None, 200)


def test_a_client_certificate_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line with the variable and the file."""
    monkeypatch.setenv(CLIENT_CERTIFICATE, "/nowhere.pem")
    with playing([]) as url:
        (capture,), _ = _driven(url.replace("http:", "https:"), 1, 1)

    assert capture.problem == "connect_failed"
    assert "SPECBENCH_CLIENT_CERT=/nowhere.pem: no PEM file" in (capture.problem_text or "")
