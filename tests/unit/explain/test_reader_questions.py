"""Six questions, one right answer each, for every verdict; and what speculation costs."""

from dataclasses import replace
from typing import Literal

import pytest

from specbench.explain import notes
from specbench.explain.costs import cell_cost, cost, prices
from specbench.explain.reader_questions import reader_questions
from specbench.explain.rules.load_ranges import range_words
from specbench.model.result import CellResult, FindingState, LoadRange, PerArm, Result, VerdictWord
from specbench.report.formats.text import text
from specbench.report.view.report_view import view_of
from tests.support.goldens import same_text
from tests.support.result_parts import a_cell, a_comparison, moved
from tests.support.results import (
    a_result,
    capped,
    every_verdict,
    hold,
    invalid,
    promote,
    reason,
    rollback,
    sliced,
)


def _short(result: Result) -> list[str]:
    return [found.short for found in reader_questions(result)]


@pytest.mark.parametrize("verdict", ["PROMOTE", "CAPPED", "HOLD", "ROLLBACK", "INVALID"])
def test_whether_for_what_and_up_to_where(verdict: VerdictWord) -> None:
    """The first three answers follow the verdict alone."""
    same_text(f"first three: {verdict}", *_short(_real(every_verdict()[verdict]))[:3])


def _real(result: Result) -> Result:
    arms = result.endpoints
    real = PerArm(replace(arms.baseline, engine="vllm"), replace(arms.speculative, engine="vllm"))
    return replace(result, endpoints=real)


@pytest.mark.parametrize("verdict", ["PROMOTE", "CAPPED", "HOLD", "ROLLBACK", "INVALID"])
def test_on_the_embedded_engine_the_first_answer_begins_with_that(verdict: VerdictWord) -> None:
    """Virtual times order nobody to switch anything; of real engines nothing is said."""
    result = every_verdict()[verdict]
    same_text(f"demonstration first: {verdict}", _short(result)[0])
    same_text("a demonstration", notes.demonstration(result))
    assert notes.demonstration(_real(result)) == ""
    half = replace(result, endpoints=PerArm(_real(result).endpoints.baseline, result.endpoints.speculative))
    same_text("one arm embedded", notes.demonstration(half))


def test_a_demonstration_is_confirmed_on_ones_own_prompts_and_endpoints() -> None:
    """The command repeats the built-in corpus, so the answer names what to put in its place."""
    built_in = replace(capped(), config=replace(capped().config, source="the built-in corpus python", built_in=True))
    same_text("own prompts and endpoints", reader_questions(built_in)[0].text)
    same_text("own prompts", reader_questions(_real(built_in))[0].text)
    same_text("the same arms", reader_questions(_real(capped()))[0].text)
    named_so = replace(capped(), config=replace(capped().config, source="the built-in corpus of ours.jsonl"))
    same_text("a file named so", reader_questions(_real(named_so))[0].text)


def test_how_sure_is_an_interval_or_a_chance() -> None:
    """A benefit has its interval; harm has how rarely chance alone would show it; nothing measured is not sure at all."""
    same_text("sure: an interval", _short(capped())[3])
    harm = reader_questions(rollback())[3]
    same_text("sure: harm, short", harm.short)
    same_text("sure: harm", harm.text)
    same_text("sure: nothing measured", _short(invalid())[3])


def test_what_to_run_next_fits_the_verdict() -> None:
    """Pairs where something is open, a fix where harm is shown, the named fault where nothing can be judged."""
    same_text("surer: hold", _short(hold())[4])
    same_text("surer: rollback", _short(rollback())[4])
    assert reader_questions(invalid())[4].text == "The arms differ in quantization: fp16 against int4."
    same_text("surer: capped", _short(capped())[4])
    same_text("surer: promote", _short(promote())[4])
    same_text("surer: ten pairs", _short(replace(promote(), config=replace(promote().config, pairs=10)))[4])


@pytest.mark.parametrize(
    "code",
    ["no_benefit", "place_not_controlled", "partial", "too_few_launches"],
)
def test_a_hold_that_pairs_do_not_settle_names_what_does(code: str) -> None:
    """The reason that the verdict puts first decides, whether or not all checks passed; no canary is advised."""
    for cells in (hold().cells, promote().cells):
        found = reader_questions(replace(hold(), cells=cells, reasons=(reason(code, "Why."), reason("partial", "More."))))[4]
        same_text(f"surer: {code}", found.short, found.text)


def test_a_hold_without_an_open_check_says_its_reasons() -> None:
    """Nothing measured in a required cell is no matter of more pairs, nor of a canary."""
    found = reader_questions(
        replace(hold(), cells=promote().cells, reasons=(reason("insufficient_evidence", "Nothing at 4 streams."),))
    )[4]
    assert found.text == "Nothing at 4 streams."
    same_text("surer: other data, short", found.short)


def test_a_benefit_that_is_ruled_out_is_said() -> None:
    """HOLD without benefit is a no, not a not yet."""
    found = reader_questions(replace(hold(), reasons=(reason("no_benefit", "No gain."),)))[0]
    same_text("no benefit", found.short, found.text)


def test_slices_answer_for_themselves() -> None:
    """With a verdict per slice the eligible ones are named with their range, the others with their verdict."""
    found = reader_questions(sliced())
    same_text("slices: traffic, short", found[1].short)
    same_text("slices: traffic", found[1].text)
    same_text("slices: load", found[2].short)


def _benefit(cell: CellResult, state: FindingState, upper: float | None) -> CellResult:
    """The cell with this success finding."""
    return replace(
        cell,
        findings=tuple(replace(one, state=state, upper=upper) if one.role == "success" else one for one in cell.findings),
    )


def test_a_benefit_that_is_ruled_out_is_settled() -> None:
    """How sure that is has its bound, on the other side than that of a benefit; beyond every number the sentence says it."""
    result = replace(hold(), cells=(_benefit(hold().cells[0], "FAIL", 0.9612), hold().cells[1]))
    found = reader_questions(result)[3]
    same_text("ruled out, short", found.short)
    same_text("ruled out", found.text)
    beyond = reader_questions(replace(result, cells=(_benefit(hold().cells[0], "FAIL", None),)))[3]
    same_text("ruled out beyond all, short", beyond.short)
    same_text("ruled out beyond all", beyond.text)
    still_open = replace(result, cells=(_benefit(hold().cells[0], "INCONCLUSIVE", 1.02),))
    same_text("still open", reader_questions(still_open)[3].short)


def test_with_both_loops_the_cell_of_the_benefit_tells_it() -> None:
    """Each loop has a primary cell, and the benefit is asked of one of them; the other one carries no mark."""
    closed, opened = a_cell(1, 0.9, primary=True), a_cell(4, 0.5, primary=True)
    closed = replace(closed, findings=tuple(one for one in closed.findings if one.role != "success"))
    opened = moved(opened, "r2", replace(opened.axes, concurrency=None, rate=2.0))
    result = a_result("PROMOTE", (closed, opened), ())
    same_text("both loops", reader_questions(result)[3].text)
    assert [line.endswith("(must show the gain)") for line in text(result).splitlines() if line.startswith(("1 s", "2 r"))] == [
        False,
        True,
    ]
    assert [one.primary for one in view_of(result).cells] == [False, True]


def test_an_arm_that_was_dead_has_no_failed_check() -> None:
    """A benefit that is not there is no harm, and no count of checks says that nobody answered."""
    cells = tuple(
        replace(cell, findings=tuple(one for one in cell.findings if one.role == "success")) for cell in rollback().cells
    )
    why = (reason("unsafe", "Turn speculation off."), reason("dead_arm", "At 1 stream nobody answered.", "c1"))
    found = reader_questions(replace(rollback(), cells=cells, run_findings=(), reasons=why))[3]
    same_text("a dead arm, short", found.short)
    same_text("a dead arm", found.text)


def _range(low: float, high: float, by: Literal["concurrency", "rate"] = "concurrency") -> LoadRange:
    return LoadRange(low=low, high=high, running_at_cap=None, by=by, beyond=None, method="")


def test_ranges_by_concurrency_and_by_rate_stand_together() -> None:
    """A range of one load has no 'from', and two axes are joined."""
    same_text("no range", range_words(()))
    same_text("one load", range_words((_range(1, 1),)))
    same_text("both axes", range_words((_range(1, 8), _range(0.5, 2.5, "rate"))))
    both = replace(capped(), rate_range=_range(0.5, 2.5, "rate"))
    same_text("up to two caps", _short(both)[2])


def test_without_a_price_the_cost_is_a_ratio_on_equal_machines() -> None:
    """Output TPS of 1.39 times means a token for 28 % less; outside the range nothing counts."""
    short, text = cost(capped())
    same_text("no price, short", short)
    same_text("no price", text)


def _priced(**labels: str) -> Result:
    return replace(capped(), run=replace(capped().run, labels=labels))


def test_a_price_makes_it_money() -> None:
    """3.60 an hour at 80.64 tokens/s is 12.4 per million tokens; a dearer speculative machine eats into the gain."""
    cell: CellResult = capped().cells[0]
    found = cell_cost(cell, {"price_per_hour": "3.6"})
    assert found.baseline == pytest.approx(12.4008, rel=1e-4)
    assert found.speculative == pytest.approx(5.5804, rel=1e-4)
    dear = cell_cost(cell, {"price_per_hour_baseline": "3.6", "price_per_hour_speculative": "7.2"})
    assert dear.ratio == pytest.approx(0.9)
    text = cost(_priced(price_per_hour="3.6", currency="EUR"))[1]
    same_text("a price", text)
    same_text("half a price", cost(_priced(price_per_hour_baseline="3.6"))[1])


@pytest.mark.parametrize("label", ["", "free", "nan", "inf", "-2", "0"])
def test_a_price_that_is_none_is_no_price(label: str) -> None:
    """Only a positive number is a price; anything else leaves the ratio alone."""
    assert prices({"price_per_hour": label}) == {"baseline": None, "speculative": None}
    assert cost(_priced(price_per_hour=label)) == cost(capped())


def test_a_price_is_of_one_gpu_where_the_machine_is_said_to_have_several() -> None:
    """8 GPUs at 3.60 and at 4.00 an hour; a number of GPUs that is none leaves the price of a machine."""
    apart = {"price_per_hour": "3.6", "price_per_hour_speculative": "4"}

    assert prices({**apart, "gpus": "8"}) == pytest.approx({"baseline": 28.8, "speculative": 32.0})
    assert prices({**apart, "gpus": "none"}) == {"baseline": 3.6, "speculative": 4.0}
    assert prices({"gpus": "8"}) == {"baseline": None, "speculative": None}


def test_what_stays_off_costs_nothing() -> None:
    """For a verdict that keeps it off, the cost is told as what it would be."""
    short, text = cost(rollback())
    same_text("off, short", short)
    same_text("off", text)
    same_text("invalid, short", cost(invalid())[0])
    same_text("not measured", cost(replace(hold(), cells=()))[0])


def test_a_broken_measurement_answers_nothing_though_it_has_figures() -> None:
    """INVALID with measured cells says no more than INVALID without."""
    found = reader_questions(replace(capped(), verdict="INVALID", enable_range=None))
    found = (replace(found[0], short=found[0].short.partition(". ")[2]), *found[1:])
    same_text("a broken measurement", *[one.short for one in found])


def test_cells_that_cost_the_same_are_no_trouble() -> None:
    """Two loads with the very same ratio are named once as a span."""
    result = capped()
    twins = replace(result, cells=(result.cells[0], replace(result.cells[1], metrics=result.cells[0].metrics)))
    same_text("twins", cost(twins)[0])


def test_the_memory_of_the_draft_is_told_where_engines_tell_it() -> None:
    """Highest use of both arms, at the cap."""
    result = capped()
    told = replace(a_comparison("tpot_p50", 1.5), metric="memory", unit="bytes", value=PerArm(float(20 << 30), float(23 << 30)))
    cells = tuple(replace(cell, metrics=(*cell.metrics, told)) for cell in result.cells)
    same_text("memory of the draft", cost(replace(result, cells=cells))[1])
