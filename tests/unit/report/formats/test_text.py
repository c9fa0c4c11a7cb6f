"""The report for a terminal: verdict first, 80 columns, one line per cell, nothing that moves a cursor."""

from dataclasses import replace

import pytest

from specbench.model.result import Result, VerdictWord
from specbench.report.formats.text import text
from tests.support.goldens import same_text
from tests.support.result_parts import a_cell
from tests.support.results import a_result, capped, every_verdict, hold, hostile, invalid, large, reason, sliced


@pytest.mark.parametrize("verdict", ["PROMOTE", "CAPPED", "HOLD", "ROLLBACK", "INVALID"])
def test_the_first_word_is_the_verdict_and_reasons_follow(verdict: VerdictWord) -> None:
    """A reader of a log sees the verdict, then why, before any table."""
    result = every_verdict()[verdict]
    said = text(result)
    assert said.startswith(f"{verdict}: ")
    joined = " ".join(said.split())
    assert joined.index("Why - ") < joined.index("cell was measured" if verdict == "INVALID" else "Cells: ")
    assert all(found.message in joined for found in result.reasons)


@pytest.mark.parametrize("result", [*every_verdict().values(), sliced(), hostile(), large(24)], ids=lambda found: found.verdict)
def test_every_line_fits_80_columns(result: Result) -> None:
    """No line is wider than a terminal, whatever names and messages hold."""
    assert max(len(line) for line in text(result).splitlines()) <= 80


def test_a_rate_cell_that_is_inconclusive_fits_too() -> None:
    """The widest row that can be: a rate, the primary mark, the longest state."""
    cell = a_cell(4, 0.98, primary=True, state="INCONCLUSIVE")
    cell = replace(cell, axes=replace(cell.axes, concurrency=None, rate=12.5))
    said = text(a_result("HOLD", (cell,), (reason("x", "y"),)))
    assert "12.5/s *" in said
    assert max(len(line) for line in said.splitlines()) <= 80


def test_a_cell_is_one_row_of_ratios() -> None:
    """The row holds load, TPOT with interval, pace, TTFT, TPS, acceptance and state."""
    rows = [line.split() for line in text(capped()).splitlines()]
    assert ["16", "1.31", "(1.26–1.36)", "1.31", "1.22", "0.76", "3.40", "FAIL"] in rows
    assert ["1", "*", "0.45", "(0.43–0.47)", "0.45", "1.02", "2.22", "3.40", "PASS"] in rows


def test_what_is_not_known_says_why() -> None:
    """A figure that could not be had is n/a in the table, with its reason below it."""
    said = [line.strip() for line in text(hold()).splitlines()]
    same_text("no figure", *(line for line in said if line.startswith("no figure")))


def test_a_run_without_cells_is_told_without_a_table() -> None:
    """Arms refused before load leave a verdict and reasons, and no empty table."""
    said = text(invalid())
    assert "No cell was measured." in said
    assert "Cells:" not in said


def test_a_partial_run_and_virtual_times_are_said() -> None:
    """Both are told in the text, since they change what the numbers mean."""
    result = capped()
    said = text(replace(result, run=replace(result.run, partial=True)))
    assert "PARTIAL" in said
    assert "Times are virtual" in said


def test_control_characters_do_not_reach_the_terminal() -> None:
    """Escape sequences and line breaks in what an endpoint said become blanks."""
    said = text(hostile())
    assert all(character.isprintable() or character == "\n" for character in said)
    assert not any(line.startswith("::") for line in said.splitlines())


def test_no_line_is_a_command_wherever_it_is_broken() -> None:
    """Text of a server is wrapped at 80 columns, at blanks and in the middle of long words: nowhere does a command begin."""
    for before in range(60, 90):
        for told in ("x" * before + " ::error::forged", "x" * before + "::error::forged", "x" * before + " ##[error]forged"):
            said = text(replace(capped(), notes=(told,), reasons=(reason("no_benefit", told, "c1", "tpot_p50"),)))
            assert not any(line.lstrip().startswith("::") for line in said.splitlines())
            assert "##[" not in said
