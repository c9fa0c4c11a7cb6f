"""The request body for a prompt: the same bytes for both arms but for what the scenario declares. Pure."""

from typing import Any

import msgspec

from specbench.model.scenario import Arm, Workload
from specbench.prompts.sampler import Prompt

ROUTES = {"chat": "/v1/chat/completions", "completions": "/v1/completions"}


def body_of(prompt: Prompt, workload: Workload, model: str, extras: dict[str, Any], arm: Arm) -> bytes:
    """The JSON body that asks `model` for an answer to `prompt`.

    Args:
        extras: what the engine's row in `telemetry/` adds, so that events carry token ids or running usage.
        arm: its `extra_body` is added last and may replace any field.
    """
    body: dict[str, Any] = {"model": model, "stream": True, "max_tokens": prompt.max_tokens}
    if workload.route == "chat":
        system = [{"role": "system", "content": prompt.system}] if prompt.system else []
        body["messages"] = [*system, {"role": "user", "content": prompt.text}]
    else:
        body["prompt"] = f"{prompt.system}\n\n{prompt.text}" if prompt.system else prompt.text
    sampling = prompt.sampling
    body["temperature"] = sampling.temperature
    optional = {"top_p": sampling.top_p, "top_k": sampling.top_k, "seed": sampling.seed}
    body |= {name: value for name, value in optional.items() if value is not None}
    if workload.length == "forced":
        body["ignore_eos"] = True
    return msgspec.json.encode({**body, **extras, **arm.extra_body})


def chat_body(model: str, text: str, max_tokens: int, temperature: float, extras: dict[str, Any]) -> bytes:
    """The JSON body that asks `model` one question, apart from any scenario."""
    body = {
        "model": model,
        "messages": [{"role": "user", "content": text}],
        "max_tokens": max_tokens,
        "temperature": temperature,
        "stream": True,
    }
    return msgspec.json.encode({**body, **extras})
