"""The short words of the comparison table."""

from dataclasses import replace

import pytest

from specbench.explain.brief import table_words
from specbench.model.result import CellState, Direction, FindingState
from specbench.model.scenario import Role
from tests.support.goldens import same_text
from tests.support.result_parts import a_cell, a_comparison, a_finding

FINDING = a_finding(a_comparison("tpot_p95", 1.0), "c1")


@pytest.mark.parametrize(
    ("fraction", "text"),
    [
        (-0.544, "−54 %"),
        (1.03, "+103 %"),
        (0.0672, "+6.7 %"),
        (0.05, "+5 %"),
        (-0.0996, "−10 %"),
        (0.0004, "0 %"),
        (-0.0004, "0 %"),
        (0.0, "0 %"),
        (22.5, "+2,250 %"),
        (400.0, ">9,999 %"),
        (None, "–"),
    ],
)
def test_a_change_has_a_sign_and_three_digits_at_most(fraction: float | None, text: str) -> None:
    """Whole per cents from 10 on; a true minus, as figures are read in columns."""
    assert table_words.change(fraction) == text


@pytest.mark.parametrize(
    ("ends", "text"),
    [
        ((-0.63, -0.46), "−63 .. −46 %"),
        ((-0.018, 0.16), "−1.8 .. +16 %"),
        ((0.4, None), "+40 .. ∞"),
        ((None, 0.4), "−100 .. +40 %"),
        ((None, None), ""),
    ],
)
def test_both_ends_share_one_unit(ends: tuple[float | None, float | None], text: str) -> None:
    """An end beyond every number is named as such."""
    assert table_words.interval(*ends) == text


@pytest.mark.parametrize(
    ("figure", "unit", "text"),
    [(12.28, "ms", "12.3"), (2123.0, "ms", "2,123"), (0.097, "share", "9.7 %"), (3 * 2**30, "bytes", "3.00"), (None, "ms", "–")],
)
def test_a_value_is_in_the_unit_of_its_row(figure: float | None, unit: str, text: str) -> None:
    """Three significant digits; a share carries its own sign."""
    assert table_words.value(figure, unit) == text


@pytest.mark.parametrize(
    ("metric", "role", "direction", "margin", "floor", "slo", "bound", "unit", "text"),
    [
        ("tpot_p95", "guardrail", "lower", 0.1, 0.5, None, 1.1, "ms", "≤ +10 %"),
        ("ttft_p95", "guardrail", "lower", 0.15, 20.0, None, 1.76, "ms", "≤ +20 ms"),
        ("ttft_p95", "guardrail", "lower", 0.15, 20.0, None, 1.15, "ms", "≤ +15 %"),
        ("output_tps", "guardrail", "higher", 0.05, 0.0, None, 0.95, "tokens/s", "≥ −5 %"),
        ("tpot_p50", "success", "lower", 0.05, 0.0, None, 0.95, "ms", "≤ −5 %"),
        ("output_tps", "success", "higher", 0.05, 0.0, None, 1.05, "tokens/s", "≥ +5 %"),
        ("tpot_p95", "guardrail", "lower", None, 0.0, 50.0, 50.0, "ms", "≤ 50 ms"),
        ("alpha", "advisory", "higher", None, 0.0, 0.7, 0.7, "", "≥ 0.7"),
        ("kv_peak", "advisory", "lower", None, 0.0, 0.95, 0.95, "share", "≤ 95 %"),
        ("output_length", "safety", "equal", 0.03, 0.0, None, 1.03, "tokens", "±3 %"),
        ("error_rate", "safety", "lower", 0.005, 0.0, None, 0.005, "share", "≤ +0.5 pt"),
        ("oom", "safety", "lower", None, 0.0, None, None, "events", "≤ baseline"),
        ("queue_time", "advisory", "lower", 0.15, 20.0, None, 63.4, "ms", "≤ +20 ms"),
    ],
)
def test_a_limit_stands_as_it_was_asked_for(
    metric: str, role: Role, direction: Direction, margin: float | None, floor: float, slo: float | None, bound: float | None,
    unit: str, text: str,
) -> None:  # fmt: skip
    """A floor where it is the wider one, never the ratio that it comes to; a gain is a limit in the other direction."""
    found = replace(FINDING, metric=metric, role=role, direction=direction, margin=margin, floor=floor, slo=slo, bound=bound)

    assert table_words.limit(found, unit) == text


@pytest.mark.parametrize(
    ("state", "decides", "mark"),
    [
        ("PASS", True, "✓"),
        ("FAIL", True, "✗"),
        ("INCONCLUSIVE", True, "?"),
        ("NODATA", True, "–"),
        ("FAIL", False, "(✗)"),
        ("NODATA", False, ""),
    ],
)
def test_brackets_tell_what_is_only_reported(state: FindingState, decides: bool, mark: str) -> None:
    """The verdict rests on a mark without them."""
    assert table_words.mark(replace(FINDING, state=state), decides) == mark


def test_a_limit_whose_floor_decides_also_names_the_change_it_comes_to() -> None:
    """So that it compares with bounds in per cent; a limit in per cent stands alone."""
    floor = replace(FINDING, metric="ttft_p95", margin=0.15, floor=20.0, bound=1.358)

    assert table_words.limit_beside(floor, "ms") == "≤ +20 ms (+36 %)"
    assert table_words.limit_beside(replace(floor, bound=1.15), "ms") == "≤ +15 %"


def test_the_legend_explains_the_marks_that_are_there_and_no_others() -> None:
    """In a line, a dash means nothing; the pairs that are needed are of all, beside those that were run."""
    few, more = table_words.legend({"✓", "(✗)", ""}, 4, counted=False), table_words.legend({"✗", "?", "–"}, 4, counted=True)

    same_text("legends", few, more)
    assert table_words.legend({""}, 4, counted=False) == ""
    assert len(table_words.legend({"✓", "✗", "?", "–", "(✓)"}, 99, counted=True)) <= 80


def test_what_does_not_fit_is_named_up_to_three() -> None:
    """And the rest is counted."""
    assert table_words.not_shown(["alpha"]) == "not shown: alpha (--verbose)"
    assert table_words.not_shown(["a", "b", "c", "d", "e"]) == "not shown: a, b, c, 2 more (--verbose)"


@pytest.mark.parametrize(
    ("state", "benefit", "word"),
    [
        ("PASS", "PASS", "pass"),
        ("PASS", "FAIL", "no harm, no gain"),
        ("PASS", "INCONCLUSIVE", "no harm, gain open"),
        ("FAIL", "PASS", "FAIL"),
        ("INCONCLUSIVE", "PASS", "open"),
        ("NODATA", "NODATA", "no data"),
        ("INVALID", "PASS", "INVALID"),
    ],
)
def test_a_load_says_whether_the_gain_is_there(state: CellState, benefit: FindingState, word: str) -> None:
    """A load that keeps its limits without the gain that it must show has not passed."""
    cell = a_cell(1, 0.5, primary=True, state=state)
    findings = tuple(replace(one, state=benefit) if one.role == "success" else one for one in cell.findings)

    assert table_words.cell_state(replace(cell, findings=findings)) == word


def test_acceptance_is_one_line() -> None:
    """What is not known is left out, but for the length itself."""
    assert table_words.acceptance(3.294, 0.779, 1.498) == "acceptance length 3.29 · alpha 0.78 · a step takes 1.50 times as long"
    assert table_words.acceptance(None, None, 1.0) == "acceptance length not known · a step takes 1.00 times as long"
