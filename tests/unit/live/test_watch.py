"""The loop of a watch: what it refuses at its first window, and what it lives through later."""

import json
import socket
from dataclasses import replace
from pathlib import Path
from time import time

import pytest

from specbench.errors import DataError, ScenarioError
from specbench.live.source import LiveSource, PagesSource, PrometheusServer, PrometheusSource
from specbench.live.state_folder import Recorded, StateFolder, WatchSettings
from specbench.live.watch import WatchOrder, watch
from specbench.model.live.watch_result import LiveLimit, WatchResult, WatchRules
from tests.support.goldens import same_text
from tests.support.live import period
from tests.support.scrapes import recorded
from tests.support.serving import serving, target_of, whole

NOWHERE = "http://127.0.0.1:9"


def order(source: LiveSource, server: PrometheusServer | None = None, *limits: LiveLimit) -> WatchOrder:
    """One look at one arm, in windows of a second."""
    settings = WatchSettings(speculative="s", baseline=None, run=None, period_s=1.0, rules=WatchRules(limits=limits))
    return WatchOrder(settings=settings, speculative=source, server=server, since_s=3.0, once=True)


def ignored(_: Recorded, __: WatchResult) -> None:
    """Nothing is done with a window."""


def test_a_selector_that_matches_nothing_is_refused_at_once() -> None:
    """With the nearest value that its label has there."""

    def handle(connection: socket.socket, request: bytes) -> None:
        data: object = ["speculative"] if "/label/arm/" in target_of(request) else {"resultType": "matrix", "result": []}
        connection.sendall(whole(json.dumps({"status": "success", "data": data}).encode(), "Content-Type: application/json"))

    with serving(handle) as url:
        server = PrometheusServer(url=url)
        with pytest.raises(DataError) as error:
            watch(order(PrometheusSource(server, '{arm="speculativ"}'), server), None, ignored)

    same_text("nothing matches", str(error.value))


def test_a_limit_off_every_edge_names_its_neighbours() -> None:
    """60 ms lies between 50 and 75; the page is a recorded one, which gains nothing in between."""

    def handle(connection: socket.socket, _: bytes) -> None:
        connection.sendall(whole(recorded("embedded-after.txt").encode(), "Content-Type: text/plain"))

    limit = LiveLimit(metric="tpot_p99", value=60.0, periods=2)
    with serving(handle) as url, pytest.raises(ScenarioError) as error:
        watch(order(PagesSource([url]), None, limit), None, ignored)

    same_text("off every edge", str(error.value))


def test_a_server_that_goes_away_costs_windows_and_no_watch(tmp_path: Path) -> None:
    """What was read stands; the windows without an answer say why."""
    server = PrometheusServer(url=NOWHERE)
    asked = order(PrometheusSource(server, '{arm="spec"}'), server)
    now = time()
    with StateFolder(tmp_path, asked.settings) as state:
        state.add(Recorded(speculative=replace(period(0), start_s=now - 4, end_s=now - 3)))
        result = watch(asked, state, ignored)
        unread = state.recorded[1:]

    assert result.state in ("KEEP", "HOLD")
    assert unread
    assert {one.speculative.problem for one in unread} == {"unread"}
    assert "connection refused" in unread[0].speculative.absent["pages"]
