"""The whole analysis on runs with known effects: from records to the word, the reasons and the exit code."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from specbench.analysis.hosts.equivalence import start_effect
from specbench.analysis.judge import judge
from specbench.model.data.datasets import Census
from specbench.model.records import Block, RequestRecord, RunData, Telemetry
from specbench.model.result import Comparison, Finding, FindingState, Result, VerdictWord
from specbench.model.scenario import Arm, Bin, Scenario, StartSd
from specbench.report import result_json
from specbench.units import ns_of_s
from tests.support.evidence import NONE, WINDOW_S, Effect, a_manifest, a_scenario, an_arm, cells_for, evidence, with_guardrails
from tests.support.goldens import same_text
from tests.support.judging import a_guardrail

WINS, TIES, LOSES = Effect(tpot=0.6), Effect(tpot=1.0, tokens_per_step=1), Effect(tpot=1.4)
FAILS = Effect(fails=1.0)
RANK: dict[VerdictWord, int] = {"PROMOTE": 3, "CAPPED": 2, "HOLD": 1, "ROLLBACK": 0}


def _judged(effects: Effect | dict[str, Effect], scenario: Scenario | None = None, **fields: object) -> Result:
    return judge(evidence(effects, scenario or a_scenario(), requests=24, **fields), "0")  # type: ignore[arg-type]


def _finding(result: Result, cell: str, metric: str) -> Finding:
    return next(f for c in result.cells if c.id == cell for f in c.findings if f.metric == metric)


def _comparison(result: Result, metric: str) -> Comparison:
    return next(c for c in result.cells[0].metrics if c.metric == metric)


def _blocks(run: RunData, change: Callable[[Block], Block]) -> RunData:
    return replace(run, blocks=tuple(change(block) for block in run.blocks))


@pytest.mark.parametrize(
    ("low", "middle", "high", "word", "exit_code", "cap"),
    [
        (WINS, WINS, WINS, "PROMOTE", 0, 16.0),
        (WINS, WINS, LOSES, "CAPPED", 11, 4.0),
        (WINS, LOSES, WINS, "CAPPED", 11, 1.0),
        (TIES, TIES, TIES, "HOLD", 10, None),
        (LOSES, WINS, WINS, "ROLLBACK", 20, None),
        (TIES, TIES, LOSES, "ROLLBACK", 20, None),
        (WINS, WINS, FAILS, "ROLLBACK", 20, None),
    ],
)
def test_known_effects_give_the_known_verdict(
    low: Effect, middle: Effect, high: Effect, word: VerdictWord, exit_code: int, cap: float | None
) -> None:
    """40 % faster, no change, or 40 % slower at 1, 4 and 16 streams; ten pairs."""
    result = _judged({"c1": low, "c4": middle, "c16": high})

    assert (result.verdict, result.exit_code) == (word, exit_code)
    assert (None if result.enable_range is None else result.enable_range.high) == cap
    assert (result.promote, result.rollback) == (word == "PROMOTE", word == "ROLLBACK")
    assert [cell.state for cell in result.cells if cell.id == "c1"] != ["ADVISORY"]


def test_the_measured_ratio_is_the_one_that_was_put_in() -> None:
    """0.6 in the time per token, to within what the pairs say of themselves."""
    result = _judged(WINS)
    tpot = next(m for m in result.cells[0].metrics if m.metric == "tpot_p50")

    assert tpot.ratio == pytest.approx(0.6, rel=0.03)
    assert tpot.n_blocks == 10


def test_all_requests_fail() -> None:
    """In both arms there is nothing to judge (30); in the speculative arm alone it is a rollback (20)."""
    both = _judged(FAILS, baseline=replace(NONE, fails=1.0))
    alone = _judged(FAILS)

    assert (both.verdict, both.exit_code) == ("INVALID", 30)
    assert (alone.verdict, alone.exit_code) == ("ROLLBACK", 20)
    assert "dead_arm" in {reason.code for reason in alone.reasons}


def test_a_baseline_that_is_dead_alone_is_no_judgement() -> None:
    """Speculation was not compared with anything."""
    result = _judged(WINS, baseline=replace(NONE, fails=1.0))

    assert result.verdict == "INVALID"
    assert "dead_baseline" in {reason.code for reason in result.reasons}


@pytest.mark.parametrize("fields", [{"engine_exit": "was ended by SIGSEGV"}, {"end_reason": "endpoint_dead"}])
@pytest.mark.parametrize(
    ("arm", "word", "code"), [("speculative", "ROLLBACK", "dead_arm"), ("baseline", "INVALID", "dead_baseline")]
)
def test_an_engine_that_goes_down_once_is_dead_whatever_it_answered_before(
    fields: dict[str, str], arm: str, word: VerdictWord, code: str
) -> None:
    """Its failures alone, in the last of ten pairs, would prove nothing."""
    good = evidence(WINS, a_scenario(), requests=24)
    down = _blocks(good, lambda b: replace(b, **fields) if (b.id, b.arm) == (f"c1/p09/{arm}", arm) else b)  # type: ignore[arg-type]
    result = judge(down, "0")

    assert judge(good, "0").verdict == "PROMOTE"
    assert result.verdict == word
    assert code in {reason.code for reason in result.reasons}


def test_the_same_evidence_gives_the_same_bytes() -> None:
    """Twice, and with the records in another order."""
    run = evidence({"c1": WINS, "c4": TIES, "c16": LOSES}, requests=24)
    shuffled = replace(run, records=tuple(reversed(run.records)), blocks=tuple(reversed(run.blocks)))

    assert result_json(judge(run, "0")) == result_json(judge(run, "0"))
    assert result_json(judge(run, "0")) == result_json(judge(shuffled, "0"))


def _swapped(run: RunData) -> RunData:
    names = {
        block.id: block.id.replace("baseline", "X").replace("speculative", "baseline").replace("X", "speculative")
        for block in run.blocks
    }
    blocks = [replace(b, id=names[b.id], arm="baseline" if b.arm == "speculative" else "speculative") for b in run.blocks]
    return replace(run, blocks=tuple(blocks), records=tuple(replace(r, block=names[r.block]) for r in run.records))


def test_swapping_the_arms_inverts_every_ratio() -> None:
    """Speculative ÷ baseline becomes baseline ÷ speculative, with the same error; where it has sides, they change places."""
    run = evidence({"c1": WINS, "c4": TIES, "c16": LOSES}, requests=24)
    before, after = judge(run, "0"), judge(_swapped(run), "0")

    for cell, other in zip(before.cells, after.cells, strict=True):
        for metric, swapped in zip(cell.metrics, other.metrics, strict=True):
            assert (metric.ratio is None) == (swapped.ratio is None), metric.metric
            if metric.ratio is not None and swapped.ratio is not None:
                assert metric.ratio * swapped.ratio == pytest.approx(1.0), metric.metric
                above = swapped.se_log if swapped.se_log_above is None else swapped.se_log_above
                assert metric.se_log == pytest.approx(above), metric.metric


@pytest.mark.parametrize("factor", [1.02, 1.1, 1.5, 4.0])
def test_slowing_the_speculative_arm_never_improves_the_verdict(factor: float) -> None:
    """All its times in all cells, by the same factor."""
    for effects in ({"c1": WINS, "c4": WINS, "c16": TIES}, {"c1": WINS, "c4": TIES, "c16": LOSES}):
        slower = {name: replace(e, tpot=e.tpot * factor, ttft=e.ttft * factor) for name, e in effects.items()}
        assert RANK[_judged(slower).verdict] <= RANK[_judged(effects).verdict]


def _without_cell(run: RunData, cell: str, arm: str = "") -> RunData:
    gone = {block.id for block in run.blocks if block.cell == cell and arm in block.id}
    return replace(
        run,
        blocks=tuple(block for block in run.blocks if block.id not in gone),
        records=tuple(record for record in run.records if record.block not in gone),
    )


def _emptied(run: RunData, **fields: object) -> RunData:
    """Every record of the cell at 4 streams loses these facts."""
    return replace(
        run,
        records=tuple(replace(r, **fields) if r.block.startswith("c4/") else r for r in run.records),  # type: ignore[arg-type]
    )


LOSSES: dict[str, Callable[[RunData], RunData]] = {
    "a cell": lambda run: _without_cell(run, "c4"),
    "the primary cell": lambda run: _without_cell(run, "c1"),
    "the baseline of a cell": lambda run: _without_cell(run, "c4", "baseline"),
    "the speculative arm of a cell": lambda run: _without_cell(run, "c4", "speculative"),
    "all but one pair of a cell": lambda run: replace(run, blocks=tuple(b for b in run.blocks if b.cell != "c4" or b.pair == 0)),
    "the records of a cell": lambda run: replace(run, records=tuple(r for r in run.records if not r.block.startswith("c4/"))),
    "the windows of a cell": lambda run: _blocks(
        run, lambda b: replace(b, window_open_ns=None, window_close_ns=None) if b.cell == "c4" else b
    ),
    "the events of a cell": lambda run: _emptied(run, event_ns=(), event_tokens=()),
    "the token counts of a cell": lambda run: _emptied(run, token_source="events"),
    "everything": lambda run: replace(run, blocks=(), records=()),
    "the end of the run": lambda run: replace(run, finished=None),
}


@pytest.mark.parametrize("name", list(LOSSES))
def test_whatever_is_lost_the_run_is_not_promoted(name: str) -> None:
    """A run that would be promoted loses a part of its evidence; no loss makes a pass."""
    run = evidence(WINS, requests=24)
    assert judge(run, "0").verdict == "PROMOTE"

    result = judge(LOSSES[name](run), "0")

    assert result.verdict != "PROMOTE"
    assert result.exit_code != 0
    if result.enable_range is not None:
        assert result.enable_range.high == 1.0


def test_a_refused_run_has_reasons_and_no_cells() -> None:
    """Nothing was measured: INVALID, exit code 30."""
    run = RunData(
        manifest=a_manifest(a_scenario()),
        blocks=(),
        records=(),
        finished="2026-01-01T00:00:09Z",
        problems=("arms.baseline: no stream",),
    )

    result = judge(run, "0")

    assert (result.verdict, result.exit_code, result.cells) == ("INVALID", 30, ())
    assert [reason.message for reason in result.reasons] == ["arms.baseline: no stream."]


def test_a_run_stopped_before_its_first_block_is_a_partial_hold() -> None:
    """Nothing is known, and nothing is wrong."""
    result = judge(RunData(manifest=a_manifest(a_scenario()), blocks=(), records=(), finished=None, problems=()), "0")

    assert (result.verdict, result.run.partial) == ("HOLD", True)
    assert {cell.state for cell in result.cells} == {"NODATA"}


def test_problems_found_in_a_measured_run_become_notes() -> None:
    """A torn last line does not void what came before it."""
    run = replace(evidence(WINS, requests=24), problems=("records.jsonl: last line is torn",))

    result = judge(run, "0")

    assert result.verdict == "PROMOTE"
    assert any("torn" in note for note in result.notes)


def _two_bins(**matrix: object) -> Scenario:
    scenario = a_scenario([1, 16])
    bins = tuple(Bin(name=name, input_tokens=(32, 64), output_tokens=(32, 64), weight=1.0) for name in ("edit", "prose"))
    return replace(
        scenario,
        workload=replace(scenario.workload, bins=bins),
        matrix=replace(scenario.matrix, traffic="separate", **matrix),  # type: ignore[arg-type]
    )


def test_slices_get_verdicts_of_their_own() -> None:
    """Edits win everywhere, prose loses everywhere: only edits are eligible."""
    scenario = _two_bins()
    effects = {cell.id: WINS if cell.bin == "edit" else LOSES for cell in cells_for(scenario)}

    result = _judged(effects, scenario)

    assert (result.verdict, result.exit_code) == ("CAPPED", 11)
    assert [(part.bin, part.verdict) for part in result.slices] == [("edit", "PROMOTE"), ("prose", "ROLLBACK")]
    assert [part.enable_range and part.enable_range.high for part in result.slices] == [16.0, None]
    assert [cell.primary for cell in result.cells] == [True, False, True, False]


def test_the_benefit_is_also_weighed_by_traffic() -> None:
    """Two thirds of the traffic at a ratio of 0.6 and one third at 0.8 make 0.6^(2/3) · 0.8^(1/3) = 0.66."""
    scenario = a_scenario([1, 4])
    scenario = replace(scenario, matrix=replace(scenario.matrix, traffic_share={1.0: 0.5, 4.0: 0.25}))

    result = _judged({"c1": WINS, "c4": Effect(tpot=0.8)}, scenario)

    same_text("weighed by traffic", *result.notes)


def test_rate_cells_judge_tails_and_concurrency_cells_capacity() -> None:
    """Where both are there, each metric decides in one of them and is advice in the other."""
    scenario = a_scenario([1, 4])
    scenario = replace(scenario, matrix=replace(scenario.matrix, rate=(2.0, 8.0)))

    result = _judged(WINS, scenario)

    decides = {
        (cell.id, finding.metric): finding.required
        for cell in result.cells
        for finding in cell.findings
        if finding.metric in ("ttft_p95", "ttft_paired", "e2e_p95", "pace_p95", "tpot_p95", "output_tps", "completed_rps")
    }
    assert {metric for (cell, metric), required in decides.items() if cell == "c1" and required} == {
        "tpot_p95",
        "output_tps",
        "completed_rps",
    }
    assert {metric for (cell, metric), required in decides.items() if cell == "r2" and required} >= {
        "tpot_p95",
        "e2e_p95",
        "pace_p95",
    }
    assert not any(required for (cell, metric), required in decides.items() if cell == "r2" and metric == "output_tps")
    assert [cell.id for cell in result.cells if cell.primary] == ["c1", "r2"]


def _deciding(result: Result, metric: str) -> list[str]:
    return [cell.id for cell in result.cells for f in cell.findings if f.metric == metric and f.required]


def test_a_limit_for_one_loop_decides_there_beside_the_default() -> None:
    """A limit on TTFT at 4 streams decides there, although 2 requests a second judge TTFT otherwise."""
    scenario = a_scenario([1, 4])
    scenario = replace(scenario, matrix=replace(scenario.matrix, rate=(2.0,)))
    limit = a_guardrail("ttft_p95", None, slo=1e6, cells=(4.0,))

    assert _deciding(_judged(WINS, with_guardrails(scenario, limit)), "ttft_p95") == ["c4", "r2"]
    assert _deciding(_judged(WINS, with_guardrails(scenario, limit, defaults=False)), "ttft_p95") == ["c4"]


def test_optional_rates_decide_nothing() -> None:
    """All of them: no range by rate, and TTFT is judged at the streams; the lower one: the other is the primary of its axis."""
    effects = {"c1": WINS, "c4": WINS, "r2": LOSES, "r8": WINS}

    def with_optional(*optional: float) -> Result:
        scenario = a_scenario([1, 4])
        return _judged(effects, replace(scenario, matrix=replace(scenario.matrix, rate=(2.0, 8.0), optional=optional)))

    none, upper = with_optional(2.0, 8.0), with_optional(2.0)

    assert with_optional().verdict == "ROLLBACK"
    assert (none.verdict, none.rate_range) == ("PROMOTE", None)
    assert [(cell.id, cell.required, cell.primary) for cell in none.cells] == [
        ("c1", True, True),
        ("c4", True, False),
        ("r2", False, False),
        ("r8", False, False),
    ]
    assert _deciding(none, "ttft_p95") == ["c1", "c4"]
    assert [cell.id for cell in upper.cells if cell.primary] == ["c1", "r8"]
    assert (upper.verdict, upper.rate_range and upper.rate_range.low) == ("PROMOTE", 8.0)


def test_few_requests_a_block_judge_ttft_prompt_by_prompt_all_the_same() -> None:
    """No other figure stands in for p95: ten requests a block are a hundred, and each prompt has its two times."""
    result = judge(evidence(WINS, a_scenario([1]), requests=10), "0")

    assert [_finding(result, "c1", metric).state for metric in ("ttft_paired", "ttft_p95")] == ["PASS", "PASS"]
    assert not [f for f in result.cells[0].findings if f.metric == "ttft_p50"]


def test_one_start_of_each_engine_is_in_every_interval_of_a_time() -> None:
    """A start-to-start sd of 1 % adds 2 · 0.01² to the variance of each log ratio of a time or rate, and to none of a length."""
    scenario = a_scenario([4])
    wide = _judged(WINS, scenario)
    bare = _judged(WINS, replace(scenario, matrix=replace(scenario.matrix, start_sd=StartSd(sd=0.0))))

    for metric in ("tpot_p50", "ttft_paired", "pace_p95", "output_tps"):
        with_start, without = (_comparison(result, metric) for result in (wide, bare))
        assert (with_start.se_log or 0) ** 2 == pytest.approx((without.se_log or 0) ** 2 + 2e-4)
        assert (with_start.df or 0) > (without.df or 0) == 9
    lengths = [_comparison(result, "output_length") for result in (wide, bare)]
    assert (lengths[0].se_log, lengths[0].start) == (lengths[1].se_log, None)
    same_text("one start", *[note for note in wide.notes if note not in bare.notes])


def test_equal_arms_that_starts_alone_leave_open_are_never_asked_for_more_pairs() -> None:
    """Starts that differ by 3 % leave 1.645 · √2 · 3 % = 7 % open, and output TPS may fall by 5 %: no pair settles it."""
    scenario = a_scenario([4])
    scenario = replace(scenario, matrix=replace(scenario.matrix, start_sd=StartSd(sd=0.03)))

    found = _finding(_judged(TIES, scenario), "c4", "output_tps")

    assert (found.state, found.pairs_needed) == ("INCONCLUSIVE", None)
    assert {"unresolvable_at_this_margin", "starts_differ"} <= set(found.notes)
    same_text("starts alone", found.reason)
    assert _finding(_judged(Effect(tpot=0.6), scenario), "c4", "output_tps").state == "PASS"


@pytest.mark.parametrize(
    ("change", "known"),
    [
        ({}, True),
        ({"schedule": "restart"}, False),
        ({"start_sd": StartSd(sd=0.0)}, False),
        ({"schedule": "simultaneous"}, True),
    ],
)
def test_starts_count_where_each_arm_has_one(change: dict[str, object], known: bool) -> None:
    """A restart for each pair has them in the spread of the pairs; one server for both arms has one start, however spelt."""
    scenario = a_scenario([4])
    scenario = replace(scenario, matrix=replace(scenario.matrix, **change))  # type: ignore[arg-type]
    one_server = replace(scenario, baseline=an_arm("http://localhost:8000"), speculative=an_arm("http://127.0.0.1:8000/v1"))
    two = replace(scenario, baseline=an_arm("http://localhost:8000"), speculative=an_arm("http://127.0.0.1:8001/v1"))

    assert (start_effect(scenario) is not None) is known
    assert (start_effect(two) is not None) is known
    assert start_effect(one_server) is None


def test_forced_lengths_that_differ_are_a_matter_of_safety() -> None:
    """Answers cut short although their end was forced: the arm does not do what it was told."""
    scenario = a_scenario([4])
    forced = with_guardrails(replace(scenario, workload=replace(scenario.workload, length="forced")))

    result = _judged(Effect(length=0.5), forced)

    assert result.verdict == "ROLLBACK"
    assert _finding(result, "c4", "output_length").state == "FAIL"
    assert _judged(Effect(), forced).verdict == "PROMOTE"


def test_oom_and_restarts_are_counted_over_the_run() -> None:
    """One more in the speculative arm rolls back; told by one arm alone it stays open; told by neither it is not asked for."""

    def told(arm: str, **counts: int) -> Callable[[Block, object], Telemetry | None]:
        def telling(block: Block, _: object) -> Telemetry | None:
            if arm not in block.arm:
                return Telemetry(oom_events=0, restarts=0) if arm != "baseline only" or block.arm == "baseline" else None
            twice = counts if block.pair in (3, 5) else {}
            return Telemetry(**({"oom_events": 0, "restarts": 0} | twice))  # type: ignore[arg-type]

        return telling

    one = a_scenario([4])
    assert _judged(WINS, one, telling=told("speculative", oom_events=1)).verdict == "ROLLBACK"
    assert _judged(WINS, one, telling=told("speculative", restarts=1)).verdict == "ROLLBACK"
    assert _judged(WINS, one, telling=told("baseline", restarts=1)).verdict == "PROMOTE"
    assert _judged(WINS, one, telling=told("baseline only")).verdict == "HOLD"
    assert _judged(WINS, one, telling=lambda block, _: Telemetry(restarts=0) if block.pair else None).verdict == "HOLD"
    assert _judged(WINS, one).verdict == "PROMOTE"


def test_a_guardrail_may_be_for_some_cells_only() -> None:
    """A limit that only holds at 16 streams is not met, nor missed, at 1."""
    rule = a_guardrail("tpot_p95", 0.10, cells=(16.0,))
    result = _judged({"c1": WINS, "c4": WINS, "c16": LOSES}, with_guardrails(a_scenario(), rule, defaults=False))

    assert [len([f for f in cell.findings if f.metric == "tpot_p95"]) for cell in result.cells] == [0, 0, 1]
    assert (result.verdict, result.enable_range and result.enable_range.high) == ("CAPPED", 4.0)


def test_a_guardrail_for_a_bin_is_not_dropped_in_mixed_traffic() -> None:
    """The cell mixes the bins, so it cannot be judged, and that is said."""
    rule = a_guardrail("tpot_p95", 0.10, bins=("edit",))

    mixed = _judged(WINS, with_guardrails(a_scenario([1]), rule, defaults=False))
    separate = with_guardrails(_two_bins(), rule, defaults=False)
    alone = _judged(WINS, separate)

    assert (mixed.verdict, _finding(mixed, "c1", "tpot_p95").state) == ("HOLD", "INCONCLUSIVE")
    assert "traffic: separate" in _finding(mixed, "c1", "tpot_p95").reason
    assert [len([f for f in cell.findings if f.role == "guardrail"]) for cell in alone.cells] == [1, 1, 0, 0]


def test_a_gauge_that_was_told_of_some_blocks_only_passes_nothing() -> None:
    """KV use within its limit in the seven blocks that tell it: the three others may be the full ones."""
    scenario = with_guardrails(a_scenario([4]), a_guardrail("kv_peak", None, slo=0.95))

    def telling(silent_from: int) -> Callable[[Block, object], Telemetry]:
        return lambda block, _: Telemetry(kv_usage_peak=0.5 if block.pair < silent_from else None)

    states = {n: _finding(_judged(WINS, scenario, telling=telling(n)), "c4", "kv_peak").state for n in (10, 7, 0)}

    assert states == {10: "PASS", 7: "INCONCLUSIVE", 0: "NODATA"}


def test_safety_may_be_asked_of_some_cells_only() -> None:
    """Failures at 16 streams do not count against a limit for 1 stream, but against the default that stays for the others."""
    effects = {"c1": WINS, "c4": WINS, "c16": Effect(fails=0.03)}
    low = a_guardrail("error_rate", 0.005, role="safety", cells=(1.0,))

    found = [f.state for f in _judged(effects, with_guardrails(a_scenario(), low)).run_findings if f.metric == "error_rate"]

    assert found == ["PASS", "PASS"]
    assert _finding(_judged(effects, with_guardrails(a_scenario(), low)), "c16", "error_rate").state == "FAIL"


def test_failures_above_a_range_that_passes_without_them_cap_it() -> None:
    """3 % at the top load of three alone; at the lowest load, or in an engine without a gain, they are a rollback as ever."""
    top = _judged({"c1": WINS, "c4": WINS, "c16": Effect(fails=0.03)})
    low = _judged({"c1": Effect(fails=0.03), "c4": WINS, "c16": WINS})
    without_gain = _judged({"c1": TIES, "c4": TIES, "c16": replace(TIES, fails=0.03)})

    assert (top.verdict, top.enable_range and (top.enable_range.high, top.enable_range.beyond)) == (
        "CAPPED",
        (4.0, "harm_beyond"),
    )
    assert [f.state for f in top.run_findings if f.metric == "error_rate"] == ["PASS"]
    assert [cell.state for cell in top.cells] == ["PASS", "PASS", "FAIL"]
    assert (low.verdict, low.reasons[0].code) == ("ROLLBACK", "unsafe")
    assert (without_gain.verdict, without_gain.reasons[0].code) == ("ROLLBACK", "unsafe")


def _stalling(run: RunData, every: int, cell: str = "c", arm: str = "speculative") -> RunData:
    """The run in which every so many answers of an arm are silent for 2 s before their last event."""

    def change(record: RequestRecord, place: int) -> RequestRecord:
        if place % every or arm not in record.block or not record.block.startswith(cell) or len(record.event_ns) < 2:
            return record
        *before, last = record.event_ns
        return replace(record, event_ns=(*before, last + 2_000_000_000), end_ns=record.end_ns + 2_000_000_000)

    return replace(run, records=tuple(change(record, place) for place, record in enumerate(run.records)))


def test_rare_stalls_are_a_matter_of_safety() -> None:
    """2 s of silence in 2 % of the answers move no percentile that is guarded; in both arms alike they are no harm."""
    run = evidence(WINS, a_scenario(), requests=40)
    stalled = judge(_stalling(run, 50), "0")
    top = judge(_stalling(run, 20, "c16"), "0")
    both = judge(_stalling(_stalling(run, 50), 50, arm="baseline"), "0")

    assert judge(run, "0").verdict == "PROMOTE"
    assert [f.state for f in stalled.run_findings if f.metric == "stalled_answers"] == ["FAIL"]
    assert (stalled.verdict, stalled.reasons[1].metric) == ("ROLLBACK", "stalled_answers")
    assert (top.verdict, top.enable_range and top.enable_range.high) == ("CAPPED", 4.0)
    assert [f.state for f in both.run_findings if f.metric == "stalled_answers"] == ["PASS"]


def test_an_optional_cell_that_fails_stops_nothing() -> None:
    """It is shown as advice."""
    scenario = a_scenario()
    optional = replace(scenario, matrix=replace(scenario.matrix, optional=(16.0,)))

    result = _judged({"c1": WINS, "c4": WINS, "c16": LOSES}, optional)

    assert result.verdict == "PROMOTE"
    assert [cell.state for cell in result.cells] == ["PASS", "PASS", "ADVISORY"]
    assert result.enable_range is not None
    assert result.enable_range.high == 4.0
    assert result.config.required_cells == ("c1", "c4")


def _at(url: str) -> Arm:
    return an_arm(url)


@pytest.mark.parametrize(
    ("urls", "place", "word"),
    [
        (("http://gpu1:8000", "http://gpu2:8000"), None, "HOLD"),
        (("http://gpu1:8000", "http://gpu2:8000"), "same", "PROMOTE"),
        (("http://127.0.0.1:8000", "http://localhost:8001"), None, "PROMOTE"),
        (("http://gateway/v1", "http://gateway/v1"), None, "PROMOTE"),
        (("http://gateway:1", "http://gateway:2"), None, "HOLD"),
    ],
)
def test_two_places_need_to_be_known_alike(urls: tuple[str, str], place: str | None, word: VerdictWord) -> None:
    """Loopback, one URL, or a declaration; two ports of a gateway may lead to different machines."""
    scenario = a_scenario([4], baseline=_at(urls[0]), speculative=_at(urls[1]), place=place)

    result = _judged(Effect(), scenario)

    assert result.verdict == word
    assert (result.reasons[0].code == "place_not_controlled") == (word == "HOLD")
    assert _judged(Effect(fails=0.3), scenario).verdict == "ROLLBACK"


def test_a_win_on_texts_made_up_to_lengths_is_held() -> None:
    """The census is in the result, harm is proven all the same, and nothing is ever promoted or capped."""
    census = Census(
        path="t.csv",
        bytes=9,
        sha256="0" * 64,
        shapes={"Azure LLM trace": 50},
        rows=50,
        used=50,
        bins={"short": 50},
        sampled={"short": 50},
    )

    def judged(effect: Effect, made_up: int) -> Result:
        run = evidence(effect, a_scenario([4]), requests=24)
        return judge(replace(run, manifest=replace(run.manifest, census=replace(census, made_up=made_up))), "0")

    held = judged(WINS, 50)

    assert (held.verdict, held.reasons[0].code, held.promote) == ("HOLD", "made_up_text", False)
    assert held.config.census == replace(census, made_up=50)
    assert judged(WINS, 0).verdict == "PROMOTE"
    assert judged(Effect(fails=0.3), 50).verdict == "ROLLBACK"
    same_text("made-up prompts", held.reasons[0].message)


def test_restarted_engines_need_four_launches_an_arm() -> None:
    """Ten pairs of blocks from three launches are three observations."""
    scenario = a_scenario([4])
    restarted = replace(scenario, matrix=replace(scenario.matrix, schedule="restart"))
    run = evidence(WINS, restarted, requests=24)

    def launched(modulus: int) -> RunData:
        return _blocks(run, lambda block: replace(block, launch=block.pair % modulus))

    few, enough = judge(launched(3), "0"), judge(launched(4), "0")

    assert (few.verdict, few.reasons[0].code) == ("HOLD", "too_few_launches")
    same_text("few engine starts", few.reasons[0].message)
    assert enough.verdict == "PROMOTE"


def test_a_demonstration_corpus_is_named_in_the_notes() -> None:
    """Models know Python's library by heart."""
    scenario = a_scenario([4])
    demonstration = replace(scenario, workload=replace(scenario.workload, corpus="python", dataset=None))

    plain = _judged(WINS, scenario).notes
    same_text("a demonstration corpus", *(note for note in _judged(WINS, demonstration).notes if note not in plain))


def test_credentials_in_an_address_never_reach_the_result() -> None:
    """Neither user names nor query strings."""
    scenario = a_scenario(
        [4], baseline=_at("http://user:secret@gpu1/v1?key=secret"), speculative=_at("http://gpu1/v1"), place="same"
    )

    result = _judged(WINS, scenario)

    assert result.endpoints.baseline.url == "http://gpu1/v1"
    assert b"secret" not in result_json(result)


def test_every_finding_has_a_sentence_and_every_number_is_finite() -> None:
    """The whole result is strict JSON, and no sentence lacks its figure."""
    for effects in (WINS, LOSES, Effect(fails=0.1), FAILS):
        result = _judged(effects)
        result_json(result)
        sentences = [f.reason for cell in result.cells for f in cell.findings] + [f.reason for f in result.run_findings]
        sentences += [reason.message for reason in result.reasons]
        sentences += [check.message for cell in result.cells for check in cell.integrity]
        for sentence in sentences:
            assert sentence.endswith("."), sentence
            assert not any(word in sentence for word in ("None", "nan", "inf ", "unknown")), sentence


def _state_of(result: Result, metric: str) -> FindingState:
    return _finding(result, "c4", metric).state


def test_shorter_answers_compare_different_work() -> None:
    """C-13: a quarter of the tokens at the same speed. TPOT says no change; whole answers are not compared."""
    result = _judged(Effect(tpot=1.0, length=0.25, tokens_per_step=1), a_scenario([4]))

    assert _state_of(result, "tpot_p95") == "PASS"
    assert _state_of(result, "e2e_p95") == "INCONCLUSIVE"
    assert _state_of(result, "completed_rps") == "INCONCLUSIVE"
    assert "0.25 times as long" in _finding(result, "c4", "e2e_p95").reason
    assert result.verdict == "HOLD"


def _sourced(run: RunData, arm: str, **fields: object) -> RunData:
    def change(record: RequestRecord) -> RequestRecord:
        return replace(record, **fields) if arm in record.block else record  # type: ignore[arg-type]

    return replace(run, records=tuple(change(record) for record in run.records))


def test_token_counts_of_one_arm_alone_judge_nothing_per_token() -> None:
    """C-07: server counts here and guesses there; latency of first tokens and whole answers is judged all the same."""
    run = evidence(WINS, a_scenario([4]), requests=24)

    result = judge(_sourced(run, "speculative", token_source="tokenizer"), "0")

    assert {_state_of(result, metric) for metric in ("tpot_p95", "pace_p95", "output_tps", "tpot_p50")} == {"INCONCLUSIVE"}
    assert _state_of(result, "e2e_p95") == "PASS"
    assert result.verdict == "HOLD"


def test_events_are_not_tokens_in_an_arm_that_speculates() -> None:
    """C-07: nobody counts in either arm. Where an event is one token by the engine's rule, events do count."""
    run = evidence(WINS, a_scenario([4]), requests=24)
    guessed = _sourced(run, "", token_source="events")
    by_rule = replace(guessed, records=tuple(replace(r, step_events=(1,) * len(r.event_ns)) for r in guessed.records))

    assert _state_of(judge(guessed, "0"), "tpot_p95") == "INCONCLUSIVE"
    assert _state_of(judge(by_rule, "0"), "tpot_p95") == "PASS"


def test_an_endpoint_known_not_to_speculate_may_count_by_events() -> None:
    """An A/A of two plain endpoints: one event is one token there."""
    guessed = _sourced(evidence(TIES, a_scenario([4]), requests=24), "", token_source="events")
    plain = a_manifest(a_scenario([4]), speculative={"model": "m", "speculation": "off"})

    assert _state_of(judge(replace(guessed, manifest=plain), "0"), "tpot_p95") == "PASS"


def test_prompts_that_both_arms_refuse_are_a_note() -> None:
    """D-06: too long for the model; neither answers nor failures, and the reader is told."""
    run = evidence(WINS, a_scenario([4]), requests=24)
    refused = replace(run, records=tuple(replace(r, outcome="prompt_too_long") if r.index % 9 == 0 else r for r in run.records))

    result = judge(refused, "0")

    assert result.verdict == "PROMOTE"
    same_text("refused prompts", *(note for note in result.notes if note not in judge(run, "0").notes))
    assert result.run_findings[0].state == "PASS"


def test_requests_cut_at_the_end_are_neither_answers_nor_failures() -> None:
    """L-06: they are counted apart, as they were sent after the window."""
    run = evidence(WINS, a_scenario([4]), requests=24)
    later = ns_of_s(WINDOW_S)
    cut = replace(
        run,
        records=tuple(
            replace(r, outcome="cut", finish_reason=None, sent_ns=r.sent_ns + later) if r.index % 12 == 11 else r
            for r in run.records
        ),
    )

    result = judge(cut, "0")
    counts = result.cells[0].counts

    assert result.verdict == "PROMOTE"
    assert counts.baseline.cut > 0
    assert (counts.baseline.failed, counts.speculative.failed) == (0, 0)
    assert counts.baseline.ok + counts.baseline.cut == counts.baseline.requests


def test_empty_answers_are_failures() -> None:
    """C-11: no token at all is no fast answer; it has no TTFT, and it counts against safety."""
    result = _judged(Effect(fails=0.1, outcome="empty_output"), a_scenario([4]))

    assert result.verdict == "ROLLBACK"
    assert result.cells[0].counts.speculative.by_outcome["empty_output"] > 0
    assert _finding(result, "c4", "ttft_p95").ratio is not None
