"""Whether a text is JSON and fits a schema. Pure; schemas are JSON Schema, of which nothing is fetched from anywhere."""

import re
from functools import lru_cache
from typing import Any

import msgspec


class NotJsonError(ValueError):
    """The text is none."""


def json_of(text: str) -> Any:
    """The value that the text spells.

    Raises:
        NotJsonError: it is no JSON text as RFC 8259 has it, or is nested too deep to be read.
    """
    try:
        return msgspec.json.decode(text.strip())
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise NotJsonError(str(error)) from None


def fits(value: Any, schema: Any) -> bool:
    """Whether the value fits the schema; whatever does where the schema is none, or refers to what is not in it.

    Schemas of tools are others' (a dataset's, a client's): a mistake in one is no fault of an answer.
    """
    if schema is None or schema is True:
        return True
    from referencing.exceptions import Unresolvable

    try:
        validator = _validator(msgspec.json.encode(schema))
        return validator is None or bool(validator.is_valid(value))
    except (Unresolvable, re.error, RecursionError):  # what only shows once it is used
        return True


@lru_cache(maxsize=1024)
def _validator(schema: bytes) -> Any:
    # Here, as most runs have no schema and need not wait for the import.
    import jsonschema
    import referencing

    whole = msgspec.json.decode(schema)
    kind = jsonschema.validators.validator_for(whole, default=jsonschema.Draft202012Validator)
    try:
        kind.check_schema(whole)
    except jsonschema.SchemaError:
        return None
    return kind(whole, registry=referencing.Registry())
