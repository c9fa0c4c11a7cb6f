"""`watch --listen` as a process beside a real Prometheus: what it serves, and that being killed changes no later word."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from specbench.live.state_folder import read_recorded, read_settings
from specbench.live.watch import conclusion
from tests.e2e.test_watch import Load, url_of, watch
from tests.support.prometheus import prometheus, tool
from tests.unit.engine.http.test_server import served

PATIENCE_S = 120.0
FAILED = "0 * sum by (arm) (rate(vllm:e2e_request_latency_seconds_count[5s]))"  # a gateway that fails no request


def free_port() -> int:
    """One that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


@contextmanager
def watching(*words: str) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """A watch of its own process, and the URL at which it listens; killed with the context."""
    port = free_port()
    command = [sys.executable, "-m", "specbench", "watch", *words, "--listen", f"127.0.0.1:{port}"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        yield process, f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def served_once(url: str, done: Callable[[Any], bool]) -> Any:
    """What /verdict says, once it is as asked for."""
    ends = time.monotonic() + PATIENCE_S
    told: Any = None
    while time.monotonic() < ends:
        try:
            answer = httpx.get(f"{url}/verdict", trust_env=False)
            told = answer.json()
            if answer.status_code == 200 and done(told):
                return told
        except httpx.TransportError:
            pass
        time.sleep(0.5)
    raise AssertionError(f"{url} does not say what is waited for: {told}")


@pytest.mark.slow
@pytest.mark.campaign
def test_a_killed_watch_goes_on_and_says_the_same_word(tmp_path: Path) -> None:
    """Two equal engines at random, errors by a query; every route answers, and the folder gives the same word without them."""
    program = tool("prometheus", "prometheus")
    if isinstance(program, str):
        pytest.skip(f"no real Prometheus: {program}")
    with ExitStack() as stack:
        base, spec = stack.enter_context(served()), stack.enter_context(served())
        server = stack.enter_context(prometheus(program, {"base": url_of(base), "spec": url_of(spec)}, tmp_path))
        stack.enter_context(Load(url_of(base), url_of(spec), streams=8, tokens=8))
        where = ("--prometheus", server, "--speculative", '{arm="spec"}', "--baseline", '{arm="base"}', "--assignment", "random")
        words = ("reports/example", *where, "--window", "2s", "--since", "10s", "--errors", FAILED, "--state", str(tmp_path / "s"))
        time.sleep(5)
        with watching(*words) as (_, url):
            first = served_once(url, lambda told: told["windows"]["speculative"] >= 5)
        with watching(*words) as (process, url):
            told = served_once(url, lambda told: told["windows"]["speculative"] >= 30)
            pages = {path: httpx.get(url + path, trust_env=False) for path in ("/metrics", "/policy.json", "/healthz")}
            process.kill()

    recorded = list(read_recorded(tmp_path / "s"))
    until_then = [one for one in recorded if one.speculative.end_s <= at_of(told)]
    again = conclusion(until_then, read_settings(tmp_path / "s"), None)
    code, printed = watch("reports/example", "--rejudge", str(tmp_path / "s"))
    assert told["windows"]["speculative"] > first["windows"]["speculative"]
    assert [found["state"] for found in told["findings"] if found["metric"] == "error_rate"] in (["PASS"], ["NODATA"])
    print(told, again.state, code, printed, {path: page.text[:300] for path, page in pages.items()})


def at_of(told: Any) -> float:
    return 0.0
