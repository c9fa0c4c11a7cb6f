"""A run in a world is the facts of a run, fixed by its name and number."""

from dataclasses import replace

from specbench.analysis.judge import judge
from specbench.calibrate.worlds.evidence import WorldRun, evidence_in
from specbench.calibrate.worlds.setting import Behaviour, RequestClass
from specbench.model.scenario import StartSd
from specbench.plan.trials import trials_of

SMALL = WorldRun(streams=(2,), pairs=4)
BINS = (RequestClass(name="quick", weight=1), RequestClass(name="heavy", weight=3, answer=(40, 60)))


def test_a_run_is_fixed_by_its_name_and_its_number() -> None:
    """Another number is another run."""
    assert evidence_in(SMALL, "one", 0) == evidence_in(SMALL, "one", 0)
    assert evidence_in(SMALL, "one", 0).records != evidence_in(SMALL, "one", 1).records
    assert evidence_in(SMALL, "one", 0).records != evidence_in(SMALL, "two", 0).records


def test_blocks_run_in_the_order_of_the_plan() -> None:
    """Which arm leads is drawn anew for each run, as the plan draws it."""
    evidence = evidence_in(SMALL, "one", 3)
    planned = trials_of(evidence.manifest.scenario, evidence.manifest.cells)

    assert [(b.id, b.order) for b in evidence.blocks] == [(t.block_id, t.order) for t in planned]
    assert {evidence_in(SMALL, "one", number).blocks[0].arm for number in range(4)} == {"baseline", "speculative"}


def test_both_arms_of_a_pair_are_given_the_same_prompts() -> None:
    """The same index is the same bin and, in equal arms, the same number of tokens and the same text."""
    run = replace(SMALL, classes=BINS)
    records = {(r.block, r.index): r for r in evidence_in(run, "one", 0).records}
    pairs = [(r, records.get((block.replace("baseline", "speculative"), index))) for (block, index), r in records.items()]
    both = [(ours, other) for ours, other in pairs if other is not None]

    assert len(both) > 50
    assert all((a.bin, a.output_tokens, a.text_sha256) == (b.bin, b.output_tokens, b.text_sha256) for a, b in both)
    assert {a.bin for a, _ in both} == {"quick", "heavy"}


def test_a_run_in_the_usual_world_is_fit_to_be_judged() -> None:
    """No check fails, all pairs count, and a win of 1.5 is seen as one."""
    result = judge(evidence_in(replace(SMALL, speculative=Behaviour(step_ratio=2 / 3)), "one", 0), "test")
    tpot = next(metric.ratio for metric in result.cells[0].metrics if metric.metric == "tpot_p50")

    assert [check.id for cell in result.cells for check in cell.integrity if check.ok is False] == []
    assert result.cells[0].pairs_used == 4
    assert tpot is not None
    assert 0.6 < tpot < 0.72


def test_what_never_answered_is_a_record_without_a_token() -> None:
    """It was open when the block's drain ended, 10 s after its window; sent before the window, it counts for nothing."""
    evidence = evidence_in(replace(SMALL, speculative=Behaviour(hung=0.2)), "one", 0)
    blocks = {block.id: block for block in evidence.blocks}
    silent = [record for record in evidence.records if record.outcome != "ok"]
    stuck = {block.arm: block.health.stuck_share or 0.0 for block in evidence.blocks if block.pair == 0}

    assert {record.block.split("/")[-1] for record in silent} == {"speculative"}
    assert all(r.event_ns == () and r.sent_ns + r.end_ns == (blocks[r.block].window_close_ns or 0) + 10**10 for r in silent)
    assert {r.outcome: r.sent_ns >= (blocks[r.block].window_open_ns or 0) for r in silent} == {"cut": False, "unanswered": True}
    assert stuck["baseline"] == 0.0
    assert 0.0 < stuck["speculative"] <= 1.0


def test_a_rate_is_a_share_of_what_the_baseline_serves() -> None:
    """Eight slots and 420 ms a request are 19.05 requests a second; half of them is the rate, and the only load."""
    evidence = evidence_in(replace(SMALL, loads=(0.5,)), "one", 0)

    assert [cell.id for cell in evidence.manifest.cells] == ["r9.524"]
    assert all(record.scheduled_ns == record.sent_ns for record in evidence.records)
    assert [cell.primary for cell in judge(evidence, "test").cells] == [True]


def test_arms_declare_whether_they_speculate() -> None:
    """One that is made faster by a factor does not."""
    plain = evidence_in(SMALL, "one", 0).manifest.endpoints
    drafting = evidence_in(replace(SMALL, speculative=Behaviour(alpha=0.6)), "one", 0).manifest.endpoints

    assert [endpoint.facts["speculation"] for endpoint in plain] == ["off", "off"]
    assert [endpoint.facts["speculation"] for endpoint in drafting] == ["off", "on"]


def test_a_scenario_states_how_starts_differ_or_leaves_the_default() -> None:
    """Which the world's true spread need not be."""
    default, stated = (
        evidence_in(replace(SMALL, start_sd=sd), "one", 0).manifest.scenario.matrix.start_sd for sd in (None, 0.03)
    )

    assert default == StartSd()
    assert (stated.sd, stated.df) == (0.03, None)
