"""Counted tokens are told apart from streamed ones by the server's own sums; sums that fit no reading give no token metric."""

from collections.abc import Callable
from typing import Any

import pytest

from specbench.analysis.arrays.cell_arrays import CellArrays
from specbench.analysis.metrics.acceptance import acceptance_of
from specbench.analysis.metrics.inter_token import itl, pace, tokens_per_step
from specbench.analysis.metrics.latency import tpot, ttft
from specbench.analysis.metrics.throughput import completed_rps, output_length, output_tps
from specbench.model.records import RequestRecord
from specbench.telemetry import ENGINES
from specbench.units import ms
from tests.support.captures import DONE, a_record, delta, event, final_usage, finish, said, thought
from tests.support.records import one_block

OPENAI = ENGINES["openai"].stream


def _told(**usage: Any) -> bytes:
    return event({"choices": [], "usage": usage})


def _every_50_ms(first_ms: float, count: int, what: Callable[[str], bytes] = said) -> list[tuple[float, bytes]]:
    return [(first_ms + 50 * place, what("w ")) for place in range(count)]


def _answer(*reads: tuple[float, bytes], tail: bytes) -> RequestRecord:
    return a_record(*reads, (reads[-1][0] + 1, finish() + tail + DONE), rule=OPENAI)


def _columns(record: RequestRecord) -> CellArrays:
    return one_block(record, window_ms=(0.0, 60_000.0 + ms(record.sent_ns)))


def _tpot(record: RequestRecord) -> float:
    return float(tpot(_columns(record)).values[0])


THEN_ANSWER = [*_every_50_ms(100, 10, thought), *_every_50_ms(600, 10)]


def _details(**told: int) -> dict[str, Any]:
    return {"completion_tokens_details": told}


def test_reasoning_beside_completion_tokens_is_added() -> None:
    """N-04: 10 + 10 + 10 = 30, so that reasoning is apart: 20 tokens, 50 ms each, the answer from 600 ms on."""
    told = _told(prompt_tokens=10, completion_tokens=10, total_tokens=30, **_details(reasoning_tokens=10))
    record = _answer(*THEN_ANSWER, tail=told)

    assert (record.output_tokens, record.hidden_tokens, sum(record.event_tokens)) == (20, 0, 20)
    assert (ms(record.event_ns[0]), ms(record.first_answer_ns or 0)) == (100, 600)
    assert _tpot(record) == pytest.approx(50.0)


@pytest.mark.parametrize("reads", [THEN_ANSWER, _every_50_ms(600, 10)])
def test_reasoning_inside_completion_tokens_is_not(reads: list[tuple[float, bytes]]) -> None:
    """N-04's control: 10 + 10 = 20 leaves nothing for reasoning beside."""
    told = _told(prompt_tokens=10, completion_tokens=10, total_tokens=20, **_details(reasoning_tokens=10))

    assert _answer(*reads, tail=told).output_tokens == 10


@pytest.mark.parametrize("total", [25, 29, 31, 15])
def test_sums_that_fit_neither_reading_leave_no_figure_per_token(total: int) -> None:
    """N-04: the times of events stay, what is per token has no value, and never a 0."""
    told = _told(prompt_tokens=10, completion_tokens=10, total_tokens=total, **_details(reasoning_tokens=10))
    record = _answer(*THEN_ANSWER, tail=told)
    columns = _columns(record)

    assert (record.outcome, record.output_tokens, record.hidden_tokens, record.token_source) == ("ok", None, None, None)
    assert "usage_ambiguous" in record.flags
    assert [len(source(columns).values) for source in (tpot, itl, pace, ttft)] == [0, 0, 0, 1]
    assert [bool(source(columns).denominator.any()) for source in (output_tps, tokens_per_step, output_length)] == [False] * 3
    assert "usage_ambiguous" in (output_tps(columns).reason or "")
    assert completed_rps(columns).numerator.tolist() == [1.0]
    assert acceptance_of(columns).length is None


@pytest.mark.parametrize("hidden", [20, 100, 500, 1080])
def test_hidden_reasoning_is_no_part_of_the_time_per_token(hidden: int) -> None:
    """Twenty tokens are seen 50 ms apart, whatever number was reasoned before and told."""
    told = _told(prompt_tokens=10, completion_tokens=20 + hidden, total_tokens=30 + hidden, **_details(reasoning_tokens=hidden))
    record = _answer(*_every_50_ms(600, 20), tail=told)

    assert (record.output_tokens, record.hidden_tokens) == (20, hidden)
    assert _tpot(record) == pytest.approx(50.0)


@pytest.mark.parametrize(
    ("usage", "tokens", "hidden"),
    [
        ({"completion_tokens": 50, **_details(rejected_prediction_tokens=30)}, 20, 30),
        ({"completion_tokens": 20, **_details(accepted_prediction_tokens=15, rejected_prediction_tokens=0)}, 20, 0),
        ({"completion_tokens": 65, **_details(reasoning_tokens=15, rejected_prediction_tokens=30)}, 20, 45),
        ({"completion_tokens": 20, **_details(reasoning_tokens=80)}, 20, 80),  # more than all: it cannot be inside
        ({"completion_tokens": 120, "reasoning_tokens": 100}, 20, 100),  # SGLang's place
        ({"completion_tokens": 20, "total_tokens": 0}, 20, 0),
        ({"completion_tokens": 20, "completion_tokens_details": None}, 20, 0),
        ({"completion_tokens": "20", "prompt_tokens": "10", "total_tokens": "30"}, 20, 0),
        ({"completion_tokens": 20, **_details(reasoning_tokens=15)}, 20, 0),  # 20 events need 20 tokens: it was streamed as text
    ],
)
def test_tokens_are_those_that_were_streamed(usage: dict[str, Any], tokens: int, hidden: int) -> None:
    """Rejected parts of a prediction and hidden reasoning are counted and never streamed."""
    record = _answer(*_every_50_ms(600, 20), tail=_told(**usage))

    assert (record.output_tokens, record.hidden_tokens) == (tokens, hidden)
    assert _tpot(record) == pytest.approx(50.0)


def test_far_more_tokens_than_bytes_were_not_streamed() -> None:
    """Nothing tells of reasoning, but 520 tokens do not fit into 40 bytes."""
    record = _answer(*_every_50_ms(600, 20), tail=_told(prompt_tokens=10, completion_tokens=520, total_tokens=530))

    assert (record.output_tokens, record.flags) == (None, ("usage_ambiguous",))


def test_a_summary_of_the_reasoning_has_other_tokens() -> None:
    """500 tokens were counted, and their summary was streamed: how many that has, nobody says."""
    summary = delta(reasoning_details=[{"type": "reasoning.summary", "summary": "I looked it up."}])
    told = _told(prompt_tokens=10, completion_tokens=520, total_tokens=530, **_details(reasoning_tokens=500))
    record = _answer((100, summary), *_every_50_ms(600, 20), tail=told)

    assert (ms(record.event_ns[0]), record.output_tokens) == (100, None)
    assert "usage_ambiguous" in record.flags


@pytest.mark.parametrize("details", [True, False])
def test_running_usage_is_freed_of_what_was_hidden_before(details: bool) -> None:
    """A hundred tokens before the first: the first event has one token, and each other one too."""
    running = [
        (
            600.0 + 50 * place,
            event(
                {
                    "choices": [{"index": 0, "delta": {"content": "w "}}],
                    "usage": {"completion_tokens": 101 + place, **(_details(reasoning_tokens=100) if details else {})},
                }
            ),
        )
        for place in range(10)
    ]
    record = _answer(*running, tail=_told(completion_tokens=110, **_details(reasoning_tokens=100)))

    assert (record.event_tokens, record.token_source, record.hidden_tokens) == ((1,) * 10, "running_usage", 100)


def test_hidden_tokens_that_are_counted_as_they_come_are_no_first_token() -> None:
    """Empty events whose usage rises by reasoning alone show nothing: TTFT is that of the text."""
    silent = [
        (100.0 + 50 * n, delta(content="", usage=n + 1).replace(b'"total_tokens"', b'"reasoning_tokens": %d, "x"' % (n + 1)))
        for n in range(5)
    ]
    shown = [
        (600.0 + 50 * n, delta(content="w ", usage=n + 6).replace(b'"total_tokens"', b'"reasoning_tokens": 5, "x"'))
        for n in range(5)
    ]
    record = _answer(*silent, *shown, tail=_told(completion_tokens=10, reasoning_tokens=5))

    assert (ms(record.event_ns[0]), record.event_tokens, record.hidden_tokens) == (600, (1,) * 5, 5)


def _in_choice(tokens: int, **beside: Any) -> bytes:
    usage = {"prompt_tokens": 10, "completion_tokens": tokens, "total_tokens": 10 + tokens}
    return event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "usage": usage}], **beside})


@pytest.mark.parametrize(
    "tail",
    [
        _in_choice(16),
        _in_choice(99, usage={"prompt_tokens": 10, "completion_tokens": 16, "total_tokens": 26}),
        final_usage(16) + _in_choice(99),
        _in_choice(99) + final_usage(16),
        event({"choices": [], "x_groq": {"id": "req_1", "usage": {"completion_tokens": 16}}}),
    ],
)
def test_usage_may_stand_in_the_choice(tail: bytes) -> None:
    """N-08: 16 tokens in 8 events, 350 ÷ 15 each; usage of the whole event wins wherever both are."""
    record = _answer(*_every_50_ms(100, 8), tail=tail)

    assert (record.output_tokens, record.token_source) == (16, "final_usage_spread")
    assert _tpot(record) == pytest.approx(350 / 15)
