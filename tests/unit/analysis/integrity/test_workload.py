"""Steadiness compares the halves of blocks, and nothing that lies across their middle."""

from dataclasses import replace

import pytest

from specbench.analysis.arrays.cell_arrays import arrays_of
from specbench.analysis.cells import cells_of
from specbench.analysis.integrity.checks import STEADY_ALPHA, steadiness
from specbench.analysis.integrity.workload import Drift, drift_of
from specbench.model.records import RequestRecord, RunData
from specbench.units import ns_of_ms
from tests.support.evidence import NONE, WINDOW_S, a_scenario, evidence

MIDDLE_MS = 1000 * WINDOW_S / 2


def drift(run: RunData) -> Drift:
    """The drift of the baseline."""
    cell = cells_of(run)[0]
    return drift_of(cell, arrays_of(cell.blocks.baseline, cell.records.baseline), "baseline")


def a_run(gap_ms: float, later_gap_ms: float) -> RunData:
    """Blocks of requests that begin every 250 ms, each of 20 tokens; those of the second half have other gaps.

    The last request of each first half takes 400 ms over its last token, which comes after the middle.
    """
    run = evidence(NONE, a_scenario((4,), pairs=4), seed=1)
    opened = {block.id: block.window_open_ns or 0 for block in run.blocks}
    records: list[RequestRecord] = []
    for block in run.blocks:
        pattern = next(record for record in run.records if record.block == block.id)
        for index in range(76):
            start_ms = 250.0 * index
            gap = gap_ms if start_ms < MIDDLE_MS else later_gap_ms
            times = [10.0 + gap * token for token in range(20)]
            if index == 39:
                times = [*times[:-1], MIDDLE_MS + 160 - start_ms]
            records.append(_record(pattern, index, opened[block.id] + ns_of_ms(start_ms), times))
    return replace(run, records=tuple(records))


def _record(pattern: RequestRecord, index: int, sent_ns: int, times_ms: list[float]) -> RequestRecord:
    stamps = tuple(ns_of_ms(time) for time in times_ms)
    return replace(
        pattern,
        index=index,
        sent_ns=sent_ns,
        event_ns=stamps,
        event_tokens=(1,) * len(stamps),
        step_events=None,
        end_ns=stamps[-1],
    )


def test_a_long_interval_across_the_middle_makes_neither_half_look_slower() -> None:
    """All other gaps are 10 ms, so that nothing changed."""
    assert drift(a_run(10.0, 10.0)).change == pytest.approx(0.0, abs=1e-9)


def test_a_change_from_half_to_half_is_found_in_full() -> None:
    """Gaps of 10 ms, then of 11 ms: 10 %."""
    assert drift(a_run(10.0, 11.0)).change == pytest.approx(0.10, abs=1e-9)


@pytest.mark.parametrize(("p", "change", "steady"), [(0.02, 0.2, True), (0.005, 0.2, False), (0.005, 0.02, True)])
def test_only_a_change_that_is_sure_and_large_breaks_steadiness(p: float, change: float, steady: bool) -> None:
    """Below 1 in 100 by chance, and more than half the smallest margin of 5 %."""
    found = Drift(cell="c4", place="At 4 streams", arm="baseline", change=change, p=p)

    assert STEADY_ALPHA == 0.01
    assert steadiness([found], 0.05)["c4"][0].ok is steady
