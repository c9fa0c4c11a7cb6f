"""Text counts under any public name and in any form, what matters little may be of any type, and what is odd is named."""

import json
from typing import Any

import pytest

from specbench.analysis.metrics.acceptance import acceptance_of
from specbench.analysis.metrics.latency import tpot
from specbench.model.records import RequestRecord
from specbench.stream.parse_stream import parse_stream
from specbench.stream.record import record_and_text
from specbench.telemetry import ENGINES
from specbench.units import ms
from tests.support.captures import ASKED, DONE, a_capture, a_record, delta, event, final_usage, finish, said
from tests.support.goldens import same_text
from tests.support.records import one_block

OPENAI = ENGINES["openai"].stream


def _reasoned(*thoughts: dict[str, Any]) -> RequestRecord:
    """Ten events of reasoning from 100 ms on, ten of the answer from 600 ms on, and a usage of twenty."""
    reads = [(100.0 + 50 * place, delta(**thoughts[place % len(thoughts)])) for place in range(10)]
    reads += [(600.0 + 50 * place, said("w ")) for place in range(10)]
    return a_record(*reads, (1051, finish() + final_usage(20) + DONE), rule=OPENAI)


DETAIL = {"type": "reasoning.text", "index": 0, "text": "w "}


@pytest.mark.parametrize(
    "thought",
    [
        {"content": "", "reasoning_details": [DETAIL]},
        {"content": "", "reasoning_details": [DETAIL], "reasoning": "w "},
        {"content": None, "reasoning_content": "w ", "reasoning": "w "},
        {"reasoning_content": [{"type": "text", "text": "w "}]},
        {"reasoning": {"content": "w "}},
        {"reasoning_text": "w "},
        {"thinking": "w "},
        {"thoughts": ["w "]},
        {"thinking_blocks": [{"type": "thinking", "thinking": "w ", "signature": "abc"}]},
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "w "}]}]},
        {"provider_specific_fields": {"reasoning_content": "w "}},
    ],
)
def test_reasoning_counts_in_every_public_form(thought: dict[str, Any]) -> None:
    """N-05: the first token at 100 ms, the answer at 600 ms, 20 events of 50 ms, each text once, and no acceptance."""
    record = _reasoned(thought)
    columns = one_block(record, window_ms=(0.0, ms(record.sent_ns) + 60_000.0))

    assert (ms(record.event_ns[0]), ms(record.first_answer_ns or 0), len(record.event_ns)) == (100, 600, 20)
    assert (record.output_tokens, record.text_chars, record.flags) == (20, 40, ("tokens_spread",))
    assert tpot(columns).values.tolist() == [pytest.approx(50.0)]
    assert acceptance_of(columns).length is None


@pytest.mark.parametrize(
    "call",
    [
        {"index": 0, "id": "call_1", "type": "function", "function": {"name": "lookup", "arguments": {"city": "X"}}},
        {"index": 0, "function": {"name": "lookup", "arguments": [1, 2]}},
        {"index": 0, "function": {"name": "lookup", "arguments": 5}},
        {"index": 0, "type": "custom", "custom": {"name": "lookup", "input": {"city": "X"}}},
        {"name": "lookup", "arguments": {"city": "X"}},
    ],
)
def test_arguments_may_be_of_any_type(call: dict[str, Any]) -> None:
    """N-07: one content event at 100 ms, nine tokens, and the odd type is named."""
    reads = (100.0, delta(tool_calls=[call])), (110.0, finish("tool_calls") + final_usage(9) + DONE)
    record, text = record_and_text(a_capture(*reads), ASKED, OPENAI)

    assert (record.outcome, record.reason, record.output_tokens) == ("ok", None, 9)
    assert ([ms(time_ns) for time_ns in record.event_ns], text.startswith("lookup")) == ([100], True)
    assert "odd_type" in record.flags


def test_the_text_of_an_object_is_its_json() -> None:
    """N-07: as JSON, in whichever of the two places a function call has."""
    by_list, by_function = (
        delta(tool_calls=[{"function": {"name": "f", "arguments": {"a": "é"}}}]),
        delta(function_call={"name": "f", "arguments": {"a": "é"}}),
    )

    assert [parse_stream(body).text for body in (by_list, by_function)] == ['f{"a": "é"}'] * 2


@pytest.mark.parametrize(
    "call",
    [
        {"index": 0, "id": "call_1", "type": "function", "function": {"name": "", "arguments": ""}},
        {"index": 0, "id": "call_1", "type": "function", "function": {"arguments": None}},
        {"index": 0, "id": "call_1", "type": "function"},
        {"index": 0, "function": {"arguments": {}}},
        None,
    ],
)
def test_a_call_without_text_is_no_token(call: dict[str, Any] | None) -> None:
    """Its id, its kind and empty arguments are not generated."""
    assert parse_stream(delta(tool_calls=[] if call is None else [call])).ends == []


@pytest.mark.parametrize(
    "odd",
    [
        {"choices": [{"index": "0", "delta": {"content": "w "}}]},
        {"choices": [{"index": 0, "delta": {"content": "w "}, "logprobs": []}]},
        {"choices": [{"index": 0, "delta": {"content": "w "}, "token_ids": "x"}]},
        {"choices": [{"index": 0, "delta": {"content": "w "}}], "usage": [], "timings": 3},
        {"choices": [{"index": 0, "delta": {"content": "w "}}], "object": 4, "x_groq": "y"},
        {"choices": [{"index": 0, "delta": {"content": "w "}}], "usage": {"completion_tokens": None, "total_tokens": {}}},
    ],
)
def test_fields_that_matter_little_may_be_of_any_type(odd: dict[str, Any]) -> None:
    """The text is kept, and the flag says that something was odd."""
    record = a_record((100, event(odd)), (150, said("w ")), (151, finish() + final_usage(2) + DONE), rule=OPENAI)

    assert (record.outcome, record.output_tokens, len(record.event_ns)) == ("ok", 2, 2)
    assert "odd_type" in record.flags


@pytest.mark.parametrize("reason", [{"type": "stop"}, True, 1])
def test_a_finish_reason_of_any_type_ends_the_answer(reason: Any) -> None:
    """It only has to be one."""
    end = event({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})

    assert a_record((100, said("a")), (140, end)).outcome == "ok"


@pytest.mark.parametrize("odd", [5, {"a": "b"}, [5]])
@pytest.mark.parametrize("place", ["content", "text"])
def test_text_of_another_type_is_never_passed_over(odd: Any, place: str) -> None:
    """What would be lost is what is measured."""
    choice = {"index": 0, "delta": {"content": odd}} if place == "content" else {"index": 0, "text": odd}
    record = a_record((100, event({"choices": [choice]}) + finish() + DONE))

    assert (record.outcome, (record.reason or "")[:26]) == ("protocol_error", "an event is not readable: ")


ENDS = [b"DONE", b'"[DONE]"', b"[done]", b"<|end|>", b"[END]", b"end of stream", b"[]", b"1"]


@pytest.mark.parametrize("mark", ENDS)
def test_an_odd_end_mark_after_a_finish_reason_is_let_pass(mark: bytes) -> None:
    """N-11: all tokens, the finish and the usage came."""
    reads = [(100.0 + 50 * place, said("w ")) for place in range(10)]
    record = a_record(*reads, (551, finish() + final_usage(10) + b"data: " + mark + b"\n\n"), rule=OPENAI)

    assert (record.outcome, record.reason, record.output_tokens) == ("ok", None, 10)
    assert record.flags == ("odd_end", "tokens_spread")


@pytest.mark.parametrize("mark", ENDS)
def test_before_a_finish_reason_it_is_no_end(mark: bytes) -> None:
    """N-11's control: nothing says that the answer is whole."""
    assert a_record((100, said("w ")), (150, b"data: " + mark + b"\n\n")).outcome == "protocol_error"


@pytest.mark.parametrize("field", [{"inner_voice": "w "}, {"analysis": [{"type": "text", "text": "w "}]}, {"x": {"y": "w "}}])
def test_text_under_an_unknown_name_is_said_and_makes_the_first_token_doubtful(field: dict[str, Any]) -> None:
    """It is no token, as it may be anything; but what a usage counts is then not known to be what was seen."""
    record = _reasoned({"content": "", **field})

    assert (ms(record.event_ns[0]), record.output_tokens) == (600, None)
    assert record.flags == ("first_token_doubtful", "unread_text", "usage_ambiguous")


def test_text_under_an_unknown_name_beside_read_text_moves_no_figure() -> None:
    """The event counts already."""
    reads = [(100.0 + 50 * place, delta(content="w ", note="w ")) for place in range(10)]
    record = a_record(*reads, (551, finish() + final_usage(10) + DONE), rule=OPENAI)

    assert (record.output_tokens, len(record.event_ns), record.flags) == (10, 10, ("tokens_spread", "unread_text"))


@pytest.mark.parametrize(
    "field",
    [
        {"role": "assistant", "name": "bot", "id": "msg_1"},
        {"provider": "acme", "response_id": "r1", "thought_signature": "abc"},
        {"inner_voice": "", "analysis": [], "x": {"y": None}, "score": 0.5, "final": True},
        {"annotations": [{"type": "url_citation", "url": "http://h"}], "citations": ["http://h"]},
        {"reasoning_details": [{"type": "reasoning.encrypted", "data": "AbC", "id": "r1", "format": "x"}]},
    ],
)
def test_what_is_about_the_text_is_no_text(field: dict[str, Any]) -> None:
    """Names, references, signatures and empty fields are no sign of a token that was missed."""
    record = a_record((50, delta(**field)), (100, said("a")), (140, said("b")), (141, finish() + final_usage(2) + DONE))

    assert (len(record.event_ns), record.output_tokens, record.flags) == (2, 2, ("tokens_spread",))


def test_an_answer_under_an_unknown_name_alone_says_where_it_is() -> None:
    """No token came, and the reason names the field."""
    record = a_record((100, delta(utterance="a")), (140, finish() + DONE))

    assert record.outcome == "empty_output"
    same_text("nothing but unread text", str(record.reason))


def test_whole_messages_in_place_of_deltas_are_said() -> None:
    """A stream of `message` objects is read as none: whether they add up or repeat is not known."""
    whole = event({"choices": [{"index": 0, "message": {"role": "assistant", "content": "a"}}]})

    assert "unread_text" in a_record((100, whole), (140, finish() + DONE)).flags


def test_the_whole_text_so_far_beside_each_delta_is_not_counted() -> None:
    """N-17: two events of a token each, and no [DONE]."""
    reads = [
        (100.0, event({"choices": [{"index": 0, "delta": {"content": "a"}, "message": {"content": "a"}}]})),
        (150.0, event({"choices": [{"index": 0, "delta": {"content": "b"}, "message": {"content": "ab"}}]})),
    ]
    record, text = record_and_text(a_capture(*reads, (151, finish() + final_usage(2))), ASKED, OPENAI)

    assert (record.outcome, text, record.output_tokens, record.flags) == ("ok", "ab", 2, ("tokens_spread",))


def test_foreign_named_events_between_tokens_are_ignored() -> None:
    """N-10: progress and the like, whatever is in them."""
    progress = b'event: progress\ndata: {"choices":[{"index":0,"delta":{"content":"zzz"}}]}\n\n'
    reads = [(100.0 + 50 * place, progress + said("w ") + b"event: ping\ndata: x\n\n") for place in range(10)]
    record = a_record(*reads, (551, finish() + final_usage(10) + DONE), rule=OPENAI)

    assert (record.outcome, record.output_tokens, len(record.event_ns), record.flags) == ("ok", 10, 10, ("tokens_spread",))


@pytest.mark.parametrize(
    "second",
    [
        event({"choices": [{"index": 1, "delta": {"content": "b"}}]}),
        event({"choices": [{"index": 0, "delta": {"content": "a"}}, {"index": 1, "delta": {"content": "b"}}]}),
        event({"choices": [{"delta": {"content": "a"}}, {"delta": {"content": "b"}}]}),
        event({"choices": [{"index": 0, "text": "a"}, {"index": 3, "text": "b"}]}),
    ],
)
def test_choices_that_were_not_asked_for_are_never_pooled(second: bytes) -> None:
    """Two answers in one stream: their tokens cannot be told apart, so the record says what it is and counts as none."""
    record = a_record((100, said("a")), (140, second), (141, finish() + final_usage(3) + DONE))

    assert (record.outcome, record.reason) == (
        "protocol_error",
        "2 choices came although one was requested; their tokens cannot be separated",
    )
    assert "several_choices" in record.flags


def test_a_single_choice_may_have_any_index() -> None:
    """Some servers count from 1."""
    body = json.dumps({"choices": [{"index": 1, "delta": {"content": "a"}, "finish_reason": "stop"}]}).encode()

    assert a_record((100, b"data: " + body + b"\n\n")).outcome == "ok"
