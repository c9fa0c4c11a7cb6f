"""`export` writes its files, and refuses in one line what makes no sense."""

import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from specbench.cli.main import app
from specbench.errors import SpecbenchError
from tests.support.goldens import same_text

ARMS = ("--speculative", '{arm="spec"}', "--baseline", '{arm="base"}')
BACKENDS = ("--speculative", "vllm-spec:8000", "--baseline", "vllm-base:8000")
RUN = "reports/example"
WRONG = {
    "no arm": ("rules",),
    "no selector": ("rules", "--speculative", "vllm"),
    "one arm within the other": ("rules", "--speculative", '{a="b"}', "--baseline", '{a="b",c="d"}'),
    "a limit off every edge": ("dashboard", *ARMS, "--limit", "tpot_p99=40ms"),
    "a limit that no line has": ("cloudwatch", "--limit", "ttft_p95=1s"),
    "buckets that are none": ("rules", *ARMS, "--custom-histogram-buckets", "0.1,0.2"),
    "routes without a run": ("routes", *BACKENDS),
    "routes without a baseline": ("routes", RUN, "--speculative", "vllm-spec:8000"),
    "one backend twice": ("routes", RUN, "--speculative", "vllm:8000", "--baseline", "vllm:8000"),
    "a selector as a backend": ("routes", RUN, *ARMS),
    "a name that is none": ("routes", RUN, *BACKENDS, "--name", "My Route"),
    "no folder of a run": ("rules", "reports/none", *ARMS),
    "no folder to write to": ("cloudwatch", "-o", "none/specbench.tf.json"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_makes_no_sense_ends_in_one_line(name: str) -> None:
    """By its own words, kept in the golden file."""
    done = CliRunner().invoke(app, ["export", *WRONG[name]], color=False)

    assert isinstance(done.exception, SpecbenchError), done.output
    assert "\n" not in str(done.exception)
    same_text(name, str(done.exception))


def test_rules_and_their_tests_are_written_beside_each_other(tmp_path: Path) -> None:
    """The tests name the rules; on standard output there are rules alone, and the operator's object has no tests."""
    file = tmp_path / "code.yml"
    done = CliRunner().invoke(app, ["export", "rules", RUN, *ARMS, "-o", str(file)])
    printed = CliRunner().invoke(app, ["export", "rules", RUN, *ARMS])

    assert done.exit_code == 0
    assert yaml.safe_load((tmp_path / "code.test.yml").read_text())["rule_files"] == ["code.yml"]
    assert printed.output == file.read_text()
    again = CliRunner().invoke(
        app, ["export", "rules", RUN, *ARMS, "--kind", "PrometheusRule", "-o", str(tmp_path / "object.yml")]
    )
    assert again.exit_code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["code.test.yml", "code.yml", "object.yml"]


def test_no_tests_are_written_for_a_selector_that_is_not_understood(tmp_path: Path) -> None:
    """The rules are, and it is said."""
    file = tmp_path / "rules.yml"
    done = CliRunner().invoke(app, ["export", "rules", "--speculative", '{arm=~"s[0-9]"}', "-o", str(file)])

    assert done.exit_code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["rules.yml"]
    same_text("no tests", done.stderr.strip())


def test_the_other_files_are_what_their_tools_read() -> None:
    """JSON for Grafana and Terraform; YAML for the Gateway API, whose capped example keeps all traffic with the baseline."""
    made = {
        what: CliRunner().invoke(app, ["export", what, *words]).output
        for what, words in {"dashboard": (RUN, *ARMS), "cloudwatch": (), "routes": (RUN, *BACKENDS)}.items()
    }

    assert "panels" in json.loads(made["dashboard"])
    assert "resource" in json.loads(made["cloudwatch"])
    rules = yaml.safe_load(made["routes"])["spec"]["rules"]
    assert rules == [{"backendRefs": [{"name": "vllm-base", "port": 8000}]}]
