"""Harm in a part of mixed traffic: found where it is proven, named with its remedy, and never asked to pass."""

import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from math import exp

import pytest

from specbench.analysis.judge import judge
from specbench.model.records import RequestRecord, RunData
from specbench.model.result import CellResult, Finding, Result
from specbench.model.scenario import Bin, Scenario
from tests.support.evidence import Effect, a_scenario, evidence, with_guardrails
from tests.support.goldens import same_text
from tests.support.judging import a_guardrail

WINS = Effect(tpot=0.6)


def _scenario(levels: tuple[int, ...] = (4,), pairs: int = 10, **matrix: object) -> Scenario:
    scenario = a_scenario(levels, pairs=pairs)
    bins = tuple(Bin(name=name, input_tokens=(32, 64), output_tokens=(32, 64), weight=1.0) for name in ("edit", "prose"))
    return replace(
        scenario,
        workload=replace(scenario.workload, bins=bins),
        matrix=replace(scenario.matrix, **matrix),  # type: ignore[arg-type]
    )


def _mixed(run: RunData, edits: float, tpot: float = 1.0, ttft: float = 1.0, cell: str = "c") -> RunData:
    """The run with so large a share of edits, whose answers come faster in the baseline; speculation makes these slower."""

    def change(record: RequestRecord) -> RequestRecord:
        pair = record.block.rpartition("/")[0]
        if random.Random(f"{pair}/{record.index}").random() >= edits:
            return replace(record, bin="prose")
        harmed = "speculative" in record.block and record.block.startswith(cell)
        first, pace = (0.4 * ttft, 0.4 * tpot) if harmed else (0.4, 0.4)
        start = record.event_ns[0]
        events = tuple(round(start * first + (moment - start) * pace) for moment in record.event_ns)
        return replace(record, bin="edit", event_ns=events, end_ns=events[-1])

    return replace(run, records=tuple(change(record) for record in run.records))


def _scattered(run: RunData, name: str, sd: float, cell: str) -> RunData:
    """The run with times of this bin in this cell that are alike in both arms, but differ from block to block."""

    def change(record: RequestRecord) -> RequestRecord:
        if record.bin != name or not record.block.startswith(cell):
            return record
        factor = exp(random.Random(record.block).gauss(0.0, sd)) / (0.6 if "speculative" in record.block else 1.0)
        start = record.event_ns[0]
        events = tuple(round(start + (moment - start) * factor) for moment in record.event_ns)
        return replace(record, event_ns=events, end_ns=events[-1])

    return replace(run, records=tuple(change(record) for record in run.records))


def _with_few(run: RunData, name: str, cell: str) -> RunData:
    """The run with one request of this bin in every block of this cell."""
    seen: Counter[str] = Counter()
    kept = []
    for record in run.records:
        if record.bin == name and record.block.startswith(cell):
            seen[record.block] += 1
            if seen[record.block] > 1:
                continue
        kept.append(record)
    return replace(run, records=tuple(kept))


def _result(scenario: Scenario, edits: float, tpot: float = 1.0, ttft: float = 1.0, cell: str = "c") -> Result:
    return judge(_mixed(evidence(WINS, scenario, requests=60), edits, tpot, ttft, cell), "0")


def _parts(cell: CellResult) -> Mapping[tuple[str, str], Finding]:
    return {(part.bin, found.metric): found for part in cell.bins for found in part.findings}


def test_a_bin_that_gets_slower_below_the_others_p95_fails_the_cell() -> None:
    """Simpson: 30 % of the requests take twice their time per token, and every percentile of the whole is better."""
    result = _result(_scenario(), 0.3, tpot=2.0 / 0.6)
    found = _parts(result.cells[0])

    assert {f.metric for f in result.cells[0].findings if f.decides and f.state == "FAIL"} == {"tpot_p50"}
    assert found["edit", "tpot_p50"].state == "FAIL"
    assert found["prose", "tpot_p50"].state == "PASS"
    assert (result.verdict, result.cells[0].state) == ("ROLLBACK", "FAIL")
    assert "harm_in_a_bin" in {reason.code for reason in result.reasons}
    same_text("a slower bin", found["edit", "tpot_p50"].reason, found["prose", "tpot_p50"].reason)


def test_a_bin_whose_first_tokens_come_later_fails_the_cell() -> None:
    """Prompt by prompt: twice the time in 30 % of the requests."""
    result = _result(_scenario(), 0.3, ttft=2.0)
    found = _parts(result.cells[0])

    assert (found["edit", "ttft_paired"].state, found["prose", "ttft_paired"].state) == ("FAIL", "PASS")
    same_text("later first tokens", found["edit", "ttft_paired"].reason)


def test_a_load_that_leaves_a_harmed_part_open_is_no_cap() -> None:
    """The part is surely slower at 16 streams; at 1 stream its blocks scatter too much to tell."""
    run = _mixed(evidence(WINS, _scenario((1, 16)), requests=60), 0.3, 2.0 / 0.6, 1.0, "c16")
    result = judge(_scattered(run, "edit", 0.3, "c1/"), "0")
    found = [_parts(cell)["edit", "tpot_p50"] for cell in result.cells]

    assert [(f.state, f.required) for f in found] == [("INCONCLUSIVE", True), ("FAIL", True)]
    assert (result.verdict, result.enable_range) == ("ROLLBACK", None)
    same_text("open where it is harmed elsewhere", found[0].reason)


def test_nor_is_one_with_too_few_requests_of_that_part_to_test_it() -> None:
    """Ten requests an arm prove nothing, but do not pass either while they scatter."""
    run = _mixed(evidence(WINS, _scenario((1, 16)), requests=60), 0.3, 2.0 / 0.6, 1.0, "c16")
    result = judge(_scattered(_with_few(run, "edit", "c1/"), "edit", 0.3, "c1/"), "0")

    assert _parts(result.cells[0])["edit", "tpot_p50"].required
    assert result.verdict == "ROLLBACK"


def test_the_same_scatter_without_harm_elsewhere_is_asked_for_nothing() -> None:
    """No pass is asked of a part as long as no load proves its harm."""
    run = _mixed(evidence(WINS, _scenario((1, 16)), requests=60), 0.3)
    result = judge(_scattered(run, "edit", 0.3, "c1/"), "0")

    assert not _parts(result.cells[0])["edit", "tpot_p50"].required
    assert "FAIL" not in {cell.state for cell in result.cells}


def test_above_the_primary_cell_it_caps() -> None:
    """It is harm as any other of its cell."""
    result = _result(_scenario((1, 16)), 0.3, tpot=2.0 / 0.6, cell="c16")

    assert (result.verdict, result.enable_range and result.enable_range.high) == ("CAPPED", 1.0)
    assert [cell.state for cell in result.cells] == ["PASS", "FAIL"]
    assert "harm_in_a_bin" in {reason.code for reason in result.reasons}


def test_a_gain_in_every_part_fails_nothing_and_asks_for_no_pass() -> None:
    """The findings of parts stand beside their bins and decide nothing."""
    result = _result(_scenario(), 0.3)

    assert result.verdict == "PROMOTE"
    assert {found.state for found in _parts(result.cells[0]).values()} == {"PASS"}
    assert not any(found.required for found in _parts(result.cells[0]).values())


@pytest.mark.parametrize(
    ("scenario", "edits"),
    [
        (_scenario(pairs=3), 0.3),  # fewer than four pairs
        (_scenario(), 0.04),  # fewer than one request in twenty
        (_scenario(), 1.0),  # one bin is the whole cell, which is judged as such
        (with_guardrails(_scenario(), a_guardrail("tpot_p50", 3.0)), 0.3),  # the scenario allows as much everywhere
        (replace(_scenario(), matrix=replace(_scenario().matrix, optional=(4.0,))), 0.3),
    ],
)
def test_what_holds_too_little_or_is_allowed_fails_nothing(scenario: Scenario, edits: float) -> None:
    """Each with the same harm."""
    result = _result(scenario, edits, tpot=2.0 / 0.6)

    assert not any(found.state == "FAIL" for found in _parts(result.cells[0]).values())


def test_a_harm_within_its_limit_is_no_proof() -> None:
    """A true + 5 % against + 10 %, however many pairs show that it is real."""
    found = _parts(_result(_scenario(), 0.3, tpot=1.05 / 0.6).cells[0])["edit", "tpot_p50"]

    assert found.p_harm_adjusted is not None
    assert found.p_harm_adjusted < 0.05
    assert found.state in ("PASS", "INCONCLUSIVE")


def _few_tokens(change: Callable[[RequestRecord], RequestRecord]) -> Result:
    run = _mixed(evidence(WINS, _scenario(), requests=60), 0.3, 2.0 / 0.6)
    return judge(replace(run, records=tuple(change(record) for record in run.records)), "0")


def test_tokens_that_do_not_compare_test_no_time_per_token() -> None:
    """Counted by the server in one arm alone; first tokens compare all the same."""
    result = _few_tokens(lambda r: replace(r, token_source="tokenizer") if "speculative" in r.block else r)

    assert {metric for _, metric in _parts(result.cells[0])} == {"ttft_paired"}
