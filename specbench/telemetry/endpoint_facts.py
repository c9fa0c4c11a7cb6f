"""What an endpoint says of itself, by the names of `model/facts.py`: pure, from answers already fetched.

No engine's own names (each engine's file turns those into these) and no sockets (`endpoint.py`).
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Any

from specbench.model.facts import FACTS
from specbench.telemetry.json_fields import objects_in
from specbench.telemetry.metrics_pages import HttpAnswers
from specbench.telemetry.prometheus_text import Labels, parse


def as_facts(**facts: object) -> dict[str, str]:
    """These facts as text, those that are None or empty left out; booleans read "on" and "off"."""
    return {name: _text(value) for name, value in facts.items() if value is not None and value != ""}


def first_model(answers: HttpAnswers) -> Mapping[str, Any]:
    """The first model that `/v1/models` lists; an empty mapping where there is none."""
    return next(iter(objects_in(json_at(answers, "/v1/models"), "data")), {})


def model_names(answers: HttpAnswers) -> list[str]:
    """The names of the models that `/v1/models` lists, in its order; none where it answers something else."""
    return [str(one["id"]) for one in objects_in(json_at(answers, "/v1/models"), "data") if "id" in one]


def about(answers: HttpAnswers, model: str) -> HttpAnswers:
    """The answers with no model but this one in `/v1/models`, where it is listed: an endpoint may serve several."""
    page = json_at(answers, "/v1/models")
    own = [one for one in objects_in(page, "data") if one.get("id") == model]
    if not own:
        return answers
    narrowed = replace(answers["/v1/models"], body=json.dumps({**page, "data": own}))
    return {**answers, "/v1/models": narrowed}


def json_at(answers: HttpAnswers, path: str) -> Mapping[str, Any]:
    """The JSON object that this path answered; an empty mapping where it answered none."""
    body = answers[path].json() if path in answers else None
    return body if isinstance(body, dict) else {}


def metrics_at(answers: HttpAnswers, path: str = "/metrics") -> dict[tuple[str, Labels], float]:
    """The samples of a metrics page among the answers, by name and labels; none where it did not answer 200."""
    answer = answers.get(path)
    return parse(answer.body).values if answer is not None and answer.status == 200 else {}


def source_name(path: object) -> str | None:
    """The name of weights from where they were loaded: a file or a folder by its last part, a repository's name whole.

    The same file lies in different folders on different machines.
    """
    if not isinstance(path, str) or not path:
        return None
    local = path.startswith(("/", ".", "~")) or path.endswith((".gguf", ".safetensors"))
    return path.rstrip("/").rsplit("/", 1)[-1] if local else path


def fingerprint(text: str) -> str:
    """Twelve hexadecimal digits that differ where the texts do."""
    return sha256(text.encode()).hexdigest()[:12]


def with_sources(read: Mapping[str, str], declared: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """All that is known of one endpoint, and for each fact "read", "declared" or (without a value) "not declared".

    What the endpoint says of itself beats what the scenario declares of it.
    """
    known = {**declared, **read}
    names = sorted({*FACTS, *known})
    return known, {name: "read" if name in read else "declared" if name in declared else "not declared" for name in names}


def token_ids(answer: Any) -> tuple[int, ...] | None:
    """The ids in what an endpoint answered to a text to be tokenised; None where there are none.

    vLLM and SGLang list numbers under `tokens`, llama.cpp numbers or objects with an `id`, TGI such objects at the top.
    """
    listed = answer.get("tokens") if isinstance(answer, dict) else answer
    if not isinstance(listed, list):
        return None
    ids = [one.get("id") if isinstance(one, dict) else one for one in listed]
    whole = tuple(one for one in ids if isinstance(one, int))
    return whole if ids and len(whole) == len(ids) else None


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)
