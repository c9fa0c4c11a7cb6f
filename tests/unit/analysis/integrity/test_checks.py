"""Integrity: each fault that voids a measurement, put into a good run, is named for what it is, and nothing else is."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from specbench.analysis.cells import cells_of
from specbench.analysis.integrity.engine_checks import counters_whole
from specbench.analysis.integrity.generator_limits import latest_ms
from specbench.analysis.judge import judge
from specbench.model.records import Block, GeneratorHealth, RequestRecord, RunData, SpeculationCounts, Telemetry
from specbench.model.result import Result
from specbench.units import ns_of_s
from tests.support.evidence import HEALTH, NONE, ONE_CELL, Effect, a_manifest, a_scenario, evidence
from tests.support.goldens import same_text

Fault = Callable[[RunData], RunData]


def _run(effect: Effect | None = None, seed: int = 7, **fields: Any) -> RunData:
    return evidence(effect or Effect(), ONE_CELL, seed=seed, requests=24, **fields)


def _failed(result: Result) -> set[str]:
    checks = [*result.integrity, *(check for cell in result.cells for check in cell.integrity)]
    return {check.id for check in checks if check.ok is False}


def _blocks(change: Callable[[Block], Block]) -> Fault:
    return lambda e: replace(e, blocks=tuple(change(block) for block in e.blocks))


def _records(change: Callable[[RequestRecord], RequestRecord]) -> Fault:
    return lambda e: replace(e, records=tuple(change(record) for record in e.records))


def _health(pair: int, arm: str, **fields: Any) -> Fault:
    def change(block: Block) -> Block:
        if (block.pair, block.arm) != (pair, arm):
            return block
        return replace(block, health=replace(HEALTH, **fields))

    return _blocks(change)


def _every_health(**fields: Any) -> Fault:
    return _blocks(lambda block: replace(block, health=replace(HEALTH, **fields)))


def _merged(every: int, place: int = 5) -> Fault:
    """In one of so many answers of the speculative arm, the event at this place was read together with a later one."""

    def change(record: RequestRecord) -> RequestRecord:
        hit = "speculative" in record.block and record.index % every == 0
        return replace(record, censored=(place,)) if hit else record

    return _records(change)


def _merged_once() -> Fault:
    """In each cell, the first token of one answer of the speculative arm was read together with its second."""

    def change(record: RequestRecord) -> RequestRecord:
        hit = record.block.endswith("p00/speculative") and record.index == 0
        return replace(record, censored=(0,)) if hit else record

    return _records(change)


def _merged_in_the_ramp() -> Fault:
    """Windows open 3 s late; whatever the speculative arm sent until then came in one read with something later."""

    def fault(e: RunData) -> RunData:
        late = tuple(replace(block, window_open_ns=(block.window_open_ns or 0) + ns_of_s(3)) for block in e.blocks)
        opened = {block.id: block.window_open_ns or 0 for block in late}

        def change(record: RequestRecord) -> RequestRecord:
            early = tuple(place for place, at in enumerate(record.event_ns) if record.sent_ns + at < opened[record.block])
            return replace(record, censored=early) if "speculative" in record.block else record

        return _records(change)(replace(e, blocks=late))

    return fault


def _told(arm: str, **fields: Any) -> Fault:
    """The engine of this arm tells these numbers of every block; the other one tells honest ones."""

    def change(block: Block) -> Block:
        honest = {"prefix_queries": 1000, "prefix_hits": 10}
        return replace(block, telemetry=Telemetry(**{**honest, **(fields if block.arm == arm else {})}))

    return _blocks(change)


def _generated(factor: float) -> Fault:
    """Each engine generated this many times the tokens that the client received."""

    def fault(e: RunData) -> RunData:
        received = {block.id: 0 for block in e.blocks}
        for record in e.records:
            received[record.block] += record.output_tokens or 0
        return replace(
            e, blocks=tuple(replace(b, telemetry=Telemetry(generated_tokens=round(factor * received[b.id]))) for b in e.blocks)
        )

    return fault


def _no_drafts(blocks_from: int, requests_from: float) -> Fault:
    """From this pair on, and in each of its blocks from this share of its requests on, the speculative arm drafts nothing."""

    def fault(e: RunData) -> RunData:
        pair_of = {block.id: block.pair for block in e.blocks}
        count = {block.id: sum(1 for record in e.records if record.block == block.id) for block in e.blocks}
        silent = SpeculationCounts(rounds=0, drafted=0, accepted=0, per_position=None)

        def change(record: RequestRecord) -> RequestRecord:
            late = pair_of[record.block] >= blocks_from and record.index >= requests_from * count[record.block]
            return replace(record, acceptance=silent) if late and "speculative" in record.block else record

        return replace(e, records=tuple(change(record) for record in e.records))

    return fault


def _of_arm(arm: str, share: float, **fields: Any) -> Fault:
    """This share of an arm's records, evenly spread, has these fields."""

    def change(record: RequestRecord) -> RequestRecord:
        hit = arm in record.block and (record.index * 0.618) % 1 < share
        return replace(record, **fields) if hit else record

    return _records(change)


def _slower_to_the_end(factor: float, arm: str = "speculative") -> Fault:
    """Late in every window of this arm ("p": of both), tokens take this many times as long."""

    def fault(e: RunData) -> RunData:
        middle = {block.id: ((block.window_open_ns or 0) + (block.window_close_ns or 0)) // 2 for block in e.blocks}

        def change(record: RequestRecord) -> RequestRecord:
            if arm not in record.block or record.sent_ns < middle[record.block]:
                return record
            return replace(record, event_ns=tuple(round(factor * moment) for moment in record.event_ns))

        return replace(e, records=tuple(change(record) for record in e.records))

    return fault


def _facts(**speculative: str) -> Fault:
    told = {"model": "m", "engine": "vllm", "engine_version": "1"}
    return lambda e: replace(e, manifest=a_manifest(ONE_CELL, baseline=told, speculative={**told, **speculative}))


def _without_pairs(*pairs: int) -> Fault:
    return lambda e: replace(
        e,
        blocks=tuple(b for b in e.blocks if b.pair not in pairs),
        records=tuple(r for r in e.records if int(r.block[4:6]) not in pairs),
    )


FAULTS: dict[str, tuple[Fault, set[str]]] = {
    "a starved generator": (_health(3, "speculative", cpu_share=0.97), {"client_saturated"}),
    "a generator that sends late": (_health(3, "baseline", send_delay_ms_p95=400.0), {"send_delay"}),
    "a generator that sends late in a single block": (_health(3, "baseline", send_delay_ms_p95=100.0), {"send_delay"}),
    "a generator that always sends a little late": (_every_health(send_delay_ms_p95=40.0), {"send_delay"}),
    "a lost generator process": (_health(3, "speculative", achieved_concurrency=0.75), {"achieved_concurrency"}),
    "events that came in one read": (_merged(4), {"merged_events"}),
    "first tokens that came in one read": (_merged(20, place=0), {"merged_events"}),
    "a clock that was set": (_health(3, "baseline", clock_steps=20), {"clock_step"}),
    "a counter reset": (_told("speculative", reset=True), {"counter_reset"}),
    "another model": (_facts(model="n"), {"arms_equal"}),
    "another quantisation": (
        lambda e: replace(
            e,
            manifest=a_manifest(
                ONE_CELL,
                baseline={"model": "m", "quantization": "fp8"},
                speculative={"model": "m", "quantization": "int4"},
            ),
        ),
        {"arms_equal"},
    ),
    "speculation that stops in mid-run": (_no_drafts(5, 0.0), {"speculation_speculative"}),
    "speculation that stops in mid-block": (_no_drafts(5, 0.5), {"speculation_speculative"}),
    "a baseline that drafts": (
        _of_arm("baseline", 1.0, acceptance=SpeculationCounts(rounds=10, drafted=40, accepted=20, per_position=None)),
        {"speculation_baseline"},
    ),
    "a warm cache in one arm": (_told("speculative", prefix_hits=930), {"cache_imbalance"}),
    "cached prompts as the answers tell it": (_of_arm("speculative", 1.0, cached_tokens=40), {"cache_imbalance"}),
    "somebody else's traffic": (_generated(1.2), {"foreign_traffic"}),
    "a looping baseline": (_of_arm("baseline", 0.3, looping=True), {"excess_looping"}),
    "a baseline that breaks off": (_of_arm("baseline", 0.3, outcome="truncated_stream"), {"excess_truncated"}),
    "a baseline that stays silent": (_of_arm("baseline", 0.3, outcome="empty_output"), {"excess_empty"}),
    "prompts in different terms": (_of_arm("speculative", 0.1, max_tokens=999), {"same_prompts"}),
    "prompts that one arm refuses": (_of_arm("speculative", 0.1, outcome="prompt_too_long"), {"same_prompts"}),
    "another tokenizer": (_of_arm("speculative", 1.0, prompt_tokens=71), {"prompt_tokens"}),
    "a warm-up that did not end": (_slower_to_the_end(0.8), {"steady_speculative"}),
    "arms that both slow down": (_slower_to_the_end(1.2, "p"), {"steady_baseline", "steady_speculative"}),
    "three of ten pairs lost": (_without_pairs(2, 5, 8), {"pairs_present"}),
}


@pytest.mark.parametrize("name", list(FAULTS))
def test_a_fault_voids_the_run_under_its_own_name(name: str) -> None:
    """A run that would be promoted is INVALID with exactly the check that the fault breaks, and a sentence that names it."""
    fault, expected = FAULTS[name]

    result = judge(fault(_run()), "0")

    assert (result.verdict, _failed(result)) == ("INVALID", expected)
    assert {reason.code for reason in result.reasons[1:]} == expected
    assert all(reason.message.endswith(".") and "None" not in reason.message for reason in result.reasons)


@pytest.mark.parametrize("arm", ["baseline", "speculative"])
def test_a_slowdown_of_one_arm_alone_holds_a_win(arm: str) -> None:
    """That is no lack of warm-up, and longer warm-up would only hide it."""
    result = judge(_slower_to_the_end(1.1, arm)(_run()), "0")

    assert (result.verdict, _failed(result)) == ("HOLD", set())
    assert [reason.code for reason in result.reasons if reason.metric is None] == ["slows_within_blocks"] * 2
    assert result.cells[0].state == "INCONCLUSIVE"
    same_text(f"{arm} slows", *(reason.message for reason in result.reasons if reason.metric is None))


HARMLESS: dict[str, Fault] = {
    "nothing": lambda e: e,
    "a busy generator": _health(3, "speculative", cpu_share=0.85),
    "a busy machine": _every_health(machine_cpu_share=1.0, loop_lag_ms_p99=30.0, events_per_stamp=1.4),
    "requests that leave up to five milliseconds late": _every_health(send_delay_ms_p95=5.0),
    "a hiccup in one of ten blocks": _health(3, "baseline", send_delay_ms_p95=40.0),
    "half a per cent of events in one read": _merged(12),
    "a single first token that came in one read": _merged_once(),
    "events in one read before the window": _merged_in_the_ramp(),
    "one answer spoiled by the clock": _health(3, "baseline", clock_steps=1),
    "a few n-gram requests without a draft": _of_arm(
        "speculative", 0.2, acceptance=SpeculationCounts(rounds=0, drafted=0, accepted=0, per_position=None)
    ),
    "caches that are alike": _told("speculative", prefix_hits=30),
    "tokens of answers that were cut": _generated(1.03),
    "as much looping in both arms": _of_arm("p0", 0.3, looping=True),
    "a single looping answer": lambda e: replace(e, records=(replace(e.records[0], looping=True), *e.records[1:])),
    "prompts that both arms refuse": _of_arm("p0", 0.1, outcome="prompt_too_long"),
    "a slight drift": _slower_to_the_end(1.01),
    "one of ten pairs lost": _without_pairs(5),
    "a generator that tells nothing": _blocks(
        lambda block: replace(
            block,
            health=GeneratorHealth(
                cpu_share=None,
                read_lag_ms_p99=None,
                send_delay_ms_p95=None,
                achieved_concurrency=None,
                chunks=0,
                clock_steps=0,
            ),
        )
    ),
    "facts that one endpoint does not tell": lambda e: replace(
        e, manifest=a_manifest(ONE_CELL, baseline={"model": "m"}, speculative={"model": "m", "quantization": "int4"})
    ),
}


@pytest.mark.parametrize("name", list(HARMLESS))
def test_what_does_no_harm_voids_nothing(name: str) -> None:
    """Each of these is within its limit, and the run is promoted all the same."""
    result = judge(HARMLESS[name](_run()), "0")

    assert _failed(result) == set()
    assert result.verdict == "PROMOTE"


def test_healthy_runs_are_called_healthy() -> None:
    """Forty runs of other random numbers, half of them with no effect at all: not one is void."""
    alike = Effect(tpot=1.0, tokens_per_step=1)
    results = [judge(_run(effect, seed), "0") for seed in range(20) for effect in (Effect(), alike)]

    assert [result.verdict for result in results if _failed(result)] == []


def test_a_difference_that_was_accepted_by_name_voids_nothing() -> None:
    """The user knows, and says so in the scenario."""
    told = {"model": "m", "engine_version": "1"}
    asked = replace(ONE_CELL, accept_differences=("engine_version",))
    run = replace(_run(), manifest=a_manifest(asked, baseline=told, speculative={**told, "engine_version": "2"}))

    result = judge(run, "0")

    assert result.verdict == "PROMOTE"
    same_text("an accepted difference", *(check.message for check in result.integrity if check.id == "arms_equal"))


def test_what_is_not_declared_is_shown() -> None:
    """A check that can only warn, with the names of the facts."""
    checks = {check.id: check for check in judge(_run(), "0").integrity}

    assert checks["not_declared"].ok is None
    assert "quantization" in checks["not_declared"].message


def test_failures_in_a_burst_are_a_matter_of_safety() -> None:
    """5xx in a tenth of the speculative answers rolls back; the same in both arms, or in the baseline alone, does not."""
    burst = {
        "outcome": "http_error",
        "status": 503,
        "event_ns": (),
        "event_tokens": (),
        "output_tokens": None,
        "token_source": None,
    }

    assert judge(_of_arm("speculative", 0.1, **burst)(_run()), "0").verdict == "ROLLBACK"
    assert judge(_of_arm("baseline", 0.1, **burst)(_run()), "0").verdict != "ROLLBACK"
    assert judge(_of_arm("p0", 0.1, **burst)(_run()), "0").verdict != "ROLLBACK"


def test_a_scenario_that_declares_no_method_is_not_asked_for_drafts() -> None:
    """Two plain URLs: nothing is known of who drafts, so nothing is checked."""
    plain = replace(ONE_CELL, speculative=ONE_CELL.baseline)
    result = judge(replace(_run(Effect(drafts=False)), manifest=a_manifest(plain)), "0")

    assert not any(check.id.startswith("speculation") for cell in result.cells for check in cell.integrity)


def test_user_space_stamps_leave_the_lag_unknown() -> None:
    """There is no better clock to hold them to: the check says so and fails nothing."""
    run = _health(0, "baseline")(_of_arm("p0", 1.0, stamp_source="user")(_run()))
    run = _blocks(lambda block: replace(block, health=replace(HEALTH, read_lag_ms_p99=None)))(run)

    lag = [check for check in judge(run, "0").cells[0].integrity if check.id == "read_lag"]

    assert [check.ok for check in lag] == [None]


def test_a_run_that_ended_early_did_not_lose_its_pairs() -> None:
    """What was never planned to be there by now is no fault: the verdict says partial instead."""
    run = replace(_without_pairs(4, 5, 6, 7, 8, 9)(_run()), finished=None)

    result = judge(run, "0")

    assert (result.verdict, result.reasons[0].code, _failed(result)) == ("HOLD", "partial", set())


def test_checks_of_an_optional_cell_decide_nothing() -> None:
    """Its faults are shown, and the run is judged by the others."""
    matrix = replace(a_scenario([1, 4]).matrix, optional=(4.0,))
    scenario = a_scenario([1, 4], matrix=matrix)
    run = evidence(Effect(), scenario, requests=24)

    def late(block: Block) -> Block:
        return replace(block, health=replace(HEALTH, cpu_share=0.99)) if block.cell == "c4" else block

    result = judge(_blocks(late)(run), "0")

    assert (result.verdict, _failed(result)) == ("PROMOTE", {"client_saturated"})
    assert [cell.state for cell in result.cells] == ["PASS", "ADVISORY"]


def test_how_late_a_request_may_leave() -> None:
    """5 ms; in a closed loop one per cent of the median answer where that is more."""
    assert latest_ms([300.0, 400.0, 500.0], closed_loop=True) == 5.0
    assert latest_ms([1000.0, 2000.0, 9000.0], closed_loop=True) == 20.0
    assert latest_ms([1000.0, 2000.0, 9000.0], closed_loop=False) == 5.0
    assert latest_ms([], closed_loop=True) == 5.0


def test_a_busy_machine_is_told_in_one_sentence() -> None:
    """Beside the checks that can fail, each figure by its worst block."""
    run = _health(3, "baseline", machine_cpu_share=0.97, loop_lag_ms_p99=4.2, events_per_stamp=1.25)(_run())
    (check,) = [check for check in judge(run, "0").cells[0].integrity if check.id == "machine_busy"]

    assert (check.ok, check.value, check.limit) == (True, 0.97, None)
    same_text("a busy machine", check.message)


@pytest.mark.parametrize(
    ("told", "ok", "name"),
    [
        (Telemetry(oom_events=0), None, "counters: none"),
        (Telemetry(oom_events=0, generated_tokens=9), True, "counters: not reset"),
        (Telemetry(restarts=0), True, "counters: not reset"),
    ],
)
def test_a_log_alone_says_nothing_of_counters(told: Telemetry, ok: bool | None, name: str) -> None:
    """A launched engine without a page of metrics tells of exhausted memory, which is no proof that a counter was whole."""
    run = evidence(NONE, a_scenario([1], pairs=1), requests=2, telling=lambda block, records: told)
    check = counters_whole(cells_of(run)[0])

    assert check.ok == ok
    same_text(name, check.message)
