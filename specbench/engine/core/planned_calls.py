"""How these models answer a request with tools: by one call, whose text argument is what they generate.

They go on with a text and cannot choose: the tool and its other arguments are drawn by the prompt, so that both arms of a
comparison call the same.
"""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

DEEPEST = 8
GARBLED_NAME = "<<tool_code>"


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A call that is to be told: the generated text stands, as JSON spells it, between `before` and `after`.

    Without `takes_text` no argument holds it, and `before` and `after` are all there is.
    """

    name: str
    before: str
    after: str
    takes_text: bool


def planned_call(tools: Sequence[Mapping[str, Any]], named: str | None, prompt: Sequence[int]) -> PlannedCall:
    """The call of one of these functions, each with its `name` and `parameters`; of the one that is named where one is."""
    draw = random.Random(hash(tuple(prompt)))
    functions = [function for function in tools if named in (None, function["name"])]
    function = functions[draw.randrange(len(functions))]
    schema = function.get("parameters") or {}
    slot = _slot(schema)
    values = _object(schema, draw, 0, None if slot is None else [slot])
    if slot is None:
        return PlannedCall(function["name"], json.dumps(values), "", False)
    del values[slot]
    rest = json.dumps(values)
    opening = f"{rest[:-1]}, " if values else "{"
    return PlannedCall(function["name"], f'{opening}{json.dumps(slot)}: "', '"}', True)


def garbled(call: PlannedCall, number: int) -> PlannedCall:
    """The call as a broken parser would tell it: by turns under no name of a tool, or with arguments that do not end."""
    if number % 2:
        return replace(call, name=GARBLED_NAME)
    return replace(call, before=call.before if call.takes_text else call.before[:-1], after="")


def _slot(schema: Mapping[str, Any]) -> str | None:
    """The argument that takes any text: a required one if there is one."""
    properties = schema.get("properties") or {}
    free = [name for name, one in properties.items() if isinstance(one, Mapping) and _is_free_text(one)]
    required = [name for name in free if name in (schema.get("required") or ())]
    return next(iter([*required, *free]), None)


def _is_free_text(schema: Mapping[str, Any]) -> bool:
    bounds = ("enum", "const", "pattern", "format", "minLength", "maxLength")
    return _type(schema) == "string" and not any(name in schema for name in bounds)


def _type(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type")
    kind = next(iter(kind), None) if isinstance(kind, list) else kind
    return kind if isinstance(kind, str) else "object" if "properties" in schema else "string"


def _object(schema: Mapping[str, Any], draw: random.Random, depth: int, also: Sequence[str] | None = None) -> dict[str, Any]:
    properties = schema.get("properties") or {}
    wanted = dict.fromkeys([*(schema.get("required") or ()), *(also or ())])
    return {name: _value(properties.get(name) or {}, draw, depth + 1) for name in wanted}


def _value(schema: Any, draw: random.Random, depth: int) -> Any:
    """A value of that schema, as far as its simplest keywords go."""
    if not isinstance(schema, Mapping) or depth > DEEPEST:
        return None
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][draw.randrange(len(schema["enum"]))]
    for choice in ("anyOf", "oneOf", "allOf"):
        if schema.get(choice):
            return _value(schema[choice][0], draw, depth + 1)
    match _type(schema):
        case "integer" | "number":
            return schema.get("minimum", 0)
        case "boolean":
            return draw.random() < 0.5
        case "null":
            return None
        case "array":
            return [_value(schema.get("items") or {}, draw, depth + 1) for _ in range(schema.get("minItems") or 0)]
        case "object":
            return _object(schema, draw, depth)
    return "x" * (schema.get("minLength") or 1)
