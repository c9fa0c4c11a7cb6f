"""Every shape that users' files have in the field: which request a row makes, or why it makes none."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specbench.model.data.datasets import DatasetReading, ShapeName
from specbench.prompts.dataset.row import Row
from specbench.prompts.dataset.shapes import BY_NAME, nearest_shape, rows_of

READ = DatasetReading()
SHAREGPT = [
    {"from": "system", "value": "Be brief"},
    {"from": "gpt", "value": "Hello!"},
    {"from": "human", "value": "2+2?"},
    {"from": "gpt", "value": "4"},
]
OPENAI = [
    {"role": "system", "content": "Be brief"},
    {"role": "assistant", "content": "Hello!"},
    {"role": "user", "content": "2+2?"},
    {"role": "assistant", "content": "4"},
]
PARTS = [{"type": "text", "text": "Explain "}, {"type": "text", "text": "TCP"}]
USER = {"role": "user", "content": "2+2?"}
HI = {"type": "text", "content": "Hi"}
SEVEN = {"key": "gen_ai.usage.input_tokens", "value": {"intValue": "7"}}
SPAN = {
    "gen_ai.operation.name": "chat",
    "gen_ai.usage.input_tokens": 12,
    "gen_ai.usage.output_tokens": 5,
    "gen_ai.conversation.id": "s1",
}


def row_of(value: Any) -> Row | str:
    """The first request of a value, its recorded answer left out; or the reason why it makes none."""
    _, found = rows_of(value, READ)
    first = found if isinstance(found, str) else found[0]
    return first if isinstance(first, str) else first._replace(answer=None)


@pytest.mark.parametrize(
    ("value", "row"),
    [
        ("2+2?", Row("2+2?")),
        ({"prompt": "2+2?"}, Row("2+2?")),
        ({"prompt": ["2+2?"]}, Row("2+2?")),
        ({"prompt": [USER]}, Row("2+2?")),
        ({"text": "2+2?"}, Row("2+2?")),
        ({"text": None, "prompt": "2+2?"}, Row("2+2?")),
        ({"conversations": SHAREGPT}, Row("2+2?", "Be brief")),
        ({"conversation": SHAREGPT}, Row("2+2?", "Be brief")),
        ({"conversations": OPENAI}, Row("2+2?", "Be brief")),
        ({"conversations": SHAREGPT[2:], "system": "Be brief"}, Row("2+2?", "Be brief")),
        ({"messages": OPENAI}, Row("2+2?", "Be brief")),
        ({"messages": [{"role": "user", "content": PARTS}]}, Row("Explain TCP")),
        ({"messages": [{"role": "system", "content": PARTS}, USER]}, Row("2+2?", "Explain TCP")),
        (
            {"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": {"messages": [USER]}},
            Row("2+2?"),
        ),
        ({"custom_id": "a", "url": "/v1/completions", "body": {"prompt": "2+2?"}}, Row("2+2?")),
        ({"question_id": 81, "category": "math", "turns": ["2+2?", "And squared?"]}, Row("2+2?")),
        ({"question_id": "a" * 32, "category": "math", "messages": [USER]}, Row("2+2?")),
        ({"session_id": "s", "payloads": [{"messages": [USER]}]}, Row("2+2?", session="s")),
        (
            {"text": "2+2?", "timestamp": 1500, "session_id": "s", "output_length": 7},
            Row("2+2?", output_tokens=7, at_s=1.5, session="s"),
        ),
        ({"texts": ["2+2?", "now"]}, Row("2+2?\nnow")),
        (
            {"session_id": "s", "turns": [{"role": "system", "text": "Be brief"}, {"text": "2+2?"}, {"text": "And squared?"}]},
            Row("2+2?", "Be brief", session="s"),
        ),
        ({"text_input": "2+2?", "output_length": 7, "timestamp": 250}, Row("2+2?", output_tokens=7, at_s=0.25)),
        (
            {"timestamp": 27482, "input_length": 6955, "output_length": 52, "hash_ids": [46, 47]},
            Row("", input_tokens=6955, output_tokens=52, at_s=27.482, made_up=True, blocks=(46, 47)),
        ),
        (
            {"Timestamp": "5.5", "Model": "GPT-4", "Request tokens": "472", "Response tokens": "18", "Log Type": "API log"},
            Row("", input_tokens=472, output_tokens=18, at_s=5.5, made_up=True),
        ),
        (
            {"TIMESTAMP": "1970-01-01 00:00:46.6805900", "ContextTokens": "374", "GeneratedTokens": "44"},
            Row("", input_tokens=374, output_tokens=44, at_s=46.68059, made_up=True),
        ),
        (
            {"TIMESTAMP": "1970-01-01 01:00:46.5+01:00", "ContextTokens": "374", "GeneratedTokens": "44"},
            Row("", input_tokens=374, output_tokens=44, at_s=46.5, made_up=True),
        ),
        (
            {"conversation_hash": "h", "conversation": OPENAI, "timestamp": datetime(1970, 1, 1, 0, 1, tzinfo=UTC), "turn": 1},
            Row("2+2?", "Be brief", at_s=60.0),
        ),
        ({"conversation_id": "c", "model": "m", "conversation": OPENAI, "language": "English"}, Row("2+2?", "Be brief")),
        (
            {
                "call_type": "acompletion",
                "startTime": 100.25,
                "messages": [USER],
                "prompt_tokens": 9,
                "completion_tokens": 3,
                "trace_id": "t",
                "status": "success",
            },
            Row("2+2?", input_tokens=9, output_tokens=3, at_s=100.25, session="t"),
        ),
        (
            {
                "call_type": "completion",
                "startTime": 100.25,
                "messages": [{"role": "user", "content": "redacted-by-litellm"}],
                "prompt_tokens": 9,
                "completion_tokens": 3,
            },
            Row("", input_tokens=9, output_tokens=3, at_s=100.25, made_up=True),
        ),
        (SPAN, Row("", input_tokens=12, output_tokens=5, session="s1", made_up=True)),
        (
            {
                "attributes": {
                    **SPAN,
                    "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": "Hi"}]}]),
                }
            },
            Row("Hi", input_tokens=12, output_tokens=5, session="s1"),
        ),
        (
            {
                "startTimeUnixNano": "1500000000",
                "attributes": [
                    {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},
                    {"key": "gen_ai.usage.input_tokens", "value": {"intValue": "12"}},
                ],
            },
            Row("", input_tokens=12, at_s=1.5, made_up=True),
        ),
        (
            {
                "resourceSpans": [
                    {
                        "scopeSpans": [
                            {"spans": [{"attributes": [{"key": "gen_ai.usage.input_tokens", "value": {"intValue": "7"}}]}]}
                        ]
                    }
                ]
            },
            Row("", input_tokens=7, made_up=True),
        ),
        ({"conversations": []}, "no user turn"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "a turn of role 'tool'"),
        ({"conversations": [{"from": "narrator", "value": "x"}]}, "a turn of role 'narrator'"),
        ({"prompt": "  "}, "empty prompt"),
        ({"messages": [{"role": "user", "content": ""}]}, "empty prompt"),
        ({"prompt": [1, 2, 3]}, "a prompt of token ids"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "holds more than text (a part of type image_url)"),
        ({"text": "2+2?", "image": "a.png"}, "holds more than text (image)"),
        ({"custom_id": "a", "url": "/v1/embeddings", "body": {"input": "x"}}, "an embeddings request is no prompt"),
        ({"custom_id": "a", "response": {"body": {}}}, "an answer of a batch without its request"),
        ({"call_type": "aembedding", "startTime": 1.0, "messages": "x"}, "a call of type embedding"),
        ({"call_type": "completion", "startTime": 1.0, "messages": [USER], "status": "failure"}, "a request that failed"),
        ({"Request tokens": "9", "Response tokens": "0", "Timestamp": "1"}, "a request that failed"),
        ({"ContextTokens": "0", "GeneratedTokens": "4", "TIMESTAMP": "x"}, "empty prompt"),
        ({"gen_ai.operation.name": "embeddings"}, "a span of operation embeddings"),
        ({"question": "2+2?"}, "no shape that is known"),
        ({"attributes": {"http.route": "/"}}, "no shape that is known"),
        (7, "neither text nor a mapping"),
    ],
)
def test_a_row_is_a_request_or_a_reason(value: Any, row: Row | str) -> None:
    """One row of each shape; what cannot be used says why."""
    assert row_of(value) == row


TALK = [USER, {"role": "assistant", "content": "4"}, {"role": "user", "content": "Why?"}]
CALL = {"role": "assistant", "tool_calls": [{"id": "1"}]}
ANSWERED = [*TALK, {"role": "assistant", "content": "So."}]


@pytest.mark.parametrize(
    ("messages", "turns", "sent"),
    [
        (TALK, None, [TALK]),
        (ANSWERED, None, [[USER]]),
        (ANSWERED, "first", [[USER]]),
        (TALK, "first", [[USER]]),
        (ANSWERED, "last", [TALK]),
        (ANSWERED, "each", [[USER], TALK]),
        (
            [USER, {"role": "assistant", "tool_calls": [{"id": "1"}]}, {"role": "tool", "tool_call_id": "1", "content": "9"}],
            None,
            None,
        ),
    ],
)
def test_turns_say_what_of_a_list_is_sent(messages: list[Any], turns: Any, sent: list[Any] | None) -> None:
    """A list that ends with a question or a tool's result is sent whole; of one that ends with an answer, the first question."""
    _, rows = rows_of({"messages": messages}, replace(READ, turns=turns))
    asked = [list(row.messages) or [{"role": "user", "content": row.text}] for row in rows if isinstance(row, Row)]

    if sent is None:
        assert [message["role"] for message in asked[0]] == ["user", "assistant", "tool"]
    else:
        assert asked == sent


def test_what_comes_behind_the_first_question_does_not_spoil_it() -> None:
    """A picture in a later turn, as the first question alone is sent; of a list that is sent whole it does."""
    picture = {"role": "user", "content": [{"type": "image_url"}]}

    assert row_of(
        {"messages": [USER, {"role": "assistant", "content": "4"}, picture, {"role": "assistant", "content": "A cat"}]}
    ) == Row("2+2?")
    assert (
        row_of({"messages": [USER, {"role": "assistant", "content": "4"}, picture]})
        == "holds more than text (a part of type image_url)"
    )


def test_fields_of_a_body_are_kept_as_the_scenario_says() -> None:
    """Tools and formats by themselves, limits and sampling on request."""
    body = {"messages": [USER], "tools": [{}], "response_format": {"type": "json_object"}, "max_tokens": 5, "temperature": 0.2}
    all_kept = replace(READ, keep=("tools", "response_format", "max_tokens", "sampling"))

    assert rows_of(body, READ)[1][0].fields == {"tools": [{}], "response_format": {"type": "json_object"}}  # type: ignore[union-attr]
    assert rows_of(body, all_kept)[1][0].fields == {key: body[key] for key in body if key != "messages"}  # type: ignore[union-attr]


def test_recorded_lengths_belong_to_what_was_sent() -> None:
    """Of a conversation of which only the first question is sent, its last request's usage says nothing."""
    usage = {"usage": {"prompt_tokens": 40, "completion_tokens": 3}}

    assert row_of({"messages": TALK, **usage}) == Row("Why?", messages=tuple(TALK), input_tokens=40, output_tokens=3)
    assert row_of({"messages": ANSWERED, **usage}) == Row("2+2?")


def test_a_forced_shape_takes_nothing_else() -> None:
    """A row that has the keys of another shape is counted."""
    assert rows_of({"prompt": "a", "text": "b"}, replace(READ, shape="text"))[1] == [Row("a")]
    assert rows_of({"prompt": "a"}, replace(READ, shape="turns"))[1] == "not of the shape turns"


def test_every_shape_of_a_scenario_has_its_row() -> None:
    """The names in the schema are those of the table."""
    assert set(get_args(ShapeName)) == {"auto", *BY_NAME}


@pytest.mark.parametrize(
    ("keys", "name"),
    [(["Prompt", "id"], "prompt"), (["user_prompt", "answer"], "prompt"), (["Conversations"], "sharegpt"), (["x", "y"], None)],
)
def test_the_nearest_shape_is_named_by_keys(keys: list[str], name: str | None) -> None:
    """Other letters, or a word too many."""
    found = nearest_shape(keys)

    assert (None if found is None else found.name) == name


def test_of_several_requests_in_one_value_each_may_be_none() -> None:
    """Spans of one export, bodies of one session: what is no prompt keeps its reason and its place."""
    spans = [{"attributes": SPAN}, {"attributes": {"gen_ai.operation.name": "embeddings"}}]
    bodies = [{"input": "x"}, {"messages": [USER]}]

    _, exported = rows_of({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}, READ)
    _, session = rows_of({"session_id": "s", "payloads": bodies}, READ)
    assert exported == [Row("", input_tokens=12, output_tokens=5, session="s1", made_up=True), "a span of operation embeddings"]
    assert session == ["an embeddings request is no prompt", Row("2+2?", session="s", turn=1)]


KEYS = sorted({key for shape in BY_NAME.values() for keys in shape.keys for key in keys})
INSIDE = ["role", "content", "from", "value", "key", "scopeSpans", "spans", "text", "type", "usage", "messages", "body"]
PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(["user", "chat", "[]"])
HELD = st.recursive(PLAIN, lambda held: st.lists(held) | st.dictionaries(st.sampled_from(INSIDE), held), max_leaves=12)


@settings(max_examples=120, deadline=None)
@given(st.dictionaries(st.sampled_from(KEYS), HELD, max_size=5), st.sampled_from([None, "first", "last", "each"]))
def test_whatever_stands_under_known_keys_is_requests_or_reasons(value: dict[str, Any], turns: Any) -> None:
    """Never a traceback; a request has a text, or a length to make one up to."""
    _, found = rows_of(value, replace(READ, turns=turns))

    for one in [found] if isinstance(found, str) else found:
        assert one if isinstance(one, str) else one.text.strip() or (one.made_up and one.input_tokens)
