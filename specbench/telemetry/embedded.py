"""The engine that specbench brings along: vLLM's names, and what is its own on top.

How the engine works is not known here (`specbench/engine` is a program of its own); only what it serves.
"""

from dataclasses import replace

from specbench.telemetry.facts import first_model, told
from specbench.telemetry.fields import word_in
from specbench.telemetry.pages import Answers
from specbench.telemetry.vllm import VLLM
from specbench.telemetry.vllm import facts as vllm_facts


def recognises(answers: Answers) -> bool:
    """Whether its models belong to "specbench"."""
    return first_model(answers).get("owned_by") == "specbench"


def facts(answers: Answers) -> dict[str, str]:
    """What vLLM tells, and what the embedded engine's model list adds."""
    model = first_model(answers)
    own = {name: word_in(model, name) for name in ("revision", "quantization", "hardware", "speculation_config")}
    return vllm_facts(answers) | told(**own)


EMBEDDED = replace(
    VLLM,
    name="embedded",
    label="the embedded engine",
    stream=replace(VLLM.stream, engine="embedded"),
    fact_paths=("/version", "/v1/models", "/metrics"),
    recognises=recognises,
    facts=facts,
)
