"""Exported queries against a real Prometheus that scrapes two engines: each has a value, and alarms follow the engines' state."""

import re
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from specbench.cli.export.export_options import PickedExport, order_of
from specbench.export.grafana_dashboard import RATE, dashboard
from specbench.export.prometheus_rules import ExportOrder, alarms, recorded
from specbench.report import read_result
from tests.e2e.test_watch import Load, two_engines, url_of
from tests.support.prometheus import prometheus, tool

SHORT = "10s"  # instead of five minutes
RUN = read_result(Path("reports/example"))
LIMIT = ("tpot_p99=80s",)  # that a busy machine keeps too
ARMS = PickedExport(what="rules", speculative='{arm="spec"}', baseline='{arm="base"}', limits=LIMIT)


def values(server: str, expr: str) -> list[float]:
    """What the server answers to this query now, without what is no number."""
    told: Any = httpx.get(f"{server}/api/v1/query", params={"query": expr}, trust_env=False).raise_for_status().json()
    found = [float(one["value"][1]) for one in told["data"]["result"]]
    return [value for value in found if value == value]


def holding(server: str, order: ExportOrder) -> set[str]:
    """The alarms whose expressions hold now, over short rates, however long they would have to."""
    names = recorded(order)
    held = set()
    for alarm in alarms(order):
        expr = alarm.expr
        for name in reversed(names):  # a rule reads only those above it
            expr = re.sub(rf"(?<![\w:]){name}(?![\w:])", f"({names[name]})", expr)
        if values(server, expr.replace("[5m]", f"[{SHORT}]")):
            held.add(alarm.name)
    return held


@pytest.mark.slow
@pytest.mark.beside
def test_every_panel_has_a_value_and_alarms_tell_the_engines_apart(tmp_path: Path) -> None:
    """A healthy arm raises none, an engine without speculation one, and an arm that is not there another."""
    program = tool("prometheus", "prometheus")
    if isinstance(program, str):
        pytest.skip(f"no real Prometheus: {program}")
    healthy = order_of(ARMS, RUN)
    plain = order_of(PickedExport(what="rules", speculative='{arm="base"}', baseline=None, limits=LIMIT), None)
    gone = order_of(PickedExport(what="rules", speculative='{arm="none"}', baseline=None, limits=LIMIT), RUN)
    with ExitStack() as stack:
        base, spec = stack.enter_context(two_engines())
        server = stack.enter_context(prometheus(program, {"base": url_of(base), "spec": url_of(spec)}, tmp_path))
        for engine in (base, spec):
            stack.enter_context(Load(url_of(engine), streams=1))
        until = time.monotonic() + 60
        while time.monotonic() < until and not values(server, 'vllm:e2e_request_latency_seconds_count{arm="spec"} > 30'):
            time.sleep(0.5)
        time.sleep(2)
        queries = [target["expr"] for panel in dashboard(healthy)["panels"] for target in panel["targets"]]
        silent = [expr for expr in queries if not values(server, expr.replace(RATE, SHORT))]
        held = {name: holding(server, order) for name, order in (("plain", plain), ("healthy", healthy), ("gone", gone))}

    assert silent == []
    assert held == {"plain": {"SpeculationStopped"}, "healthy": set(), "gone": {"SpeculationNotScraped"}}
