"""Six questions, one right answer each, for every verdict; and what speculation costs."""

from dataclasses import replace
from typing import Literal

import pytest

from specbench.explain import notes
from specbench.explain.costs import cell_cost, cost, prices
from specbench.explain.load_ranges import range_words
from specbench.explain.reader_questions import reader_questions
from specbench.model.result import CellResult, FindingState, LoadRange, PerArm, Result, VerdictWord
from specbench.report.formats.markdown import markdown
from specbench.report.formats.text import text
from specbench.report.view.report_view import view_of
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


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        ("PROMOTE", ["Yes", "The mix as tested", "Up to 16 streams"]),
        ("CAPPED", ["Not yet: first confirm the cap of 4 streams", "The mix as tested", "Up to 4 streams"]),
        ("HOLD", ["Not yet", "No traffic", "No load"]),
        ("ROLLBACK", ["No", "No traffic", "No load"]),
        ("INVALID", ["Cannot be said", "Nothing measured", "Cannot be said"]),
    ],
)
def test_whether_for_what_and_up_to_where(verdict: VerdictWord, said: list[str]) -> None:
    """The first three answers follow the verdict alone."""
    assert _short(_real(every_verdict()[verdict]))[:3] == said


def _real(result: Result) -> Result:
    arms = result.endpoints
    real = PerArm(replace(arms.baseline, engine="vllm"), replace(arms.speculative, engine="vllm"))
    return replace(result, endpoints=real)


@pytest.mark.parametrize("verdict", ["PROMOTE", "CAPPED", "HOLD", "ROLLBACK", "INVALID"])
def test_on_the_embedded_engine_the_first_answer_begins_with_that(verdict: VerdictWord) -> None:
    """Virtual times order nobody to switch anything; of real engines nothing is said."""
    result = every_verdict()[verdict]
    assert _short(result)[0].startswith("A demonstration, no decision about a real server. ")
    assert notes.demonstration(result) == (
        "A demonstration: both arms run the embedded engine, whose times are virtual; nothing here is a decision about a real"
        " server."
    )
    assert notes.demonstration(_real(result)) == ""
    half = replace(result, endpoints=PerArm(_real(result).endpoints.baseline, result.endpoints.speculative))
    assert notes.demonstration(half).startswith("A demonstration: one arm runs the embedded engine")


def test_a_demonstration_is_confirmed_on_ones_own_prompts_and_endpoints() -> None:
    """The command repeats the built-in corpus, so the answer names what to put in its place."""
    built_in = replace(capped(), config=replace(capped().config, source="the built-in corpus python", built_in=True))
    own = "with your own prompts (workload.source.dataset) and"
    assert f"{own} your own endpoints (--baseline URL --speculative URL)." in reader_questions(built_in)[0].text
    assert f"{own} the same arms." in reader_questions(_real(built_in))[0].text
    assert "by the command here, with the same arms." in reader_questions(_real(capped()))[0].text
    named_so = replace(capped(), config=replace(capped().config, source="the built-in corpus of ours.jsonl"))
    assert "by the command here, with the same arms." in reader_questions(_real(named_so))[0].text


def test_how_sure_is_an_interval_or_a_chance() -> None:
    """A benefit has its interval; harm has how rarely chance alone would show it; nothing measured is not sure at all."""
    assert _short(capped())[3] == "95 % sure: TPOT p50 below ×0.464"
    harm = reader_questions(rollback())[3]
    assert harm.short == "9 checks failed"
    assert "Chance alone would show the clearest of them in about 1.2 % of such runs." in harm.text
    assert _short(invalid())[3] == "Not at all"


def test_what_would_make_us_surer_fits_the_verdict() -> None:
    """Pairs where something is open, a fix where harm is shown, the named fault where nothing can be judged."""
    assert _short(hold())[4] == "About 14 pairs in all"
    assert _short(rollback())[4] == "Nothing: mend, then run"
    assert reader_questions(invalid())[4].text == "The arms differ in quantization: fp16 against int4."
    assert _short(capped())[4] == "A run up to the cap"
    assert _short(promote())[4] == "More pairs"
    assert _short(replace(promote(), config=replace(promote().config, pairs=10)))[4] == "Your own traffic"


@pytest.mark.parametrize(
    ("code", "short", "said"),
    [
        ("no_benefit", "Nothing: another draft", "A benefit of 5 % in TPOT p50 is ruled out"),
        ("place_not_controlled", "A look at the two places", "Run the same scenario with `--aa`"),
        ("partial", "The whole run", "Run it again, to its end."),
        ("too_few_launches", "More engine starts", "at least 4 pairs are needed (`--set matrix.pairs=4` or more)"),
    ],
)
def test_a_hold_that_pairs_do_not_settle_names_what_does(code: str, short: str, said: str) -> None:
    """The reason that the verdict puts first decides, whether or not all checks passed; no canary is advised."""
    for cells in (hold().cells, promote().cells):
        found = reader_questions(replace(hold(), cells=cells, reasons=(reason(code, "Why."), reason("partial", "More."))))[4]
        assert (found.short, said in found.text) == (short, True)
        assert "canary" not in found.text


def test_a_hold_without_an_open_check_says_its_reasons() -> None:
    """Nothing measured in a required cell is no matter of more pairs, nor of a canary."""
    found = reader_questions(
        replace(hold(), cells=promote().cells, reasons=(reason("insufficient_evidence", "Nothing at 4 streams."),))
    )[4]
    assert (found.short, found.text) == ("Other data", "Nothing at 4 streams.")


def test_a_benefit_that_is_ruled_out_is_said() -> None:
    """HOLD without benefit is a no, not a not yet."""
    found = reader_questions(replace(hold(), reasons=(reason("no_benefit", "No gain."),)))[0]
    assert (found.short.partition(". ")[2], found.text) == ("No: no benefit", "A benefit of 5 % in TPOT p50 is ruled out.")


def test_slices_answer_for_themselves() -> None:
    """With a verdict per slice the eligible ones are named with their range, the others with their verdict."""
    found = reader_questions(sliced())
    assert found[1].short == "complete/greedy"
    assert found[1].text == "Eligible: complete/greedy (at 1 stream). Not: creative/greedy (ROLLBACK)."
    assert found[2].short == "As each slice says"


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
    assert found.short == "95 % sure: no such benefit, TPOT p50 at least ×0.96"
    assert found.text.startswith(
        "At 1 stream TPOT p50 was 0.99 times the baseline's (4 pairs of blocks). A benefit of 5 % is ruled out. Each PASS errs"
    )
    beyond = reader_questions(replace(result, cells=(_benefit(hold().cells[0], "FAIL", None),)))[3]
    assert beyond.short == "Benefit ruled out"
    assert beyond.text.startswith("tpot_p50 is 0.99 times the baseline's (allowed: 0.95 times). Each PASS errs")
    still_open = replace(result, cells=(_benefit(hold().cells[0], "INCONCLUSIVE", 1.02),))
    assert reader_questions(still_open)[3].short == "TPOT p50 ×0.99, not settled"


def test_with_both_loops_the_cell_that_must_show_the_benefit_tells_it() -> None:
    """Each loop has a primary cell, and the benefit is asked of one of them; the other one carries no mark."""
    closed, opened = a_cell(1, 0.9, primary=True), a_cell(4, 0.5, primary=True)
    closed = replace(closed, findings=tuple(one for one in closed.findings if one.role != "success"))
    opened = moved(opened, "r2", replace(opened.axes, concurrency=None, rate=2.0))
    result = a_result("PROMOTE", (closed, opened), ())
    assert reader_questions(result)[3].text.startswith("At 2 requests/s TPOT p50 was 0.50 times the baseline's")
    assert [line.split()[:2] for line in text(result).splitlines() if line.startswith(("  1  ", "  2/s"))] == [
        ["1", "0.90"],
        ["2/s", "*"],
    ]
    assert [line.partition(" |")[0] for line in markdown(result).splitlines() if "✓ PASS" in line] == [
        "| 1 stream",
        "| 2 requests/s (primary)",
    ]
    assert [one.primary for one in view_of(result).cells] == [False, True]


def test_an_arm_that_was_dead_has_no_failed_check() -> None:
    """A benefit that is not there is no harm, and no count of checks says that nobody answered."""
    cells = tuple(
        replace(cell, findings=tuple(one for one in cell.findings if one.role == "success")) for cell in rollback().cells
    )
    why = (reason("unsafe", "Turn speculation off."), reason("dead_arm", "At 1 stream the speculative arm was dead.", "c1"))
    found = reader_questions(replace(rollback(), cells=cells, run_findings=(), reasons=why))[3]
    assert found.short == "The speculative arm was dead"
    assert found.text.startswith("At 1 stream the speculative arm was dead. Each PASS errs")


def _range(low: float, high: float, by: Literal["concurrency", "rate"] = "concurrency") -> LoadRange:
    return LoadRange(low=low, high=high, running_at_cap=None, by=by, beyond=None, method="")


def test_ranges_by_concurrency_and_by_rate_stand_together() -> None:
    """A range of one load has no 'from', and two axes are joined."""
    assert range_words(()) == "no range"
    assert range_words((_range(1, 1),)) == "at 1 stream"
    assert range_words((_range(1, 8), _range(0.5, 2.5, "rate"))) == "from 1 to 8 streams and from 0.5 to 2.5 requests/s"
    both = replace(capped(), rate_range=_range(0.5, 2.5, "rate"))
    assert _short(both)[2] == "Up to 4 streams and 2.5 requests/s"


def test_without_a_price_the_cost_is_a_ratio_on_equal_machines() -> None:
    """Output TPS of 1.39 times means a token for 28 % less; outside the range nothing counts."""
    short, text = cost(capped())
    assert short == "TTFT p95 +2 % (within its limit) at 1 stream; money: 28 % to 55 % less a token"
    assert text == (
        "What gets worse: only TTFT p95 +2 % (within its limit) at 1 stream. Memory of the draft: not told by the engine."
        " Machine time per output token: 55 % less at 1 stream, 28 % less at 4 streams (by the virtual times of the embedded"
        " engine), on equal machines."
    )


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
    assert "Per million output tokens in EUR: 12.4 before and 5.58 with it at 1 stream" in text
    assert "equal machines" not in text
    assert "Cost per output token: 55 % less at 1 stream" in text
    assert "Machine time per output token: " in cost(_priced(price_per_hour_baseline="3.6"))[1]


@pytest.mark.parametrize("label", ["", "free", "nan", "inf", "-2", "0"])
def test_a_price_that_is_none_is_no_price(label: str) -> None:
    """Only a positive number is a price; anything else leaves the ratio alone."""
    assert prices({"price_per_hour": label}) == {"baseline": None, "speculative": None}
    assert "on equal machines" in cost(_priced(price_per_hour=label))[1]


def test_what_stays_off_costs_nothing() -> None:
    """For a verdict that keeps it off, the cost is told as what it would be."""
    short, text = cost(rollback())
    assert short == "Nothing while it is off"
    assert text.startswith(
        "If it were on, machine time per output token: 30 % more at 1 stream, 40 % more at 4 streams (by the virtual times of the"
    )
    assert "What gets worse: " in text
    assert "output TPS −29 % (past its limit) at 4 streams; 2 more." in text
    assert cost(invalid())[0] == "Cannot be said"
    assert cost(replace(hold(), cells=()))[0] == "Not measured"


def test_a_broken_measurement_answers_nothing_though_it_has_figures() -> None:
    """INVALID with measured cells says no more than INVALID without."""
    found = reader_questions(replace(capped(), verdict="INVALID", enable_range=None))
    found = (replace(found[0], short=found[0].short.partition(". ")[2]), *found[1:])
    assert [one.short for one in found] == [
        "Cannot be said",
        "Cannot be said",
        "Cannot be said",
        "Not at all",
        "Mend the measurement",
        "Cannot be said",
    ]


def test_cells_that_cost_the_same_are_no_trouble() -> None:
    """Two loads with the very same ratio are named once as a span."""
    result = capped()
    twins = replace(result, cells=(result.cells[0], replace(result.cells[1], metrics=result.cells[0].metrics)))
    assert cost(twins)[0] == "TTFT p95 +2 % (within its limit) at 1 stream; money: 55 % less a token"


def test_the_memory_of_the_draft_is_told_where_engines_tell_it() -> None:
    """Highest use of both arms, at the cap."""
    result = capped()
    told = replace(a_comparison("tpot_p50", 1.5), metric="memory", unit="bytes", value=PerArm(float(20 << 30), float(23 << 30)))
    cells = tuple(replace(cell, metrics=(*cell.metrics, told)) for cell in result.cells)
    assert "GPU memory: 23.0 GiB instead of 20.0 GiB at 4 streams." in cost(replace(result, cells=cells))[1]
