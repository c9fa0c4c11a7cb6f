"""A request with tools is answered by a call that their schemas allow, unless a fault breaks it."""

import json
from typing import Any

import pytest

from specbench.engine.core.planned_calls import GARBLED_NAME, PlannedCall, garbled, planned_call
from specbench.engine.core.requests import RequestError, ServedTerms, generation_of
from tests.support.engines import small_models
from tests.support.json_schema import violations

WRITE: dict[str, Any] = {
    "name": "write_file",
    "parameters": {
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "mode": {"enum": ["append", "replace"]},
            "times": {"type": "integer", "minimum": 1},
            "dry": {"type": "boolean"},
            "tags": {"type": "array", "items": {"type": "string"}, "minItems": 2},
            "owner": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
            "size": {"anyOf": [{"type": "number"}, {"type": "null"}]},
        },
        "required": ["mode", "times", "dry", "tags", "owner", "size", "path"],
    },
}
COUNT: dict[str, Any] = {
    "name": "count",
    "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
}
NOTHING: dict[str, Any] = {"name": "stop"}


def told(call: PlannedCall, text: str = "a.txt") -> dict[str, Any]:
    """The arguments of the call whose generated text this is."""
    arguments: dict[str, Any] = json.loads(call.before + (text if call.takes_text else "") + call.after)
    return arguments


def test_arguments_fit_the_schema() -> None:
    """Every required one is there, and the generated text is the one that takes any text."""
    arguments = told(planned_call([WRITE], None, (1, 2)))

    assert violations(arguments, WRITE["parameters"]) == []
    assert arguments["path"] == "a.txt"


@pytest.mark.parametrize(("tool", "arguments"), [(COUNT, {"n": 0}), (NOTHING, {})])
def test_a_tool_that_takes_no_text_is_called_without_it(tool: dict[str, Any], arguments: dict[str, Any]) -> None:
    """The answer's tokens are none of its arguments."""
    assert told(planned_call([tool], None, (1, 2))) == arguments


def test_an_argument_may_be_the_text_though_not_required() -> None:
    """Else no token would show."""
    tool = {"name": "say", "parameters": {"properties": {"words": {"type": "string"}}}}

    assert told(planned_call([tool], None, (1,)), "hi") == {"words": "hi"}


def test_the_prompt_decides_which_tool() -> None:
    """The same prompt calls the same, thirty prompts call both, and a named one is called always."""
    chosen = [planned_call([WRITE, COUNT], None, (prompt,)) for prompt in range(30)]

    assert chosen == [planned_call([WRITE, COUNT], None, (prompt,)) for prompt in range(30)]
    assert {call.name for call in chosen} == {"write_file", "count"}
    assert {planned_call([WRITE, COUNT], "count", (prompt,)).name for prompt in range(30)} == {"count"}


def test_a_broken_call_is_of_no_tool_or_has_no_end() -> None:
    """By turns."""
    for tool in (WRITE, COUNT):
        call = planned_call([tool], None, (1,))
        with pytest.raises(json.JSONDecodeError):
            told(garbled(call, 2))
        assert garbled(call, 1).name == GARBLED_NAME


def request(**body: Any) -> PlannedCall | None:
    """The call that a chat with this body is to be."""
    terms = ServedTerms("m", small_models().vocabulary, 64)
    return generation_of({"messages": [{"role": "user", "content": "x"}], **body}, "chat", terms).call


@pytest.mark.parametrize(
    ("choice", "name"),
    [
        ({}, "count"),
        ({"tool_choice": "auto"}, "count"),
        ({"tool_choice": "required"}, "count"),
        ({"tool_choice": {"type": "function", "function": {"name": "count"}}}, "count"),
        ({"tool_choice": "none"}, None),
    ],
    ids=str,
)
def test_whether_a_tool_is_called(choice: dict[str, Any], name: str | None) -> None:
    """Always, unless the request forbids it."""
    call = request(tools=[{"type": "function", "function": COUNT}], **choice)

    assert (call.name if call is not None else None) == name


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"tools": "count"}, "tools"),
        ({"tools": [{"type": "function"}]}, "tools"),
        ({"tools": [{"type": "function", "function": {"name": "f", "parameters": []}}]}, "tools"),
        ({"tools": [{"type": "function", "function": COUNT}], "tool_choice": "sometimes"}, "tool_choice"),
        ({"tools": [{"type": "function", "function": COUNT}], "tool_choice": {"function": {"name": "other"}}}, "tool_choice"),
        ({"tools": [], "tool_choice": "required"}, "tool_choice"),
    ],
    ids=str,
)
def test_what_is_wrong_with_tools_is_named(body: dict[str, Any], param: str) -> None:
    """Status 400, and the parameter at fault."""
    with pytest.raises(RequestError) as caught:
        request(**body)

    assert (caught.value.status, caught.value.param) == (400, param)


def test_an_earlier_call_is_part_of_the_prompt() -> None:
    """An agent's turn without text is read as the call that it was."""
    call = {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "count", "arguments": "{}"}}]}

    assert request(messages=[{"role": "user", "content": "x"}, call], tools=[{"type": "function", "function": COUNT}])
