"""The deployments that ship for engines: arms alike but for speculation, today's flags, and alarms that something feeds."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from specbench.cli.main import app
from specbench.report.live.window_objects import NAMESPACE, UNITS
from specbench.scenario.parse import Overrides, parse_scenario

AWS = Path("integrations/aws/speculation.tf.json")
KUBERNETES = Path("integrations/vllm/deployments.yaml")
MIRROR = "SPECBENCH_TERRAFORM_PLUGINS"  # a folder with the provider, as `terraform providers mirror` makes one
GONE = ("--speculative-model", "--num-speculative-tokens", "--ngram-prompt-lookup", "--speculative-disable-by-batch-size")
KNOWN = {"method", "model", "num_speculative_tokens"}


def terraform() -> dict[str, Any]:
    """The file for AWS."""
    return dict(json.loads(AWS.read_text()))


def kinds() -> dict[str, list[dict[str, Any]]]:
    """The manifests by their kind."""
    found: dict[str, list[dict[str, Any]]] = {}
    for document in yaml.safe_load_all(KUBERNETES.read_text()):
        found.setdefault(document["kind"], []).append(document)
    return found


def engine(deployment: dict[str, Any]) -> dict[str, Any]:
    """Its only container."""
    (only,) = deployment["spec"]["template"]["spec"]["containers"]
    return dict(only)


def test_both_deployments_are_one_but_for_speculation() -> None:
    """The same image, flags, probes, resources and volumes; the speculative arm has one flag more."""
    baseline, speculative = kinds()["Deployment"]
    plain, drafting = engine(baseline), engine(speculative)

    assert drafting["args"][:-2] == plain["args"]
    assert drafting["args"][-2] == "--speculative-config"
    assert set(json.loads(drafting["args"][-1])) == KNOWN
    assert {**drafting, "args": None} == {**plain, "args": None}
    assert speculative["spec"]["template"]["spec"]["volumes"] == baseline["spec"]["template"]["spec"]["volumes"]


def test_each_service_leads_to_its_arm_alone_under_the_name_of_the_shipped_scenario() -> None:
    """By the labels of its pods and the name of their port."""
    found = kinds()
    config = next(yaml.safe_load_all(Path("integrations/kubernetes/run.yaml").read_text()))
    scenario = parse_scenario(config["data"]["scenario.yaml"], "run.yaml", Overrides())

    for deployment, service, arm in zip(
        found["Deployment"], found["Service"], (scenario.baseline, scenario.speculative), strict=True
    ):
        pod = deployment["spec"]["template"]
        assert service["spec"]["selector"] == pod["metadata"]["labels"] == deployment["spec"]["selector"]["matchLabels"]
        assert arm.url == f"http://{service['metadata']['name']}:{service['spec']['ports'][0]['port']}"
        (port,) = engine(deployment)["ports"]
        assert service["spec"]["ports"][0]["targetPort"] == port["name"]
        assert pod["metadata"]["annotations"] == {
            "prometheus.io/scrape": "true",
            "prometheus.io/port": str(port["containerPort"]),
            "prometheus.io/path": "/metrics",
        }
        probes = [engine(deployment)[name]["httpGet"] for name in ("startupProbe", "readinessProbe", "livenessProbe")]
        assert probes == [{"path": "/health", "port": port["name"]}] * 3


def test_models_come_from_a_volume_that_is_there() -> None:
    """Each mount has its volume, the claim is in the file."""
    found = kinds()
    claims = {one["metadata"]["name"] for one in found["PersistentVolumeClaim"]}

    for deployment in found["Deployment"]:
        volumes = {one["name"]: one for one in deployment["spec"]["template"]["spec"]["volumes"]}
        assert {one["name"] for one in engine(deployment)["volumeMounts"]} == set(volumes)
        assert volumes["models"]["persistentVolumeClaim"]["claimName"] in claims


@pytest.mark.parametrize("file", [AWS, KUBERNETES], ids=lambda file: file.name)
def test_no_flag_of_yesterday_is_used(file: Path) -> None:
    """The engine would refuse to start."""
    assert [flag for flag in GONE if flag in file.read_text()] == []


def test_both_services_of_the_cloud_are_one_but_for_speculation() -> None:
    """One container definition for both, to which the speculative arm adds its flag."""
    local = terraform()["locals"]

    assert local["arms"] == (
        '${{baseline = tolist([]), speculative = tolist(["--speculative-config", jsonencode(local.speculation)])}}'
    )
    assert "concat(local.serve, extra)" in local["containers"]
    assert set(local["speculation"]) == KNOWN
    assert local["container"]["resourceRequirements"] == [{"type": "GPU", "value": "1"}]
    assert {one["options"]["awslogs-stream-prefix"] for one in local["logs"].values()} == {"baseline", "speculative"}


def test_the_watcher_of_the_cloud_has_a_command_that_is_understood() -> None:
    """Its lines are those of which metrics are made; every option is one of `specbench watch`."""
    command = terraform()["locals"]["watch"]["command"]
    page = CliRunner().invoke(app, ["watch", "--help"]).output
    options = [word for word in command if word.startswith("--")]

    assert command[0] == "watch"
    assert [option for option in options if option not in re.findall(r"--[\w-]+", page)] == []
    assert command[command.index("--format") + 1] == "emf"


def test_each_alarm_is_fed_by_the_watchers_lines() -> None:
    """Namespace and name are those of a line; without dimensions it sees the speculative arm alone; silence is no health."""
    alarms = terraform()["resource"]["aws_cloudwatch_metric_alarm"]

    assert {(one["metric_name"], one["statistic"], one["threshold"]) for one in alarms.values()} == {
        ("TPOT_P99", "Maximum", 50),
        ("acceptance_rate", "Average", 0.7),
    }
    for one in alarms.values():
        assert (one["namespace"], one["period"], one["treat_missing_data"]) == (NAMESPACE, 300, "missing")
        assert one["metric_name"] in UNITS
        assert "dimensions" not in one


def test_every_name_in_the_cloud_file_is_defined_in_it() -> None:
    """Variables, locals, resources and data."""
    whole, text = terraform(), AWS.read_text()
    resources = {f"{kind}.{name}" for kind, named in whole["resource"].items() for name in named}
    data = {f"{kind}.{name}" for kind, named in whole["data"].items() for name in named}

    assert set(re.findall(r"var\.(\w+)", text)) == set(whole["variable"])
    assert set(re.findall(r"local\.(\w+)", text)) == set(whole["locals"])
    assert set(re.findall(r"data\.(aws_\w+\.\w+)", text)) == data
    assert set(re.findall(r"(?<!data\.)\b(aws_\w+\.\w+)", text)) <= resources


@pytest.mark.slow
@pytest.mark.beside
def test_terraform_accepts_the_cloud_file(tmp_path: Path) -> None:
    """With the provider's own schema; nothing is planned or applied."""
    program, plugins = shutil.which("terraform"), os.environ.get(MIRROR)
    if program is None or plugins is None:
        pytest.skip(f"terraform, or a folder with its provider ({MIRROR}), is not here")
    shutil.copy(AWS, tmp_path)
    for step in (["init", "-backend=false", "-input=false", f"-plugin-dir={plugins}"], ["validate", "-no-color"]):
        done = subprocess.run([program, *step], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
