"""Recordings of real engines decode to what those engines counted.

`*.timed.jsonl` has the events of vLLM 0.32 and of llama.cpp with their arrival in seconds, `*.sse` a body alone, `*-var-*.txt` a
head and its body: variants such as log probabilities, two choices, the native route, or an error.
"""

import re
from dataclasses import replace

import pytest

from specbench.model.captures import TimedRead
from specbench.model.records import RequestRecord, SpeculationCounts
from specbench.stream.record import record_and_text, record_of
from specbench.telemetry import ENGINES
from tests.support.captures import ASKED, SENT_NS, a_capture, columns_of
from tests.support.recordings import FOLDER, recorded

NAMES = sorted(path.name for path in FOLDER.iterdir() if path.suffix != ".md")


def replayed(name: str) -> tuple[RequestRecord, str]:
    """The record and text of a recording, under the rule of the engine that it came from."""
    engine = name.partition("-")[0]
    return record_and_text(recorded(name), ASKED, ENGINES[engine if engine in ENGINES else "llamacpp"].stream)


def _last_count(name: str) -> int | None:
    """The last count of output tokens in the recording, read without our decoder: usage, else llama.cpp's own."""
    text = (FOLDER / name).read_text().replace('\\"', '"')
    for key in ("completion_tokens", "predicted_n", "tokens_predicted"):
        if found := re.findall(rf'"{key}":(\d+)', text):
            return int(found[-1])
    return None


STREAMED = [name for name in NAMES if not re.search(r"error|toolong|nonstream|crash|n2", name)]


@pytest.mark.parametrize("name", STREAMED)
def test_tokens_are_those_that_the_engine_counted(name: str) -> None:
    """Every stream ends well, with the engine's own count of tokens where it gave one, and tokens of events that add up to it."""
    record, text = replayed(name)
    counted = _last_count(name)

    assert (record.outcome, record.reason) == ("ok", None)
    assert counted is None or record.output_tokens == counted
    assert "tokens_unreconciled" in record.flags or sum(record.event_tokens) == record.output_tokens
    assert text
    assert "�" not in text or "emoji" in name


@pytest.mark.parametrize(
    ("name", "events", "tokens", "steps"),
    [
        ("vllm-base-chat-code.timed.jsonl", 200, 200, 200),
        ("vllm-ngram-chat-code.timed.jsonl", 54, 200, 54),
        ("vllm-draft-chat-chat.timed.jsonl", 18, 64, 18),
        ("xlc-q4_0-A-chat-copy.timed.jsonl", 192, 192, 192),
        ("xlc-q4_0-B-chat-copy.timed.jsonl", 192, 192, 49),
        ("xlc-q4_0-B-chat-chat.timed.jsonl", 192, 192, 139),
        ("xlc-q4_0-B-chat-code.timed.jsonl", 192, 192, 156),
        ("xlc-x3draft-chat-chat.timed.jsonl", 64, 64, 22),
        ("xlc-base-timings-chat-chat.timed.jsonl", 96, 96, 96),
        ("xlc-ngram-timings-chat-copy.timed.jsonl", 96, 96, 37),
        ("xlc-draft-timings-chat-chat.timed.jsonl", 96, 96, 27),
        ("sglang-written-chat.timed.jsonl", 5, 10, 4),
        ("trtllm-written-chat.timed.jsonl", 4, 9, 4),
        ("lmdeploy-written-chat.timed.jsonl", 5, 9, 4),
        ("tgi-written-chat.timed.jsonl", 8, 8, 4),
    ],
)
def test_events_and_steps_are_what_speculation_makes_of_them(name: str, events: int, tokens: int, steps: int) -> None:
    """Most send one event per step, or split one into several; llama.cpp and TGI send one per token, a batch in a burst."""
    record, _ = replayed(name)

    assert (len(record.event_ns), record.output_tokens) == (events, tokens)
    assert (len(record.step_events) if record.step_events is not None else events) == steps
    assert record.censored == ()


@pytest.mark.parametrize(
    ("name", "steps", "bursts"),
    [
        ("xlc-base-timings-chat-chat.timed.jsonl", 96, 96),
        ("xlc-ngram-timings-chat-copy.timed.jsonl", 37, 42),
        ("xlc-draft-timings-chat-chat.timed.jsonl", 27, 33),
        ("llamacpp-base-var-timings-per-token.txt", 12, 1),
        ("llamacpp-ngram-var-timings-per-token.txt", 8, 1),
    ],
)
def test_llamacpp_s_own_clock_tells_its_steps_where_bursts_guess(name: str, steps: int, bursts: int) -> None:
    """As many as the engine counted decode calls: generated less accepted tokens. Bursts see batches that were cut in two."""
    record, _ = replayed(name)
    timeless = a_capture(
        (0, b""), frames=tuple(replace(f, data=f.data.replace(b"predicted_ms", b"x")) for f in recorded(name).frames)
    )
    guessed = record_of(timeless, ASKED, ENGINES["llamacpp"].stream)
    accepted = record.acceptance.accepted or 0 if record.acceptance is not None else 0

    assert (record.burst_ns, guessed.burst_ns) == (None, 1_500_000)
    assert len(record.step_events or record.event_ns) == steps == (record.output_tokens or 0) - accepted
    assert len(guessed.step_events or guessed.event_ns) == bursts


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("vllm-ngram-chat-code-cont-ids.timed.jsonl", "token_ids"),
        ("vllm-ngram-completions-code-cont-ids.timed.jsonl", "token_ids"),
        ("vllm-ngram-chat-code.timed.jsonl", "final_usage_spread"),
        ("vllm-ngram-var-stream-interval.txt", "events"),
        ("llamacpp-ngram-var-native-completion.txt", "token_ids"),
        ("llamacpp-ngram-var-timings-per-token.txt", "engine_counts"),
        ("llamacpp-ngram-chat-code.sse", "engine_counts"),
        ("llamacpp-base-var-ignore-eos.txt", "engine_counts"),
        ("llamacpp-base-var-emoji.txt", "events"),
        ("sglang-written-chat.timed.jsonl", "running_usage"),
        ("trtllm-written-chat.timed.jsonl", "running_usage"),
        ("lmdeploy-written-chat.timed.jsonl", "token_ids"),
        ("tgi-written-chat.timed.jsonl", "events"),
    ],
)
def test_the_best_source_at_hand_is_used(name: str, source: str) -> None:
    """Ids where they were asked for; else the engine's counts; else what is left, named."""
    assert replayed(name)[0].token_source == source


@pytest.mark.parametrize(
    ("name", "tokens", "first_ms", "answer_ms", "flags"),
    [
        ("sglang-written-chat.timed.jsonl", (1, 4, 0, 3, 2), 100, 120, ()),
        ("trtllm-written-chat.timed.jsonl", (1, 2, 4, 2), 100, 100, ()),
        ("lmdeploy-written-chat.timed.jsonl", (1, 3, 0, 3, 2), 100, 120, ()),
        ("tgi-written-chat.timed.jsonl", (1,) * 8, 100, 100, ()),
    ],
)
def test_streams_as_engines_document_them(
    name: str, tokens: tuple[int, ...], first_ms: int, answer_ms: int, flags: tuple[str, ...]
) -> None:
    """A role event, a comment, a named event and one without choices or usage are no tokens; a split output is counted once."""
    record, _ = replayed(name)

    assert record.event_tokens == tokens
    assert (record.event_ns[0], record.first_answer_ns) == (first_ms * 1_000_000, answer_ms * 1_000_000)
    assert (record.censored, record.flags) == ((), flags)


def test_sglang_tells_its_drafts_in_an_event_without_choices() -> None:
    """Three rounds that accepted 1, 2 and 3 of 3."""
    told = replayed("sglang-written-chat.timed.jsonl")[0].acceptance

    assert told == SpeculationCounts(rounds=3, drafted=9, accepted=6, per_position=(3, 2, 1))


def test_ids_and_running_usage_agree() -> None:
    """The same recording by either source gives the same tokens per event."""
    capture = recorded("vllm-ngram-completions-code-cont-ids.timed.jsonl")
    rule = ENGINES["vllm"].stream
    by_usage = replace(rule, token_sources=("running_usage",))

    assert record_of(capture, ASKED, by_usage).event_tokens == record_of(capture, ASKED, rule).event_tokens


def test_drafts_are_counted_where_the_engine_tells() -> None:
    """llama.cpp tells drafted and accepted tokens of a request, and no rounds."""
    told, silent = replayed("llamacpp-ngram-chat-code.sse")[0], replayed("llamacpp-base-chat-code.sse")[0]

    assert told.acceptance == SpeculationCounts(rounds=None, drafted=236, accepted=160, per_position=None)
    assert silent.acceptance is None


@pytest.mark.parametrize(
    ("name", "outcome", "reason"),
    [
        ("vllm-engine-crash-midstream.txt", "in_band_error", "500: EngineCore encountered an issue"),
        ("vllm-ngram-var-error404.txt", "http_error", "HTTP 404"),
        ("vllm-ngram-var-toolong.txt", "prompt_too_long", "HTTP 400"),
        ("llamacpp-ngram-var-toolong.txt", "prompt_too_long", "HTTP 400"),
        ("llamacpp-base-var-n2.txt", "http_error", "HTTP 400"),
        ("vllm-ngram-var-n2.txt", "protocol_error", "2 choices came although one was requested"),
        ("vllm-ngram-var-nonstream.txt", "not_streamed", "the whole answer"),
        ("llamacpp-base-var-nonstream.txt", "not_streamed", "the whole answer"),
    ],
)
def test_failures_of_engines_have_their_outcome(name: str, outcome: str, reason: str) -> None:
    """An engine that dies inside a 200 is a failure although [DONE] follows."""
    record, _ = replayed(name)

    assert record.outcome == outcome
    assert (record.reason or "").startswith(reason)
    assert record.event_ns == () or "n2" in name


def test_no_recording_makes_the_decoder_fail() -> None:
    """Cut after any byte of its beginning, middle or end, too."""
    for name in NAMES:
        capture = recorded(name)
        body = capture.body
        for end in {0, 1, 6, 100, len(body) // 2, len(body) // 2 + 7, len(body) - 1, len(body)} & set(range(len(body) + 1)):
            cut = replace(capture, **columns_of([TimedRead(SENT_NS, SENT_NS, body[:end])]))
            assert record_of(cut, ASKED, ENGINES["vllm"].stream).outcome
