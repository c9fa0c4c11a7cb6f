"""Every fault that an endpoint can show, through the real client: what is reported is what it says that it sent, and when."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import isfinite
from typing import Any

import httpx
import msgspec
import pytest

from specbench.analysis.arrays.cell_arrays import arrays_of
from specbench.analysis.metrics.inter_token import chunk_gap
from specbench.analysis.metrics.latency import e2e, tpot, ttft
from specbench.load.messages import BlockSpec, RequestJob
from specbench.load.parent import LoadGenerator
from specbench.model.captures import Capture
from specbench.model.metrics import TPOT_TOKENS
from specbench.model.records import Outcome, RequestRecord
from specbench.stream.exchange import Timeouts
from specbench.stream.record import RequestSpec, record_and_text
from specbench.telemetry import ENGINES
from specbench.units import ms
from tests.support.records import a_block
from tests.support.script_player import SCRIPTS
from tests.support.truthful import delivered, scripted_endpoint, truth_endpoint

pytestmark = pytest.mark.slow
RULE = ENGINES["vllm"].stream
Pairs = dict[str, tuple[list[float], list[float]]]
IDLE_S = 1.0  # longer than a busy machine keeps the endpoint from writing
BUDGET_MS, SHARE = 0.5, 0.01
"""How far a reported time may be from the endpoint's own."""

PLAYS = 3
"""What a busy machine does to one play it does not do to three; what the client gets wrong is wrong in each of them."""


@dataclass(frozen=True)
class Played:
    """One answer as the client took it, and as the endpoint gave it."""

    record: RequestRecord
    text: str
    true: dict[str, Any]

    def reported(self) -> dict[str, list[float]]:
        """What the analysis makes of the record, in ms."""
        record = replace(self.record, block="baseline-0", index=0)
        columns = arrays_of([a_block(window_ms=(0.0, ms(record.sent_ns) + 600_000.0))], [record])
        sources = {"ttft": ttft, "gaps": chunk_gap, "tpot": tpot, "e2e": e2e}
        return {name: [v for v in source(columns).values.tolist() if isfinite(v)] for name, source in sources.items()}

    def sent(self) -> dict[str, list[float]]:
        """The same from the endpoint's record of what left when; of events that left at once only the last has a time."""
        times, tokens = self.true["sent_ns"], self.true["tokens"]
        first = [ms(times[0] - self.true["asked_ns"])] if times else []
        after = sum(count for time_ns, count in zip(times, tokens, strict=True) if time_ns > times[0])
        return {
            "ttft": first,
            "gaps": [ms(b - a) for (a, b), c in zip(pairwise(times), [*times[2:], None], strict=len(times) > 1) if a != b != c],
            "tpot": [ms(times[-1] - times[0]) / after] if after and sum(tokens) >= TPOT_TOKENS else [],
            "e2e": [ms(times[-1] - self.true["asked_ns"])] if times else [],
        }


def _driven(url: str, names: Sequence[str]) -> list[Capture]:
    order = BlockSpec(
        block="b", url=url, path="/v1/chat/completions", headers={}, concurrency=1, min_requests=len(names),
        min_s=0.0, max_s=60.0, ramp_s=0.0, stagger_s=0.0, timeouts=Timeouts(between_tokens_s=IDLE_S),
    )  # fmt: skip
    works = [RequestJob(index=i, body=msgspec.json.encode({"model": name, "max_tokens": 64})) for i, name in enumerate(names)]
    with LoadGenerator() as child:
        captures = [one for one in child.run_block(order, iter(works)) if isinstance(one, Capture)]
    return sorted(captures, key=lambda capture: capture.index)


@pytest.fixture(scope="module")
def played() -> dict[str, Played]:
    """Every script by its name, asked for once."""
    return _played(SCRIPTS)


def _played(scripts: Iterable[str]) -> dict[str, Played]:
    """These scripts by their names; the idle limit on a connection that has carried an answer."""
    first = ["no_keys", "idle_close"]
    names = [*first, *(name for name in scripts if name not in first)]
    with scripted_endpoint() as url:
        captures = _driven(url, names)
        told = delivered(url)
    # The request that an idle limit met was sent twice: the endpoint saw both, the later one was answered.
    true = {each["name"]: each for each in told}
    answers = [record_and_text(capture, RequestSpec("", "", 64), RULE) for capture in captures]
    return {name: Played(record, text, true[name]) for name, (record, text) in zip(names, answers, strict=True)}


def _off(script: str, one: Played, pairs: Callable[[Played], Pairs]) -> list[Pairs]:
    """Of this play and, as long as there are any, of further ones: the times as reported and as sent that are too far apart."""
    found: list[Pairs] = []
    while len(found) < PLAYS and (not found or found[-1]):
        one = one if not found else _played([script])[script]
        found.append({name: (reported, true) for name, (reported, true) in pairs(one).items() if reported != _about(true)})
    return found


def _about(true: list[float]) -> Any:
    return pytest.approx(true, rel=SHARE, abs=BUDGET_MS)


def _figures(one: Played) -> Pairs:
    reported = one.reported()
    return {name: (reported[name], true) for name, true in one.sent().items()}


def _moments(one: Played) -> Pairs:
    sent = [ms(moment - one.true["asked_ns"]) for moment in one.true["sent_ns"]]
    return {"events": ([ms(moment) for moment in one.record.event_ns], sent)}


@dataclass(frozen=True)
class Case:
    """What must come of a script: the outcome, tokens by the answer's own account, the text, and flags among others."""

    name: str
    outcome: Outcome = "ok"
    tokens: int | None = None
    text: str | None = None
    flags: frozenset[str] = frozenset()
    source: str | None = None


LETTERS = "abcdefghijklmnopqrstuvwxyz" * 2
WORDS = "one two three four five six seven"
CASES = {
    "S-01": Case("keep_alives", tokens=3, text="ABC"),
    "S-02": Case("several_in_one_read", tokens=4, text="ABCD"),
    "S-03": Case("split_event", tokens=2, text="hello you"),
    "S-04": Case("split_characters", tokens=3, text="日😀é"),
    "S-05": Case("line_separators", tokens=3, text="a\u2028b\u0085✅"),
    "S-06": Case("no_space", tokens=2, text="ab"),
    "S-07": Case("unterminated", tokens=2, text="AB", flags=frozenset({"unterminated"})),
    "S-08 A": Case("whole_json", "not_streamed"),
    "S-08 B": Case("error_json", "in_band_error"),
    "S-09": Case("gzip", tokens=20, text="abcdefghijklmnopqrst", flags=frozenset({"compressed_stream", "burst"})),
    "S-10": Case("burst", tokens=52, text=LETTERS, flags=frozenset({"burst"})),
    "S-11": Case("long_line", tokens=2, text="x" * 300 * 1024 + "!"),
    "S-11 endless": Case("endless_line", "line_too_long"),
    "S-12": Case("idle_close", tokens=2, text="ab"),
    "S-13": Case("too_many_requests", "http_error"),
    "S-14": Case("bad_gateway", "http_error"),
    "S-15": Case("no_keys", tokens=2, text="ab"),
    "C-01": Case("role_first", tokens=2, text="Hi!"),
    "C-02": Case("reasoning", tokens=5, text="abcde"),
    "C-03": Case("several_tokens", tokens=12, source="running_usage"),
    "C-04": Case("many_at_first", tokens=16, source="running_usage"),
    "C-05": Case("late_usage", tokens=3, text="abc", source="final_usage_spread"),
    "C-06": Case("running_usage", tokens=9, source="running_usage"),
    "C-07 absent": Case("no_usage", text=WORDS, source="events"),
    "C-07 null": Case("null_usage", text=WORDS, source="events"),
    "C-07 zero": Case("zero_usage", text=WORDS, source="events"),
    "C-08": Case("silent_tokens", tokens=3, text="日", source="running_usage"),
    "C-09": Case("error_in_stream", "in_band_error"),
    "C-10": Case("one_token", tokens=1, text="Y"),
    "C-11": Case("no_token", "empty_output"),
    "C-12": Case("stall", "stalled"),
    "C-13": Case("short_answer", tokens=4, text="abcd"),
    "C-14": Case("tool_calls", tokens=9, text='lookup{"city":"X"}'),
    "C-15": Case("early_end", "truncated_stream"),
}


def test_every_script_has_its_case() -> None:
    """None is scripted that no claim is made of."""
    assert {case.name for case in CASES.values()} == set(SCRIPTS)


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_what_is_reported_is_what_was_sent(case: Case, played: dict[str, Played]) -> None:
    """Outcome, tokens and text as played; TTFT, gaps, TPOT and E2E within the budget of the endpoint's own times."""
    one = played[case.name]
    record = one.record

    assert (record.outcome, record.reason is None) == (case.outcome, case.outcome == "ok"), record.reason
    assert case.flags <= set(record.flags)
    assert case.source in (None, record.token_source)
    if case.outcome != "ok":
        assert all(not values for name, values in one.reported().items() if name != "gaps")
        return
    assert case.tokens in (None, record.output_tokens)
    assert case.text in (None, one.text)
    assert record.stamp_source == "kernel"
    assert _off(case.name, one, _figures)[-1] == {}


def test_an_answer_that_breaks_off_keeps_the_times_of_what_had_come(played: dict[str, Played]) -> None:
    """C-09, C-12, C-15: two events each; the stall ends an idle limit after the second, whatever was said besides tokens."""
    for name in ("error_in_stream", "stall", "early_end"):
        assert _off(name, played[name], _moments)[-1] == {}
        assert sum(played[name].record.event_tokens) == 2
    stalled = played["stall"]
    assert ms(stalled.record.end_ns) >= ms(stalled.record.event_ns[-1]) + 1000 * IDLE_S


def test_a_refusal_is_asked_once_and_tells_its_status(played: dict[str, Played]) -> None:
    """S-13, S-14: with the number, and a connection that an idle limit closed is opened anew just once."""
    told = {name: (played[name].record.status, played[name].record.retries) for name in SCRIPTS}

    assert (told["too_many_requests"], told["bad_gateway"]) == ((429, 0), (502, 0))
    assert told["idle_close"] == (200, 1)
    assert {name for name, (_, retries) in told.items() if retries} == {"idle_close"}


def test_no_key_is_sent_where_there_is_none(played: dict[str, Played]) -> None:
    """S-15: the endpoint refuses every key, so that a made-up one would have been a 401."""
    assert not any(one.true["keys"] for one in played.values())


def test_reasoning_and_answer_begin_at_different_times(played: dict[str, Played]) -> None:
    """C-02: the first token is a thought, the answer's is the fourth."""
    record = played["reasoning"].record

    assert record.first_answer_ns == record.event_ns[3]


def test_all_streams_are_counted_in_flight_by_the_endpoint() -> None:
    """L-03: 128 asked for, 128 under way at once."""
    with truth_endpoint("--ttft-ms", "1500") as url:
        order = BlockSpec(
            block="b", url=url, path="/v1/completions", headers={}, concurrency=128, min_requests=128,
            min_s=0.0, max_s=60.0, ramp_s=0.0, stagger_s=0.0,
        )  # fmt: skip
        with LoadGenerator() as child:
            list(child.run_block(order, iter([RequestJob(index=i, body=b'{"max_tokens":1}') for i in range(128)])))
        told = httpx.get(f"{url}/truth", trust_env=False).json()

    assert (told["requests"], told["most_in_flight"]) == (128, 128)


def test_what_is_open_at_the_end_of_a_block_is_unanswered_and_keeps_its_tokens() -> None:
    """L-06: answers of four seconds, a block of one that waits for nothing: all four are under way at its end."""
    with truth_endpoint("--ttft-ms", "50", "--interval-us", "40000") as url:
        order = BlockSpec(
            block="b", url=url, path="/v1/completions", headers={}, concurrency=4, min_requests=0,
            min_s=1.0, max_s=1.0, ramp_s=0.0, drain_s=0.0, stagger_s=0.0,
        )  # fmt: skip
        with LoadGenerator() as child:
            works = iter([RequestJob(index=i, body=b'{"max_tokens":100}') for i in range(8)])
            captures = [one for one in child.run_block(order, works) if isinstance(one, Capture)]
    records = [record_and_text(capture, RequestSpec("", "", 100), RULE)[0] for capture in captures]

    assert [record.outcome for record in records] == ["unanswered"] * 4
    assert all(0 < len(record.event_ns) < 100 for record in records)


def test_failures_are_counted_in_requests_however_many_events_the_others_bring() -> None:
    """L-07: one of ten is refused, nine bring fifty-two events each: one failure in ten."""
    names = ["bad_gateway", *["burst"] * 9]
    with scripted_endpoint() as url:
        outcomes = Counter(record_and_text(one, RequestSpec("", "", 64), RULE)[0].outcome for one in _driven(url, names))
        told = delivered(url)

    assert outcomes == {"ok": 9, "http_error": 1}
    assert sum(len(one["sent_ns"]) for one in told) == 9 * 52
