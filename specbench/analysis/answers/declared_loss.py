"""Whether speculation is declared to change the answers: by the scenario, an engine's settings, or its endpoint.

Declared loss is no fault, so that greedy and sampled answers are then reported and not judged. Acceptance that is made up is
none of these: its answers are not the model's.
"""

import re

from specbench.model.records import Manifest
from specbench.model.scenario import Arm

_METHOD = re.compile(r"rejection[_-]sample[_-]method\W+(\w+)")
_THRESHOLD = re.compile(r"accept[_-]threshold[_-](?:single|acc)\W+(\d*\.?\d+)")
_EXACT = ("standard", "block")  # vLLM's methods that keep the target's distribution
_MADE_UP = "synthetic"


def is_lossy(manifest: Manifest) -> bool:
    """Whether the scenario says so, or the speculative arm accepts drafts by a rule that changes the distribution."""
    text = _settings(manifest)
    methods = set(_METHOD.findall(text)) - {_MADE_UP}
    return (
        manifest.scenario.answers.lossy
        or bool(methods.difference(_EXACT))
        or any(float(threshold) < 1 for threshold in _THRESHOLD.findall(text))
    )


def is_made_up(manifest: Manifest) -> bool:
    """Whether drafts are accepted at a given rate, whatever the model thinks of them: a tool for speed tests."""
    return _MADE_UP in _METHOD.findall(_settings(manifest))


def _settings(manifest: Manifest) -> str:
    """All that is known of how the speculative arm speculates, as one text."""
    arm: Arm = manifest.scenario.speculative
    declared = [f"{key} {value}" for key, value in (arm.speculative or {}).items()]
    reported = [one.facts.get("speculation_config", "") for one in manifest.endpoints if one.arm == "speculative"]
    return " ".join([*declared, *reported, *(arm.launch.command if arm.launch is not None else ())])
