"""The alarms fire on lines of `watch --format emf` by their own fields, and on the speculative arm alone."""

import json
import subprocess
from collections import defaultdict
from collections.abc import Callable, Sequence
from operator import gt, lt
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from specbench.export.cloudwatch_alarms import cloudwatch
from specbench.model.live.live_period import LivePeriod
from specbench.report.live.window_objects import emf_line
from tests.support.goldens import same_text
from tests.support.live import period
from tests.support.prometheus import tool
from tests.unit.report.live.test_window_objects import STATE

MADE = cloudwatch(50.0, 0.7)
COMPARISONS = {"GreaterThanThreshold": gt, "LessThanThreshold": lt}
STATISTICS: dict[str, Callable[[Sequence[float]], float]] = {"Maximum": max, "Average": fmean}
NAMES = ("acceptance_rate", "num_speculative_tokens", "speedup_ratio", "speedup_source", "batch_size", "TPOT_P99", "window_start")


def state(alarm: dict[str, Any], lines: Sequence[str]) -> str:
    """The alarm's state after these lines, by its namespace, metric, empty set of dimensions, period and statistic."""
    values: dict[int, list[float]] = defaultdict(list)
    for line in map(json.loads, lines):
        for told in line["_aws"]["CloudWatchMetrics"]:
            names = [one["Name"] for one in told["Metrics"]]
            if told["Namespace"] == alarm["namespace"] and [] in told["Dimensions"] and alarm["metric_name"] in names:
                values[line["_aws"]["Timestamp"] // (1000 * alarm["period"])].append(line[alarm["metric_name"]])
    newest = [STATISTICS[alarm["statistic"]](values[at]) for at in sorted(values)[-alarm["evaluation_periods"] :]]
    if len(newest) < alarm["evaluation_periods"]:
        return "INSUFFICIENT_DATA"
    beyond = COMPARISONS[alarm["comparison_operator"]]
    return "ALARM" if all(beyond(value, alarm["threshold"]) for value in newest) else "OK"


def after(name: str, *windows: LivePeriod) -> str:
    """The state of the alarm of this name after these windows."""
    return state(MADE["resource"]["aws_cloudwatch_metric_alarm"][name], [emf_line(window, STATE) for window in windows])


def test_the_alarm_of_the_guide_fires_after_two_slow_windows() -> None:
    """p99 over 50 ms twice running; not once, not at 50 ms itself, and never for the baseline."""
    slow, fast = 0.045, 0.012

    assert after("specbench_tpot_p99", period(0, tpot_s=slow), period(1, tpot_s=slow)) == "ALARM"
    assert after("specbench_tpot_p99", period(0, tpot_s=fast), period(1, tpot_s=slow)) == "OK"
    assert after("specbench_tpot_p99", period(0, tpot_s=0.029), period(1, tpot_s=0.029)) == "OK"
    assert after("specbench_tpot_p99", *(period(n, "baseline", tpot_s=slow) for n in range(3))) == "INSUFFICIENT_DATA"
    assert after("specbench_tpot_p99") == "INSUFFICIENT_DATA"


def test_the_alarm_of_alpha_fires_after_three_low_windows() -> None:
    """Below .7; what is unknown is no breach."""
    assert after("specbench_alpha", *(period(n, alpha=0.6) for n in range(3))) == "ALARM"
    assert after("specbench_alpha", *(period(n, alpha=0.6) for n in range(2)), period(2, alpha=0.8)) == "OK"
    assert after("specbench_alpha", *(period(n, alpha=None) for n in range(3))) == "INSUFFICIENT_DATA"


def test_the_queries_name_fields_that_the_lines_have() -> None:
    """Comments begin as Logs Insights wants them."""
    line = json.loads(emf_line(period(), STATE))
    for query in MADE["resource"]["aws_cloudwatch_query_definition"].values():
        comment, *commands = query["query_string"].splitlines()
        assert comment.startswith("# ")
        named = {name for name in NAMES if any(name in command for command in commands)}
        assert named <= set(line)
        assert named


def test_the_file_is_this() -> None:
    """In the golden file."""
    same_text("cloudwatch", json.dumps(MADE, indent=2))


def test_terraform_takes_the_file(tmp_path: Path) -> None:
    """Where terraform and the provider are here; it applies nothing."""
    program = tool("terraform", "terraform")
    if isinstance(program, str):
        pytest.skip(f"terraform does not see the file: {program}")
    (tmp_path / "specbench.tf.json").write_text(json.dumps(MADE))
    ready = subprocess.run(
        [str(program), "init", "-backend=false", "-input=false"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    if ready.returncode != 0:
        pytest.skip("terraform does not see the file: the provider hashicorp/aws cannot be had here")
    done = subprocess.run([str(program), "validate"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
