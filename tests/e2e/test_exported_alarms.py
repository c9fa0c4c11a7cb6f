"""Each exported alarm in a real Prometheus: it holds while an engine, or the watch, is in its state, none at a healthy one."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

import pytest

from specbench.analysis.live.live_judge import LiveEvidence, judged
from specbench.cli.export.export_options import PickedExport, order_of
from specbench.export.prometheus_rules import ExportOrder, alarms
from specbench.live.watch_server import WatchServer
from specbench.model.live.watch_result import WatchResult, WatchRules
from tests.e2e.test_exported_queries import LIMIT, RUN, holding, values
from tests.e2e.test_watch import Load, url_of
from tests.support.live import period, run
from tests.support.prometheus import prometheus, tool
from tests.unit.engine.http.test_server import SPECULATIVE, served

PATIENCE_S = 90.0
CHANGED = judged(LiveEvidence(speculative=(period(0),), run=run(), facts={"model": "n"}), WatchRules())
KEEP = judged(LiveEvidence(speculative=(period(0),), run=run()), WatchRules())


# Each state with the alarms that it must raise; others may follow from it, as an arm that drafts nothing gains nothing.
STATES: dict[str, set[str]] = {
    "healthy": set(),
    "a draft that is seldom right": {"SpeculationAcceptanceLow", "SpeculationAcceptanceFell"},
    "more load": {"SpeculationBelowBreakEven"},
    "another depth and a small cache": {"SpeculationDepthChanged", "SpeculationMemoryShort"},
    "no speculation and over a limit": {"SpeculationStopped", "SpeculationTpotP99High"},
    "no such edge": {"SpeculationTpotP99Untold"},
    "no arm": {"SpeculationNotScraped"},
    "no baseline": {"SpeculationBaselineNotScraped"},
    "a watch that was lost": {"SpeculationRerunNeeded", "SpeculationWatchSilent"},
}


@dataclass(frozen=True)
class Scraped:
    """The server, and where the engines are that it scrapes."""

    server: str
    spec: str
    weak: str
    odd: str


def order(arm: str, baseline: str = "base", watch: str = "watch", **more: object) -> ExportOrder:
    """The whole export for this arm: the example run's depth and step cost, a baseline, a watch."""
    chosen = {"limits": LIMIT, **more}
    selectors = {"speculative": f'{{arm="{arm}"}}', "baseline": f'{{arm="{baseline}"}}', "watch": f'{{arm="{watch}"}}'}
    return order_of(PickedExport(what="rules", **selectors, **chosen), RUN)  # type: ignore[arg-type]


HEALTHY = order("spec")


def held_in(state: str, server: str, asked: ExportOrder) -> set[str]:
    """The alarms that hold, once those of this state are among them, or after PATIENCE_S."""
    ends = time.monotonic() + PATIENCE_S
    while not (held := holding(server, asked)) >= STATES[state] and time.monotonic() < ends:
        time.sleep(1)
    return held


@contextmanager
def watching(result: WatchResult) -> Iterator[str]:
    """A watch in this state, as it is scraped."""
    server = WatchServer()
    server.show(result, [period(0)])
    yield f"http://127.0.0.1:{server.start('127.0.0.1', 0)}"


@pytest.fixture(scope="module")
def scraped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scraped]:
    """A healthy pair, an engine that drafts another depth into a small cache, a watch that is well and one that is not."""
    program = tool("prometheus", "prometheus")
    if isinstance(program, str):
        pytest.skip(f"no real Prometheus: {program}")
    with ExitStack() as stack:
        base, spec = stack.enter_context(served()), stack.enter_context(served(speculative=SPECULATIVE))
        weak = stack.enter_context(served(speculative={"method": "heads", "num_speculative_tokens": 4}))
        odd = stack.enter_context(
            served(speculative={**SPECULATIVE, "num_speculative_tokens": 2}, kv_capacity_tokens=256, max_model_len=128)
        )
        urls = {"base": url_of(base), "spec": url_of(spec), "weak": url_of(weak), "odd": url_of(odd)}
        urls["watch"] = stack.enter_context(watching(replace(KEEP, at_s=time.time())))
        urls["lost"] = stack.enter_context(watching(CHANGED))
        server = stack.enter_context(prometheus(program, urls, tmp_path_factory.mktemp("prometheus")))
        stack.enter_context(Load(url_of(base), streams=1))
        yield Scraped(server, url_of(spec), url_of(weak), url_of(odd))


@pytest.mark.slow
@pytest.mark.campaign
def test_each_alarm_holds_in_its_state_and_none_at_a_healthy_engine(scraped: Scraped) -> None:
    """Over rates of ten seconds; every alarm of a whole export is met in one of these states."""
    server = scraped.server
    met: dict[str, set[str]] = {}
    with Load(scraped.spec, streams=1):
        ends = time.monotonic() + PATIENCE_S
        while not values(server, 'vllm:e2e_request_latency_seconds_count{arm="spec"} > 30') and time.monotonic() < ends:
            time.sleep(1)
        own = order("spec", limits=("tpot_p99=33ms",), buckets='{"inter_token_latency": [0.033]}')
        for state, asked in {
            "healthy": HEALTHY,
            "no speculation and over a limit": order("base", baseline="spec", limits=("tpot_p99=10ms",)),
            "no such edge": own,
            "no arm": order("none"),
            "no baseline": order("spec", baseline="none"),
            "a watch that was lost": order("spec", watch="lost"),
        }.items():
            met[state] = held_in(state, server, asked)
    for state, url, streams, asked in (
        ("a draft that is seldom right", scraped.weak, 2, order("weak")),
        ("another depth and a small cache", scraped.odd, 8, order("odd")),
        ("more load", scraped.spec, 14, HEALTHY),
    ):
        with Load(url, streams=streams, temperature=1.2 if streams == 14 else 0.0):
            met[state] = held_in(state, server, asked)

    assert {state: STATES[state] - held for state, held in met.items()} == {state: set() for state in STATES}
    assert met["healthy"] == set()
    assert set.union(*STATES.values()) == {alarm.name for alarm in alarms(HEALTHY)} | {"SpeculationTpotP99Untold"}
