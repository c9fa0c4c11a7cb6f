"""`watch --listen` as processes of its own: what it serves while it runs, and that being killed changes no later word."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from specbench.model.live.watch_result import WATCH_CODES
from tests.e2e.test_watch import watch
from tests.support.sampled import FAILED, SteadyArm, sampled

PATIENCE_S = 120.0
ARMS = SteadyArm("base", "gpu"), SteadyArm("spec", "gpu", tpot_s=0.008)


@contextmanager
def watching(*words: str) -> Iterator[str]:
    """Where a watch listens that is a process of its own; it is killed with the context."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "specbench", "watch", *words, "--listen", f"127.0.0.1:{port}"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def verdict_at(url: str) -> Any:
    """What /verdict says, once a window has ended."""
    ends = time.monotonic() + PATIENCE_S
    while time.monotonic() < ends:
        try:
            answer = httpx.get(f"{url}/verdict", trust_env=False)
            if answer.status_code == 200:
                return answer.json()
        except httpx.TransportError:
            pass
        time.sleep(0.2)
    raise AssertionError(f"{url} has no verdict")


@pytest.mark.slow
@pytest.mark.beside
def test_a_killed_watch_goes_on_and_says_the_same_word(tmp_path: Path) -> None:
    """Every route answers, errors are known by the query; the next watcher goes on, and its folder alone says the same."""
    state = str(tmp_path / "state")
    with sampled(*ARMS) as server:
        where = ("--prometheus", server, "--speculative", '{arm="spec"}', "--baseline", '{arm="base"}', "--errors", FAILED)
        words = ("reports/example", *where, "--assignment", "random", "--window", "1s", "--state", state)
        with watching(*words, "--since", "40s") as url:
            verdict = verdict_at(url)
            pages = {path: httpx.get(url + path, trust_env=False) for path in ("/metrics", "/policy.json", "/healthz")}
        before = (tmp_path / "state" / "periods.jsonl").read_bytes().count(b"\n")
        code, live = watch(*words, "--since", "5m", "--once", "--format", "json")
    again_code, again = watch("reports/example", "--rejudge", state, "--format", "json")
    recorded = [json.loads(line) for line in (tmp_path / "state" / "periods.jsonl").read_text().splitlines()]

    assert [page.status_code for page in pages.values()] == [200, 200, 200]
    assert verdict["exit_code"] == WATCH_CODES[verdict["verdict"]]
    assert [one["state"] for one in verdict["findings"] if one["metric"] == "error_rate"] == ["PASS"]
    assert not verdict["promote"]  # the example is a demonstration
    families = {one.name: one for one in text_string_to_metric_families(pages["/metrics"].text)}
    assert [s.labels["specbench_watch_state"] for s in families["specbench_watch_state"].samples if s.value] == [
        verdict["verdict"]
    ]
    assert pages["/policy.json"].json()["run"] == verdict["run"] == "example"
    starts = [one["speculative"]["start_s"] for one in recorded]
    assert len(starts) > before >= 24
    assert {later - earlier for earlier, later in pairwise(starts)} == {1.0}
    assert (code, live.splitlines()[-2:]) == (again_code, again.splitlines()[-2:])
