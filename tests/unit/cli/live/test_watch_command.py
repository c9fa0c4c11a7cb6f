"""What `watch` refuses, each in one line with what to try, before it waits for anything."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from specbench.cli.live.watch_options import kept_name, limits, limits_of_run
from specbench.cli.main import app
from specbench.errors import SpecbenchError
from specbench.live.state_folder import Recorded, StateFolder, WatchSettings
from specbench.model.live.watch_result import WatchRules
from specbench.report import result_json
from tests.support.goldens import same_text
from tests.support.live import period
from tests.support.results import invalid, promote

URL = "http://127.0.0.1:9/metrics"
SPEC = '{job="vllm",arm="spec"}'
WRONG = {
    "no arm": (),
    "a selector without a server": ("--speculative", '{arm="spec"}'),
    "no address": ("--speculative", "gpu-b:8000"),
    "one arm twice": ("--speculative", URL, "--baseline", URL),
    "one selector twice": ("--speculative", '{a="b"}', "--baseline", '{ a="b" }', "--prometheus", "http://127.0.0.1:9"),
    "one arm alone at random": ("--speculative", URL, "--assignment", "random"),
    "no share of tolerance": ("--speculative", URL, "--tolerance", "-1"),
    "no address of facts": ("--speculative", URL, "--facts", "gpu-b:8000"),
    "a selector of both arms": ("--speculative", SPEC, "--baseline", '{job="vllm"}', "--prometheus", "http://127.0.0.1:9"),
    "one page twice": ("--speculative", URL, "--baseline", "http://127.0.0.1:9"),
    "errors without a server": ("--speculative", URL, "--errors", "sum(rate(x[5m]))"),
    "a limit of an unknown metric": ("--speculative", URL, "--limit", "pace_p99=50ms"),
    "a limit without a value": ("--speculative", URL, "--limit", "tpot_p99"),
    "an engine without histograms": ("--speculative", URL, "--engine", "tgi"),
    "a window that is none": ("--speculative", URL, "--window", "soon"),
    "an address to listen on": ("--speculative", URL, "--listen", "here"),
    "nobody there": ("--speculative", '{a="b"}', "--prometheus", "http://127.0.0.1:9", "--once"),
    "no folder of a watch": ("--rejudge", "reports"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_makes_no_sense_ends_in_one_line(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its own words, kept in the golden file."""
    monkeypatch.setenv("COLUMNS", "200")
    done = CliRunner().invoke(app, ["watch", *WRONG[name]], color=False)
    known = isinstance(done.exception, SpecbenchError)
    said = str(done.exception) if known else " ".join(done.output.split("Error")[-1].strip("\n: ╭─╮╰╯│").split())

    assert known or done.exit_code == 2
    assert "\n" not in said
    same_text(name, said)


def test_a_run_that_is_no_reference_is_refused(tmp_path: Path) -> None:
    """No folder, one without a result, a run that is INVALID and one that ended early."""
    whole = promote()
    partial = replace(whole, run=replace(whole.run, partial=True))
    for name, result in (("invalid", invalid()), ("partial", partial)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "result.json").write_bytes(result_json(result))
    for run, word in (("none", ""), (".", ""), ("invalid", "INVALID"), ("partial", "early")):
        done = CliRunner().invoke(app, ["watch", str(tmp_path / run), "--speculative", URL])
        assert isinstance(done.exception, SpecbenchError)
        assert word in str(done.exception)
        assert "\n" not in str(done.exception)


def test_recorded_windows_are_judged_again_with_the_same_code(tmp_path: Path) -> None:
    """A load beyond break-even, without a server; another run is refused."""
    rules = WatchRules(assignment="random", errors="none")
    settings = WatchSettings(speculative=URL, baseline="b", run="example", period_s=300.0, rules=rules)
    with StateFolder(tmp_path, settings) as folder:
        for n in range(30):
            slow = period(n, tpot_s=0.015 + 0.0001 * (n % 3))
            folder.add(Recorded(speculative=slow, baseline=period(n, "baseline")))
    done = CliRunner().invoke(app, ["watch", "reports/example", "--rejudge", str(tmp_path)])

    assert done.exit_code == 20
    assert "ROLLBACK" in done.output
    assert CliRunner().invoke(app, ["watch", "--rejudge", str(tmp_path), "-f", "json"]).output.count('"state": "ROLLBACK"') == 2


def test_a_key_in_a_url_is_in_no_folder() -> None:
    """A selector stays as it is."""
    assert kept_name("http://gpu-b/metrics?token=abc, http://gpu-c/metrics") == "http://gpu-b/metrics?…,http://gpu-c/metrics"
    assert kept_name('{arm="a?b"}') == '{arm="a?b"}'


@pytest.mark.parametrize("kind", ["json", "emf", "text"])
def test_no_control_character_of_a_label_is_printed(tmp_path: Path, kind: str) -> None:
    """Neither a direction of writing nor an escape."""
    settings = WatchSettings(speculative=URL, baseline=None, run=None, period_s=300.0, rules=WatchRules())
    with StateFolder(tmp_path, settings) as folder:
        folder.add(Recorded(speculative=replace(period(0), models=("m\u202e\x1b[31m\x9b",))))
    done = CliRunner().invoke(app, ["watch", "--rejudge", str(tmp_path), "-f", kind])

    assert done.exit_code == 0
    assert not {"\u202e", "\x1b", "\x9b"} & set(done.output)


def test_limits_of_the_runs_scenario_hold_unless_one_is_given(tmp_path: Path) -> None:
    """For `watch` and for exported alarms; a file takes those alone that its lines tell."""
    run = tmp_path / "run"
    shutil.copytree("reports/example", run)
    manifest = json.loads((run / "manifest.json").read_text())
    manifest["scenario"]["watch_limits"] = {"tpot_p99": 75.0, "ttft_p95": 1000.0, "alpha": 0.6}
    (run / "manifest.json").write_text(json.dumps(manifest))
    made = CliRunner().invoke(app, ["export", "cloudwatch", str(run), "--limit", "alpha=0.5"]).output
    alarms = json.loads(made)["resource"]["aws_cloudwatch_metric_alarm"]

    assert limits_of_run(run) == ["tpot_p99=75.000000ms", "ttft_p95=1000.000000ms", "alpha=0.600000"]
    assert limits_of_run(Path("reports/example")) == limits_of_run(None) == []
    assert limits([*limits_of_run(run), "tpot_p99=50ms"])[0].value == 50
    assert [alarms[name]["threshold"] for name in ("specbench_tpot_p99", "specbench_alpha")] == [75, 0.5]
