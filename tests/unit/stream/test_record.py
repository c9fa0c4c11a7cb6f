"""A capture becomes a record with the right times, counts and outcome: framing cases S of the field, and the laws of time."""

import gzip
import json
import zlib
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specbench.credentials import Secrets
from specbench.model.captures import Capture, TimedRead
from specbench.model.records import RequestRecord, StreamFormat
from specbench.stream.decoded_body import LARGEST_BODY
from specbench.stream.record import record_and_text, record_of
from specbench.units import ns_of_ms
from tests.support.captures import (
    ASKED,
    BY_BURST,
    BY_EVENT,
    DONE,
    SENT_NS,
    a_capture,
    a_record,
    event,
    final_usage,
    finish,
    gaps_ms,
    role,
    said,
    text_of,
    times_ms,
)


def test_keep_alive_comments_are_no_tokens() -> None:
    """S-01: comments during a long prefill move neither the first token nor any count."""
    record = a_record(
        (0, b"id: 7\n" + role()),
        (250, b":\n\n"),
        (500, b": keep-alive\n\n"),
        (900, said("A")),
        (940, said("B")),
        (980, said("C")),
        (981, finish("length") + final_usage(3) + DONE),
    )

    assert (record.outcome, record.reason, record.output_tokens) == ("ok", None, 3)
    assert times_ms(record) == [900, 940, 980]


def test_several_events_in_one_read_share_its_stamp() -> None:
    """S-02: gaps of zero are kept, and of steps under one stamp only the last is timed."""
    first = (100.0, role() + said("A") + said("B"))
    second = (160.0, said("C") + said("D") + finish("length") + final_usage(4) + DONE)
    record = a_record(first, second)

    assert (record.output_tokens, text_of(first, second)) == (4, "ABCD")
    assert times_ms(record) == [100, 100, 160, 160]
    assert gaps_ms(record) == [0, 60, 0]
    assert record.censored == (0, 2)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_an_event_counts_when_it_is_whole(end: str) -> None:
    """S-03: the first token's time is that of the read that completed its event, not of its first byte."""
    wire = (said("hello") + said(" you") + final_usage(2) + DONE).replace(b"\n", end.encode())
    one, two = wire.index(b"lo"), wire.index(b"ontent", wire.index(b"you") - 20)
    reads = [(100.0, wire[:one]), (140.0, wire[one:two]), (180.0, wire[two:])]
    record = a_record(*reads)

    assert times_ms(record) == [140, 180]
    assert text_of(*reads) == "hello you"


def _read_with_first(at_ms: float, first_ms: float, data: bytes) -> TimedRead:
    return TimedRead(SENT_NS + ns_of_ms(at_ms), SENT_NS + ns_of_ms(at_ms) + 1, data, SENT_NS + ns_of_ms(first_ms))


def test_the_first_of_several_events_has_its_own_time_where_it_is_known() -> None:
    """An endpoint that catches up sends two steps at once: both are timed, and nothing is censored."""
    late = _read_with_first(125, 124, said("b") + said("c"))
    frames = (*a_capture((100, said("a"))).frames, late, *a_capture((130, finish() + DONE)).frames)
    record = a_record(frames=frames)

    assert (times_ms(record), record.censored) == ([100, 124, 125], ())


@pytest.mark.parametrize(
    ("data", "times"),
    [
        (said("b"), [125]),  # alone it has the stamp, which is exact
        (role() + said("b") + said("c"), [125, 125]),  # what came first was no token
        (said("b") + said("c") + said("d"), [124, 125, 125]),  # of those in the middle nothing is known
    ],
)
def test_only_what_came_first_is_timed_so(data: bytes, times: list[float]) -> None:
    """And only where something else came on top of it."""
    record = a_record(frames=(_read_with_first(125, 124, data),))

    assert times_ms(record) == times
    assert len(record.censored) == sum(times[place] == times[place + 1] for place in range(len(times) - 1))


def test_a_cut_between_cr_and_lf_makes_no_event_of_its_own() -> None:
    """S-03: CR ends the blank line; the LF in the next read belongs to it."""
    wire = said("a").replace(b"\n", b"\r\n")
    rest = (said("b") + finish() + DONE).replace(b"\n", b"\r\n")

    assert times_ms(a_record((100, wire[:-1]), (140, wire[-1:] + rest))) == [100, 140]


@pytest.mark.parametrize(("text", "cut"), [("日", 2), ("🎉", 1)])
def test_a_character_may_be_cut(text: str, cut: int) -> None:
    """S-04: bytes of one character in two reads, or one byte a read, give the character and no replacement."""
    wire = said(text) + finish() + DONE
    at = wire.index(text.encode()) + cut

    assert text_of((100, wire[:at]), (110, wire[at:])) == text
    assert text_of(*[(100 + place, bytes([byte])) for place, byte in enumerate(wire)]) == text


def test_separators_of_unicode_are_text() -> None:
    """S-05: three events, whatever the header says of a character set."""
    texts = ["a\u2028b", "\u0085", "✅"]
    reads = [(100.0 + place, said(text)) for place, text in enumerate(texts)]
    record = a_record(*reads, (110, finish() + DONE), headers={"content-type": "text/event-stream; charset=latin-1"})

    assert len(record.event_ns) == 3
    assert text_of(*reads) == "".join(texts)


@pytest.mark.parametrize(("mark", "done"), [(b"data:", b"data:[DONE]\n\n"), (b"data:  ", b"data:  [DONE] \n\n")])
def test_spaces_around_the_payload_do_not_matter(mark: bytes, done: bytes) -> None:
    """S-06: no space, two spaces, a trailing space: the terminator is recognised and nothing breaks."""
    record = a_record((100, said("x").replace(b"data: ", mark)), (120, finish().replace(b"data: ", mark) + done))

    assert (record.outcome, record.text_chars) == ("ok", 1)


def test_a_stream_may_end_in_the_middle_of_an_event() -> None:
    """S-07: a whole line of JSON counts although its blank line is missing; the finish reason makes the answer complete."""
    usage = final_usage(2).rstrip(b"\n") + b"\n"
    record = a_record((100, said("A")), (140, said("B")), (141, finish() + usage))

    assert (record.outcome, record.output_tokens) == ("ok", 2)
    assert "unterminated" in record.flags


def test_a_cut_inside_the_json_is_a_truncated_stream() -> None:
    """S-07, the other half: half a usage object is no usage."""
    record = a_record((100, said("A")), (141, finish() + final_usage(2)[:-12]))

    assert record.outcome == "truncated_stream"


def test_one_document_is_no_stream() -> None:
    """S-08 A: a whole completion where a stream was asked for has no times at all."""
    whole = {"object": "chat.completion", "choices": [{"message": {"content": "hi"}}], "usage": {"completion_tokens": 12}}
    record = a_record((800, json.dumps(whole).encode()), headers={"content-type": "application/json"})

    assert (record.outcome, record.event_ns, record.token_source) == ("not_streamed", (), None)


def test_an_error_document_under_200_is_a_failure() -> None:
    """S-08 B: the code inside counts."""
    body = b'{"error":{"message":"no worker","code":503}}'
    record = a_record((80, body), headers={"content-type": "application/json"})

    assert (record.outcome, record.reason) == ("in_band_error", "503: no worker")


def test_a_page_of_html_is_no_stream() -> None:
    """A gateway's greeting under 200 is not an answer."""
    assert a_record((80, b"<html>hello</html>"), headers={"content-type": "text/html"}).outcome == "not_streamed"


def test_a_compressed_stream_counts_from_what_can_be_decoded() -> None:
    """S-09: headers and the first compressed bytes are no token; the first read that yields an event is."""
    wire = role() + b"".join(said("x") for _ in range(20)) + finish() + final_usage(20) + DONE
    packed = gzip.compress(wire)
    record = a_record(
        (165, packed[:12]), (370, packed[12:]), headers={"content-type": "text/event-stream", "content-encoding": "gzip"}
    )

    assert (record.outcome, record.output_tokens, times_ms(record)[0]) == ("ok", 20, 370)
    assert "compressed_stream" in record.flags


WORDS = [*[(100.0 + 50 * number, said("w ")) for number in range(10)], (560.0, finish() + final_usage(10)), (561.0, DONE)]


def _coded(coding: str, *reads: tuple[float, bytes]) -> RequestRecord:
    return a_record(*reads, headers={"content-type": "text/event-stream", "content-encoding": coding})


def _flushed(wbits: int) -> list[tuple[float, bytes]]:
    packer = zlib.compressobj(wbits=wbits)
    return [(at, packer.compress(data) + packer.flush(zlib.Z_SYNC_FLUSH)) for at, data in WORDS]


@pytest.mark.parametrize(
    ("coding", "reads", "flag"),
    [
        ("none", WORDS, "unknown_encoding"),
        ("utf-8", [(90.0, b": ready\n\n"), *WORDS], "unknown_encoding"),
        ("gzip", [(90.0, b"\xef\xbb\xbf"), *WORDS], "unknown_encoding"),
        ("deflate", [(80.0, b"\n"), (90.0, b"ev"), (91.0, b"ent: message\n"), *WORDS], "unknown_encoding"),
        ("gzip", [(at, gzip.compress(data)) for at, data in WORDS], "compressed_stream"),
        ("gzip", [(at, gzip.compress(data) + b"\0\0") for at, data in WORDS], "compressed_stream"),
        ("gzip", _flushed(31), "compressed_stream"),
        ("deflate", _flushed(15), "compressed_stream"),
        ("deflate", _flushed(-15), "compressed_stream"),
        ("none", _flushed(31), "compressed_stream"),
        ("identity, x-gzip", _flushed(31), "compressed_stream"),
    ],
)
def test_the_bytes_decide_what_a_body_is_coded_in(coding: str, reads: list[tuple[float, bytes]], flag: str) -> None:
    """N-01, N-02: plain under any name, members of gzip, deflate without its header: ten events at their own times."""
    record = _coded(coding, *reads)

    assert (record.outcome, record.output_tokens, times_ms(record)[0], gaps_ms(record)) == ("ok", 10, 100, [50] * 9)
    assert {"unknown_encoding", "compressed_stream"} & set(record.flags) == {flag}


def test_members_are_found_wherever_reads_cut_them() -> None:
    """Every byte a read of its own."""
    packed = b"".join(gzip.compress(data) for _, data in WORDS)
    record = _coded("gzip", *[(float(place), packed[place : place + 1]) for place in range(len(packed))])

    assert (record.outcome, len(record.event_ns), record.output_tokens) == ("ok", 10, 10)


def test_what_stands_behind_a_member_and_is_none_is_no_answer() -> None:
    """Nothing is dropped in silence; behind the end mark nothing matters."""
    reads = [(at, gzip.compress(data)) for at, data in WORDS]
    before, behind = _coded("gzip", *reads[:4], (300.0, b"data: x")), _coded("gzip", *reads, (600.0, b"data: x"))

    assert (before.outcome, before.reason) == (
        "protocol_error",
        "content encoding gzip: 7 bytes behind its end are no further member",
    )
    assert (behind.outcome, behind.output_tokens) == ("ok", 10)


def test_a_bomb_is_named_by_what_it_holds() -> None:
    """A thousandth of it came over the wire."""
    packed = gzip.compress(said("a") * (LARGEST_BODY // 80))
    record = _coded("gzip", (100.0, packed))

    assert len(packed) < LARGEST_BODY / 100
    assert (record.outcome, record.reason) == (
        "protocol_error",
        f"an answer of more than {LARGEST_BODY} bytes once its gzip is undone",
    )


@pytest.mark.parametrize("status", [201, 202, 203, 206, 299])
def test_any_success_is_one(status: int) -> None:
    """Flagged where it is not 200."""
    record = a_record(*WORDS, status=status)

    assert (record.outcome, record.output_tokens, "other_2xx" in record.flags) == ("ok", 10, True)


@pytest.mark.parametrize(
    ("status", "outcome"), [(204, "http_error"), (205, "http_error"), (302, "http_error"), (500, "http_error")]
)
def test_what_is_no_success_is_none(status: int, outcome: str) -> None:
    """Nor is one that has no body."""
    assert a_record(*WORDS, status=status).outcome == outcome


def test_an_error_under_an_unknown_coding_is_told() -> None:
    """The status counts before the coding, and its words are read."""
    record = a_record((5.0, b'{"error": "busy"}'), status=503, headers={"content-encoding": "none"})

    assert (record.outcome, record.reason) == ("http_error", 'HTTP 503: {"error": "busy"}')


def test_what_follows_the_end_mark_is_no_part_of_the_answer() -> None:
    """More text, another usage, pings: flagged, in the same read or a later one."""
    for more in (said("more") + final_usage(99), b": ping\n\n", b"garbage"):
        together = a_record(*WORDS[:-1], (561.0, DONE + more))
        later = a_record(*WORDS, (900.0, more))

        for record in (together, later):
            assert (record.outcome, record.output_tokens, record.text_chars) == ("ok", 10, 20)
            assert "data_after_done" in record.flags
    assert "data_after_done" not in a_record(*WORDS).flags
    assert "data_after_done" in a_record(*WORDS, data_after_end=True).flags


@pytest.mark.parametrize(
    ("encoding", "body"), [("br", b"\x0b\x00"), ("gzip", b"not gzip at all"), ("deflate", zlib.compress(b"x")[:1] + b"\xff\xff")]
)
def test_an_encoding_that_cannot_be_undone_is_a_failure(encoding: str, body: bytes) -> None:
    """What was not asked for, or is broken, is named."""
    record = a_record((100, body), headers={"content-type": "text/event-stream", "content-encoding": encoding})

    assert record.outcome == "protocol_error"
    assert encoding in (record.reason or "")


def test_a_proxy_that_releases_all_at_once_is_flagged() -> None:
    """S-10: forty tokens in one read have no gaps to speak of; the same tokens apart have."""
    words = [said("x") for _ in range(40)]
    end = finish() + final_usage(40) + DONE
    direct = a_record(*[(300.0 + 50 * place, word) for place, word in enumerate(words)], (2250, end))
    proxied = a_record((2260, b"".join(words) + end))

    assert (times_ms(direct)[0], times_ms(direct)[-1], "burst" in direct.flags) == (300, 2250, False)
    assert (times_ms(proxied)[0], times_ms(proxied)[-1], "burst" in proxied.flags) == (2260, 2260, True)


def test_a_long_event_is_read_whole() -> None:
    """S-11: 300 KiB in one event."""
    text = "y" * 300 * 1024

    assert text_of((100, said(text)), (110, finish() + DONE)) == text


@pytest.mark.parametrize(
    ("problem", "outcome"),
    [("disconnected", "disconnected"), ("stalled", "stalled"), ("line_too_long", "line_too_long"), ("cut", "cut")],
)
def test_what_the_transport_saw_is_the_outcome(problem: str, outcome: str) -> None:
    """Tokens that came before are kept; they do not make the request good."""
    record = a_record((100, said("a")), (150, said("b")), problem=problem, problem_text="why")

    assert (record.outcome, record.reason, times_ms(record)) == (outcome, "why", [100, 150])


def test_a_stream_that_said_done_is_good_even_if_its_connection_was_not() -> None:
    """The answer was whole; that its connection broke afterwards is a flag."""
    record = a_record((100, said("a") + finish() + DONE), problem="disconnected", problem_text="why")

    assert (record.outcome, record.flags) == ("ok", ("tokens_guessed", "unclean_end"))


@pytest.mark.parametrize("status", [429, 502, 503])
def test_an_error_status_is_a_failure_with_an_excerpt(status: int) -> None:
    """S-13, S-14: one attempt, and a page of HTML cut to one line."""
    page = b"<html>\n<script>x</script>\n" + b"z" * 1000
    record = a_record((100, page), status=status, headers={"content-type": "text/html"})

    assert record.outcome == "http_error"
    assert (record.reason or "").startswith(f"HTTP {status}: <html> <script>x</script> zzz")
    assert len(record.reason or "") < 250


TOO_LONG = "This model's maximum context length is 2048 tokens. However, your prompt contains 2054 tokens."


def test_a_prompt_that_does_not_fit_is_named_whether_by_status_or_in_band() -> None:
    """D-06: neither server error nor success."""
    error = {"error": {"message": TOO_LONG, "code": 400}}
    by_status = a_record((10, json.dumps(error).encode()), status=400, headers={"content-type": "application/json"})
    in_band = a_record((10, event(error) + DONE))

    assert (by_status.outcome, in_band.outcome) == ("prompt_too_long", "prompt_too_long")


@pytest.mark.parametrize(
    "error",
    [
        {"message": "Your input exceeds the limit.", "type": "invalid_request_error", "code": "context_length_exceeded"},
        {"message": TOO_LONG, "code": "400"},
        {"message": TOO_LONG, "code": "invalid_request"},
        {"message": "y" * 300 + TOO_LONG, "code": 400},
    ],
)
def test_its_code_may_be_a_word_and_its_phrase_come_late(error: dict[str, str]) -> None:
    """Whether the error is an event or a document."""
    in_band, document = event({"error": error}) + DONE, json.dumps({"error": error}).encode()

    assert [a_record((10, body)).outcome for body in (in_band, document)] == ["prompt_too_long"] * 2


@pytest.mark.parametrize("code", [500, "500", "503"])
def test_a_server_error_is_one_whatever_it_says(code: int | str) -> None:
    """A code that is a number decides, also as a text."""
    assert a_record((10, event({"error": {"message": TOO_LONG, "code": code}}))).outcome == "in_band_error"


def test_a_long_refusal_is_read_to_its_end() -> None:
    """The phrase may stand behind what the record quotes."""
    body = json.dumps({"detail": "y" * 300, "error": {"message": TOO_LONG}}).encode()
    record = a_record((10, body), status=400, headers={"content-type": "application/json"})

    assert (record.outcome, "maximum context" in (record.reason or "")) == ("prompt_too_long", False)


@pytest.mark.parametrize(
    "body",
    [
        {"detail": [{"msg": "extra", "loc": ["body", "logprobs"], "input": {"prompt": "x" * 400 + " context window"}}]},
        {"error": {"message": "extra field. " + "y" * 1000 + "context length", "code": 422}},
    ],
)
def test_a_prompt_that_a_refusal_repeats_is_no_word_of_the_engine(body: dict[str, object]) -> None:
    """As FastAPI repeats its input: what the prompt says of contexts makes no failure a long prompt."""
    record = a_record((10, json.dumps(body).encode()), status=422, headers={"content-type": "application/json"})

    assert record.outcome == "http_error"


def test_failures_without_an_answer_are_records_too() -> None:
    """A connection that never was: no times, no tokens, and why."""
    record = a_record(status=None, headers={}, problem="connect_failed", problem_text="refused")

    assert (record.outcome, record.reason, record.event_ns, record.output_tokens) == ("connect_failed", "refused", (), None)


def test_the_record_says_whose_clock_it_was() -> None:
    """A step of the clock during the answer is a flag."""
    assert a_record((100, said("a") + DONE), stamp_source="user").stamp_source == "user"
    assert "clock_step" in a_record((100, said("a") + DONE), clock_step=True).flags


WIRE = (
    role()
    + said("日本", 2)
    + b": ping\n\n"
    + said("\u2028x🎉", 3)
    + said("", 4)
    + said("end", 9)
    + finish()
    + final_usage(9)
    + DONE
)


def _cut(wire: bytes, cuts: list[int], stamps: list[int]) -> Capture:
    edges = [0, *sorted({cut % len(wire) for cut in cuts} - {0}), len(wire)]
    times = [sum(stamps[: place + 1]) for place in range(len(edges) - 1)]
    frames = tuple(
        TimedRead(SENT_NS + at, SENT_NS + at, wire[start:end])
        for at, start, end in zip(times, edges[:-1], edges[1:], strict=True)
    )
    return a_capture(frames=frames)


cuttings = st.lists(st.integers(0, 10_000), max_size=30)
pauses = st.lists(st.integers(1, 50_000_000), min_size=31, max_size=31)


@given(cuttings, pauses, st.sampled_from([b"\n", b"\r\n"]))
def test_cutting_the_bytes_anywhere_changes_no_event_text_or_count(cuts: list[int], stamps: list[int], end: bytes) -> None:
    """Only the times depend on the reads."""
    record, text = record_and_text(_cut(WIRE.replace(b"\n", end), cuts, stamps), ASKED, BY_EVENT)

    assert text == "日本\u2028x🎉end"
    assert (record.event_tokens, record.output_tokens, record.token_source) == ((2, 1, 1, 5), 9, "running_usage")
    assert (record.outcome, record.finish_reason) == ("ok", "stop")


@given(cuttings, pauses)
def test_gaps_sum_to_last_minus_first(cuts: list[int], stamps: list[int]) -> None:
    """No time is lost or made up between events."""
    record = record_of(_cut(WIRE, cuts, stamps), ASKED, BY_EVENT)

    assert list(record.event_ns) == sorted(record.event_ns)
    assert sum(b - a for a, b in pairwise(record.event_ns)) == record.event_ns[-1] - record.event_ns[0]


@given(cuttings, pauses, st.integers(2, 9), st.sampled_from([BY_EVENT, replace(BY_BURST, burst_ns=0)]))
def test_scaling_time_scales_every_latency(cuts: list[int], stamps: list[int], factor: int, rule: StreamFormat) -> None:
    """All times are differences to the moment of sending, whatever the unit of that clock."""
    slow = _cut(WIRE, cuts, [factor * stamp for stamp in stamps])
    fast = record_of(_cut(WIRE, cuts, stamps), ASKED, rule)
    slower = record_of(slow, ASKED, rule)

    assert slower.event_ns == tuple(factor * time_ns for time_ns in fast.event_ns)
    assert slower.end_ns == factor * fast.end_ns
    assert (slower.event_tokens, slower.step_events, slower.censored) == (fast.event_tokens, fast.step_events, fast.censored)


@given(st.binary(max_size=400), st.lists(st.integers(0, 400), max_size=5))
def test_no_body_makes_the_decoder_fail(body: bytes, cuts: list[int]) -> None:
    """Whatever arrives becomes a record with an outcome."""
    pieces = body or b"x"
    record = record_of(_cut(b"data: " + pieces, cuts, [1] * 31), ASKED, BY_EVENT)

    assert record.outcome in ("ok", "empty_output", "truncated_stream", "protocol_error", "in_band_error", "prompt_too_long")


@pytest.mark.parametrize("depth", [500, 950, 1_000, 1_050, 100_000])
def test_a_document_nested_without_end_is_no_stream(depth: int) -> None:
    """However deep it goes, and whether its brackets are ever closed."""
    deep = b'{"a":' + b"[" * depth

    assert [a_record((80, body)).outcome for body in (deep, deep + b"]" * depth + b"}")] == ["not_streamed"] * 2


@pytest.mark.parametrize("counts", [{"draft_n": 10**24}, {"draft_n": 7, "draft_n_accepted": 10_000_001}])
def test_drafts_that_no_answer_can_have_are_not_told(counts: dict[str, int]) -> None:
    """The answer is good without them."""
    record = a_record((100, said("a") + finish() + event({"choices": [], "timings": counts}) + DONE), rule=BY_BURST)

    assert (record.outcome, record.acceptance) == ("ok", None)


def test_an_account_that_cannot_be_read_is_none() -> None:
    """What the decoder passed over, a number beyond all numbers, does not make the record fail."""
    account = b'data: {"choices":[],"timings":{"draft_n":3,"x":1e999}}\n\n'
    record = a_record((100, said("a") + finish() + account + DONE), rule=BY_BURST)

    assert (record.outcome, record.acceptance) == ("ok", None)


KEY = "sk-record-0123456789"


@pytest.mark.parametrize("before", range(150, 215, 3))
def test_no_part_of_a_key_is_left_by_an_excerpt(before: int) -> None:
    """A refusal that repeats the key is cut at some length, and may be cut within the key."""
    told = json.dumps({"error": {"message": "x" * before + KEY, "code": 429}}).encode()
    for status, body, kind in (
        (429, told, "application/json"),
        (200, b"data: " + told + b"\n\n", "text/event-stream"),
        (401, b"y" * before + KEY.replace("-", "%2D").encode(), "text/plain"),
    ):
        capture = a_capture((100, body), status=status, headers={"content-type": kind})
        record = record_of(capture, ASKED, BY_EVENT, Secrets((KEY,)))

        assert record.outcome in ("http_error", "in_band_error")
        assert not [KEY[at : at + 4] for at in range(len(KEY) - 3) if KEY[at : at + 4] in (record.reason or "")]


def test_what_a_server_says_in_a_record_is_short_and_on_one_line() -> None:
    """Its finish reason, its Location, its words; none with a key or a control character."""
    said = f"\x1b[31m{KEY}\n::error::\u202e" + "z" * 5000
    chunk = {"choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": said}]}
    body = f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode()
    stream = a_capture((100, body), headers={"content-type": "text/event-stream"})
    moved = a_capture((100, b""), status=302, headers={"location": f"http://h/?key={KEY}&\x1b[0m"})

    for capture in (stream, moved):
        record = record_of(capture, ASKED, BY_EVENT, Secrets((KEY,)))
        for text in filter(None, (record.finish_reason, record.reason)):
            assert KEY not in text
            assert text.isprintable()
            assert len(text) < 600


def test_an_answer_that_was_there_before_its_request_is_none() -> None:
    """What an earlier request left in the connection, say: no time below zero comes into the facts."""
    record = a_record((-5, said("a")), (10, said("b") + finish() + DONE))

    assert (record.outcome, record.reason) == ("protocol_error", "the answer came before its request was sent")
    assert (record.event_ns, record.first_answer_ns, record.end_ns >= 0) == ((), None, True)
