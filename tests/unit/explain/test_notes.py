"""Notes beside the verdict."""

from dataclasses import replace

from specbench.analysis.judge import judge
from specbench.model.records import RequestRecord, RunData, SpeculationCounts
from tests.support.evidence import Effect, a_scenario, evidence
from tests.support.goldens import same_text


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

    steady, rising = (judge(_accepting(run, tenths), "0").notes for tenths in ((9, 9), (7, 9)))
    same_text("falling acceptance", *(note for note in fallen.notes if note not in steady))
    assert fallen.verdict == "PROMOTE"
    assert len(fallen.notes) == len(steady) + 1
    assert steady == rising


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

    without = judge(evidence(Effect(), requests=24), "0").notes
    (note,) = (note for note in result.notes if note not in without)
    same_text("where the gain ends", note)


def test_a_partial_run_says_so() -> None:
    """Beside whatever it found."""
    whole = evidence(Effect(), a_scenario([4]), requests=24)
    partial = judge(replace(whole, finished=None), "0").notes

    (note,) = set(partial) - set(judge(whole, "0").notes)
    same_text("a partial run", note)


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

    (note,) = set(judge(replace(run, blocks=blocks), "0").notes) - set(judge(run, "0").notes)
    same_text("too many under way", note)


def test_text_that_was_not_read_is_a_note_beside_the_verdict() -> None:
    """Every answer of one arm, and in all of them ahead of what was read; the verdict does not care."""
    run = evidence(Effect(), a_scenario([4]), requests=24)
    flags = ("first_token_doubtful", "unread_text")
    odd = tuple(replace(record, flags=flags) if "speculative" in record.block else record for record in run.records)
    count = sum("speculative" in record.block for record in run.records)

    result = judge(replace(run, records=odd), "0")

    assert result.verdict == "PROMOTE"
    (note,) = set(result.notes) - set(judge(run, "0").notes)
    assert note.count(str(count)) == 3
    same_text("text that was not read", note)


def test_hidden_tokens_are_a_note() -> None:
    """Ten in each answer of the baseline."""
    run = evidence(Effect(), a_scenario([4]), requests=24)
    odd = tuple(replace(record, hidden_tokens=10) if "baseline" in record.block else record for record in run.records)
    count = 10 * sum("baseline" in record.block for record in run.records)

    (note,) = set(judge(replace(run, records=odd), "0").notes) - set(judge(run, "0").notes)
    assert f"{count:,}" in note
    same_text("hidden tokens", note)


def test_counts_that_cannot_be_used_leave_nothing_per_token_to_judge() -> None:
    """In one arm every answer: TPOT has no value, so there is no promotion, and times of events are judged as before."""
    run = evidence(Effect(), a_scenario([4]), requests=24)

    def ambiguous(record: RequestRecord) -> RequestRecord:
        if "speculative" not in record.block:
            return record
        nothing = (0,) * len(record.event_tokens)
        return replace(record, flags=("usage_ambiguous",), token_source=None, output_tokens=None, event_tokens=nothing)

    result = judge(replace(run, records=tuple(map(ambiguous, run.records))), "0")
    states = {finding.metric: finding.state for finding in result.cells[0].findings}

    assert result.verdict not in ("PROMOTE", "CAPPED")
    assert (states["tpot_p95"], states["pace_p95"], states["output_tps"]) == ("NODATA",) * 3
    assert states["ttft_p95"] == "PASS"


def test_an_arm_without_a_word_of_speculation_has_no_acceptance_in_a_run_either() -> None:
    """The same records: with a declared method their steps are drafts, without one four tokens may be an interval."""
    run = evidence(Effect(), a_scenario([4]), requests=24)

    def of_four(record: RequestRecord) -> RequestRecord:
        return replace(record, event_tokens=(4,) * len(record.event_ns), acceptance=None, step_events=None, grouping="interval")

    silent = replace(
        run,
        records=tuple(map(of_four, run.records)),
        blocks=tuple(replace(block, telemetry=None) for block in run.blocks),
    )
    scenario = run.manifest.scenario
    undeclared = replace(scenario, speculative=replace(scenario.speculative, speculative=None))
    said, unsaid = (
        judge(replace(silent, manifest=replace(run.manifest, scenario=one)), "0").cells[0] for one in (scenario, undeclared)
    )

    assert (said.acceptance.length, said.acceptance.source) == (4.0, "tokens per step")
    assert (unsaid.acceptance.length, unsaid.factors.tokens_per_step.speculative, unsaid.factors.break_even) == (None, None, None)
    same_text("no sign of speculation", str(unsaid.acceptance.reason))
