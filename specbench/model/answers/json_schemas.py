"""JSON Schema, as far as forms of answers and tools need it: whether a schema is one, and whether a value keeps it. Pure.

Keywords of draft 7 and 2020-12 that limit a value; others (titles, formats) limit nothing, as the drafts allow. A `$ref` leads
within the schema alone.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any] | bool

MOST_LEVELS = 100  # of a schema, and of references that lead on to references
_TYPES: dict[str, Callable[[Any], bool]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "number": lambda value: _is_number(value),
    "integer": lambda value: _is_number(value) and float(value).is_integer(),
}
_ONE = ("not", "if", "then", "else", "contains", "additionalProperties", "propertyNames", "additionalItems")
_SEVERAL = ("allOf", "anyOf", "oneOf", "prefixItems")
_NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains")
_NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")


def schema_fault(schema: Any) -> str | None:
    """What is wrong with it as a JSON Schema, as a clause; None where nothing is."""
    return next(_schema_faults(schema, schema, "", 0), None)


def keeps(schema: Schema, value: Any) -> bool:
    """Whether the value is as the schema asks.

    Args:
        schema: One in which `schema_fault` finds nothing.
    """
    return _keeps(schema, value, schema, 0)


def _schema_faults(schema: Any, root: Any, where: str, level: int) -> Iterator[str]:
    at = f" at {where}" if where else ""
    if isinstance(schema, bool):
        return
    if not isinstance(schema, dict):
        yield f"a schema is an object, true or false{at}"
        return
    if level > MOST_LEVELS:
        yield f"it is nested too deeply{at}"
        return
    yield from (f"{fault}{at}" for fault in _keyword_faults(schema, root))
    for key in _ONE:
        if key in schema:
            yield from _schema_faults(schema[key], root, f"{where}/{key}", level + 1)
    items = schema.get("items", True)
    several = {key: schema[key] for key in _SEVERAL if key in schema} | ({"items": items} if isinstance(items, list) else {})
    for key, schemas in several.items():
        if not isinstance(schemas, list) or (not schemas and key != "items"):
            yield f"{key} is a list of schemas{at}"
            continue
        for place, one in enumerate(schemas):
            yield from _schema_faults(one, root, f"{where}/{key}/{place}", level + 1)
    if not isinstance(items, list):
        yield from _schema_faults(items, root, f"{where}/items", level + 1)
    for key in _NAMED:
        named = schema.get(key, {})
        if not isinstance(named, dict):
            yield f"{key} is an object of schemas{at}"
            continue
        for name, one in named.items():
            yield from _schema_faults(one, root, f"{where}/{key}/{name}", level + 1)


def _keyword_faults(schema: Mapping[str, Any], root: Any) -> Iterator[str]:
    types = schema.get("type", [])
    for one in types if isinstance(types, list) else [types]:
        if not isinstance(one, str) or one not in _TYPES:
            yield f"type {one!r} is none of {', '.join(_TYPES)}"
    for key in _COUNTS:
        if key in schema and not (_is_number(schema[key]) and schema[key] >= 0 and float(schema[key]).is_integer()):
            yield f"{key} is a whole number of at least 0"
    for key in _NUMBERS:
        if key in schema and (not _is_number(schema[key]) or (key == "multipleOf" and schema[key] <= 0)):
            yield f"{key} is a number"
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        yield "required is a list of names"
    if not isinstance(schema.get("enum", []), list):
        yield "enum is a list of values"
    patterns = schema.get("patternProperties", {})
    for pattern in [*([schema["pattern"]] if "pattern" in schema else []), *(patterns if isinstance(patterns, dict) else ())]:
        if not _compiles(pattern):
            yield f"the pattern {pattern!r} is no regular expression"
    if "$ref" in schema and _referred(schema["$ref"], root) is None:
        yield f"$ref {schema['$ref']!r} leads to no part of it"


def _keeps(schema: Any, value: Any, root: Any, level: int) -> bool:
    if isinstance(schema, bool):
        return schema
    if level > MOST_LEVELS:
        return False
    if "$ref" in schema and not _keeps(_referred(schema["$ref"], root), value, root, level + 1):
        return False

    def fits(one: Any, held: Any = value) -> bool:
        return _keeps(one, held, root, level + 1)

    types = schema.get("type", [])
    names = types if isinstance(types, list) else [types]
    if names and not any(_TYPES[name](value) for name in names):
        return False
    if "enum" in schema and not any(_same(value, one) for one in schema["enum"]):
        return False
    if "const" in schema and not _same(value, schema["const"]):
        return False
    if not all(fits(one) for one in schema.get("allOf", ())) or ("not" in schema and fits(schema["not"])):
        return False
    if "anyOf" in schema and not any(fits(one) for one in schema["anyOf"]):
        return False
    if "oneOf" in schema and sum(fits(one) for one in schema["oneOf"]) != 1:
        return False
    if "if" in schema and not fits(schema.get("then" if fits(schema["if"]) else "else", True)):
        return False
    if isinstance(value, dict):
        return _object_keeps(schema, value, fits)
    if isinstance(value, list):
        return _array_keeps(schema, value, fits)
    if isinstance(value, str):
        found = "pattern" not in schema or re.search(schema["pattern"], value) is not None
        return found and _within(len(value), schema, "Length")
    return not _is_number(value) or _number_keeps(schema, value)


def _object_keeps(schema: Mapping[str, Any], value: Mapping[str, Any], fits: Callable[[Any, Any], bool]) -> bool:
    named, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    if not all(name in value for name in schema.get("required", ())) or not _within(len(value), schema, "Properties"):
        return False
    for name, held in value.items():
        own = [*([named[name]] if name in named else []), *(one for key, one in patterns.items() if re.search(key, name))]
        if not all(fits(one, held) for one in own or [schema.get("additionalProperties", True)]):
            return False
        if not fits(schema.get("propertyNames", True), name):
            return False
    return all(name not in value or fits(one, dict(value)) for name, one in schema.get("dependentSchemas", {}).items())


def _array_keeps(schema: Mapping[str, Any], value: list[Any], fits: Callable[[Any, Any], bool]) -> bool:
    items = schema.get("items", True)
    first = items if isinstance(items, list) else schema.get("prefixItems", [])
    rest = schema.get("additionalItems", True) if isinstance(items, list) else items
    if not all(fits(first[place] if place < len(first) else rest, held) for place, held in enumerate(value)):
        return False
    if schema.get("uniqueItems") is True and any(_same(one, other) for place, one in enumerate(value) for other in value[:place]):
        return False
    if "contains" in schema:
        count = sum(fits(schema["contains"], held) for held in value)
        if not schema.get("minContains", 1) <= count <= schema.get("maxContains", count):
            return False
    return _within(len(value), schema, "Items")


def _number_keeps(schema: Mapping[str, Any], value: float) -> bool:
    step = schema.get("multipleOf")
    if step is not None and not math.isclose(value / step, round(value / step), abs_tol=1e-9):
        return False
    return (
        schema.get("minimum", value) <= value <= schema.get("maximum", value)
        and ("exclusiveMinimum" not in schema or value > schema["exclusiveMinimum"])
        and ("exclusiveMaximum" not in schema or value < schema["exclusiveMaximum"])
    )


def _within(count: int, schema: Mapping[str, Any], of: str) -> bool:
    return bool(schema.get(f"min{of}", 0) <= count <= schema.get(f"max{of}", count))


def _referred(pointer: Any, root: Any) -> Any:
    """The part of the schema that a `$ref` leads to; None where there is none."""
    if not isinstance(pointer, str) or not re.fullmatch("#(/.*)?", pointer):
        return None
    found = root
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(found, dict) and name in found:
            found = found[name]
        elif isinstance(found, list) and name.isdecimal() and int(name) < len(found):
            found = found[int(name)]
        else:
            return None
    return found if isinstance(found, dict | bool) else None


def _compiles(pattern: Any) -> bool:
    try:
        return isinstance(pattern, str) and re.compile(pattern) is not None
    except (re.error, RecursionError, OverflowError):
        return False


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _same(one: Any, other: Any) -> bool:
    """Whether two values are one to JSON: 1 and 1.0 are, 1 and true are not."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(held, other[name]) for name, held in one.items())
    return bool(one == other)
