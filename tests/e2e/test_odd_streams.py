"""Streams as people report them, over sockets: what `probe` and `doctor` say of tokens and times is right, or is not said."""

import socket
import time
from collections.abc import Sequence
from typing import Any

import pytest

from specbench.doctor import doctor
from specbench.explain.integrity import several_at_once
from specbench.probe.probe import ProbeRequest, as_text, probe
from tests.support.captures import DONE, delta, event, final_usage, finish, said
from tests.support.goldens import same_text
from tests.support.raw_server import STREAM_HEAD, chunk
from tests.support.streaming import Answer, streaming

GAP_S = 0.02


def _writes(pieces: Sequence[bytes], tail: bytes) -> Answer:
    """Each piece in a chunk of its own, GAP_S apart."""

    def answer(connection: socket.socket) -> None:
        connection.sendall(STREAM_HEAD)
        for piece in pieces:
            time.sleep(GAP_S)
            connection.sendall(chunk(piece))
        connection.sendall(chunk(tail) + b"0\r\n\r\n")

    return answer


def _probed(answer: Answer, engine: str = "openai") -> dict[str, Any]:
    with streaming(answer) as url:
        return probe(ProbeRequest(url=url, model="m", concurrency=1, requests=2, max_tokens=64, engine=engine))


def _usage(**told: Any) -> bytes:
    return event({"choices": [], "usage": told})


WORDS = [said("w ")] * 10
DETAILS = [delta(content="", reasoning_details=[{"type": "reasoning.text", "index": 0, "text": "w "}])] * 10


def test_reasoning_is_measured_from_its_first_token() -> None:
    """N-05: 20 tokens, 19 gaps between first and last, and no acceptance from an endpoint that does not speculate."""
    told = _probed(_writes([*DETAILS, *WORDS], finish() + final_usage(20) + DONE))

    assert (told["tokens"], told["hidden_tokens"], told["requests"]["ok"]) == (40, 0, 2)
    assert told["e2e_ms"]["mean"] - told["ttft_ms"]["mean"] >= 19 * 1000 * GAP_S
    assert told["tpot_ms"]["mean"] == pytest.approx((told["e2e_ms"]["mean"] - told["ttft_ms"]["mean"]) / 19)
    assert told["acceptance"] is None


def test_hidden_tokens_count_for_no_time() -> None:
    """The same visible stream has the same TPOT, whatever number was hidden."""
    usage = _usage(prompt_tokens=10, completion_tokens=510, total_tokens=520, completion_tokens_details={"reasoning_tokens": 500})
    told = _probed(_writes(WORDS, finish() + usage + DONE))

    assert (told["tokens"], told["hidden_tokens"]) == (20, 1000)
    assert told["tpot_ms"]["p50"] >= 1000 * GAP_S
    assert "tokens were counted but not streamed" in as_text(told)


def test_sums_that_fit_no_reading_are_said_and_give_no_rate() -> None:
    """N-04's last sentence: times of events stay, nothing per token is made up."""
    usage = _usage(prompt_tokens=10, completion_tokens=10, total_tokens=25, completion_tokens_details={"reasoning_tokens": 10})
    told = _probed(_writes(WORDS, finish() + usage + DONE))

    assert (told["tpot_ms"], told["itl_ms"], told["output_tps"], told["tokens"]) == (None, None, None, 0)
    assert told["ttft_ms"]["p50"] >= 1000 * GAP_S
    assert "! usage_ambiguous in 2 of 2 answers" in as_text(told)


def test_an_interval_is_never_an_acceptance_length() -> None:
    """Such an endpoint was once reported as accepting 8.0 tokens a round."""
    pieces = [said("word " * 8, 8 * (place + 1)) for place in range(10)]
    told = _probed(_writes(pieces, finish() + final_usage(80) + DONE))

    assert told["tokens"] == 160
    assert (told["acceptance"], told["tokens_per_step"]) == (None, None)
    assert "no sign of speculation" in told["acceptance_reason"]


def test_harmless_oddities_lose_no_answer() -> None:
    """N-07, N-08, N-11: an object for arguments, usage in the choice, an end mark without brackets."""
    call = delta(tool_calls=[{"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": {"a": 1}}}])
    usage = {"prompt_tokens": 10, "completion_tokens": 22, "total_tokens": 32}
    end = event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "usage": usage}]})
    told = _probed(_writes([call, *WORDS], end + b"data: DONE\n\n"))

    assert (told["requests"]["ok"], told["tokens"]) == (2, 44)
    assert told["token_sources"] == {"final_usage_spread": 2}
    assert told["flags"] == {"odd_end": 2, "odd_type": 2, "tokens_spread": 2}
    assert told["tpot_ms"]["mean"] == pytest.approx((told["e2e_ms"]["mean"] - told["ttft_ms"]["mean"]) / 21)


def test_events_of_one_write_are_not_blamed_on_the_client() -> None:
    """N-19: four events in each write, which more processes would not tell apart."""
    pieces = [b"".join(said("w ", 4 * write + n + 1) for n in range(4)) for write in range(10)]
    told = _probed(_writes(pieces, finish() + final_usage(40) + DONE), engine="vllm")

    assert told["generator"]["reasons"]
    assert not any("--processes" in reason for reason in told["generator"]["reasons"])
    assert several_at_once(4) in told["generator"]["reasons"][0]


def test_the_doctor_says_what_went_by_unread() -> None:
    """Text under an unknown name ahead of what is read: the first token may have been missed, and counts cannot be used."""
    unread = [delta(inner_voice="w ")] * 10
    with streaming(_writes([*unread, *WORDS], finish() + final_usage(20) + DONE)) as url:
        found = {symptom.id: symptom.seen for symptom in doctor(url=url, model="m", engine="openai").symptoms}

    assert {"unread_text", "usage_ambiguous"} <= found.keys()
    same_text("what went by unread", found["unread_text"])


def test_the_doctor_names_what_probe_does_not_call_acceptance() -> None:
    """An even interval: a symptom of the stream, no sign of speculation."""
    pieces = [said("one two three four five ", 5 * (place + 1)) for place in range(12)]
    with streaming(_writes(pieces, finish() + final_usage(60) + DONE)) as url:
        seen = [symptom.id for symptom in doctor(url=url, model="m", engine="openai").symptoms]

    assert "stream_interval" in seen
    assert "several_tokens" not in seen
