"""One model of a row, from which every format prints."""

from dataclasses import replace
from pathlib import Path

import pytest

from specbench.model.result import ArmEstimate, CellResult, Comparison, Finding, FindingState, PerArm
from specbench.report import read_result
from specbench.report.view.comparison_rows import ComparisonRow, cell_rows, run_rows
from specbench.report.view.load_tables import LoadTable, load_tables
from tests.support.result_parts import a_cell, a_comparison, a_finding
from tests.support.results import capped, rollback

EXAMPLE = load_tables(read_result(Path("reports/example/result.json")))


def row(table: LoadTable | tuple[ComparisonRow, ...], metric: str) -> ComparisonRow:
    """The first row of that metric."""
    rows = table.rows if isinstance(table, LoadTable) else table
    return next(one for one in rows if one.metric == metric)


def test_a_row_of_the_example_has_both_arms_the_change_its_bounds_the_limit_and_a_mark() -> None:
    """TPOT p50 at one stream, in which the gain is asked for."""
    found = row(EXAMPLE[0], "tpot_p50")

    assert (found.title, found.before, found.after) == ("TPOT p50, ms", "12.3", "5.61")
    assert (found.changed, found.bounds, found.limit_text, found.mark) == ("−54 %", "−60 .. −47 %", "≤ −5 %", "✓")
    assert (found.role, found.decides, found.effect, found.core) == ("success", True, "better", True)
    assert found.change == pytest.approx(0.45658 - 1, abs=1e-5)
    assert found.high == pytest.approx(0.52649 - 1, abs=1e-5)
    assert found.limit == pytest.approx(-0.05)


def test_the_limit_is_the_one_asked_for_that_decided() -> None:
    """15 % or 20 ms, whichever is wider: 20 ms at a TTFT of 56 ms and of 128 ms, beside which stands the change it comes to."""
    assert [row(table, "ttft_p95").limit_text for table in EXAMPLE] == ["≤ +20 ms", "≤ +20 ms"]
    assert [row(table, "ttft_p95").limit_beside for table in EXAMPLE] == ["≤ +20 ms (+36 %)", "≤ +20 ms (+16 %)"]
    assert [row(table, "tpot_p95").limit_text for table in EXAMPLE] == ["≤ +10 %", "≤ +10 %"]


def test_what_is_reported_only_is_marked_so() -> None:
    """ITL p95 is open in both loads, the queue time past its limit at 16 streams; neither decides."""
    assert [row(table, "itl_p95").mark for table in EXAMPLE] == ["(?)", "(?)"]
    assert row(EXAMPLE[1], "queue_time").mark == "(✗)"
    assert not row(EXAMPLE[1], "queue_time").decides


@pytest.mark.parametrize(
    ("load", "metric", "effect", "tone"),
    [
        (0, "tpot_p50", "better", "good"),
        (1, "output_tps", "worse", "bad"),
        (1, "e2e_p95", "worse", "wait"),
        (0, "ttft_p95", "", ""),
        (0, "itl_p50", "better", ""),
        (1, "queue_time", "worse", ""),
    ],
)
def test_colour_follows_the_mark_and_never_what_is_not_judged(load: int, metric: str, effect: str, tone: str) -> None:
    """Worse and open is no failure; a pass without a gain and a row that decides nothing have none."""
    found = row(EXAMPLE[load], metric)

    assert (found.effect, found.tone) == (effect, tone)


def test_a_ttft_by_prompt_has_a_name_of_its_own_beside_a_plain_one() -> None:
    """Both show the same p50 of either arm, and unlike changes."""
    assert [(one.label, one.before, one.changed) for one in EXAMPLE[0].rows if one.metric in ("ttft_paired", "ttft_p50")] == [
        ("TTFT by prompt", "26.5", "+5.3 %"),
        ("TTFT p50", "26.5", "+6.7 %"),
    ]


@pytest.mark.parametrize("metric", ["tpot_p50", "itl_p50", "itl_p95", "ttft_p95", "output_tps", "acceptance_length"])
def test_these_rows_are_always_there(metric: str) -> None:
    """At every load, passed, failed or without a limit."""
    assert [row(table, metric).core for table in EXAMPLE] == [True, True]


def test_a_short_table_has_what_is_always_there_what_failed_and_what_is_open() -> None:
    """Nine rows at 16 streams, in the order of every table; one that is reported only does not fit."""
    few, many = EXAMPLE

    assert [one.label for one in few.shown()] == ["TPOT p50", "ITL p50", "ITL p95", "TTFT p95", "output tok/s"]
    assert [one.label for one in few.passed()] == ["TPOT p95", "pace p95", "E2E p95", "requests/s"]
    assert [one.label for one in many.shown()] == [
        *("TPOT p50", "TPOT p95", "ITL p50", "ITL p95", "TTFT p95", "pace p95", "E2E p95", "output tok/s", "requests/s"),
    ]
    assert [[one.label for one in many.left_out(most)] for most in (9, 7)] == [
        ["queue time"],
        ["TPOT p95", "E2E p95", "queue time"],
    ]


def test_with_less_room_tpot_itl_and_what_failed_stay() -> None:
    """TPOT and ITL are always there; pace, output and requests of 16 streams are past their limits and decide."""
    assert [(one.metric, one.mark) for one in EXAMPLE[1].shown(6)] == [
        ("tpot_p50", ""),
        ("itl_p50", ""),
        ("itl_p95", "(?)"),
        ("pace_p95", "✗"),
        ("output_tps", "✗"),
        ("completed_rps", "✗"),
    ]


def test_the_ttft_over_the_same_prompts_shows_both_arms_p50() -> None:
    """Change, bounds and limit are of the pairs, the milliseconds of the p50s; there is no second row of them."""
    table = load_tables(replace(capped(), cells=(paired(1.40, "FAIL"),)))[0]
    found = row(table, "ttft_paired")

    assert (found.title, found.before, found.after, found.changed) == ("TTFT p50, ms", "40.0", "44.0", "+40 %")
    assert (found.limit_text, found.mark, found.core) == ("≤ +20 ms", "✗", True)
    assert [one.metric for one in table.rows if one.metric.startswith("ttft")] == ["ttft_paired", "ttft_p95"]


def paired(ratio: float, state: FindingState) -> CellResult:
    """A cell with the TTFT ratio over pairs, whose limit of 15 % gives way to 20 ms at a baseline of 40 ms."""
    cell = a_cell(1, 0.5, primary=True)
    like = a_comparison("ttft_p95", ratio)
    pairs = replace(like, metric="ttft_paired", value=PerArm(None, None))
    finding = replace(a_finding(like, "c1"), metric="ttft_paired", margin=0.15, floor=20.0, bound=1.5, state=state)
    p50 = replace(like, metric="ttft_p50", value=PerArm(40.0, 44.0), ratio=1.1)
    return replace(cell, metrics=(*cell.metrics, p50, pairs), findings=(*cell.findings, finding))


@pytest.mark.parametrize(
    ("judged", "first"),
    [(("ttft_p95",), "ttft_p95"), (("ttft_p50",), "ttft_p50"), ((), "ttft_p50"), (("ttft_p50", "ttft_p95"), "ttft_p50")],
)
def test_without_pairs_the_ttft_row_is_the_one_that_was_judged(judged: tuple[str, ...], first: str) -> None:
    """Its p50, unless p95 alone was judged."""
    assert [one.metric for one in cell_rows(with_ttft(judged), "tpot_p50", 0.05) if one.core and "ttft" in one.metric] == [first]


def with_ttft(judged: tuple[str, ...]) -> CellResult:
    """A cell in which these percentiles of TTFT are judged."""
    cell = a_cell(1, 0.5, primary=True)
    model = next(one for one in cell.findings if one.metric == "ttft_p95")
    p50 = replace(next(one for one in cell.metrics if one.metric == "ttft_p95"), metric="ttft_p50")
    others = tuple(one for one in cell.findings if one.metric != "ttft_p95")
    return replace(cell, metrics=(*cell.metrics, p50), findings=(*others, *(replace(model, metric=name) for name in judged)))


def test_where_pairs_are_not_judged_the_row_is_the_one_that_is() -> None:
    """A run of an earlier version has limits on its p95 alone, and figures by prompt are there all the same."""
    judged = with_ttft(("ttft_p95",))
    like = next(one for one in judged.metrics if one.metric == "ttft_p95")
    cell = replace(judged, metrics=(*judged.metrics, replace(like, metric="ttft_paired")))

    assert [one.metric for one in cell_rows(cell, "tpot_p50", 0.05) if one.core and "ttft" in one.metric] == ["ttft_p95"]


def test_harm_in_one_bin_is_a_row_of_its_own() -> None:
    """With the part's ratio; the row of the whole stays as it is and remains the one that is always there."""
    cell = a_cell(1, 0.5, primary=True, state="FAIL")
    gain = next(one for one in cell.findings if one.metric == "tpot_p50")
    part = replace(gain, role="guardrail", state="FAIL", ratio=1.45, margin=0.1, bound=1.1, notes=("harm_in_a_bin",))
    rows = cell_rows(replace(cell, findings=(part, *cell.findings)), "tpot_p50", 0.05)

    assert [(one.title, one.changed, one.mark, one.core) for one in rows if one.metric == "tpot_p50"] == [
        ("TPOT p50, ms", "−50 %", "✓", True),
        ("TPOT p50, a bin", "+45 %", "✗", False),
    ]


def test_a_metric_judged_twice_has_a_row_each() -> None:
    """As the gain and against 50 ms; the gain comes first and is the one that is always there."""
    cell = a_cell(1, 0.5, primary=True)
    gain = next(one for one in cell.findings if one.role == "success")
    slow = replace(gain, role="guardrail", slo=50.0, bound=50.0, margin=None, upper=6.4)
    rows = cell_rows(replace(cell, findings=(slow, *cell.findings)), "tpot_p50", 0.05)
    found = [one for one in rows if one.metric == "tpot_p50"]

    assert [(one.limit_text, one.core, one.limit is None) for one in found] == [("≤ −5 %", True, False), ("≤ 50 ms", False, True)]


def test_at_an_optional_load_nothing_decides() -> None:
    """A check that is required elsewhere is only reported there."""
    cell = replace(a_cell(16, 1.4, state="ADVISORY"), required=False)

    assert {one.mark for one in cell_rows(cell, "tpot_p50", 0.05)} <= {"(✓)", "(✗)", "(?)", ""}


def test_an_arm_beyond_every_number_is_endless_and_an_absent_figure_is_no_zero() -> None:
    """Its p95 has no upper end: a third of the requests failed."""
    cell = a_cell(1, 0.5, unknown=("itl_p95",))
    endless = replace(a_comparison("e2e_p95", None), value=PerArm(760.0, None), unbounded=PerArm(False, True))
    rows = cell_rows(
        replace(cell, metrics=(*(one for one in cell.metrics if one.metric != "e2e_p95"), endless)), "tpot_p50", 0.05
    )

    assert (row(rows, "e2e_p95").before, row(rows, "e2e_p95").after, row(rows, "e2e_p95").changed) == ("760", "∞", "∞")
    assert (row(rows, "itl_p95").before, row(rows, "itl_p95").changed, row(rows, "itl_p95").bounds) == ("–", "–", "")
    assert row(rows, "itl_p95").note


def test_the_run_has_rows_of_its_own() -> None:
    """12 of the 120 requests that ended failed with speculation at either load; a limit in points, as it is a share."""
    found = run_rows(rollback())[0]

    assert (found.title, found.before, found.after) == ("error rate", "0 %", "10 %")
    assert (found.limit_text, found.mark) == ("≤ +0.5 pt", "✗")


def test_a_metric_that_this_version_does_not_know_still_has_a_row() -> None:
    """A result of a newer version, or a guardrail of a metric without a row in the table of metrics."""
    cell = a_cell(1, 0.5)
    strange: Comparison = replace(a_comparison("tpot_p95", 1.2), metric="jitter_p95")
    judged: Finding = replace(a_finding(strange_as_known(strange), "c1"), metric="jitter_p95")
    rows = cell_rows(replace(cell, metrics=(strange,), findings=(judged,)), "tpot_p50", 0.05)

    assert [(one.title, one.changed, one.mark) for one in rows] == [("jitter p95", "+20 %", "✗")]


def strange_as_known(comparison: Comparison) -> Comparison:
    """The same under a name for which the test parts have a margin."""
    return replace(comparison, metric="tpot_p95")


def test_under_an_absolute_limit_the_row_shows_what_was_judged() -> None:
    """The speculative arm's figure over all of its blocks, not that of the pairs that both arms tell; of old results that one."""
    cell = a_cell(1, 0.5)
    compared = a_comparison("ttft_p95", 2.0)
    finding = replace(a_finding(compared, "c1"), slo=90.0)

    def after(alone: ArmEstimate) -> str:
        judged = replace(cell, metrics=(replace(compared, alone=alone),), findings=(finding,))
        return row(cell_rows(judged, "tpot_p50", 0.05), "ttft_p95").after

    assert [after(ArmEstimate()), after(ArmEstimate(value=250.0, blocks=4))] == ["96.0", "250"]
    assert after(ArmEstimate(unbounded=True, blocks=4)) == "∞"
