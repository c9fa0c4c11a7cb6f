"""Later turns of a session hold its own answers, as a chat goes on; one without a text ends it."""

import json
from collections.abc import Callable

import pytest

from specbench.load.messages import RequestJob
from specbench.load.session_history import SessionHistory, json_string
from specbench.model.captures import Capture
from tests.support.captures import DONE, a_capture, delta, event, finish, role, said, thought

THIRD = RequestJob(index=2, body=b'{"messages":["q0",', behind=(b',"q1",', b',"q2"]}'))
SECOND = RequestJob(index=1, body=b'{"messages":["q0",', behind=(b',"q1"]}',))
FIRST = RequestJob(index=0, body=b'{"messages":["q0"]}', then=(SECOND, THIRD))
CALL = {"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def answer(*events: bytes) -> Capture:
    """An answer of these events, each in a read of its own."""
    return a_capture(*((float(place), one) for place, one in enumerate((*events, DONE), 1)))


@pytest.mark.parametrize(
    "text",
    ['He said "no\\yes".', "two\nlines\tand\r\n\x00\x1f", "schöne Grüße, 日本語 🙂", "</think> \u2028 {} \x7f", "  padded  "],
)
def test_a_later_turn_holds_the_words_of_the_answer(text: str) -> None:
    """Whatever stands in them, and however the events cut them."""
    history = SessionHistory(FIRST)

    assert history.goes_on(answer(role(), *map(said, text), finish()))
    assert json.loads(history.body_of(SECOND)) == {"messages": ["q0", text, "q1"]}


def test_each_turn_holds_all_answers_before_it() -> None:
    """In their order; the first turn is sent as it is."""
    history = SessionHistory(FIRST)
    first = history.body_of(FIRST)
    assert history.goes_on(answer(said("a0"), finish()))
    assert history.goes_on(answer(said("a1"), finish("length")))

    assert first == FIRST.body
    assert json.loads(history.body_of(THIRD)) == {"messages": ["q0", "a0", "q1", "a1", "q2"]}


def test_only_what_is_said_is_history() -> None:
    """Neither reasoning nor a tool call; a refusal is said."""
    history = SessionHistory(FIRST)
    assert history.goes_on(answer(thought("Let me see."), said("Yes"), delta(tool_calls=[CALL]), delta(refusal="."), finish()))

    assert json.loads(history.body_of(SECOND))["messages"][1] == "Yes."


@pytest.mark.parametrize(
    "ended",
    [
        lambda: answer(finish()),
        lambda: answer(said(" \n"), finish()),
        lambda: answer(thought("Hm."), finish("length")),
        lambda: answer(delta(tool_calls=[CALL]), finish("tool_calls")),
        lambda: answer(said("half"), b'data: {"choices":[{"index":0,"delta":{"content":"\\ud83d"}}]}\n\n', finish()),
        lambda: answer(said("half"), event({"error": {"message": "gone"}})),
        lambda: answer(said("given up"), finish("abort")),
        lambda: a_capture((1.0, said("and then"))),
        lambda: a_capture((1.0, said("and then")), problem="cut", problem_text="the block was over"),
        lambda: a_capture((1.0, b"{}"), status=500),
        lambda: a_capture(status=None, problem="connection", problem_text="refused"),
    ],
    ids=[
        *("empty", "blank", "reasoning", "call", "half surrogate", "error", "abort", "truncated", "cut", "status", "nothing"),
    ],
)
def test_an_answer_that_failed_or_has_no_text_ends_the_session(ended: Callable[[], Capture]) -> None:
    """There is nothing that its user could go on from."""
    assert not SessionHistory(FIRST).goes_on(ended())


def test_with_the_datasets_history_no_answer_matters() -> None:
    """It is not even decoded, and the next turn is sent as it was written."""
    job = RequestJob(index=0, body=b"{}", then=(RequestJob(index=1, body=b'{"messages":["q0","a","q1"]}'),))
    history = SessionHistory(job)

    assert history.goes_on(a_capture((1.0, b"{}"), status=500))
    assert history.body_of(job.then[0]) == job.then[0].body


def test_half_a_surrogate_pair_never_stops_the_sender() -> None:
    """A question mark stands for it."""
    assert json_string("a\ud83db\ude00") == b'"a?b?"'
