"""Answers are kept until both blocks of their pair have ended, and then only of selected prompts."""

from dataclasses import replace

from specbench.model.answers.kept_pairs import GeneratedAnswer
from specbench.model.records import Outcome
from specbench.model.scenario import ARMS, ArmName, Scenario
from specbench.plan.trials import Trial, cells_of, trials_of
from specbench.run.answers.kept_answers import AnswerKeeper
from tests.support.records import a_record
from tests.support.scenarios import code

SCENARIO = code()
BODY = b'{"prompt": "x"}'


def keeper(prompts: int = 64, reason: str | None = None) -> AnswerKeeper:
    """A keeper for the scenario's samplings."""
    return AnswerKeeper(prompts, 7, SCENARIO.workload.sampling, reason)


def trial(arm: ArmName, cell: int = 1, pair: int = 0, scenario: Scenario = SCENARIO) -> Trial:
    """A block at so many streams."""
    trials = trials_of(scenario, cells_of(scenario))
    return next(each for each in trials if (each.arm, each.cell.concurrency, each.pair) == (arm, cell, pair))


def block(kept: AnswerKeeper, which: Trial, indices: range, text: str = "a", outcome: Outcome = "ok") -> None:
    """A whole block with these prompts answered."""
    for index in indices:
        record = replace(a_record([1.0], block=which.block_id, index=index), outcome=outcome)
        kept.answered(which, record, GeneratedAnswer(text=f"{text} {index}", content="", finish_reason="stop"))
    kept.block_ended(which, lambda index: BODY)


def test_a_prompt_answered_in_both_arms_is_a_pair() -> None:
    """Whichever arm came first; with its request, and nothing before the second block has ended."""
    kept = keeper()
    block(kept, trial("speculative"), range(2, 5), "s")

    assert not list(kept.pairs)

    block(kept, trial("baseline"), range(3), "b")
    (pair,) = kept.pairs

    assert (pair.cell, pair.pair, pair.index, pair.concurrency, pair.temperature) == ("c1", 0, 2, 1, 0.0)
    assert (pair.answers.baseline.text, pair.answers.speculative.text, pair.body) == ("b 2", "s 2", BODY)


def test_blocks_of_other_pairs_may_stand_between() -> None:
    """As where an engine is started for all cells of one arm, then the other."""
    kept = keeper()
    for cell in (1, 4):
        block(kept, trial("baseline", cell), range(3))
    for cell in (4, 1):
        block(kept, trial("speculative", cell), range(3))

    assert [(pair.cell, pair.index) for pair in kept.pairs] == [("c1", 0), ("c1", 1), ("c1", 2), ("c4", 0), ("c4", 1), ("c4", 2)]


def test_only_so_many_are_kept_and_requests_are_made_for_these_alone() -> None:
    """Three of each of two pairs; the first pair has given up some of its six for the second."""
    kept = keeper(6)
    made: list[int] = []

    def body_of(index: int) -> bytes:
        made.append(index)
        return BODY

    for pair in (0, 1):
        for arm in ARMS:
            which = trial(arm, pair=pair)
            for index in range(50):
                answer = GeneratedAnswer(text="a", content="a", finish_reason="stop")
                kept.answered(which, a_record([1.0], block=which.block_id, index=index), answer)
            kept.block_ended(which, body_of)

    assert [pair.pair for pair in kept.pairs] == [0, 0, 0, 1, 1, 1]
    assert len(made) == 9


def test_what_is_not_compared() -> None:
    """Failed and cut answers, cells that are not required, and anything where a reason says so."""
    optional = code(("matrix.optional", "[4]"))
    kept = keeper()
    for arm in ARMS:
        block(kept, trial(arm, 1), range(2), outcome="cut")
        block(kept, trial(arm, 4, scenario=optional), range(2))
    other = keeper(reason="salted")
    for arm in ARMS:
        block(other, trial(arm), range(2))

    assert kept.pairs == other.pairs == ()
    assert other.reason == "salted"
