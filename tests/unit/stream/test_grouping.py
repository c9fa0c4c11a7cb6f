"""Tokens per event become acceptance only where nothing but accepted drafts makes such a stream, or an arm is said to draft."""

from random import Random
from typing import Any, Literal, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specbench.analysis.arrays.cell_arrays import CellArrays
from specbench.analysis.metrics.acceptance import acceptance_of
from specbench.analysis.metrics.inter_token import tokens_per_step
from specbench.explain import absences
from specbench.model.records import RequestRecord, SpeculationCounts, Telemetry
from specbench.stream.grouping import grouping_of
from specbench.telemetry import ENGINES
from specbench.units import NS_PER_MS, ms
from tests.golden.test_streams import replayed
from tests.support.captures import DONE, SENT_NS, a_record, event, finish
from tests.support.recordings import recorded
from tests.support.records import blocks_of

OPENAI, VLLM = ENGINES["openai"].stream, ENGINES["vllm"].stream
NO_SIGN = absences.NO_SIGN
By = Literal["ids", "usage", "final"]
WORDS = ("the ", "of ", "model", " is", "a ", "long", "er ", "text", ", ", "which ")


def _columns(record: RequestRecord, *, speculates: bool | None = None, telemetry: Telemetry | None = None) -> CellArrays:
    window = (0.0, ms(record.sent_ns) + 600_000.0)
    return blocks_of("speculative", [[record]], telemetry, window_ms=window, speculates=speculates)


def _stream(sizes: list[int], hidden: list[int], by: By, every_ms: float = 20.0) -> RequestRecord:
    """One event per size, that holds as many words; `hidden` tokens are counted with an event and have no text.

    `by`: whether each event names its tokens, tells how many there were so far, or only the last one tells all.
    """
    reads, told = [], 0
    for place, (size, more) in enumerate(zip(sizes, hidden, strict=True)):
        told += size + more
        choice = {"index": 0, "delta": {"content": "".join(WORDS[(place + word) % len(WORDS)] for word in range(size))}}
        body: dict[str, Any] = {"choices": [choice | ({"token_ids": [7] * (size + more)} if by == "ids" else {})]}
        reads.append((100.0 + every_ms * place, event(body | ({"usage": {"completion_tokens": told}} if by == "usage" else {}))))
    usage = event({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": told, "total_tokens": 5 + told}})
    return a_record(*reads, (reads[-1][0] + 1, finish() + usage + DONE), rule=OPENAI)


@st.composite
def _plain_streams(draw: st.DrawFn) -> RequestRecord:
    """One-token events, events of a fixed interval, and hidden counts, in any order and mixture, told in any way.

    Where events name their tokens, none is hidden but before the first.
    """
    by = draw(st.sampled_from(get_args(By)))
    interval = draw(st.integers(2, 12))
    sizes = draw(st.lists(st.sampled_from([1, interval]), min_size=1, max_size=60))
    if draw(st.booleans()):
        sizes = [1, *[interval] * len(sizes), draw(st.integers(1, interval))]
    hides = draw(st.sampled_from(["never", "first"] if by == "ids" else ["never", "first", "some", "all"]))
    counts = {"never": st.just(0), "first": st.just(0), "some": st.sampled_from([0, 0, 7, 30]), "all": st.integers(0, 9)}[hides]
    hidden = [draw(counts) for _ in sizes]
    if hides == "first":
        hidden[0] = draw(st.integers(1, 2000))
    return _stream(sizes, hidden, by)


@given(_plain_streams())
def test_no_acceptance_comes_of_a_stream_that_does_not_speculate(record: RequestRecord) -> None:
    """Whatever it is built of: no length, no tokens per step above one, and a reason."""
    columns = _columns(record)
    summary, (steps,) = acceptance_of(columns), tokens_per_step(columns).by_unit()

    assert (summary.length, summary.rounds) == (None, None)
    assert summary.reason
    assert steps == 1.0 or steps != steps


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(3, 40)), min_size=1, max_size=5))
def test_nor_of_stretches_of_several_intervals(stretches: list[tuple[int, int]]) -> None:
    """A server that changes its interval now and then still sends one for a while."""
    sizes = [size for size, count in stretches for _ in range(count)]

    assert acceptance_of(_columns(_stream(sizes, [0] * len(sizes), "ids"))).length is None


@given(st.lists(st.integers(1, 6), min_size=1, max_size=60))
def test_nor_of_tokens_that_are_collected_while_the_server_is_busy(sizes: list[int]) -> None:
    """Events merged as they wait hold any number of tokens, and take as long as those took."""
    times, at = [], 0
    for size in sizes:
        at += 20 * NS_PER_MS * size
        times.append(at)

    assert grouping_of(sizes, ["word " * size for size in sizes], times, "token_ids") != "drafts"


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("most", "alpha"), [(3, 0.4), (3, 0.7), (5, 0.5), (5, 0.75), (8, 0.6)])
def test_drafts_are_seen_where_the_stream_can_be_nothing_else(most: int, alpha: float, seed: int) -> None:
    """A step brings 1 to `most` tokens, each further one with probability alpha, in about the time of one, with its text."""
    rng = Random(seed)
    sizes = []
    for _ in range(80):
        size = 1
        while size < most and rng.random() < alpha:
            size += 1
        sizes.append(size)
    record = _stream(sizes, [0] * 80, "ids")
    summary = acceptance_of(_columns(record))

    assert record.grouping == "drafts"
    assert summary.length == pytest.approx(sum(sizes[1:]) / 79)


@pytest.mark.parametrize(
    ("sizes", "hidden", "seen"),
    [
        ([1] * 20, [0] * 20, "single"),
        ([4] * 20, [0] * 20, "interval"),
        ([1, *[5] * 18, 3], [0] * 20, "interval"),
        ([1] * 20, [0, 3, 0, 5, 0, 0, 2, 0, 0, 9, 0, 0, 3, 0, 2, 0, 0, 5, 0, 0], "hidden"),
        ([1, 4] * 10, [0] * 20, "unclear"),
        ([1, 3, 2, 1, 2, 3], [0] * 6, "unclear"),
        ([1, 3, 3, 1, 1, 2, 4, 3, 1, 1, 1, 2, 4, 4, 1, 2, 1, 1, 3, 2], [0] * 20, "drafts"),
    ],
)
def test_each_kind_of_stream_has_its_name(sizes: list[int], hidden: list[int], seen: str) -> None:
    """Each event's tokens are known, by their ids or by running usage."""
    assert _stream(sizes, hidden, "usage" if any(hidden) else "ids").grouping == seen


VARYING = [1, 3, 3, 1, 1, 2, 4, 3, 1, 1, 1, 2, 4, 4, 1, 2, 1, 1, 3, 2]


@pytest.mark.parametrize("by", ["usage", "final"])
def test_usage_alone_is_no_evidence_of_drafts(by: By) -> None:
    """It counts hidden tokens too, and these may come in any number between any events."""
    record = _stream(VARYING, [0] * 20, by)

    assert record.grouping == "unclear"
    assert acceptance_of(_columns(record)).length is None


@pytest.mark.parametrize(
    ("speculates", "acceptance"),
    [
        (True, None),
        (None, SpeculationCounts(rounds=None, drafted=30, accepted=19, per_position=None)),
        (None, SpeculationCounts(rounds=None, drafted=None, accepted=19, per_position=None)),
    ],
)
def test_what_is_said_or_counted_is_a_sign(speculates: bool | None, acceptance: SpeculationCounts | None) -> None:
    """The scenario, the endpoint or counters that lack rounds: tokens per step are then the acceptance length."""
    telemetry = None if acceptance is None else Telemetry(acceptance=acceptance)
    summary = acceptance_of(_columns(_stream(VARYING, [0] * 20, "final"), speculates=speculates, telemetry=telemetry))

    assert summary.source == "tokens per step"
    assert summary.length == pytest.approx(sum(VARYING[1:]) / 19, rel=0.01)


@pytest.mark.parametrize(
    ("speculates", "telemetry", "reason"),
    [
        (False, None, absences.SAYS_OFF),
        (
            None,
            Telemetry(acceptance=SpeculationCounts(rounds=0, drafted=0, accepted=0, per_position=None)),
            absences.NO_DRAFT,
        ),
        (
            None,
            Telemetry(absent={"acceptance": "http_500: the metrics page answers an error"}),
            "http_500: the metrics page answers an error",
        ),
        (
            None,
            Telemetry(absent={"acceptance": "not_exposed: no series vllm:spec_decode_num_drafts"}),
            NO_SIGN,
        ),
    ],
)
def test_without_a_sign_the_reason_says_what_was_looked_at(
    speculates: bool | None, telemetry: Telemetry | None, reason: str
) -> None:
    """Fixed intervals of four tokens."""
    columns = _columns(_stream([4] * 20, [0] * 20, "final"), speculates=speculates, telemetry=telemetry)

    assert (acceptance_of(columns).reason, tokens_per_step(columns).reason) == (reason, reason)


def test_an_unread_page_is_the_reason_where_steps_brought_one_token_each() -> None:
    """N-22: unread counters are no sign against speculation either."""
    telemetry = Telemetry(absent={"acceptance": "http_500: the metrics page answers an error"})

    assert acceptance_of(_columns(_stream([1] * 20, [0] * 20, "usage"), telemetry=telemetry)).reason == (
        "http_500: the metrics page answers an error"
    )


@pytest.mark.parametrize(
    ("name", "length"),
    [
        ("vllm-ngram-completions-code-cont-ids.timed.jsonl", 71 / 52),
        ("xlc-ngram-timings-chat-copy.timed.jsonl", 95 / 36),
        ("xlc-draft-timings-chat-chat.timed.jsonl", 95 / 26),
    ],
)
def test_recordings_of_speculation_show_it_by_themselves(name: str, length: float) -> None:
    """By token ids, or by the engine's own moments: as many tokens per step after the first as the engine counted."""
    summary = acceptance_of(_columns(replayed(name)[0]))

    assert summary.source == "tokens per step"
    assert summary.length == pytest.approx(length, rel=0.01)


PLAIN = [
    *("vllm-base-chat-code.timed.jsonl", "vllm-base-completions-code-cont-ids.timed.jsonl", "vllm-x3base-chat-code.timed.jsonl"),
    *("xlc-q4_0-A-chat-code.timed.jsonl", "xlc-base-timings-chat-chat.timed.jsonl", "vllm-ngram-var-stream-interval.txt"),
]


@pytest.mark.parametrize("name", PLAIN)
def test_recordings_without_speculation_show_none(name: str) -> None:
    """Plain engines, and an interval that does not say its size."""
    assert acceptance_of(_columns(replayed(name)[0])).length is None


def test_recordings_that_only_tell_a_final_count_need_a_word() -> None:
    """54 events of 200 tokens: 199 ÷ 53 where the scenario says that the arm speculates, nothing else."""
    frames = recorded("vllm-ngram-chat-code.timed.jsonl").frames
    record = a_record(*((ms(frame.stamp_ns - SENT_NS), frame.data) for frame in frames), rule=VLLM)

    assert acceptance_of(_columns(record)).length is None
    assert acceptance_of(_columns(record, speculates=True)).length == pytest.approx(199 / 53)


def test_events_without_a_token_are_no_small_steps() -> None:
    """An empty event between two tokens is not an interval of none."""
    assert grouping_of([1, 0, 1, 0, 1, 0, 1], [""] * 7, range(7), "token_ids") == "single"


def test_a_plain_engine_that_merged_an_event_has_a_break_even_and_no_acceptance() -> None:
    """One event of two tokens in forty: its steps are still those that the speculative arm is held to."""
    columns = _columns(_stream([1, *[1] * 20, 2, *[1] * 18], [0] * 40, "ids"), speculates=False)

    assert tokens_per_step(columns).by_unit()[0] == pytest.approx(40 / 39)
    assert acceptance_of(columns).length is None
    assert acceptance_of(columns).reason == absences.SAYS_OFF
