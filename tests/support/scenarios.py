"""The shipped scenario that tests of plans and runs begin with."""

from pathlib import Path

from specbench.model.scenario import Scenario
from specbench.scenario.parse import Overrides, parse_scenario

CODE = Path("scenarios/code.yaml")


def code(*settings: tuple[str, str], profile: str = "smoke") -> Scenario:
    """The scenario `code.yaml` with these settings."""
    return parse_scenario(CODE.read_text(), "code.yaml", Overrides(profile=profile, settings=settings))
