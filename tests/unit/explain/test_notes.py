"""Notes beside the verdict."""

from dataclasses import replace

from specbench.analysis.judge import judge
from specbench.model.records import RequestRecord, RunData, SpeculationCounts
from tests.support.evidence import Effect, a_scenario, evidence


def _accepting(run: RunData, of_ten: tuple[int, int]) -> RunData:
    """In each round of ten, so many of one drafted token are accepted: from the first pair to the last in a line."""
    pair_of = {block.id: block.pair for block in run.blocks}
    last = max(pair_of.values())

    def change(record: RequestRecord) -> RequestRecord:
        if "speculative" not in record.block:
            return record
        share = pair_of[record.block] / last
        kept = round(100 * (of_ten[0] + share * (of_ten[1] - of_ten[0]))) + record.index % 7
        return replace(record, acceptance=SpeculationCounts(rounds=1000, drafted=1000, accepted=kept, per_position=(kept,)))

    return replace(run, records=tuple(change(record) for record in run.records))


def test_acceptance_that_falls_in_the_run_is_a_note() -> None:
    """From .9 to .7 over ten pairs; a steady one is none, and neither is one that falls from .9 to .87."""
    run = evidence(Effect(), a_scenario([4]), requests=24)

    fallen = judge(_accepting(run, (9, 7)), "0")

    assert any("At 4 streams alpha fell by 2" in note and "% from the beginning" in note for note in fallen.notes)
    assert fallen.verdict == "PROMOTE"
    for steady in ((9, 9), (7, 9)):
        assert not any("alpha fell" in note for note in judge(_accepting(run, steady), "0").notes)


def test_low_acceptance_is_advice() -> None:
    """Below 0.7 the advisory finding fails, and the verdict does not care."""
    run = evidence(Effect(), a_scenario([4]), requests=24)

    states = []
    for tenths in (6, 9):
        result = judge(_accepting(run, (tenths, tenths)), "0")
        states.append(next(f.state for f in result.cells[0].findings if f.metric == "alpha"))
        assert result.verdict == "PROMOTE"

    assert states == ["FAIL", "PASS"]


def test_the_load_at_which_the_gain_ends_is_interpolated() -> None:
    """0.6 at 4 streams and 1.4 at 16: the ratio is 1 near 9 (on logarithms of both)."""
    result = judge(evidence({"c1": Effect(), "c4": Effect(), "c16": Effect(tpot=1.4)}, requests=24), "0")

    note = next(note for note in result.notes if note.startswith("An explanation: "))
    assert note.endswith("per token near 9 streams; this is no cap.")
    assert not any("no cap" in note for note in judge(evidence(Effect(), requests=24), "0").notes)


def test_a_partial_run_says_so() -> None:
    """Beside whatever it found."""
    run = replace(evidence(Effect(), a_scenario([4]), requests=24), finished=None)

    assert any("ended early" in note for note in judge(run, "0").notes)


def test_a_run_that_an_engine_left_half_way_is_partial_though_it_ended_in_order() -> None:
    """Also where it died in a cell that decides nothing: later blocks were never run."""
    run = evidence(Effect(), a_scenario([4]), requests=24)
    last = replace(run.blocks[-1], engine_exit="exited with 1")
    result = judge(replace(run, blocks=(*run.blocks[:-1], last)), "0")

    assert result.run.partial
    assert result.verdict != "PROMOTE"


def test_an_endpoint_that_cannot_keep_up_with_the_schedule_is_named() -> None:
    """Requests waited for one of the generator's streams."""
    run = evidence(Effect(), a_scenario([4]), requests=24)
    blocks = tuple(replace(block, in_flight_limit_reached=True) for block in run.blocks)

    assert [note for note in judge(replace(run, blocks=blocks), "0").notes if "keep up" in note] == [
        "At 4 streams the most requests that may be under way at once were, so later ones were sent late: the endpoint does not"
        " keep up. Their times count from the moment at which they were due."
    ]
