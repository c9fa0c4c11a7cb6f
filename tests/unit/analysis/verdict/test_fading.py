"""A gain that falls as the run goes on: HOLD where it ends short of what was asked, and no early stop while it falls."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from specbench.analysis.cell_metrics import measure
from specbench.analysis.cells import cells_of
from specbench.analysis.judge import judge
from specbench.analysis.verdict.fading import with_trend
from specbench.analysis.verdict.interim import is_settled
from specbench.model.records import RequestRecord, RunData
from specbench.model.result import PerArm, Result, VerdictWord
from tests.support.evidence import Effect, a_scenario, evidence
from tests.support.goldens import same_text
from tests.support.judging import a_finding

WINS = Effect(tpot=0.6, noise=0.0)


def _course(factor: Callable[[float], float]) -> RunData:
    """Ten pairs in which the speculative arm's times are so many times the baseline's gain, from 0 (first pair) to 1 (last)."""
    run = evidence(WINS, a_scenario([4]), requests=24)
    blocks = {block.id: block for block in run.blocks}

    def change(record: RequestRecord) -> RequestRecord:
        block = blocks[record.block]
        if block.arm == "baseline":
            return record
        times = factor(block.pair / 9)
        start = record.event_ns[0]
        events = tuple(round(start + times * (moment - start)) for moment in record.event_ns)
        return replace(record, event_ns=events, end_ns=events[-1])

    return replace(run, records=tuple(change(record) for record in run.records))


def _codes(result: Result) -> list[str]:
    return [reason.code for reason in result.reasons]


@pytest.mark.parametrize(
    ("factor", "word", "code"),
    [
        (lambda part: 1.0, "PROMOTE", "promote"),
        (lambda part: 1.0 + 0.65 * part, "HOLD", "fading"),  # a ratio of 0.6 at first and 0.99 at last
        (lambda part: 1.65 - 0.65 * part, "PROMOTE", "promote"),  # a gain that grows
        (lambda part: 1.0 + 0.2 * part, "PROMOTE", "promote"),  # it falls, to a ratio of 0.72, and is more than was asked
    ],
)
def test_a_win_counts_as_long_as_it_lasts(factor: Callable[[float], float], word: VerdictWord, code: str) -> None:
    """On the mean of the run each is a win."""
    result = judge(_course(factor), "0")

    assert (result.verdict, _codes(result)[0]) == (word, code)


def test_what_fades_says_so_and_not_that_more_pairs_are_needed() -> None:
    """Both ends of the line, and what was asked for."""
    same_text("fading", judge(_course(lambda part: 1.0 + 0.65 * part), "0").reasons[0].message)


@pytest.mark.parametrize(("last", "fades"), [(1.5, False), (1.0, True)])
def test_a_rate_fades_where_it_falls(last: float, fades: bool) -> None:
    """1.6 times the output at first; at least 1.05 times is asked for. Falling to 1.5 times it is a gain to the end."""
    (evidence_of,) = cells_of(_course(lambda part: 1.0))
    cell = measure(evidence_of, 0.05, speculates=PerArm(False, True))
    ratios = {pair: (100.0, 100.0 * (1.6 + (last - 1.6) * pair / 9 + 0.001 * (pair % 2))) for pair in range(10)}

    finding, reason = with_trend(
        a_finding("PASS", "output_tps", role="success", bound=1.05), replace(cell, success_by_pair=ratios)
    )

    assert finding.notes == ("gain_falls",)
    assert (reason is not None) is fades


def test_no_win_stops_a_run_while_its_gain_falls() -> None:
    """After six of ten pairs it is a win by all limits; it would stop were the gain steady."""
    falling, steady = _course(lambda part: 1.0 + 0.2 * part), _course(lambda part: 1.0)

    def settled(run: RunData) -> tuple[VerdictWord, bool]:
        kept = tuple(block for block in run.blocks if block.pair < 6)
        names = {block.id for block in kept}
        records = tuple(record for record in run.records if record.block in names)
        result = judge(replace(run, blocks=kept, records=records, looks=(4, 6)), "0")
        return result.verdict, is_settled(result, 6)

    assert settled(steady) == ("PROMOTE", True)
    assert settled(falling) == ("PROMOTE", False)
