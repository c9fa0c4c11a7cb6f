"""What starts a fleet elsewhere: manifests that fit together, and an entry point that takes Locust's flags."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

SHIPPED = Path("integrations/fleet")
OWN_FLAGS = {"--workers", "--worker-wait", "--listen", "--out", "--gate", "--wait"}


def kinds(file: str) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for document in yaml.safe_load_all((SHIPPED / file).read_text()):
        found.setdefault(document["kind"], []).append(document)
    return found


def container(job: dict[str, Any]) -> dict[str, Any]:
    (only,) = job["spec"]["template"]["spec"]["containers"]
    return dict(only)


def test_workers_of_a_cluster_find_the_run() -> None:
    """By the headless service's name and port, as many as the run waits for, with the same key."""
    found = kinds("kubernetes.yaml")
    run, workers = found["Job"]
    (service,) = found["Service"]

    assert service["spec"]["clusterIP"] == "None"
    assert service["spec"]["selector"] == run["spec"]["template"]["metadata"]["labels"]
    assert container(workers)["args"][1] == f"{service['metadata']['name']}:{service['spec']['ports'][0]['port']}"
    arguments = container(run)["args"]
    assert int(arguments[arguments.index("--workers") + 1]) == workers["spec"]["completions"] == workers["spec"]["parallelism"]
    assert workers["spec"]["completionMode"] == "Indexed"
    secret = {"secretRef": {"name": "specbench-fleet"}}
    assert secret in container(run)["envFrom"]
    assert container(workers)["envFrom"] == [secret]


def test_only_workers_reach_the_run() -> None:
    """By the labels that they have, at the port of the fleet."""
    found = kinds("kubernetes.yaml")
    run, workers = found["Job"]
    (policy,) = found["NetworkPolicy"]
    (rule,) = policy["spec"]["ingress"]

    assert policy["spec"]["podSelector"]["matchLabels"] == run["spec"]["template"]["metadata"]["labels"]
    assert rule["from"] == [{"podSelector": {"matchLabels": workers["spec"]["template"]["metadata"]["labels"]}}]
    assert rule["ports"] == [{"protocol": "TCP", "port": 5557}]


def test_containers_side_by_side_share_the_key_and_fail_without_it() -> None:
    """No key stands in the file."""
    services = yaml.safe_load((SHIPPED / "compose.yaml").read_text())["services"]
    keys = {one["environment"]["SPECBENCH_FLEET_KEY"] for one in services.values()}

    assert len(keys) == 1
    assert next(iter(keys)).startswith("${SPECBENCH_FLEET_KEY:?")
    assert services["worker"]["command"][1] == "run:5557"


def test_every_flag_of_the_manifests_is_ours() -> None:
    """A flag of yesterday would fail in somebody's cluster."""
    commands = [container(job)["args"] for job in kinds("kubernetes.yaml")["Job"]]
    commands += [one["command"] for one in yaml.safe_load((SHIPPED / "compose.yaml").read_text())["services"].values()]

    flags = {word for command in commands for word in command if word.startswith("--")}

    assert flags <= OWN_FLAGS
    assert all(word in Path("docs/cli.md").read_text() for word in flags)


@pytest.mark.parametrize(
    ("given", "started"),
    [
        (
            "--worker --master-host master.default --master-port 5558 -f /x.py",
            "worker master.default:5558",
        ),
        ("--worker --master-host=m --master-port=5557", "worker m:5557"),
        (
            "--locustfile /x.py --master --master-port=5557 --expect-workers=3 --headless",
            "run /scenario/scenario.yaml --out /runs/current --workers 3 --worker-wait 10m --listen 0.0.0.0:5557",
        ),
    ],
)
def test_the_entry_point_takes_locusts_flags(tmp_path: Path, given: str, started: str) -> None:
    """As the operator of LocustTest gives them."""
    ours = tmp_path / "specbench"
    ours.write_text('#!/bin/sh\necho "$*"\n')
    ours.chmod(0o755)
    environment = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}

    done = subprocess.run(
        [str(SHIPPED / "entrypoint.sh"), *given.split()], capture_output=True, text=True, check=True, env=environment
    )

    assert done.stdout.strip() == started


@pytest.mark.parametrize("given", ["", "--headless", "--master-host"])
def test_flags_that_say_nothing_start_nothing(given: str) -> None:
    """One line, and the command line's exit code."""
    done = subprocess.run([str(SHIPPED / "entrypoint.sh"), *given.split()], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
