"""The request body for a prompt: the same bytes for both arms but for what the scenario declares. Pure."""

from collections.abc import Sequence
from typing import Any

import msgspec

from specbench.model.records import RequestRecord
from specbench.model.scenario import Arm, Asking, Workload
from specbench.prompts.sampler import LIMITS, Prompt

STREAM_OPTIONS = "stream_options"
REFUSALS = (400, 422)
ROUTES = {"chat": "/v1/chat/completions", "completions": "/v1/completions"}


def refuses_fields(records: Sequence[RequestRecord]) -> bool:
    """Whether all these requests were refused as one with a field is that the server does not know."""
    return bool(records) and all(record.outcome == "http_error" and record.status in REFUSALS for record in records)


def body_of(prompt: Prompt, workload: Workload, model: str, extras: dict[str, Any], arm: Arm) -> bytes:
    """The JSON body that asks `model` for an answer to `prompt`.

    Args:
        extras: what the engine's row in `telemetry/` adds, so that events carry token ids or running usage.
        arm: its `extra_body` is added last and may replace any field, or leave it out.
    """
    body: dict[str, Any] = {"model": model, "stream": True, arm.limit_key: prompt.max_tokens}
    if workload.route == "chat":
        system = [{"role": "system", "content": prompt.system}] if prompt.system else []
        body["messages"] = list(prompt.messages) or [*system, {"role": "user", "content": prompt.text}]
    else:
        body["prompt"] = f"{prompt.system}\n\n{prompt.text}" if prompt.system else prompt.text
    sampling = prompt.sampling
    body["temperature"] = sampling.temperature
    optional = {"top_p": sampling.top_p, "top_k": sampling.top_k, "seed": sampling.seed}
    body |= {name: value for name, value in optional.items() if value is not None}
    body |= workload.extra_body
    body |= {name: value for name, value in prompt.fields.items() if name not in LIMITS}
    if workload.length == "forced":
        body["ignore_eos"] = True
    return as_body({**body, **extras}, arm.asking)


def chat_body(model: str, text: str, max_tokens: int, temperature: float, extras: dict[str, Any], asking: Asking) -> bytes:
    """The JSON body that asks `model` one question, apart from any scenario."""
    body = {
        "model": model,
        "messages": [{"role": "user", "content": text}],
        asking.limit_key: max_tokens,
        "temperature": temperature,
        "stream": True,
    }
    return as_body({**body, **extras}, asking)


def as_body(fields: dict[str, Any], asking: Asking) -> bytes:
    """The JSON body with these fields and those that the endpoint is asked with besides; what is None there is left out."""
    whole = {**fields, **asking.extra_body}
    return msgspec.json.encode({name: value for name, value in whole.items() if value is not None})
