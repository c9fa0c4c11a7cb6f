"""The generator's checks by their figures: what was read together, in which windows, and how late one block may be."""

from dataclasses import replace

from specbench.analysis.cells import CellEvidence, cells_of
from specbench.analysis.integrity.generator_limits import MergedReads, events_apart, events_at_once, merged_reads, sends_in_time
from specbench.model.result import PerArm
from specbench.units import ns_of_ms
from tests.support.evidence import ONE_CELL, Effect, a_scenario, evidence
from tests.support.goldens import same_text
from tests.support.records import a_record


def _late_cell(*delays_ms: float) -> CellEvidence:
    """Blocks of the baseline whose 95th percentiles are these; those of the other arm left in time. Answers take 0.4 s."""
    run = evidence(Effect(), a_scenario([4], pairs=len(delays_ms)), seed=7, requests=6)
    (cell,) = cells_of(run)
    late = tuple(
        replace(block, health=replace(block.health, send_delay_ms_p95=delay))
        for block, delay in zip(cell.blocks.baseline, delays_ms, strict=True)
    )
    short = (replace(record, end_ns=ns_of_ms(400)) for record in cell.records.baseline)
    return replace(cell, blocks=PerArm(late, cell.blocks.speculative), records=PerArm(tuple(short), cell.records.speculative))


def test_events_without_a_time_are_counted_inside_the_window() -> None:
    """Of six events the third to fifth lie inside: two gaps, one event without a time; the request began before."""
    record = a_record([10, 20, 30, 40, 50, 60], censored=(1, 3))

    inside = merged_reads([record], {"baseline-0": (ns_of_ms(25), ns_of_ms(55))})

    assert inside == MergedReads(events=1, gaps=2, requests=0, firsts=0)
    assert inside.share == 0.5


def test_first_tokens_count_where_their_request_began() -> None:
    """One request inside, whose first token came with the second."""
    whole = merged_reads([a_record([10, 10, 20], censored=(0,))], {"baseline-0": (0, ns_of_ms(100))})

    assert (whole, whole.firsts_allowed) == (MergedReads(events=1, gaps=2, requests=1, firsts=1), 1)


def test_a_window_that_never_opened_holds_nothing() -> None:
    """Not a share of 0, but none."""
    nothing = merged_reads([a_record([10, 20])], {"baseline-0": (None, None)})

    assert (nothing, nothing.share) == (MergedReads(events=0, gaps=0, requests=0, firsts=0), None)


def test_an_arm_without_a_gap_is_not_called_timed() -> None:
    """Answers of one token have no gaps: the check passes nothing, and says which arm it is."""
    (cell,) = cells_of(evidence(Effect(), ONE_CELL, seed=7, requests=6))
    short = tuple(replace(r, event_ns=r.event_ns[:1], event_tokens=(1,), output_tokens=1) for r in cell.records.speculative)
    check = events_apart(replace(cell, records=PerArm(cell.records.baseline, short)))

    assert (check.ok, check.value) == (None, None)
    same_text("an arm without a gap", check.message)


def test_one_late_block_is_not_hidden_by_the_mean() -> None:
    """Ten blocks: a mean of 2.4 ms and one block of 21, past four times the 5 ms."""
    check = sends_in_time(_late_cell(*[0.3] * 9, 21.0))

    assert (check.ok, check.value, check.limit) == (False, 21.0, 20.0)
    same_text("one late block", check.message)


def test_one_block_may_be_later_than_the_mean_of_all() -> None:
    """19 ms in one of ten: the mean is what counts, and it is in time."""
    check = sends_in_time(_late_cell(*[0.3] * 9, 19.0))

    assert (check.ok, check.limit) == (True, 5.0)


def test_blocks_that_are_all_a_little_late_are_late() -> None:
    """6 ms in each: no block is past 20, their mean is past 5."""
    check = sends_in_time(_late_cell(*[6.0] * 4))

    assert (check.ok, check.value, check.limit) == (False, 6.0, 5.0)


def test_an_endpoint_that_writes_several_events_at_once_is_told_from_a_late_client() -> None:
    """N-19: always four within a tenth of a millisecond; a client that reads late merges any number."""
    fours = a_record([40 * write + 0.03 * place for write in range(10) for place in range(4)])
    any_number = [10, 10, 10, 40, 70, 70, 90, 120, 120, 120, 120, 150]

    assert events_at_once([fours]) == 4
    assert events_at_once([a_record(any_number)]) is None
    assert events_at_once([a_record([20 * place for place in range(20)])]) is None
    assert events_at_once([a_record([0.1 * place for place in range(40)])]) is None
    assert events_at_once([]) is None
