"""A run of sessions that go on from each arm's own words is shown and never judged; its first turns alone are one prompt."""

from dataclasses import replace

import pytest

from specbench.analysis.judge import judge
from specbench.model.records import RequestRecord, RunData
from specbench.model.result import CellResult, Result
from specbench.model.scenario import History, Sessions
from tests.support.evidence import ONE_CELL, Effect, evidence
from tests.support.goldens import same_text
from tests.unit.analysis.failures.test_deaths import died

GAIN, HARM, FAILS = Effect(tpot=0.5), Effect(tpot=2.0), Effect(tpot=0.5, fails=0.3)


def talks(effect: Effect, history: History = "own", *, later: float = 1.5, first: float = 1.0) -> RunData:
    """A run of sessions of two turns; the speculative arm's prompts have so many times the tokens."""

    def as_turn(record: RequestRecord) -> RequestRecord:
        turn, longer = record.index % 2, "speculative" in record.block
        tokens = round(100 * ((later if turn else first) if longer else 1))
        return replace(record, session=record.index // 2, turn=turn, prompt_tokens=tokens, cached_tokens=tokens - 50)

    workload = replace(ONE_CELL.workload, sessions=Sessions(turns=(2, 2), think_s=(1.0, 2.0), history=history))
    run = evidence(effect, replace(ONE_CELL, workload=workload), requests=16)
    return replace(run, records=tuple(map(as_turn, run.records)))


def codes(result: Result) -> list[str]:
    """Those of its reasons."""
    return [reason.code for reason in result.reasons]


def check(result: Result, name: str) -> bool | None:
    """Whether that check of the cell held."""
    return next(one.ok for one in result.cells[0].integrity if one.id == name)


@pytest.mark.parametrize("effect", [GAIN, HARM, Effect(tpot=1.0)], ids=["gain", "harm", "nothing"])
def test_whatever_it_shows_it_is_held(effect: Effect) -> None:
    """With what to do, and with all figures; no load is given as one at which speculation may be on."""
    held = judge(talks(effect), "0")

    assert (held.verdict, held.exit_code, codes(held), held.promote, held.rollback) == ("HOLD", 10, ["own_history"], False, False)
    assert (held.enable_range, check(held, "prompt_tokens"), check(held, "same_prompts")) == (None, True, True)
    assert [part.bin for part in held.cells[0].turns] == ["first turn", "later turns"]
    same_text("own-history", held.reasons[0].message)


def test_caches_that_serve_unlike_prompts_need_not_be_alike() -> None:
    """The longer a history, the more of it is in the cache."""
    own, recorded = (judge(talks(GAIN, history, later=2.0), "0") for history in ("own", "dataset"))

    assert [check(one, "cache_imbalance") for one in (own, recorded)] == [None, False]
    assert [one.verdict for one in (own, recorded)] == ["HOLD", "INVALID"]


def test_with_recorded_histories_the_same_figures_are_judged() -> None:
    """Where unlike prompts are a fault."""
    assert judge(talks(GAIN, "dataset", later=1.0), "0").verdict == "PROMOTE"
    assert (
        judge(talks(HARM, "dataset", later=1.0), "0").verdict,
        judge(talks(GAIN, "dataset"), "0").verdict,
    ) == ("ROLLBACK", "INVALID")


def test_failures_are_shown_and_roll_nothing_back() -> None:
    """They may come of the longer prompts."""
    held = judge(talks(FAILS), "0")

    assert (held.verdict, codes(held)[:2]) == ("HOLD", ["own_history", "safety"])


def test_a_broken_run_is_invalid_all_the_same() -> None:
    """As where first turns are not counted alike, whatever else would have been shown."""
    for effect in (GAIN, FAILS):
        broken = judge(talks(effect, first=1.5), "0")
        assert (broken.verdict, check(broken, "prompt_tokens")) == ("INVALID", False)


def test_only_first_turns_are_compared_prompt_by_prompt() -> None:
    """Their texts, and the times to their first tokens."""
    own, recorded = (judge(talks(GAIN, history, later=1.0), "0").cells[0] for history in ("own", "dataset"))

    def paired(cell: CellResult) -> int:
        return next(one.n.baseline for one in cell.metrics if one.metric == "ttft_paired")

    assert own.answers is not None
    assert recorded.answers is not None
    assert 0 < own.answers.greedy_compared < 0.6 * recorded.answers.greedy_compared
    assert 0 < paired(own) < 0.6 * paired(recorded)


def test_a_kill_beside_it_does_not_hide_it() -> None:
    """Both are why the run is held."""
    run = talks(GAIN)
    held = judge(died(run, "baseline", 5, engine_exit="was ended by SIGKILL"), "0")

    assert (held.verdict, codes(held)[0], codes(held)[-1]) == ("HOLD", "killed_from_outside", "own_history")
