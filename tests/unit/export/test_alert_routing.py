"""The routing example of the docs: amtool takes it, and it sends exported alarms where the docs say."""

import subprocess
from functools import cache
from pathlib import Path

import pytest

from specbench.export.prometheus_rules import CRITICAL, WARNING
from tests.support.prometheus import tool

DOCS = Path("docs/watch.md")


@cache
def amtool() -> str:
    """The tool, or a skip that says why."""
    found = tool("amtool", "prometheus-alertmanager")
    if isinstance(found, str):
        pytest.skip(f"the routing example is not tried: {found}")
    return str(found)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """The example as a file."""
    (example,) = [block.split("```")[0] for block in DOCS.read_text().split("```yaml\n")[1:] if "receivers:" in block]
    file = tmp_path / "alertmanager.yml"
    file.write_text(example)
    return file


def receiver(config: Path, *labels: str) -> str:
    """Who gets an alarm with these labels."""
    words = [amtool(), "config", "routes", "test", f"--config.file={config}", *labels]
    return subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout.strip()


def test_the_example_is_a_configuration(config: Path) -> None:
    """And a broken one is none."""
    check = [amtool(), "check-config", str(config)]
    assert subprocess.run(check, capture_output=True, check=False, timeout=60).returncode == 0
    config.write_text(config.read_text().replace("receiver: on-call", "receiver: nobody"))
    assert subprocess.run(check, capture_output=True, check=False, timeout=60).returncode != 0


def test_grave_alarms_wake_someone_and_others_wait(config: Path) -> None:
    """By the severity that exported rules have; an alarm of something else is a ticket too."""
    assert receiver(config, "alertname=SpeculationStopped", f"severity={CRITICAL}") == "on-call"
    assert receiver(config, "alertname=SpeculationAcceptanceLow", f"severity={WARNING}") == "tickets"
    assert receiver(config, "alertname=DiskFull", f"severity={CRITICAL}") == "tickets"
