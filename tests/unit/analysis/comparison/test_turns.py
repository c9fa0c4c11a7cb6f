"""First and later turns of sessions are compared apart, beside the load as a whole."""

from dataclasses import replace

from specbench.analysis.judge import judge
from specbench.model.result import BinResult
from tests.support.evidence import ONE_CELL, Effect, evidence


def test_first_and_later_turns_are_results_of_their_own() -> None:
    """Of sessions of two turns, whose second the speculative arm answers twice as slowly."""
    run = evidence(Effect(tpot=0.5), ONE_CELL)
    records = tuple(
        replace(
            record,
            session=record.index // 2,
            turn=record.index % 2,
            event_ns=tuple(
                record.event_ns[0] + (4 if record.index % 2 and "speculative" in record.block else 1) * (at - record.event_ns[0])
                for at in record.event_ns
            ),
        )
        for record in run.records
    )
    whole = judge(replace(run, records=records), "0").cells[0]

    assert [(part.bin, part.requests.baseline) for part in whole.turns] == [("first turn", 208), ("later turns", 204)]
    assert ratio(whole.turns[0]) < 0.6
    assert ratio(whole.turns[1]) > 1.6
    assert [part.bin for part in whole.bins] == ["short"]


def ratio(part: BinResult) -> float:
    """The change of TPOT p50."""
    return next(one.ratio for one in part.metrics if one.metric == "tpot_p50") or 0.0


def test_prompts_that_stand_alone_have_no_turns() -> None:
    """As in all runs without sessions."""
    assert judge(evidence(Effect(), ONE_CELL), "0").cells[0].turns == ()
