"""The report for a terminal: verdict and finding first, numbers in a table, few lines of 80 columns, no control character."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from rich.cells import cell_len

from specbench.model.result import CellResult, Finding, IntegrityCheck, PerArm, Result, VerdictWord
from specbench.model.scenario import ARMS
from specbench.report import read_result
from specbench.report.formats.text import MOST_INVALID, MOST_LINES, TextOptions, text, verdict_line
from specbench.report.terminal.screen import Screen
from tests.support.goldens import same_text
from tests.support.result_parts import a_cell, a_comparison
from tests.support.results import (
    a_result,
    capped,
    every_verdict,
    hold,
    hostile,
    invalid,
    large,
    promote,
    reason,
    rollback,
    sliced,
    slices_with_a_cap,
)

FOLDER = Path("reports/code-20250102")
NAMED = TextOptions(folder=FOLDER)


def no_gain() -> Result:
    """A HOLD without the gain: 11.7 ms with and without speculation."""
    cell = a_cell(1, 1.0, primary=True)
    gain = tuple(replace(one, state="FAIL") if one.role == "success" else one for one in cell.findings)
    return a_result("HOLD", (replace(cell, findings=gain),), (reason("no_benefit", "No gain.", "c1", "tpot_p50"),))


def harmed() -> Result:
    """A ROLLBACK by limits on speed, without any failed request."""
    result = rollback()
    whole = tuple(replace(one, state="PASS") for one in result.run_findings)
    return replace(result, run_findings=whole, reasons=(reason("harm", "Worse."),))


def not_speculating() -> Result:
    """An INVALID whose speculative arm drafts nothing, measured at three loads."""
    message = "The speculative arm shows no sign of speculation in 24 of 24 blocks."
    check = IntegrityCheck(id="not_speculating", cell=None, ok=False, value=24.0, limit=0.0, message=message)
    cells = tuple(a_cell(load, 1.0, state="INVALID", primary=load == 1) for load in (1, 4, 16))
    why = (reason("invalid", "No judgement."), reason("not_speculating", message))
    result = a_result("INVALID", cells, why)
    return replace(result, integrity=(check,))


def many_faults() -> Result:
    """An INVALID with thirty failed checks of sixty words each."""
    check = not_speculating().integrity[0]
    checks = tuple(replace(check, id=f"fault_{index}", message=f"{index} " + "word " * 60) for index in range(30))
    return replace(not_speculating(), integrity=checks)


def refused_at_length() -> Result:
    """A run refused with three reasons of two hundred words."""
    return replace(invalid(), integrity=(), reasons=tuple(reason("refused", f"{index} " + "word " * 200) for index in range(3)))


def with_values(scale: float, ratio: float) -> Result:
    """Figures that no run has, but a damaged clock may."""
    cells = tuple(
        replace(cell, metrics=tuple(replace(one, value=PerArm(scale, scale * ratio), ratio=ratio) for one in cell.metrics))
        for cell in capped().cells
    )
    return replace(capped(), cells=cells)


RESULTS: dict[str, Result] = {
    **{str(word): result for word, result in every_verdict().items()},
    "HOLD without a gain": no_gain(),
    "ROLLBACK by limits": harmed(),
    "INVALID without speculation": not_speculating(),
    "slices": sliced(),
    "many slices": slices_with_a_cap("PROMOTE", "CAPPED", "ROLLBACK", "CAPPED"),
    "24 loads": large(24),
    "100 loads": large(100),
    "hostile": hostile(),
    "a name of wide characters": replace(capped(), run=replace(capped().run, name="速度" * 40, scenario="code.yaml")),
    "huge figures": with_values(1e9, 1e7),
    "tiny figures": with_values(1e-9, 1e-3),
    "no metric": replace(capped(), cells=tuple(replace(cell, metrics=(), findings=()) for cell in capped().cells)),
    "no cell": replace(promote(), cells=()),
    "many faults": many_faults(),
    "refused at length": refused_at_length(),
}


@pytest.mark.parametrize(
    "name",
    [*every_verdict(), "HOLD without a gain", "ROLLBACK by limits", "INVALID without speculation", "slices", "24 loads"],
)
def test_each_verdict_reads_as_it_did(name: str) -> None:
    """To the word and the column."""
    same_text(name, text(RESULTS[name], NAMED))


def test_the_committed_run_reads_as_it_did() -> None:
    """All figures are of a real run: both arms, the change, its bounds, the limit as asked for."""
    same_text("the example", text(read_result(Path("reports/example")), TextOptions(folder=Path("reports/example"))))


def without_gain(cell: CellResult) -> tuple[Finding, ...]:
    """The findings of a load that need not show the gain."""
    return tuple(one for one in cell.findings if one.role != "success")


@pytest.mark.parametrize("name", RESULTS)
@pytest.mark.parametrize("ascii", [False, True])
def test_a_report_is_short_and_80_columns_wide(name: str, ascii: bool) -> None:
    """45 lines at most, 15 where there is no judgement, whatever the number of loads and slices."""
    lines = text(RESULTS[name], TextOptions(folder=FOLDER, screen=Screen(ascii=ascii))).splitlines()

    assert len(lines) <= (MOST_INVALID if RESULTS[name].verdict == "INVALID" else MOST_LINES)
    assert max(map(cell_len, lines)) <= 80


@pytest.mark.parametrize("verdict", every_verdict())
def test_the_first_word_is_the_verdict_and_the_last_line_the_code(verdict: VerdictWord) -> None:
    """A reader of a log sees both without any other line."""
    lines = text(every_verdict()[verdict], NAMED).splitlines()

    assert lines[0].startswith(f"{verdict}  code: ")
    assert lines[-1].split()[:2] == ["exit", f"{every_verdict()[verdict].exit_code}"]
    assert f"report  {FOLDER}/report.html" in lines
    assert any(line.startswith(f"why     specbench explain {FOLDER}") for line in lines)


def test_the_rows_of_a_load_hold_both_arms_the_change_its_bounds_the_limit_and_a_mark() -> None:
    """What failed at 16 streams, and what is only reported there."""
    rows = [line.split() for line in text(capped(), NAMED).splitlines()]

    assert ["TPOT", "p95,", "ms", "20.7", "27.1", "+31", "%", "+27", "..", "+35", "%", "≤", "+10", "%", "✗"] in rows
    assert ["ITL", "p95,", "ms", "20.0", "31.4", "+57", "%", "+53", "..", "+62", "%", "≤", "+10", "%", "(✗)"] in rows
    assert [
        "acceptance",
        "length",
        "3.40",
        "·",
        "alpha",
        "0.81",
        "·",
        "a",
        "step",
        "takes",
        "4.19",
        "times",
        "as",
        "long",
    ] in rows


def test_a_ttft_by_prompt_says_that_its_change_is_another_thing_than_its_values() -> None:
    """Once below the table, where there is such a row."""
    cell = a_cell(1, 0.5, primary=True)
    like = next(one for one in cell.metrics if one.metric == "ttft_p95")
    limit = next(one for one in cell.findings if one.metric == "ttft_p95")
    both = replace(
        cell,
        metrics=(*cell.metrics, replace(like, metric="ttft_paired"), replace(like, metric="ttft_p50")),
        findings=(*cell.findings, replace(limit, metric="ttft_paired")),
    )

    assert "the prompts that" not in text(promote())
    same_text("by prompt", text(a_result("PROMOTE", (both,), ())).split("\n\n")[2])


def test_the_level_of_the_bounds_is_the_runs() -> None:
    """A run at alpha 0.1 has bounds at 90 %."""
    result = capped()

    assert "90 % bounds" in text(replace(result, config=replace(result.config, alpha=0.1)))
    assert "95 % bounds" in text(result)


def test_a_demonstration_decides_nothing_before_anything_is_to_be_done() -> None:
    """It stands under the verdict, above the action; real servers have a command of their own beside the next one."""
    lines = text(capped(), NAMED).splitlines()

    assert [line.partition(" ")[0] for line in lines[:3]] == ["CAPPED", "Demo:", "Do"]
    assert [line.split()[0] for line in lines[-5:-2]] == ["next", "yours", "report"]


def test_requests_that_ended_are_counted_as_the_share_of_failures_counts_them() -> None:
    """What is cut with its block is named apart: 298 of 434 in the committed run."""
    result = read_result(Path("reports/example"))
    sent = sum(cell.counts.of(arm).requests for cell in result.cells for arm in ARMS)

    assert sent == 298 + 136
    assert "0 of 298 requests failed (136 cut" in text(result)


def test_what_passed_is_one_line() -> None:
    """Every deciding check is named, in the table or below it."""
    said = text(promote(), NAMED)

    assert "  also passed: TPOT p95, pace p95, E2E p95\n" in said


def test_of_many_loads_three_are_shown_in_full_and_the_rest_in_a_line_each() -> None:
    """The one that must show the gain, the cap, and the first load that did not pass."""
    low, *others = large(7).cells
    passed = [replace(cell, state="PASS", findings=without_gain(cell)) for cell in others[:3]]
    cells: tuple[CellResult, ...] = (replace(low, state="PASS", primary=True), *passed, *others[3:])
    span = promote().enable_range
    assert span is not None
    result = replace(a_result("CAPPED", cells, ()), enable_range=replace(span, high=4.0, beyond="harm_beyond"))
    lines = text(result, NAMED).splitlines()
    heads = [line for line in lines if line.partition(":")[0].endswith(("stream", "streams"))]

    assert heads == [
        *("1 stream: pass (must show the gain)", "2 streams: pass", "3 streams: pass", "4 streams: pass", "5 streams: FAIL"),
        *("6 streams: FAIL", "7 streams: FAIL"),
    ]
    assert [heads[index] for index in (0, 3, 4)] == [
        line for line, below in pairwise(lines) if line in heads and below.startswith("  ")
    ]


def test_a_load_by_rate_and_a_slice_have_their_names() -> None:
    """Requests per second, and bin with sampling."""
    cell = a_cell(4, 0.98, primary=True, state="INCONCLUSIVE")
    rated = replace(cell, axes=replace(cell.axes, concurrency=None, rate=12.5))

    assert "12.5 requests/s: open (must show the gain)" in text(a_result("HOLD", (rated,), (reason("x", "y"),)))
    assert "creative/greedy: ROLLBACK" in text(sliced())


def test_failed_requests_of_the_whole_run_have_a_row() -> None:
    """A safety check that failed is in the table, in points; one that passed is not."""
    assert "  error rate         0 %   10 %  +10 pt" in text(rollback())
    assert "whole run" not in text(promote())


def test_a_figure_that_is_not_there_says_why_as_far_as_it_fits() -> None:
    """And in full where all is asked for."""
    short, full = text(hold()), text(hold(), TextOptions(verbose=True))

    assert "TTFT p95, ms        –      –  no request of the spe…" in short
    same_text("no figure", *(line for line in full.splitlines() if line.startswith("  no change of TTFT")))


def test_all_metrics_checks_reasons_and_notes_come_with_verbose() -> None:
    """Nothing is folded, and nothing is left out."""
    said = text(capped(), TextOptions(verbose=True))
    joined = " ".join(said.split())

    assert "also passed" not in said
    assert said.count("  pace p95, ms") == 3
    assert all(one.message in joined for one in capped().reasons)
    assert all(check.message in joined for cell in capped().cells for check in cell.integrity)
    assert all(note in joined for note in capped().notes)


def test_quiet_is_the_verdicts_line() -> None:
    """One line, however long."""
    said = text(capped(), TextOptions(quiet=True))

    assert said == verdict_line(capped(), Screen()) + "\n"
    assert said.startswith("CAPPED  code: ")


def test_the_gate_prints_its_own_code() -> None:
    """0 where CAPPED is allowed; INVALID exits 30 with and without the gate."""
    assert text(capped(), TextOptions(exit_code=0)).splitlines()[-1] == "exit    0"
    assert text(capped()).splitlines()[-1] == "exit    11 with --gate, 0 without"
    assert text(invalid()).splitlines()[-1] == "exit    30"


def test_a_partial_run_and_a_demonstration_are_named() -> None:
    """Both change what the numbers mean."""
    result = capped()
    partial = text(replace(result, run=replace(result.run, partial=True)))

    assert "Partial" in partial
    assert "Partial" not in text(result)
    assert "Demo: " in text(result)


def test_without_a_judgement_there_is_no_figure() -> None:
    """Refused before load, or measured and not to be trusted: what failed is named instead."""
    assert "baseline  spec." not in text(not_speculating())
    assert "baseline  spec." not in text(invalid())
    assert "1 of 7 integrity checks" in text(not_speculating())


@pytest.mark.parametrize("width", [20, 40, 60])
@pytest.mark.parametrize("name", ["PROMOTE", "CAPPED", "HOLD", "INVALID", "slices"])
def test_a_narrow_terminal_has_the_same_figures_line_by_line(name: str, width: int) -> None:
    """40 columns hold no table of seven; only what must be copied whole is longer."""
    lines = text(RESULTS[name], TextOptions(folder=FOLDER, screen=Screen(width=width))).splitlines()
    copied = ("specbench", "report", "why", "yours", "--", "exit")

    assert [line for line in lines if len(line) > width and not line.strip().startswith((*copied, "next"))] == []


def test_plain_characters_stand_in_columns_too() -> None:
    """A console without them shows words for the marks, never a question mark for a tick."""
    lines = text(capped(), TextOptions(screen=Screen(ascii=True))).splitlines()
    head = next(line for line in lines if "baseline  spec." in line)
    rows = [line for line in lines if line.endswith((" ok", " FAIL", "(ok)", "(FAIL)")) and not line.startswith("16")]

    assert all(line.isascii() for line in lines)
    assert len(rows) > 9
    assert {max(line.find("<="), line.find(">=")) > head.index("95 % bounds") for line in rows} == {True}


def test_colours_are_put_in_only_where_they_are_wanted() -> None:
    """On the verdict, the marks and the changes; without them the text is the same."""
    plain, colored = text(capped()), text(capped(), TextOptions(screen=Screen(color=True)))
    codes = [f"\x1b[{code}m" for code in ("0", "1", "2", "31", "32", "33", "33;1")]
    bare = colored
    for code in codes:
        bare = bare.replace(code, "")

    assert "\x1b" not in plain
    assert colored.startswith("\x1b[33;1mCAPPED\x1b[0m  code: ")
    assert bare == plain


def test_control_characters_do_not_reach_the_terminal() -> None:
    """Escape sequences and line breaks in what an endpoint said become blanks, with colours and without."""
    for options in (TextOptions(), TextOptions(verbose=True)):
        said = text(hostile(), options)
        assert all(character.isprintable() or character == "\n" for character in said)
        assert not any(line.lstrip().startswith("::") for line in said.splitlines())
    name = "\x1b[2J\x1b]0;owned\x07 ##[error]x"
    named = replace(hostile(), run=replace(hostile().run, name=name))
    said = text(named, TextOptions(screen=Screen(color=True)))
    assert "\x1b[2J" not in said
    assert "\x1b]0" not in said
    assert "##[" not in said


def test_no_line_is_a_command_wherever_it_is_broken() -> None:
    """Text of a server is wrapped at 80 columns, at blanks and in the middle of long words: nowhere does a command begin."""
    for before in range(60, 90):
        for told in ("x" * before + " ::error::forged", "x" * before + "::error::forged", "x" * before + " ##[error]forged"):
            result = replace(invalid(), notes=(told,), reasons=(reason("refused", told, "c1", "tpot_p50"),))
            for options in (TextOptions(), TextOptions(verbose=True)):
                said = text(result, options)
                assert not any(line.lstrip().startswith("::") for line in said.splitlines())
                assert "##[" not in said


def test_a_check_that_is_open_names_the_pairs_that_it_needs() -> None:
    """Beside its mark; an advisory one asks for nothing."""
    said = text(hold())

    assert "? needs 14 pairs" in said
    assert "(4 run)" in said
    assert "(?) " not in said


def test_a_metric_of_a_newer_version_is_a_row_like_the_others() -> None:
    """A required check that failed is shown whatever it is called."""
    cell = a_cell(1, 0.5, primary=True, state="FAIL")
    strange = replace(a_comparison("tpot_p95", 1.2), metric="jitter_p95")
    finding: Finding = replace(cell.findings[1], metric="jitter_p95", state="FAIL", ratio=1.2)
    odd = replace(cell, metrics=(*cell.metrics, strange), findings=(*cell.findings, finding))

    assert "  jitter p95 " in text(a_result("ROLLBACK", (odd,), (reason("harm", "Worse."),)))
