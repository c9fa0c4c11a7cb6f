"""One kill from outside is a HOLD, alike for both arms; a crash, memory that ran out and a second death are not excused by it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest

from specbench.analysis.failures.deaths import outside_kills
from specbench.analysis.judge import judge
from specbench.model.records import Block, RequestRecord, RunData, Telemetry
from specbench.model.result import Result, VerdictWord
from specbench.model.scenario import ArmName
from specbench.report import render
from specbench.report.formats.policy import policy_of
from specbench.report.serve import verdict
from tests.support.evidence import NONE, Effect, a_scenario, evidence
from tests.support.goldens import same_text

WINS = Effect(tpot=0.6)
GOOD = evidence(WINS, a_scenario([4]), requests=24)
ARMS: tuple[ArmName, ArmName] = ("baseline", "speculative")


def died(run: RunData, arm: str, pair: int, **fields: Any) -> RunData:
    """The run until an engine died in this pair, whose later requests were refused."""
    last = f"c4/p{pair:02d}/{arm}"
    at = next(place for place, block in enumerate(run.blocks) if block.id == last)
    blocks = (*run.blocks[:at], replace(run.blocks[at], **fields))
    names = {block.id for block in blocks}
    kept = [record for record in run.records if record.block in names]
    records = tuple(_refused(record) if record.block == last and record.index > 4 else record for record in kept)
    return replace(run, blocks=blocks, records=records, problems=("arms: an engine died, so no later block was run.",))


def _refused(record: RequestRecord) -> RequestRecord:
    return replace(record, outcome="connect_failed", event_ns=(), event_tokens=(), output_tokens=None, token_source=None)


def _word(run: RunData) -> VerdictWord:
    return judge(run, "0").verdict


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("pair", [0, 1, 5, 9])
@pytest.mark.parametrize("how", ["was ended by SIGKILL", "was ended by SIGTERM", "exited with code 0"])
def test_one_kill_from_outside_holds_whichever_arm_it_hits(arm: ArmName, pair: int, how: str) -> None:
    """SIGKILL, an eviction, and one that the engine followed in good order; in the first pair nothing at all is left."""
    result = judge(died(GOOD, arm, pair, engine_exit=how), "0")

    assert (result.verdict, result.exit_code, result.run.partial) == ("HOLD", 10, True)
    assert [reason.code for reason in result.reasons[:2]] == ["killed_from_outside"] * 2
    assert result.reasons[1].message.startswith(f"At 4 streams, the {arm} engine {how} in pair {pair + 1}, without a sign")
    assert result.cells[0].pairs_used == pair


@pytest.mark.parametrize(
    ("arm", "fields", "word"),
    [
        ("speculative", {"engine_exit": "was ended by SIGSEGV"}, "ROLLBACK"),
        ("speculative", {"engine_exit": "was ended by SIGABRT"}, "ROLLBACK"),
        ("speculative", {"engine_exit": "exited with code 1"}, "ROLLBACK"),
        ("speculative", {"engine_exit": "was ended by SIGKILL, after its log had told of a crash,"}, "ROLLBACK"),
        ("speculative", {"engine_exit": "was ended by SIGKILL", "telemetry": Telemetry(oom_events=1)}, "ROLLBACK"),
        ("baseline", {"engine_exit": "was ended by SIGSEGV"}, "INVALID"),
        ("baseline", {"engine_exit": "was ended by SIGKILL", "telemetry": Telemetry(oom_events=1)}, "INVALID"),
    ],
)
def test_a_crash_and_memory_that_ran_out_are_the_engines_own(arm: str, fields: dict[str, Any], word: VerdictWord) -> None:
    """By which signal it ended, and by what its log or its answers said."""
    assert _word(died(GOOD, arm, 5, **fields)) == word


@pytest.mark.parametrize("fields", [{"outcome": "http_error", "status": 500}, {"outcome": "in_band_error"}])
def test_an_engine_that_says_in_its_answers_that_it_is_broken_was_not_ended_from_outside(fields: dict[str, Any]) -> None:
    """vLLM's server answers 500 once its core has died, and then exits in good order."""
    dead = died(GOOD, "speculative", 5, engine_exit="exited with code 0")
    records = tuple(replace(r, **fields) if r.outcome == "connect_failed" else r for r in dead.records)

    assert _word(dead) == "HOLD"
    assert _word(replace(dead, records=records)) == "ROLLBACK"


def _restarting(arm: str, *pairs: int, of: int = 10) -> RunData:
    """Engines that tell of restarts, in whose counters they show."""

    def telling(block: Block, _: object) -> Telemetry:
        again = block.arm == arm and block.pair in pairs
        return Telemetry(oom_events=0, restarts=int(again), reset=again)

    return evidence(WINS, a_scenario([4], pairs=of), requests=24, telling=telling)


def test_a_quick_restart_is_one_event_and_a_second_one_is_not() -> None:
    """An engine that was replaced while the run went on: all others count."""
    for arm in ARMS:
        result = judge(_restarting(arm, 3), "0")
        assert (result.verdict, result.reasons[0].code, result.run.partial) == ("HOLD", "killed_from_outside", False)
        assert result.reasons[1].message.startswith(f"At 4 streams, the {arm} engine started anew in pair 4")
        same_text(f"restarted, {arm}", *[reason.message for reason in result.reasons])
        assert result.cells[0].pairs_used == 9
    assert _word(_restarting("speculative", 3, 6)) == "ROLLBACK"
    assert _word(_restarting("baseline", 3, 6)) == "INVALID"
    assert _word(_restarting("none")) == "PROMOTE"


@pytest.mark.parametrize("of", [2, 4])
def test_the_pair_that_is_left_out_of_a_short_run_is_no_fault_of_the_measurement(of: int) -> None:
    """One of four is more than the fifth that a whole run may lack."""
    for arm in ARMS:
        assert judge(_restarting(arm, 1, of=of), "0").reasons[0].code == "killed_from_outside"


def _down(run: RunData, *names: str, share: Callable[[int], bool] = lambda index: 4 < index < 9) -> RunData:
    """In these blocks some requests were refused: nobody listened for a while."""
    records = tuple(_refused(r) if r.block in names and share(r.index) else r for r in run.records)
    return replace(run, records=records)


@pytest.mark.parametrize("arm", ARMS)
def test_a_restart_that_no_counter_tells_shows_in_refused_connections(arm: str) -> None:
    """Nobody listened, and then somebody did; over two blocks it is still one. Twice is no accident, and for good no restart."""
    once = judge(_down(GOOD, f"c4/p03/{arm}"), "0")
    assert (once.verdict, once.reasons[0].code) == ("HOLD", "killed_from_outside")

    both = {"c4/p03": lambda index: index > 4, "c4/p04": lambda index: index < 4}
    over = _down(_down(GOOD, f"c4/p03/{arm}", share=both["c4/p03"]), f"c4/p04/{arm}", share=both["c4/p04"])
    assert [death.block.id for death in outside_kills(over)] == [f"c4/p03/{arm}"]
    assert outside_kills(_down(GOOD, f"c4/p03/{arm}", f"c4/p06/{arm}")) == ()
    assert outside_kills(_down(GOOD, f"c4/p09/{arm}", share=lambda index: index > 4)) == ()


def test_harm_that_is_shown_without_the_kill_stands() -> None:
    """A ROLLBACK of the rest is one; and what cannot be trusted for another reason is INVALID."""
    loses = evidence(Effect(tpot=1.6), a_scenario([4]), requests=24)
    result = judge(died(loses, "baseline", 8, engine_exit="was ended by SIGKILL"), "0")

    assert result.verdict == "ROLLBACK"
    assert any("the baseline engine was ended by SIGKILL in pair 9" in note for note in result.notes)


def test_one_death_of_each_arm_is_a_machine_that_went_down() -> None:
    """An eviction takes both."""
    both = replace(died(GOOD, "speculative", 5, engine_exit="was ended by SIGTERM"))
    blocks = tuple(replace(b, engine_exit="was ended by SIGTERM") if b.id == "c4/p05/baseline" else b for b in both.blocks)

    assert _word(replace(both, blocks=blocks)) == "HOLD"


def test_every_reader_of_the_verdict_is_told_of_the_kill() -> None:
    """Text, page, JUnit, policy and the endpoint for roll-out controllers: neither yes nor no, and why."""
    result: Result = judge(_restarting("speculative", 3), "0")
    tree = ElementTree.fromstring(render(result, "junit"))
    case = next(case for case in tree.iter("testcase") if case.get("name") == "verdict")
    asked = verdict(result, result.promote)

    assert "killed from outside" in str(render(result, "text"))
    assert "killed from outside" in str(render(result, "html"))
    assert any("killed from outside" in str(child.get("message")) for child in case)
    assert (policy_of(result, True)["enable"], policy_of(result, True)["proposed"]) == ([], [])
    assert (asked["promote"], asked["rollback"], asked["exit_code"]) == (False, False, 10)


def _frozen(run: RunData, name: str, from_ns: int, length_ns: int, *, streams: Callable[[int], bool] = lambda _: True) -> RunData:
    """From that moment of the block on, everything in these streams came later."""
    opened = next(block.window_open_ns or 0 for block in run.blocks if block.id == name)

    def later(record: RequestRecord) -> RequestRecord:
        if record.block != name or not streams(record.stream):
            return record
        at = opened + from_ns - record.sent_ns
        return replace(
            record,
            sent_ns=record.sent_ns + (length_ns if at <= 0 else 0),
            event_ns=tuple(ns + (length_ns if 0 < at <= ns else 0) for ns in record.event_ns),
            end_ns=record.end_ns + (length_ns if 0 < at <= record.end_ns else 0),
        )

    return replace(run, records=tuple(later(record) for record in run.records))


@pytest.mark.parametrize("arm", ARMS)
def test_an_engine_that_stands_still_is_named(arm: ArmName) -> None:
    """Six seconds without a token in any stream."""
    notes = judge(_frozen(GOOD, f"c4/p02/{arm}", 4_000_000_000, 6_000_000_000), "0").notes

    named = [note for note in notes if "engine froze" in note]
    assert len(named) == 1
    same_text(f"frozen, {arm}", named[0])


@pytest.mark.parametrize(("length_ns", "streams"), [(1_000_000_000, None), (6_000_000_000, lambda stream: stream == 0)])
def test_a_short_pause_and_one_slow_stream_are_no_freeze(length_ns: int, streams: Callable[[int], bool] | None) -> None:
    """The engine goes on for the others."""
    frozen = _frozen(GOOD, "c4/p02/speculative", 4_000_000_000, length_ns, streams=streams or (lambda _: True))

    assert not any("engine froze" in note for note in judge(frozen, "0").notes)
    assert not any("engine froze" in note for note in judge(evidence(NONE, a_scenario([1]), requests=12), "0").notes)


def test_an_engine_that_stands_still_for_good_is_named() -> None:
    """Its streams stop in the middle of their answers, and are given up half a minute later."""
    name = "c4/p09/speculative"
    opened = next(block.window_open_ns or 0 for block in GOOD.blocks if block.id == name)
    cut_ns = opened + 4_000_000_000

    def stopped(record: RequestRecord) -> RequestRecord:
        if record.block != name or record.sent_ns + record.end_ns < cut_ns:
            return record
        seen = [ns for ns in record.event_ns if record.sent_ns + ns < cut_ns]
        return replace(
            record,
            outcome="stalled" if seen else "timeout_first_token",
            event_ns=tuple(seen),
            event_tokens=record.event_tokens[: len(seen)],
            output_tokens=None,
            end_ns=max(cut_ns - record.sent_ns, 0) + 30_000_000_000,
        )

    notes = judge(replace(GOOD, records=tuple(stopped(record) for record in GOOD.records)), "0").notes

    named = [note for note in notes if "engine froze" in note]
    assert len(named) == 1
    same_text("frozen for good", named[0])
