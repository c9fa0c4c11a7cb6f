"""A load that rises is drawn over its rate, and no verdict knows of it."""

from dataclasses import replace

import pytest

from specbench.analysis.judge import judge
from specbench.model.records import Block, RequestRecord, RunData
from specbench.model.scenario import ARMS, RAMP, LoadRamp
from tests.support.evidence import ONE_CELL, Effect, evidence
from tests.support.records import a_block, a_record

RISE = LoadRamp(to=10.0, over_s=8.0, hold_s=2.0)
SCENARIO = replace(ONE_CELL, matrix=replace(ONE_CELL.matrix, ramp=RISE))


def risen(pair: int, slow_ms: float) -> tuple[list[Block], list[RequestRecord]]:
    """Both arms' rise of this pair: a request a second from .5 s on; the speculative arm's come this much later each second."""
    blocks, records = [], []
    for arm in ARMS:
        block = a_block(pair, arm=arm, name=f"{RAMP}/p{pair:02d}/{arm}", window_ms=(1000.0, 11_000.0))
        blocks.append(
            replace(block, cell=RAMP, rate=10.0, concurrency=None, order=900 + pair, backlog=(0, 0, 0, 0, 0, 0, 0, 0, 4, 8, 9))
        )
        for second in range(10):
            wait_ms = 100.0 + (slow_ms * second if arm == "speculative" else 0.0)
            due_ms = 1500.0 + 1000 * second
            events = [wait_ms + 10.0 * place for place in range(11)]
            one = a_record(events, block=block.id, index=second, sent_ms=due_ms, end_ns=int(events[-1] * 1e6))
            records.append(replace(one, scheduled_ns=one.sent_ns))
    return blocks, records


def with_rises(run: RunData, slow_ms: float) -> RunData:
    """The run with two rises behind it."""
    more = [risen(pair, slow_ms) for pair in (0, 1)]
    blocks = [block for blocks, _ in more for block in blocks]
    records = [record for _, records in more for record in records]
    return replace(run, blocks=(*run.blocks, *blocks), records=(*run.records, *records))


@pytest.mark.parametrize("effect", [Effect(), Effect(tpot=1.4)])
def test_the_same_run_with_and_without_its_rises_has_one_verdict(effect: Effect) -> None:
    """Whatever they show: here answers that come seconds late."""
    without = judge(evidence(effect, SCENARIO), "0")
    with_them = judge(with_rises(evidence(effect, SCENARIO), 5000.0), "0")

    assert with_them.ramp != ()
    assert replace(with_them, ramp=()) == without


def test_a_rise_is_drawn_over_the_rate_at_which_requests_came() -> None:
    """Twenty slots of half a second: up to 10 a second after eight, with a request in every other one."""
    before, after = judge(with_rises(evidence(Effect(), SCENARIO), 20.0), "0").ramp

    assert (before.arm, after.arm, after.blocks) == ("baseline", "speculative", 2)
    assert after.offered_rps[:2] == pytest.approx((0.3125, 0.9375))
    assert after.offered_rps[-4:] == (10.0,) * 4
    assert before.ttft_ms[1::2] == pytest.approx([100.0] * 10)
    assert after.ttft_ms[1::2] == pytest.approx([100.0 + 20 * second for second in range(10)])
    assert after.ttft_ms[0] is None
    assert after.tpot_ms[1] == pytest.approx(10.0)
    assert (after.backlog[0], after.backlog[-1]) == (0.0, 8.0)
    assert before.in_flight[1] == pytest.approx(0.4)


def test_an_engine_that_dies_on_the_rise_leaves_the_run_partial() -> None:
    """No arm is rolled back for it, and nothing is promoted."""
    run = with_rises(evidence(Effect(), SCENARIO), 20.0)
    died = replace(run, blocks=(*run.blocks[:-1], replace(run.blocks[-1], engine_exit="was ended by SIGSEGV")))

    assert judge(run, "0").verdict == "PROMOTE"
    assert judge(died, "0").verdict == "HOLD"


def test_a_run_without_a_rise_shows_none() -> None:
    """As all runs of before."""
    assert judge(evidence(Effect(), ONE_CELL), "0").ramp == ()
