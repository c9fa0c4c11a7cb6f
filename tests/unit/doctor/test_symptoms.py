"""What captures say of a stream: one symptom per thing that spoils figures, none for a stream that is true."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specbench.doctor.bursts import is_even
from specbench.doctor.response_trace import ResponseTrace, response_trace
from specbench.doctor.symptoms import symptoms_of
from specbench.model.captures import Capture, TimedRead
from specbench.model.records import StreamFormat
from specbench.telemetry import ENGINES
from specbench.units import ns_of_ms
from tests.support.captures import DONE, SSE, a_capture, columns_of, final_usage, finish, role, said
from tests.support.recordings import recorded

OPENAI, LLAMACPP, VLLM = (ENGINES[name].stream for name in ("openai", "llamacpp", "vllm"))
URL = "http://gpu.example:8000"
WORDS = ["the ", "model ", "keeps ", "each ", "token ", "it "] * 5


def _stream(sizes: Sequence[int], every_ms: float = 20.0, first_ms: float = 100.0, **fields: object) -> Capture:
    """One word an event, so many events in one read."""
    reads, place = [], 0
    for step, size in enumerate(sizes):
        reads.append((first_ms + step * every_ms, b"".join(said(word) for word in WORDS[place : place + size])))
        place += size
    tail = finish() + final_usage(place) + DONE
    return a_capture(*reads, (reads[-1][0] + 0.1, tail), **fields)


def _ids(*captures: Capture, rule: StreamFormat = OPENAI, url: str = URL) -> list[str]:
    return [symptom.id for symptom in symptoms_of([response_trace(capture, rule) for capture in captures], rule, url)]


def test_a_true_stream_has_no_symptom() -> None:
    """Thirty tokens, one by one."""
    assert _ids(_stream([1] * 30)) == []


@pytest.mark.parametrize(
    ("sizes", "rule", "found"),
    [
        ([1, 3, 1, 5, 2, 4, 3, 1, 2], OPENAI, ["token_bursts"]),
        ([1, 3, 1, 5, 2, 4, 3, 1, 2], LLAMACPP, ["token_bursts"]),
        ([1, 3, 1, 5, 2, 4, 3, 1, 2], VLLM, ["held_back"]),
        ([4] * 7, OPENAI, ["batched_events"]),
        ([4] * 7, LLAMACPP, ["token_bursts"]),
        ([1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1], OPENAI, []),
    ],
)
def test_bursts_are_read_by_size_and_engine(sizes: list[int], rule: StreamFormat, found: list[str]) -> None:
    """Varying and small: verifications; always as many: a batch; from an engine whose events are steps: something collects."""
    assert _ids(_stream(sizes), rule=rule) == found


def test_a_fast_engine_is_not_taken_for_a_buffer() -> None:
    """0.3 ms a token after 20 ms of prompt: one run of events, that spans most of the answer's time."""
    assert _ids(_stream([1] * 30, every_ms=0.3, first_ms=5.0)) == []


def test_all_at_the_end_is_held_back() -> None:
    """S-10: 30 events in one read after 2260 ms."""
    (symptom,) = symptoms_of([response_trace(_stream([30], first_ms=2260.0), OPENAI)], OPENAI, URL)

    assert (symptom.id, symptom.weight) == ("held_back_whole", "unfit")
    assert symptom.seen.startswith("30 events came within 0.0 ms after 2260 ms of silence")


def test_a_client_that_read_late_blames_itself() -> None:
    """A few events under one stamp that was read 5 ms later may have been merged here: they are no burst of the endpoint."""
    in_time = _stream([1, 3, 1, 5, 2, 4, 3, 1, 2])
    frames = tuple(TimedRead(frame.stamp_ns, frame.stamp_ns + ns_of_ms(5), frame.data) for frame in in_time.frames)
    answers = [response_trace(in_time, OPENAI), response_trace(replace(in_time, **columns_of(frames)), OPENAI)]

    assert [(one.groups, one.late) for one in answers] == [((1, 3, 1, 5, 2, 4, 3, 1, 2), 0), ((1, 1, 1), 6)]


def test_a_client_that_read_late_does_not_hide_a_buffer() -> None:
    """Thirty events cannot have been merged within 5 ms."""
    in_time = _stream([30], first_ms=2260.0)
    frames = tuple(TimedRead(frame.stamp_ns, frame.stamp_ns + ns_of_ms(5), frame.data) for frame in in_time.frames)

    assert _ids(replace(in_time, **columns_of(frames))) == ["held_back_whole"]


@pytest.mark.parametrize(("sizes", "weight"), [([1, 3, 1, 5, 2, 4, 3, 1, 2], "note"), ([4] * 7, "caution")])
def test_bursts_that_are_all_alike_are_doubtful(sizes: list[int], weight: str) -> None:
    """From an engine that writes tokens one by one: perhaps all drafts were accepted, perhaps something collects."""
    (symptom,) = symptoms_of([response_trace(_stream(sizes), LLAMACPP)], LLAMACPP, URL)

    assert symptom.weight == weight


def test_lines_cut_by_a_full_buffer_are_counted() -> None:
    """Two reads end inside an event whose rest came 40 ms later; a rest that follows at once is a matter of packets."""
    body = b"".join(said(word) for word in WORDS[:6])
    pieces = [body[:100], body[100:200], body[200:201], body[201:]]
    answer = response_trace(a_capture(*zip([100.0, 140.0, 180.0, 180.1], pieces, strict=True)), OPENAI)

    assert answer.torn == 2


@pytest.mark.parametrize(
    ("capture", "found"),
    [
        (
            a_capture((50, role()), (90, said("a")), (130, said("b") + finish() + final_usage(2) + DONE)),
            ["too_short", "role_first"],
        ),
        (a_capture((50, role() + said("a")), (90, said("b") + finish() + DONE)), ["too_short", "role_first", "usage_missing"]),
        (a_capture((900, said("a b c d") + finish() + final_usage(40) + DONE)), ["one_event"]),
        (_stream([1] * 30, reused=False), []),
        (a_capture((9, b'{"error":{"message":"no worker","code":503}}')), ["in_band_error"]),
        (a_capture((9, b"slow down"), status=429), ["http_error"]),
        (_stream([1] * 30, status=201, reused=False), ["odd_head"]),
        (_stream([1] * 30, headers={**SSE, "content-encoding": "none"}, reused=False), ["odd_head"]),
        (_stream([1] * 30, data_after_end=True, reused=False), ["unclean_end"]),
        (a_capture((9, b""), frames=(), problem="connect_failed", problem_text="refused", status=None), ["connect_failed"]),
    ],
)
def test_each_answer_says_what_is_wrong(capture: Capture, found: list[str]) -> None:
    """Failures and habits, by their names."""
    assert [name for name in _ids(capture) if name not in ("tokens_uncounted", "stream_interval")] == found


def test_slow_loopback_is_named() -> None:
    """L-10: one second to connect to this machine is nobody's latency, but worth a word; elsewhere distance explains it."""
    slow = _stream([1] * 30, connect_ns=ns_of_ms(1000), reused=False)

    assert _ids(slow, url="http://localhost:8000") == ["slow_connect"]
    assert _ids(slow, url="http://[::1]:8000/v1") == ["slow_connect"]
    assert _ids(slow) == []


def test_an_endpoint_that_hangs_up_is_named() -> None:
    """Two answers, two connections."""
    assert _ids(_stream([1] * 30, reused=False), _stream([1] * 30, reused=False)) == ["not_kept_alive"]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("vllm-base-chat-code.timed.jsonl", ["role_first"]),
        ("vllm-base-completions-code-cont-ids.timed.jsonl", []),
        ("vllm-ngram-completions-code-cont-ids.timed.jsonl", ["several_tokens"]),
        ("vllm-ngram-chat-code.timed.jsonl", ["role_first", "tokens_uncounted"]),
    ],
)
def test_recordings_of_vllm_are_fit(name: str, found: list[str]) -> None:
    """Real streams, with and without speculation: nothing that makes them unfit."""
    answers: list[ResponseTrace] = [response_trace(recorded(name), VLLM)]
    symptoms = symptoms_of(answers, VLLM, URL)

    assert [symptom.id for symptom in symptoms] == found
    assert "unfit" not in {symptom.weight for symptom in symptoms}


@given(st.integers(2, 40), st.integers(3, 50))
def test_equal_sizes_are_even(size: int, count: int) -> None:
    """However large and many."""
    assert is_even([size] * count)


@given(st.integers(3, 50))
def test_single_events_are_no_batches(count: int) -> None:
    """Ones are equal too, and mean nothing."""
    assert not is_even([1] * count)
    assert not is_even([1, 5] * count)
