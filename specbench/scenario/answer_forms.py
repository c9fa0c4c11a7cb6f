"""What a bin's answers have to be (`valid`), and the fields of every request (`workload.extra_body`): what is wrong with them.

A JSON Schema is read here and stays whole in the scenario, so that a run can be judged again without its file.
"""

import json
import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator

from specbench.credentials import LONGEST_WORD, one_line
from specbench.errors import DataError
from specbench.files import regular_bytes
from specbench.model.answers.answer_form import ValidRule
from specbench.scenario.field_types import AnyFields
from specbench.scenario.text.secret_detection import secret_field
from specbench.scenario.text.yaml_source import Path as KeyPath
from specbench.scenario.text.yaml_source import YamlSource

LARGEST_SCHEMA = 1 << 20  # bytes
# Who sets these fields: the request itself, or other keys of the scenario, which would say something else.
_SET_ELSEWHERE = {
    **dict.fromkeys(("stream", "model", "messages", "prompt"), "is set for each request; leave it out"),
    **dict.fromkeys(("max_tokens", "max_completion_tokens"), "is drawn for each request; set output_tokens of the bins"),
    **dict.fromkeys(("temperature", "top_p", "top_k", "seed"), "belongs in workload.sampling"),
}


def _compiled(value: str) -> str:
    try:
        re.compile(value)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"is no regular expression: {error}") from None
    return value


def _harmless(value: dict[str, Any]) -> dict[str, Any]:
    """The fields, where they may be stored, and nothing else sets them."""
    if (name := secret_field(value)) is not None:
        raise ValueError(f"{name} looks like a secret, and scenarios are stored: leave it out, and send it as a header")
    for name, why in _SET_ELSEWHERE.items():
        if name in value:
            raise ValueError(f"{name} {why}")
    return value


CommonFields = Annotated[AnyFields, AfterValidator(_harmless)]
RegularExpression = Annotated[str, AfterValidator(_compiled)]


def form_given(value: Any) -> Any:
    """The word `json` as the empty mapping, one that names one of both forms as it is."""
    if value == "json":
        return {}
    if isinstance(value, dict) and ("regex" in value) == ("json_schema" in value):
        raise ValueError("needs one of regex and json_schema")
    if not isinstance(value, dict):
        raise ValueError("must be json, or one of {regex: ...} and {json_schema: file}")
    return value


def valid_rule(given: tuple[str | None, str | None] | None, where: KeyPath, text: YamlSource) -> ValidRule | None:
    """The rule that the answers of a bin have to keep; None where nothing is asked of them.

    Args:
        given: the regular expression, and the file of a JSON Schema; neither for JSON.

    Raises:
        ScenarioError: the file of its schema cannot be read, or holds no schema.
    """
    if given is None:
        return None
    regex, file = given
    if file is not None:
        return _rule_of_schema(file, (*where, "json_schema"), text)
    return ValidRule(kind="json") if regex is None else ValidRule(kind="regex", regex=regex)


def _rule_of_schema(file: str, where: KeyPath, text: YamlSource) -> ValidRule:
    path = Path(text.name).parent / file
    try:
        content = regular_bytes(path)
    except DataError as error:
        raise text.error(where, str(error)) from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise text.error(where, f"{path} cannot be read: {why}; name a file beside the scenario") from None
    if len(content) > LARGEST_SCHEMA:
        raise text.error(where, f"{path} is larger than {LARGEST_SCHEMA >> 20} MiB; name a smaller schema")
    try:
        schema = json.loads(content, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise text.error(where, f"{path} is not JSON: {error}") from None
    if (fault := _schema_fault(schema)) is not None:
        raise text.error(where, f"{path} is no JSON Schema: {fault}")
    return ValidRule(kind="json_schema", schema=schema)


def _schema_fault(schema: object) -> str | None:
    """What is wrong with it as a JSON Schema, on one line; None where nothing is."""
    # Here, as most scenarios name no schema.
    import jsonschema

    if isinstance(schema, bool):  # true and false are schemas too
        return None
    if not isinstance(schema, dict):
        return "an object is needed"
    try:
        jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator).check_schema(schema)
    except jsonschema.SchemaError as error:
        return one_line(f"{error.json_path}: {error.message}", LONGEST_WORD)
    except RecursionError:
        return "it is nested too deeply"
    return None


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no number of JSON")
