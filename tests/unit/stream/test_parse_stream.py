"""What a stream said, chunk by chunk: the cases C of the field, each with the values that a reader of the record needs."""

from collections.abc import Callable, Sequence

import pytest

from specbench.analysis.arrays.cell_arrays import CellArrays
from specbench.analysis.arrays.samples import Samples
from specbench.analysis.metrics.inter_token import chunk_gap, itl
from specbench.analysis.metrics.latency import classic_tpot, e2e, tpot, ttft
from specbench.model.records import RequestRecord
from specbench.stream.parse_stream import parse_stream
from specbench.units import ms
from tests.support.captures import (
    DONE,
    a_record,
    delta,
    event,
    final_usage,
    finish,
    gaps_ms,
    role,
    said,
    text_of,
    thought,
    times_ms,
)
from tests.support.records import one_block


def _values(source: Callable[[CellArrays], Samples], record: RequestRecord) -> list[float]:
    return [round(value, 4) for value in source(one_block(record)).values.tolist()]


@pytest.mark.parametrize("opening", [role(), delta(role="assistant", content=None)])
def test_an_event_that_names_the_role_is_no_token(opening: bytes) -> None:
    """C-01: the first token came at 420 ms, not with the role at 30 ms."""
    end = [(461.0, finish()), (462.0, final_usage(2) + DONE)]
    record = a_record((30, opening), (420, said("Hi")), (460, said(" there")), *end)

    assert (_values(ttft, record), gaps_ms(record), _values(classic_tpot, record), _values(e2e, record)) == (
        [420],
        [40],
        [40],
        [460],
    )


@pytest.mark.parametrize("key", ["reasoning", "reasoning_content"])
def test_reasoning_is_tokens_and_the_answer_starts_later(key: str) -> None:
    """C-02: the first token is one of the reasoning; the first of the answer has its own field."""
    spoken = [(at, event({"choices": [{"index": 0, "delta": {key: "x"}}]})) for at in (280.0, 300.0, 320.0)]
    record = a_record(*spoken, (360, said("d")), (380, said("e")), (381, finish() + final_usage(5) + DONE))

    assert record.first_answer_ns is not None
    assert (_values(ttft, record), ms(record.first_answer_ns)) == ([280], 360)
    assert (gaps_ms(record), _values(classic_tpot, record), record.output_tokens) == ([20, 20, 40, 20], [25], 5)


def test_several_tokens_per_event_by_running_usage() -> None:
    """C-03: chunks of 1, 4, 3 and 4 tokens every 30 ms: 8.18 ms a token; per chunk it would be 30."""
    chunks = [(200.0, said("a", 1)), (230.0, said("bcde", 5)), (260.0, said("fgh", 8)), (290.0, said("ijkl", 12))]
    record = a_record(*chunks, (291, finish("length") + DONE))

    assert (record.event_tokens, record.token_source, record.output_tokens) == ((1, 4, 3, 4), "running_usage", 12)
    assert (_values(chunk_gap, record), _values(tpot, record)) == ([30, 30, 30], [8.1818])
    assert sorted(_values(itl, record)) == [7.5] * 8 + [10.0] * 3


def test_a_first_chunk_of_many_tokens() -> None:
    """C-04: by running usage the first four tokens leave the denominator: 10 ms a token."""
    chunks = [(500.0 + 40 * place, said("abcd", 4 * place + 4)) for place in range(4)]
    record = a_record(*chunks, (621, finish("length") + DONE))

    assert _values(tpot, record) == [10.0]


def test_a_first_chunk_of_unknown_size() -> None:
    """C-04 with one final usage only: 120 ÷ 15 = 8.0, as one token is assumed at the first stamp, and the record says so."""
    chunks = [(500.0 + 40 * place, said("abcd")) for place in range(4)]
    record = a_record(*chunks, (621, finish("length") + final_usage(16) + DONE))

    assert (_values(tpot, record), record.token_source) == ([8.0], "final_usage_spread")
    assert (record.event_tokens, record.flags) == ((1, 5, 5, 5), ("tokens_spread",))


def test_tokens_at_the_first_stamp_leave_the_denominator() -> None:
    """S-02: four events in the first read, four in the second: 60 ÷ (8 − 4) = 15, classic 60 ÷ 7."""
    first, second = (b"".join(map(said, four)) for four in ("ABCD", "EFGH"))
    record = a_record((100, role() + first), (160, second + finish() + final_usage(8) + DONE))

    assert (_values(tpot, record), _values(classic_tpot, record)) == ([15], [8.5714])


def test_usage_without_choices_is_no_token() -> None:
    """C-05: the last token came at 700 ms, however late the usage was."""
    record = a_record(
        (660, said("a")), (700, said("b")), (701, finish()), (900, final_usage(7)), (901, DONE), end_ns=5_901_000_000
    )

    assert (record.output_tokens, _values(e2e, record), ms(record.end_ns)) == (7, [700], 901)


def test_running_usage_is_cumulative() -> None:
    """C-06: 0, 1, 4, 5, 9 and a final 9 are nine tokens: 1, 3, 1 and 4."""
    opening = delta(role="assistant", content="", usage=0)
    chunks = [(100.0 + count, said("x", count)) for count in (1, 4, 5, 9)]
    record = a_record((90, opening), *chunks, (120, finish() + final_usage(9) + DONE))

    assert (record.output_tokens, record.event_tokens) == (9, (1, 3, 1, 4))


def test_usage_that_falls_is_flagged() -> None:
    """C-06: the highest count holds."""
    record = a_record((100, said("x", 3)), (110, said("x", 2)), (120, said("x", 5)), (130, finish() + final_usage(5) + DONE))

    assert (record.event_tokens, record.output_tokens) == ((3, 0, 2), 5)
    assert "usage_fell" in record.flags


NO_USAGE = event({"choices": [], "usage": None})


@pytest.mark.parametrize("tail", [b"", NO_USAGE, final_usage(0)])
def test_without_usage_events_are_counted_and_that_is_said(tail: bytes) -> None:
    """C-07: missing, null or zero although text came: three events are a guess, never the server's count."""
    chunks = [(100.0, said("one two three")), (120.0, said(" four five")), (140.0, said(" six seven"))]
    record = a_record(*chunks, (141, finish() + tail + DONE))

    assert (record.outcome, record.token_source, record.output_tokens) == ("ok", "events", 3)
    assert "tokens_guessed" in record.flags


def test_a_token_without_text_counts_where_usage_rises() -> None:
    """C-08: pieces of a character that is not whole yet are tokens of their own."""
    chunks = [(100.0, said("", 1)), (120.0, said("", 2)), (140.0, said("日", 3))]
    record = a_record(*chunks, (141, finish() + final_usage(3) + DONE))

    assert (_values(ttft, record), record.output_tokens, _values(classic_tpot, record)) == ([100], 3, [20])


def test_a_token_without_text_or_usage_cannot_be_seen() -> None:
    """C-08: all three tokens then count as coming with the visible text, and there is no time per token."""
    chunks = [(100.0, said("")), (120.0, said("")), (140.0, said("日"))]
    record = a_record(*chunks, (141, finish() + final_usage(3) + DONE))

    assert (_values(ttft, record), record.output_tokens, record.event_tokens, _values(tpot, record)) == ([140], 3, (3,), [])
    assert text_of(*chunks) == "日"


@pytest.mark.parametrize("tail", [b"", DONE])
def test_an_error_in_the_stream_is_a_failure(tail: bytes) -> None:
    """C-09: whether [DONE] follows or not; what came before is kept."""
    error = event({"error": {"message": "engine stopped", "code": 500}})
    record = a_record((100, said("a")), (150, said("b")), (160, error + tail))

    assert (record.outcome, record.reason, times_ms(record)) == ("in_band_error", "500: engine stopped", [100, 150])


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (event({"error": {"message": "m", "http_status_code": 422}}), "422: m"),
        (event({"error": "overloaded", "error_type": "overloaded"}), "overloaded"),
        (event({"object": "error", "message": "m", "code": 500}), "500: m"),
        (b'event: error\ndata: {"message":"m"}\n\n', "m"),
        (b"event: error\ndata: gone\n\n", "gone"),
        (b"event: error\ndata: null\n\n", "an error without a word"),
        (b'event: error\ndata: ""\n\n', "an error without a word"),
    ],
)
def test_every_engines_error_is_one(error: bytes, reason: str) -> None:
    """The shapes of TGI, transformers, TensorRT-LLM, and events that are named so."""
    record = a_record((100, said("a") + error))

    assert (record.outcome, record.reason) == ("in_band_error", reason)


def test_one_token_has_no_time_per_token() -> None:
    """C-10: first is last."""
    record = a_record((210, said("Yes")), (211, finish() + final_usage(1) + DONE))

    assert (_values(ttft, record), _values(e2e, record), _values(tpot, record), _values(itl, record)) == ([210], [210], [], [])


def test_no_token_is_an_outcome_of_its_own() -> None:
    """C-11: no first token, so no time to it."""
    record = a_record((100, role() + finish() + final_usage(0) + DONE))

    assert (record.outcome, record.event_ns, record.token_source) == ("empty_output", (), None)


def test_tool_calls_are_tokens() -> None:
    """C-14: name and arguments, in fragments."""
    names = [("lookup", ""), (None, '{"c'), (None, 'ity":'), (None, '"X"}')]
    calls = [
        (300.0 + 20 * place, delta(tool_calls=[{"index": 0, "function": {"name": name, "arguments": text}}]))
        for place, (name, text) in enumerate(names)
    ]
    record = a_record(*calls, (361, finish("tool_calls") + final_usage(9) + DONE))

    assert (record.outcome, _values(ttft, record), _values(e2e, record), _values(tpot, record)) == ("ok", [300], [360], [7.5])
    assert text_of(*calls) == 'lookup{"city":"X"}'


def test_a_clean_end_without_any_sign_of_it_is_truncated() -> None:
    """C-15: no finish reason, no usage, no [DONE]."""
    record = a_record((100, said("a")), (140, said("b")))

    assert (record.outcome, times_ms(record)) == ("truncated_stream", [100, 140])


def test_a_finish_reason_is_a_sign_of_the_end() -> None:
    """Engines that send no [DONE] end with it."""
    assert a_record((100, said("a")), (140, finish())).outcome == "ok"


def test_an_empty_finish_reason_is_none() -> None:
    """SGLang 0.4 and Ollama send "" in every chunk: no end before the real one, and none that replaces it."""
    spoken = [(100.0, delta(content="a", finish="")), (140.0, delta(content="b", finish="", usage=2))]
    cut, whole = a_record(*spoken), a_record(*spoken, (150, finish("length")), (160, delta(finish="") + DONE))

    assert (cut.outcome, cut.finish_reason) == ("truncated_stream", None)
    assert (whole.outcome, whole.finish_reason) == ("ok", "length")


@pytest.mark.parametrize("reason", ["abort", "error", "repetition"])
def test_an_engine_that_gave_up_says_so_in_the_finish_reason(reason: str) -> None:
    """That is a failure under 200."""
    assert a_record((100, said("a")), (140, finish(reason) + DONE)).outcome == "in_band_error"


def test_completions_and_native_routes_carry_text_too() -> None:
    """`text` on the completions route; `content`, `tokens` and `stop` on llama.cpp's."""
    completion = event({"object": "text_completion", "choices": [{"index": 0, "text": " a", "finish_reason": None}]})
    native = event({"index": 0, "content": " b", "tokens": [7], "stop": False, "tokens_predicted": 1})
    last = event({"content": "", "tokens": [], "stop": True, "stop_type": "limit", "tokens_predicted": 1, "tokens_evaluated": 19})

    assert parse_stream(completion).text == " a"
    told = parse_stream(native + last)
    assert (told.text, told.ids, told.finish_reason, told.output_tokens, told.prompt_tokens) == (" b", [1], "limit", 1, 19)


def test_log_probabilities_count_tokens() -> None:
    """One entry per token, where nothing better is told."""
    entries = {"content": [{"token": "a"}, {"token": "b"}]}
    body = event({"choices": [{"index": 0, "delta": {"content": "ab"}, "logprobs": entries}]})
    record = a_record((100, body), (120, body), (121, finish() + final_usage(4) + DONE))

    assert (record.event_tokens, record.token_source) == ((2, 2), "logprobs")


def test_token_ids_beat_everything() -> None:
    """The ids in an event are its tokens, also where there is no text."""
    chunks = [
        (100.0 + 10 * place, event({"choices": [{"index": 0, "delta": {"content": text}, "token_ids": ids}]}))
        for place, (text, ids) in enumerate([("a", [1]), ("", [2]), ("bc", [3, 4, 5])])
    ]
    record = a_record(*chunks, (131, finish() + final_usage(5) + DONE))

    assert (record.event_tokens, record.token_source, record.flags) == ((1, 1, 3), "token_ids", ())


def test_named_extensions_are_no_tokens() -> None:
    """An event of another name is somebody else's, whatever is in it."""
    assert parse_stream(b"event: sglext_ids\n" + said("x")).text == ""


def test_an_event_of_another_shape_is_not_passed_over() -> None:
    """Text that is no text would be lost silently; the request fails with the place."""
    record = a_record((100, event({"choices": [{"index": 0, "delta": {"content": 5}}]}) + finish() + DONE))

    assert record.outcome == "protocol_error"
    assert "$.choices[0].delta.content" in (record.reason or "")


def test_brackets_by_the_thousand_are_an_event_that_cannot_be_read() -> None:
    """The request fails, and not the run."""
    record = a_record((100, b'data: {"choices": ' + b"[" * 5000 + b"]" * 5000 + b"}\n\n" + finish() + DONE))

    assert record.outcome == "protocol_error"
    assert "an event is not readable: " in (record.reason or "")


def test_thoughts_alone_are_an_output_without_an_answer() -> None:
    """A limit reached while thinking: tokens, but no first answer token."""
    record = a_record((100, thought("hm")), (110, finish("length") + final_usage(1) + DONE))

    assert (record.outcome, record.first_answer_ns) == ("ok", None)


@pytest.mark.parametrize("error", ["null", '""', "false", "0", "{}"])
def test_an_error_that_says_nothing_is_none(error: str) -> None:
    """Foundry Local and others send one in every event."""
    chunk = said("a").replace(b'{"choices"', b'{"error":%s,"choices"' % error.encode())

    assert (a_record((100, chunk + finish() + DONE)).outcome, text_of((100, chunk))) == ("ok", "a")


@pytest.mark.parametrize("count", [-5, 40_000_000_000, 10**24, 10_000_001, 1.5])
def test_a_count_that_no_answer_can_have_is_not_told(count: float) -> None:
    """The answer stays good, its tokens come from the next source, and a flag says why."""
    usage = {"prompt_tokens": count, "completion_tokens": count, "prompt_tokens_details": {"cached_tokens": count}}
    record = a_record((100, said("a")), (140, said("b")), (150, finish() + event({"choices": [], "usage": usage}) + DONE))

    assert (record.outcome, record.output_tokens, record.event_tokens) == ("ok", 2, (1, 1))
    assert (record.prompt_tokens, record.cached_tokens, record.token_source) == (None, None, "events")
    assert record.flags == ("implausible_count", "tokens_guessed")


@pytest.mark.parametrize("count", [-1, 10**24])
def test_nor_is_one_of_llamacpp_s(count: int) -> None:
    """Its timings and its native route count by other names."""
    timings = event({"choices": [], "timings": {"predicted_n": count, "cache_n": count}})
    native = event({"content": " b", "stop": True, "tokens_predicted": count, "tokens_evaluated": count})
    told = parse_stream(timings), parse_stream(native)

    assert [(one.output_tokens, one.prompt_tokens, one.cached_tokens) for one in told] == [(None, None, None)] * 2
    assert [one.flags for one in told] == [{"implausible_count"}] * 2


def test_the_largest_count_is_believed() -> None:
    """Ten million tokens are the longest context that any model claims."""
    assert parse_stream(final_usage(10_000_000)).output_tokens == 10_000_000


def test_a_whole_number_may_be_written_as_a_float() -> None:
    """Gateways in languages with one kind of number do."""
    record = a_record((100, said("abc")), (110, finish() + event({"choices": [], "usage": {"completion_tokens": 3.0}}) + DONE))

    assert (record.outcome, record.output_tokens, record.flags) == ("ok", 3, ("tokens_spread",))


def test_a_choice_may_have_no_index() -> None:
    """None is not a second choice."""
    record = a_record((100, event({"choices": [{"index": None, "delta": {"content": "a"}}]}) + finish() + DONE))

    assert (record.outcome, record.flags) == ("ok", ("tokens_guessed",))


def test_content_in_parts_is_the_text_of_its_parts() -> None:
    """As Mistral's reasoning models write it: thoughts are reasoning, a reference has no text."""
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}, {"type": "text", "text": "."}]}
    chunks = [
        (100.0, delta(content=[thinking])),
        (140.0, delta(content=[{"type": "text", "text": "An"}, {"type": "reference", "reference_ids": [1]}])),
        (180.0, said("swer")),
    ]
    record = a_record(*chunks, (190, finish() + DONE))

    assert (record.outcome, times_ms(record), text_of(*chunks)) == ("ok", [100, 140, 180], "hm.Answer")
    assert record.first_answer_ns == 140_000_000


def test_an_event_of_null_says_nothing() -> None:
    """It is passed over, as it has no text that could be lost."""
    record = a_record((100, said("a") + b"data: null\n\n" + finish() + DONE))

    assert (record.outcome, record.text_chars) == ("ok", 1)


def test_half_a_surrogate_pair_is_not_called_truncated() -> None:
    """It cannot be text; the stream is whole all the same."""
    record = a_record((100, event({"choices": [{"delta": {"content": "x"}}]}).replace(b"x", b"\\ud800") + finish() + DONE))

    assert (record.outcome, record.reason) == (
        "protocol_error",
        "an event is not readable: an escape is half of a surrogate pair",
    )


@pytest.mark.parametrize("depths", [(100, 500), range(850, 1_000), (1_000, 100_000)])
def test_an_error_nested_without_end_is_one(depths: Sequence[int]) -> None:
    """Also at the depths at which JSON can still be read and no longer be shown."""
    deep = [b"[" * depth + b"]" * depth for depth in depths]
    named = [a_record((100, b"event: error\ndata: " + data + b"\n\n")).outcome for data in deep]
    inside = [a_record((100, b'data: {"error":{"message":' + data + b"}}\n\n")).outcome for data in deep]

    assert set(named) == {"in_band_error"}
    assert set(inside) <= {"in_band_error", "protocol_error"}


def test_who_has_other_work_is_let_go_again_and_again() -> None:
    """Each 32 events, and what is read is the same."""
    body, breaks = b"".join([said("a")] * 100) + DONE, []
    whole = parse_stream(body, between=lambda: breaks.append(1))

    assert (len(breaks), whole.text) == (3, parse_stream(body).text)
