"""What a request says of the form of its answer: stops, JSON, tools, and the scripts that it is written in itself. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from specbench.model.answers.answer_form import ValidRule
from specbench.stream.answers.scripts import scripts_of

_NO_WORDS = frozenset({"role", "type", "id", "tool_call_id", "url", "data"})
_DEEPEST = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedForm:
    """The form that is asked for.

    `scripts`: those of the prompt, None where it is token ids. `stops`: strings that must not stand in the answer. `json`: it
    must be JSON, and fit `schema` where that is not None. `tools`: the parameters' schema of each function that may be called.
    `calls`: whether one must be called; `called`: which one, None where any may. `natural`: it is to end by itself.
    """

    scripts: frozenset[str] | None = frozenset()
    stops: tuple[str, ...] = ()
    json: bool = False
    schema: Any = None
    tools: Mapping[str, Any] = field(default_factory=dict)
    calls: bool = False
    called: str | None = None
    natural: bool = False
    valid: ValidRule | None = None


def asked_form(body: bytes, natural: bool, valid: ValidRule | None = None) -> AskedForm:
    """What the JSON request says of its answer's form.

    Args:
        body: as it was sent.
        natural: whether answers are to end by themselves.
        valid: what the answers of its bin must be.
    """
    asked = msgspec.json.decode(body)
    json, schema = _json(asked)
    tools = dict(_tools(asked))
    called = _called(asked)
    return AskedForm(
        scripts=_scripts(asked),
        stops=() if asked.get("include_stop_str_in_output") or asked.get("no_stop_trim") else tuple(_stops(asked)),
        json=json,
        schema=schema,
        tools=tools,
        calls=called is not None or (bool(tools) and asked.get("tool_choice") in ("required", "any")),
        called=called,
        natural=natural and not asked.get("ignore_eos"),
        valid=valid,
    )


def _scripts(asked: Mapping[str, Any]) -> frozenset[str] | None:
    prompt = asked.get("prompt")
    if isinstance(prompt, list) and not all(isinstance(part, str) for part in prompt):
        return None
    parts = (asked.get(name) for name in ("messages", "prompt", "tools", "functions"))
    return scripts_of("\n".join(text for part in parts for text in _words(part)))


def _words(told: Any, depth: int = _DEEPEST) -> Iterator[str]:
    """All texts in a value, but for those that name or refer."""
    if isinstance(told, str):
        yield told
    elif isinstance(told, Mapping) and depth:
        for name, value in told.items():
            if name not in _NO_WORDS:
                yield from _words(value, depth - 1)
    elif isinstance(told, list) and depth:
        for value in told:
            yield from _words(value, depth - 1)


def _stops(asked: Mapping[str, Any]) -> Iterator[str]:
    yield from (stop for stop in (asked.get("stop"), *_listed(asked.get("stop"))) if isinstance(stop, str) and stop)


def _json(asked: Mapping[str, Any]) -> tuple[bool, Any]:
    """Whether JSON is asked for, and of which schema, in the words of OpenAI, vLLM and llama.cpp."""
    wanted = _mapping(asked.get("response_format"))
    if wanted.get("type") in ("json_object", "json_schema"):
        inner = _mapping(wanted.get("json_schema"))
        return True, inner.get("schema", wanted.get("schema"))
    guided = asked.get("guided_json", _mapping(asked.get("structured_outputs")).get("json"))
    if isinstance(guided, str):
        try:
            guided = msgspec.json.decode(guided)
        except msgspec.DecodeError:
            guided = True
    return guided is not None, guided


def _tools(asked: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for tool in (tool for name in ("tools", "functions") for tool in _listed(asked.get(name)) if isinstance(tool, Mapping)):
        function = _mapping(tool.get("function") or tool.get("custom") or tool)
        if isinstance(name := function.get("name"), str):
            yield name, function.get("parameters")


def _called(asked: Mapping[str, Any]) -> str | None:
    choice = _mapping(asked.get("tool_choice") or asked.get("function_call"))
    name = _mapping(choice.get("function") or choice.get("custom") or choice).get("name")
    return name if isinstance(name, str) else None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
