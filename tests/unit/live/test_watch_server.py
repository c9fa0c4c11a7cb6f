"""What a watch serves: the state, the run's policy narrowed by it, and metrics that a scraper reads."""

from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from specbench.analysis.live.live_judge import LiveEvidence, judged
from specbench.live.watch_server import WatchServer
from specbench.model.live.watch_result import WatchResult, WatchRules
from specbench.report import read_result
from tests.support.live import period, run
from tests.unit.report.test_serve import Client

EXAMPLE = read_result(Path("reports/example"))
KEEP = judged(LiveEvidence(speculative=(period(0),), run=run()), WatchRules())
CHANGED = judged(LiveEvidence(speculative=(period(0),), run=run(), facts={"model": "n"}), WatchRules())


def asked(path: str, state: WatchResult | None, cited: Any = EXAMPLE) -> Any:
    """The answer to a GET while that is the newest state."""
    server = WatchServer(cited)
    if state is not None:
        server.show(state, [period(0)])
    return Client(server.app()).get(path)


def test_the_verdict_names_state_reasons_and_figures() -> None:
    """As `serve` names them."""
    told = asked("/verdict", KEEP).json()

    assert {"verdict", "promote", "rollback", "exit_code", "headline", "reasons", "run", "finished"} <= set(told)
    assert (told["verdict"], told["promote"], told["rollback"], told["exit_code"]) == ("KEEP", False, False, 0)
    assert told["figures"]["speed_up_source"] == "modelled"


def test_before_the_first_window_there_is_no_word() -> None:
    """503, but the process is alive."""
    assert asked("/verdict", None).status_code == 503
    assert asked("/healthz", None).status_code == 200


def test_the_policy_is_the_runs_until_the_state_takes_it_away() -> None:
    """A changed fact that must be equal empties it, with the reason; without a run nothing is enabled."""
    kept, emptied = asked("/policy.json", KEEP).json(), asked("/policy.json", CHANGED).json()

    assert kept["run"] == EXAMPLE.run.id
    assert "reason" not in kept
    assert (emptied["enable"], emptied["default"], emptied["reason"]) == ([], "baseline", "model_changed")
    assert asked("/policy.json", KEEP, None).json()["reason"] == "no_run"


@pytest.mark.parametrize("state", [KEEP, CHANGED])
def test_the_metrics_are_read_by_prometheus(state: WatchResult) -> None:
    """One state is 1, reasons to run again are there by name."""
    families = {one.name: one for one in text_string_to_metric_families(asked("/metrics", state).text)}
    held = [s.labels["specbench_watch_state"] for s in families["specbench_watch_state"].samples if s.value == 1]
    rerun = [s.labels["reason"] for s in families["specbench_watch_rerun"].samples]

    assert held == [state.state]
    assert rerun == ([] if state is KEEP else ["model_changed"])
    assert families["specbench_watch_alpha"].samples[0].value == pytest.approx(0.8, abs=0.01)
