"""Simulated streams become the facts of a run that the analysis takes for what they are."""

from specbench.analysis.judge import judge
from specbench.calibrate.simulators import BASELINE, Load, NoiseModel, Streams, prompts_of, random_of, simulate
from specbench.calibrate.synthetic_runs import blocks_of, evidence_of, first_pairs, records_of, scenario_of
from specbench.model.result import PerArm
from specbench.plan.trials import cells_of

LOAD = Load(streams=2, pairs=4, steps=120, answer=(16, 24))
SCENARIO = scenario_of({"middle": (16, 24)}, (2,), 4, separate=False)
CELL = cells_of(SCENARIO)[0]


def some_streams(name: str) -> Streams:
    """One arm of the cell."""
    prompts = prompts_of(NoiseModel(), LOAD, random_of(3, "prompts"))
    return simulate(NoiseModel(), LOAD, BASELINE, prompts, random_of(3, name), speculative=name == "speculative")


def test_records_hold_every_event_since_its_request_left() -> None:
    """The events and tokens of the records, put together again, are those of the streams."""
    streams = some_streams("baseline")
    records = records_of(streams, CELL, blocks_of(streams, CELL, "baseline"), "middle", 24)

    assert [t + r.sent_ns for r in records for t in r.event_ns] == streams.time_ns.tolist()
    assert [k for r in records for k in r.event_tokens] == streams.tokens.tolist()
    assert all(r.end_ns == r.event_ns[-1] and r.output_tokens == sum(r.event_tokens) for r in records)


def test_blocks_of_the_arms_alternate_as_in_a_run() -> None:
    """ABBA: in odd pairs the speculative block comes first."""
    baseline, speculative = (blocks_of(some_streams(arm), CELL, arm) for arm in ("baseline", "speculative"))

    assert [block.order for block in baseline] == [0, 3, 4, 7]
    assert [block.order for block in speculative] == [1, 2, 5, 6]


def test_a_simulated_run_is_fit_to_be_judged() -> None:
    """Every check that can tell says that the run is sound, and all pairs are used."""
    streams = PerArm(some_streams("baseline"), some_streams("speculative"))
    result = judge(evidence_of(SCENARIO, (CELL,), {CELL.id: streams}), "test")

    assert [check.id for cell in result.cells for check in cell.integrity if check.ok is False] == []
    assert result.cells[0].pairs_used == 4


def test_the_first_pairs_are_what_an_early_look_sees() -> None:
    """Cutting after two pairs leaves exactly their requests and events."""
    streams = some_streams("baseline")
    cut = first_pairs(streams, 2)

    assert set(cut.block.tolist()) == {0, 1}
    assert len(cut.open_ns) == 2
    assert len(cut.time_ns) == cut.first_event[-1]
    assert cut.sent_ns.tolist() == streams.sent_ns[streams.block < 2].tolist()
