"""What a stream brought beside its times: tool calls put together, the answer alone, token ids where all events tell them."""

from typing import Any

import pytest

from specbench.model.answers.kept_pairs import GeneratedAnswer
from specbench.stream.record import record_and_answer
from tests.support.captures import ASKED, BY_EVENT, DONE, a_capture, delta, event, final_usage, finish, role, said, thought


def generated(*events: bytes, tokens: int = 9) -> GeneratedAnswer:
    """What these events brought."""
    reads = [(100.0 + 10 * place, one) for place, one in enumerate(events)]
    return record_and_answer(a_capture(*reads, (500, finish() + final_usage(tokens) + DONE)), ASKED, BY_EVENT)[1]


def call(index: Any = 0, name: str | None = None, arguments: Any = "", identity: str | None = None) -> bytes:
    """One fragment of a tool call."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    place = {} if index is None else {"index": index}
    return delta(tool_calls=[{**place, **({} if identity is None else {"id": identity}), "function": function}])


def calls(*events: bytes) -> list[tuple[str, str]]:
    """The calls of these events."""
    return [(one.name, one.arguments) for one in generated(*events).tool_calls]


@pytest.mark.parametrize(
    ("fragments", "expected"),
    [
        ((call(0, "add", "", "a"), call(0, None, '{"a"'), call(0, None, ": 1}")), [("add", '{"a": 1}')]),
        ((call(0, "add", "{}", "a"), call(1, "now", "", "b"), call(1, None, "{}")), [("add", "{}"), ("now", "{}")]),
        (
            (call(0, "add", "{", "a"), call(1, "now", "{", "b"), call(0, None, "}"), call(1, None, "}")),
            [("add", "{}"), ("now", "{}")],
        ),
        ((call(0, "add", "{}", "a"), call(0, "add", "{}", "b")), [("add", "{}"), ("add", "{}")]),
        ((call(0, "add", "{", "a"), call(0, "add", "}", "a")), [("add", "{}")]),
        ((call(None, "add", "{"), call(None, None, "}")), [("add", "{}")]),
        ((call(None, "add", "{}"), call(None, "now", "{}")), [("add", "{}"), ("now", "{}")]),
        ((call(0, "add", {"a": 1}, "a"),), [("add", '{"a": 1}')]),
        ((call(0, "add", {"a": 1}, "a"), call(1, "now", {"b": 2}, "b")), [("add", '{"a": 1}'), ("now", '{"b": 2}')]),
        ((call(0, "ad", "", "a"), call(0, "d", "{}")), [("add", "{}")]),
        ((delta(function_call={"name": "add", "arguments": "{"}), delta(function_call={"arguments": "}"})), [("add", "{}")]),
    ],
    ids=lambda value: str(len(value)),
)
def test_fragments_are_joined(fragments: tuple[bytes, ...], expected: list[tuple[str, str]]) -> None:
    """By index or by order, whether a server repeats names, numbers all calls 0, sends objects, or is of the old form."""
    assert calls(*fragments) == expected


def test_the_answer_is_apart_from_reasoning_and_calls() -> None:
    """The text holds all in order, the content the answer alone."""
    answer = generated(role(), thought("Hm. "), said("Yes"), said("."), call(0, "add", "{}", "a"))

    assert answer.text == "Hm. Yes.add{}"
    assert answer.content == "Yes."
    assert answer.finish_reason == "stop"
    assert answer.tokens == 9


def chunk(text: str, ids: list[Any] | None, prompt: list[Any] | None = None, key: str = "token_ids") -> bytes:
    """An event of the completions route with token ids."""
    choice: dict[str, Any] = {"index": 0, "text": text, "finish_reason": None, key: ids}
    return event({"choices": [{**choice, **({} if prompt is None else {"prompt_token_ids": prompt})}]})


def test_ids_of_all_events_are_the_answers() -> None:
    """In order, with those of the prompt from the first event that tells them."""
    answer = generated(chunk("a", [5], [1, 2]), chunk("bc", [6, 7]), chunk("", [8]), tokens=4)

    assert (answer.token_ids, answer.prompt_token_ids, answer.tokens) == ((5, 6, 7, 8), (1, 2), 4)
    assert generated(chunk("a", [5], key="output_ids")).token_ids == (5,)


@pytest.mark.parametrize("ids", [None, [None], ["7"], [-1]], ids=str)
def test_ids_that_are_not_all_told_are_none(ids: list[Any] | None) -> None:
    """One event without, or with what is no id: the answer has only its text, and the server's count of tokens."""
    answer = generated(chunk("a", [5]), chunk("b", ids), tokens=2)

    assert (answer.text, answer.token_ids, answer.tokens) == ("ab", None, 2)


def test_a_chat_tells_its_prompt_beside_the_choices() -> None:
    """As vLLM does, in the first event."""
    first = event({"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}], "prompt_token_ids": [3, 4]})

    assert generated(first, said("a")).prompt_token_ids == (3, 4)
