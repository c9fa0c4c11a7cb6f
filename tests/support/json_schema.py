"""A small JSON Schema check, for the keywords that our own schemas use; an unknown keyword is an error. No test lives here."""

from typing import Any

TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
    "integer": int,
    "number": (int, float),
}
ANNOTATIONS = {"$schema", "$defs", "title", "description", "default"}
KNOWN = ANNOTATIONS | {
    "$ref", "anyOf", "enum", "type", "properties", "required", "additionalProperties",
    "items", "prefixItems", "minItems", "maxItems", "const", "minimum", "maximum",
}  # fmt: skip


def violations(value: Any, schema: dict[str, Any]) -> list[str]:
    """What in the value breaks the schema, each with its path; empty where it holds."""
    return _check(value, schema, schema, "$")


def _check(value: Any, rule: dict[str, Any], root: dict[str, Any], path: str) -> list[str]:
    unknown = set(rule) - KNOWN
    assert not unknown, f"the check does not know {unknown}"
    if "$ref" in rule:
        return _check(value, root["$defs"][rule["$ref"].removeprefix("#/$defs/")], root, path)
    if "anyOf" in rule:
        tried = [_check(value, option, root, path) for option in rule["anyOf"]]
        return [] if [] in tried else min(tried, key=len)
    if ("enum" in rule and value not in rule["enum"]) or ("const" in rule and value != rule["const"]):
        return [f"{path}: {value!r} is none of the allowed values"]
    expected = rule.get("type")
    if expected and (not isinstance(value, TYPES[expected]) or (isinstance(value, bool) and expected != "boolean")):
        return [f"{path}: {value!r} is no {expected}"]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return [f"{path}: {value!r} is out of range"] if _out_of_range(value, rule) else []
    return _inside(value, rule, root, path)


def _out_of_range(value: float, rule: dict[str, Any]) -> bool:
    return bool(value < rule.get("minimum", value) or value > rule.get("maximum", value))


def _inside(value: Any, rule: dict[str, Any], root: dict[str, Any], path: str) -> list[str]:
    found: list[str] = []
    if isinstance(value, dict):
        properties, rest = rule.get("properties", {}), rule.get("additionalProperties", True)
        found += [f"{path}: {name} is missing" for name in rule.get("required", ()) if name not in value]
        for name, item in value.items():
            if name in properties or isinstance(rest, dict):
                found += _check(item, properties.get(name, rest), root, f"{path}.{name}")
            elif rest is False:
                found.append(f"{path}: {name} is not allowed")
    elif isinstance(value, list):
        if not rule.get("minItems", 0) <= len(value) <= rule.get("maxItems", len(value)):
            found.append(f"{path}: has {len(value)} items")
        first = rule.get("prefixItems", [])
        for index, item in enumerate(value):
            inner = first[index] if index < len(first) else rule.get("items", {})
            found += _check(item, inner, root, f"{path}[{index}]") if isinstance(inner, dict) else []
    return found
