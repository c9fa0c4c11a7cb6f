"""An answer has a mark where its form is not what was asked for, and none where it is."""

import json
from typing import Any

import msgspec
import pytest

from specbench.model.answers.answer_form import MARKS, ValidRule
from specbench.model.answers.kept_pairs import GeneratedAnswer, GeneratedToolCall
from specbench.stream.answers.asked_form import asked_form
from specbench.stream.answers.marks import foreign_scripts, marks_of, scripts_in

ADD: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "add",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"$ref": "#/$defs/n"}},
            "required": ["a"],
            "$defs": {"n": {"type": "integer"}},
        },
    },
}
BROKEN = {"type": "function", "function": {"name": "odd", "parameters": {"type": 7}}}
FAR = {"type": "function", "function": {"name": "far", "parameters": {"$ref": "http://localhost:1/none.json"}}}
NOW = {"type": "function", "function": {"name": "now"}}
SCHEMA = {"type": "object", "required": ["x"]}
AS_SCHEMA = {"type": "json_schema", "json_schema": {"name": "s", "schema": SCHEMA}}


def marks(
    content: str = "fine", *calls: tuple[str, str], finish: str = "stop", valid: ValidRule | None = None, **body: Any
) -> tuple[str, ...]:
    """The marks of an answer to a request with this body."""
    whole = {"messages": [{"role": "user", "content": "Add 1 and 2."}], **body}
    form = asked_form(msgspec.json.encode(whole), natural=True, valid=valid)
    answer = GeneratedAnswer(
        text=content + "".join(map("".join, calls)),
        content=content,
        finish_reason=finish,
        tool_calls=tuple(GeneratedToolCall(*call) for call in calls),
    )
    return marks_of(answer, form, looping=False)


def test_a_good_answer_has_none() -> None:
    """Text, JSON of a schema and a call of a tool, each as asked."""
    assert marks() == ()
    assert marks('{"x": 1}', response_format=AS_SCHEMA) == ()
    assert marks("", ("add", '{"a": 1, "b": 2}'), tools=[ADD], tool_choice="required", finish="tool_calls") == ()


def test_a_loop_is_one() -> None:
    """As the record has it."""
    form = asked_form(b'{"prompt": "x"}', natural=False)

    assert marks_of(GeneratedAnswer(text="a", content="a", finish_reason="stop"), form, looping=True) == ("looping",)


@pytest.mark.parametrize(
    ("content", "mark"),
    [
        ("a<|im_end|>", True),
        ("<｜tool▁calls▁begin｜>", True),
        ("[INST] a", True),
        ("a</s>", True),
        ("<tool_call>{}", True),
        ("</think>a", True),
        ("<think>a", True),
        ("x <| f |> g", False),
        ("a < b | c > d", False),
        ("<thinking> [INSTALL] </span>", False),
    ],
)
def test_a_token_of_the_template_is_one(content: str, mark: bool) -> None:
    """In the answer's own text; operators that look alike are none."""
    assert marks(content) == (("special_token",) if mark else ())


def test_of_reasoning_no_token_is_looked_for() -> None:
    """It is not the answer."""
    form = asked_form(b'{"prompt": "x"}', natural=False)

    assert marks_of(GeneratedAnswer(text="<think>a", content="a", finish_reason="stop"), form, False) == ()


@pytest.mark.parametrize(
    ("body", "mark"),
    [
        ({"stop": "END"}, True),
        ({"stop": ["###", "END"]}, True),
        ({"stop": ["###"]}, False),
        ({"stop": None}, False),
        ({"stop": "END", "include_stop_str_in_output": True}, False),
        ({"stop": "END", "no_stop_trim": True}, False),
    ],
    ids=str,
)
def test_a_stop_in_the_text_is_one(body: dict[str, Any], mark: bool) -> None:
    """Unless it was to be there."""
    assert marks("one END two", **body) == (("past_stop",) if mark else ())


@pytest.mark.parametrize(
    ("content", "body", "valid", "mark"),
    [
        ("{}", {"response_format": {"type": "json_object"}}, None, False),
        (' \n{"a": [1]} ', {"response_format": {"type": "json_object"}}, None, False),
        ("```json\n{}\n```", {"response_format": {"type": "json_object"}}, None, True),
        ('{"a": NaN}', {"response_format": {"type": "json_object"}}, None, True),
        ("[" * 5_000 + "]" * 5_000, {"response_format": {"type": "json_object"}}, None, True),
        ("", {"response_format": {"type": "json_object"}}, None, True),
        ('{"y": 1}', {"response_format": AS_SCHEMA}, None, True),
        ('{"y": 1}', {"response_format": {"type": "json_object", "schema": SCHEMA}}, None, True),
        ('{"y": 1}', {"guided_json": SCHEMA}, None, True),
        ('{"y": 1}', {"guided_json": json.dumps(SCHEMA)}, None, True),
        ('{"y": 1}', {"structured_outputs": {"json": SCHEMA}}, None, True),
        ("no JSON", {"response_format": {"type": "text"}}, None, False),
        ("no JSON", {}, ValidRule(kind="json"), True),
        ('{"y": 1}', {}, ValidRule(kind="json"), False),
        ('{"y": 1}', {}, ValidRule(kind="json_schema", schema=SCHEMA), True),
        ('{"x": 1}', {}, ValidRule(kind="json_schema", schema=SCHEMA), False),
    ],
    ids=lambda value: str(value)[:60],
)
def test_what_is_no_json_of_its_schema_is_one(content: str, body: dict[str, Any], valid: ValidRule | None, mark: bool) -> None:
    """Whoever asked for it: the request in any engine's words, or the bin."""
    assert marks(content, valid=valid, **body) == (("bad_json",) if mark else ())


def test_a_call_in_place_of_json_is_judged_as_a_call() -> None:
    """There is no text to be JSON."""
    assert marks("", ("add", '{"a": 1}'), tools=[ADD], response_format={"type": "json_object"}, finish="tool_calls") == ()


@pytest.mark.parametrize(
    ("call", "mark"),
    [
        (("add", '{"a": 1}'), False),
        (("add", "{}"), True),
        (("add", ""), True),
        (("add", '{"a": "1"}'), True),
        (("add", '{"a": 1, "b": "2"}'), True),
        (("add", '{"a": 1'), True),
        (("add", "[1]"), True),
        (("add", '{"a": 1}{"a": 1}'), True),
        (("<<tool_code>", '{"a": 1}'), True),
        (("", '{"a": 1}'), True),
        (("now", ""), False),
        (("now", "{}"), False),
        (("now", '{"x": '), True),
        (("odd", '{"x": 1}'), False),
        (("far", '{"x": 1}'), False),
    ],
    ids=str,
)
def test_a_call_that_its_tool_does_not_take_is_one(call: tuple[str, str], mark: bool) -> None:
    """A name that there is not, or arguments that miss the schema; a mistake in the schema itself is not the answer's."""
    assert marks("", call, tools=[ADD, BROKEN, FAR, NOW], finish="tool_calls") == (("bad_tool_call",) if mark else ())


def test_one_bad_call_of_two_is_enough() -> None:
    """Beside a good one, and without tools at all."""
    assert marks("", ("add", '{"a": 1}'), ("add", "{}"), tools=[ADD]) == ("bad_tool_call",)
    assert marks("", ("add", '{"a": 1}')) == ("bad_tool_call",)


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("required", ("no_tool_call",)),
        ("any", ("no_tool_call",)),
        ({"type": "function", "function": {"name": "add"}}, ("no_tool_call",)),
        ("auto", ()),
        (None, ()),
    ],
    ids=str,
)
def test_a_call_that_was_required_and_did_not_come_is_one(choice: Any, expected: tuple[str, ...]) -> None:
    """Where the model was free to answer, text is right."""
    assert marks(tools=[ADD], tool_choice=choice) == expected


@pytest.mark.parametrize(
    "body",
    [
        {"tools": 5, "functions": "f", "tool_choice": 7, "stop": 3},
        {"tools": {"a": 1}, "tool_choice": ["required"], "stop": [None, 4, ""]},
        {"tools": ["f", None, {"function": 3}], "response_format": "json", "structured_outputs": [1]},
        {"messages": 4, "prompt": {"a": "b"}, "guided_json": "{"},
    ],
    ids=str,
)
def test_a_request_that_no_server_takes_asks_for_no_form(body: dict[str, Any]) -> None:
    """Whatever `extra_body` holds, reading it ends no run."""
    form = asked_form(msgspec.json.encode({"prompt": "x", **body}), natural=False)

    assert (form.tools, form.calls, form.stops) == ({}, False, ())


def test_another_tool_than_the_named_one_is_wrong() -> None:
    """Though it is among the tools."""
    named = {"type": "function", "function": {"name": "add"}}

    assert marks("", ("now", "{}"), tools=[ADD, NOW], tool_choice=named) == ("bad_tool_call",)


def test_what_its_limit_cut_off_is_unfinished() -> None:
    """Where answers are to end by themselves."""
    assert marks(finish="length") == ("unfinished",)
    assert marks(finish="length", ignore_eos=True) == ()


def test_the_bins_own_expression() -> None:
    """It need only be found."""
    assert marks("answer: 7", valid=ValidRule(kind="regex", regex=r"\d$")) == ()
    assert marks("answer: x", valid=ValidRule(kind="regex", regex=r"\d$")) == ("invalid",)


@pytest.mark.parametrize(
    ("content", "finish", "body", "foreign"),
    [
        ("fine, naïve: 3 µm ℃ ½ ª", "stop", {}, set()),
        ("привет", "stop", {}, {"Cyrillic"}),
        ("привет", "stop", {"messages": [{"role": "user", "content": [{"type": "text", "text": "да?"}]}]}, set()),
        ("漢字かな", "stop", {}, {"CJK", "Hiragana"}),
        ("a\ufffdb", "stop", {}, {"U+FFFD"}),
        ("ab\ufffd", "stop", {}, {"U+FFFD"}),
        ("ab\ufffd", "length", {}, set()),
        ("ＡＢ", "stop", {}, set()),
        ("привет\ufffd", "stop", {"messages": None, "prompt": [1, 2]}, {"U+FFFD"}),
        ("привет", "stop", {"messages": None, "prompt": ["да", "a"]}, set()),
        ("привет", "stop", {"tools": [{"type": "function", "function": {"name": "f", "description": "да"}}]}, set()),
        ("role", "stop", {"messages": [{"role": "user", "content": "да"}]}, {"Latin"}),
    ],
    ids=lambda value: ascii(sorted(value) if isinstance(value, set) else value)[:40],
)
def test_a_script_that_the_prompt_lacks(content: str, finish: str, body: dict[str, Any], foreign: set[str]) -> None:
    """By letters; signs and numerals belong to all, and half a character at a limit's cut is no fault."""
    whole = {"messages": [{"role": "user", "content": "Add."}], **body}
    form = asked_form(msgspec.json.encode(whole), natural=False)
    answer = GeneratedAnswer(text=content, content=content, finish_reason=finish)

    assert foreign_scripts(answer, form) == foreign
    assert ("foreign" in marks_of(answer, form, False)) == bool(foreign)


def test_all_scripts_of_an_answer() -> None:
    """What a baseline's answers are known by, whatever their prompts had."""
    assert scripts_in(GeneratedAnswer(text="да, αβ: x", content="", finish_reason="stop")) == {"Cyrillic", "Greek", "Latin"}
    assert scripts_in(GeneratedAnswer(text="1 + 2 = 3", content="", finish_reason="stop")) == frozenset()


def test_marks_come_in_their_order() -> None:
    """Several at once, each once."""
    found = marks("привет </s> END", stop="END", finish="length", valid=ValidRule(kind="json"))

    assert found == ("foreign", "special_token", "past_stop", "bad_json", "unfinished")
    assert list(found) == sorted(found, key=MARKS.index)
