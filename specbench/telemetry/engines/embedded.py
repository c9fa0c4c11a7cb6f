"""The engine that specbench brings along: vLLM's names, and what is its own on top.

How the engine works is not known here (`specbench/engine` is a program of its own); only what it serves.
"""

from dataclasses import replace

from specbench.telemetry.endpoint_facts import as_facts, first_model
from specbench.telemetry.engines.vllm import VLLM
from specbench.telemetry.engines.vllm import facts as vllm_facts
from specbench.telemetry.json_fields import word_in
from specbench.telemetry.metrics_pages import HttpAnswers


def recognises(answers: HttpAnswers) -> bool:
    """Whether its models belong to "specbench"."""
    return first_model(answers).get("owned_by") == "specbench"


def facts(answers: HttpAnswers) -> dict[str, str]:
    """What vLLM tells, and what the embedded engine's model list adds."""
    model = first_model(answers)
    own = {name: word_in(model, name) for name in ("revision", "quantization", "hardware", "speculation_config")}
    return vllm_facts(answers) | as_facts(**own)


EMBEDDED = replace(
    VLLM,
    name="embedded",
    label="the embedded engine",
    stream=replace(VLLM.stream, engine="embedded"),
    fact_paths=("/version", "/v1/models", "/metrics"),
    recognises=recognises,
    facts=facts,
)
