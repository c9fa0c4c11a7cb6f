"""`watch` on two real engines: what it reads is what the engines did, by raw pages and through a real Prometheus."""

import itertools
import math
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from specbench.analysis.buckets import bracket
from specbench.analysis.live import live_break_even, live_figures
from specbench.analysis.live.run_reference import cited_run
from specbench.live.source import LiveSource, PagesSource, PrometheusServer, PrometheusSource
from specbench.live.state_folder import WatchSettings, read_recorded, read_settings
from specbench.live.watch import WatchOrder, conclusion, read_period
from specbench.model.live.live_period import LivePeriod
from specbench.model.live.watch_result import WatchRules
from specbench.report import read_result
from tests.support.prometheus import prometheus, tool
from tests.unit.engine.http.test_server import SPECULATIVE, Served, served

EXAMPLE = Path("reports/example")
PROMPT = "    def write(self, data):\n        "


class Load:
    """Requests of so many tokens, so many at a time, to these engines in turn, until the context is closed; then none is open."""

    def __init__(self, *urls: str, streams: int = 4, temperature: float = 0.0, tokens: int = 48) -> None:
        self._urls, self._temperature, self._tokens = itertools.cycle(urls), temperature, tokens
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._send, args=(n,), daemon=True) for n in range(streams)]

    def __enter__(self) -> "Load":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _send(self, number: int) -> None:
        with httpx.Client(timeout=60, trust_env=False) as client:
            count = 0
            while not self._stop.is_set():
                count += 1
                body: dict[str, Any] = {"prompt": f"{PROMPT}{number} {count}", "max_tokens": self._tokens, "ignore_eos": True}
                body["temperature"] = self._temperature
                client.post(f"{next(self._urls)}/v1/completions", json=body).raise_for_status()


@contextmanager
def two_engines(**speculative: Any) -> Iterator[tuple[Served, Served]]:
    """A baseline and a speculative engine."""
    with served() as base, served(**{"speculative": SPECULATIVE, **speculative}) as spec:
        yield base, spec


def url_of(engine: Served) -> str:
    """Where it serves."""
    return str(engine.client.base_url).rstrip("/")


def watch(*words: str) -> tuple[int, str]:
    """Exit code and output of the command."""
    done = subprocess.run(
        [sys.executable, "-m", "specbench", "watch", *words], capture_output=True, text=True, timeout=300, check=False
    )
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout + done.stderr


def requests_of(engine: Served) -> list[dict[str, Any]]:
    """What the engine itself noted of its requests."""
    return list(engine.client.get("/truth/requests", params={"last": 1000}).json())


def order_of(spec: LiveSource, base: LiveSource | None, server: PrometheusServer | None = None) -> WatchOrder:
    """A watch of both arms without a run."""
    settings = WatchSettings(speculative="s", baseline="b", run=None, period_s=60.0, rules=WatchRules())
    return WatchOrder(settings=settings, speculative=spec, baseline=base, server=server)


@pytest.mark.slow
@pytest.mark.beside
def test_what_is_read_is_what_the_engines_did(tmp_path: Path) -> None:
    """By raw pages to the digit, through Prometheus too as all load lies between two scrapes; times and alpha are true."""
    program = tool("prometheus", "prometheus")
    with ExitStack() as stack:
        base, spec = stack.enter_context(two_engines())
        urls = {"base": url_of(base), "spec": url_of(spec)}
        server = None
        if isinstance(program, Path):
            server = PrometheusServer(url=stack.enter_context(prometheus(program, urls, tmp_path)))
        sources = (PagesSource([url_of(spec)]), PagesSource([url_of(base)]))
        raw = order_of(*sources)
        for source in sources:
            source.look()
        began = time.time()
        with Load(url_of(base)), Load(url_of(spec)):
            time.sleep(4)
        for source in sources:
            source.look()
        ended = time.time()
        pages = read_period(raw, began, ended)
        found = {"spec": pages.speculative, "base": pages.baseline}
        for arm, engine in (("spec", spec), ("base", base)):
            _is_true(found[arm], engine)
        if server is None:
            pytest.skip(f"raw pages agree; through Prometheus it is not tried: {program}")
        time.sleep(1.5)  # for two scrapes after the load
        through = order_of(PrometheusSource(server, '{arm="spec"}'), PrometheusSource(server, '{arm="base"}'), server)
        read = read_period(through, began, time.time())

    assert _counts(read.speculative) == _counts(pages.speculative)
    assert _counts(read.baseline) == _counts(pages.baseline)


def _counts(period: LivePeriod | None) -> tuple[object, ...]:
    """Every count that both ways tell."""
    assert period is not None
    assert period.problem is None
    told = period.told
    tokens = (told.generated_tokens, told.prompt_tokens, told.decode_steps, told.preemptions)
    return (period.replicas, period.models, told.acceptance, tokens, period.observed)


def _is_true(period: LivePeriod | None, engine: Served) -> None:
    """The period against the engine's own notes of every request and round."""
    assert period is not None
    noted, totals = requests_of(engine), engine.client.get("/truth").json()
    times = sorted((one["due_ns"][-1] - one["due_ns"][0]) / (sum(one["tokens"]) - 1) / 1e6 for one in noted)
    assert period.finished == len(noted) > 20
    mean = live_figures.mean_s(period, "tpot")
    assert mean is not None
    assert 1000 * mean == pytest.approx(sum(times) / len(times), rel=0.01)
    for percentile in (50, 95, 99):
        span = bracket(period.observed["tpot"], percentile / 100)
        assert span is not None
        assert 1000 * span[0] <= times[math.ceil(len(times) * percentile / 100) - 1] <= 1000 * span[1]
    if totals["rounds"]:
        assert live_figures.acceptance_length(period) == 1 + totals["accepted"] / totals["rounds"]
        rejected = totals["rounds"] - totals["per_position"][-1]
        assert live_figures.alpha(period) == pytest.approx(totals["accepted"] / (totals["accepted"] + rejected), rel=0.01)


@pytest.mark.slow
@pytest.mark.beside
@pytest.mark.campaign
def test_a_replica_that_is_killed_loses_its_own_window_alone() -> None:
    """The other one stands, and the dead one is counted as gone."""
    with two_engines() as (one, other):
        source = PagesSource([url_of(one), url_of(other)])
        source.look()
        began = time.time()
        with Load(url_of(one), streams=2):
            time.sleep(1)
        other.process.kill()
        other.process.wait()
        source.look()
        found = read_period(order_of(source, None), began, time.time()).speculative

        assert (found.replicas, found.left_out) == (1, {"went": 1})
        assert found.finished == len(requests_of(one))


@pytest.mark.slow
@pytest.mark.beside
def test_another_depth_or_corpus_than_the_runs_asks_for_another_run(tmp_path: Path) -> None:
    """By what the endpoint says of itself, each by its fact."""
    with served(speculative={**SPECULATIVE, "num_speculative_tokens": 2}, corpus="prose") as spec:
        where = ("--speculative", url_of(spec), "--facts", url_of(spec))
        code, printed = watch("reports/example", *where, "--window", "2s", "--once", "--state", str(tmp_path / "state"))

    assert code == 12, printed
    assert "speculation_config was" in printed
    assert "revision was" in printed


@pytest.mark.slow
@pytest.mark.beside
@pytest.mark.campaign
def test_a_grown_load_alarms_by_the_runs_step_cost() -> None:
    """The example was promoted at one stream; at fourteen its own step cost asks for more tokens than a step has."""
    run = cited_run(read_result(EXAMPLE))
    with served(speculative=SPECULATIVE) as spec, Load(url_of(spec), streams=14, temperature=1.2):
        source = PagesSource([url_of(spec)])
        order = order_of(source, None)
        source.look()
        recorded, start = [], time.time()
        for window in range(3):
            _wait_for_answers(spec, 30 * (window + 1))
            source.look()
            recorded.append(read_period(order, start, time.time()))
            start = recorded[-1].speculative.end_s
        found = conclusion(recorded, order.settings, run)

    assert (found.state, [reason.code for reason in found.reasons]) == ("ALARM", ["below_break_even"])
    assert found.figures.alpha is not None
    assert run.alpha is not None
    assert abs(found.figures.alpha - run.alpha) < 0.1
    same_cause = [live_break_even.cause(one, run) for one in [live_break_even.break_even(recorded[-1].speculative, run)] if one]
    assert same_cause == ["load"]


def _wait_for_answers(engine: Served, requests: int) -> None:
    """Until the engine has answered so many requests in all."""
    until = time.monotonic() + 120
    while sum(engine.client.get("/truth").json()["finished"].values()) < requests:
        assert time.monotonic() < until
        time.sleep(0.2)


@pytest.mark.campaign
def test_an_arm_that_is_slower_by_a_fifth_is_rolled_back_within_forty_windows(tmp_path: Path) -> None:
    """Two arms without speculation, slow enough that a busy machine keeps up, which get the requests of 24 streams in turn."""
    with served(slow_by=2.0) as base, served(slow_by=2.6) as slow, Load(url_of(base), url_of(slow), streams=24):
        where = ("--speculative", url_of(slow), "--baseline", url_of(base), "--assignment", "random", "--errors", "none")
        code, printed = watch(*where, "--window", "6s", "--for", "220s", "--state", str(tmp_path / "state"))

    windows = list(read_recorded(tmp_path / "state"))
    assert code == 20, printed
    assert conclusion(windows[:40], read_settings(tmp_path / "state"), None).state == "ROLLBACK"
