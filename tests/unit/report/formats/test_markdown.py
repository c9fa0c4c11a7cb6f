"""Markdown for CI: short, within GitHub's limits, and showing every name as it is."""

import re
from dataclasses import replace

import pytest

from specbench.explain.brief import headline, next_step
from specbench.model.result import Result
from specbench.report.formats.markdown import comment, literal, markdown, numbers_table
from specbench.report.view.load_tables import load_tables
from tests.support.goldens import same_text
from tests.support.results import capped, every_verdict, hold, hostile, large, reason, sliced, twice_judged


def unfolded(text: str) -> list[str]:
    """The lines that GitHub shows before anybody opens anything, without empty ones."""
    folded = re.sub(r"<details>.*?</details>", "<details>", text, flags=re.DOTALL)
    return [line for line in folded.splitlines() if line.strip() and line != "<details>" and not line.startswith("<!--")]


@pytest.mark.parametrize("result", [*every_verdict().values(), sliced(), hostile(), large(24), twice_judged()])
def test_a_comment_shows_fifteen_lines_and_a_summary_forty(result: Result) -> None:
    """Whatever the verdict; the rest is folded."""
    assert len(unfolded(comment(result))) <= 15
    assert len(unfolded(markdown(result))) <= 40


def test_a_comment_says_verdict_finding_action_deciding_rows_and_the_next_command() -> None:
    """In this order."""
    lines = unfolded(comment(capped()))

    assert lines[0] == f"### CAPPED · code: {headline.found(capped())}"
    assert lines[1].startswith("> ")
    assert lines[1].endswith(literal(next_step.action(capped())))
    same_text("table of the comment", *(line for line in lines if line.startswith("|")))
    assert lines[-2] == f"Next: <code>{literal(next_step.next_command(capped()))}</code>"


def test_the_rows_are_those_of_the_page() -> None:
    """What a reader copies there is the table of the summary."""
    copied = numbers_table(load_tables(capped()), capped().config.alpha)
    same_text("copied", copied)
    for line in unfolded(comment(capped())):
        if line.startswith("| 1"):
            assert line in copied


def test_every_table_is_square() -> None:
    """Each row of a table has as many cells as its head, whatever text is in it."""
    for result in (capped(), hold(), hostile(), large(24)):
        rows: list[list[str]] = []
        for line in [*markdown(result).splitlines(), ""]:
            if line.startswith("|"):
                rows.append(re.split(r"(?<!\\)\|", line))
            else:
                assert len({len(row) for row in rows}) <= 1
                rows = []


def test_nothing_measured_leaves_the_reasons() -> None:
    """There is no table to show."""
    lines = unfolded(comment(every_verdict()["INVALID"]))

    assert [line for line in lines if line.startswith("|")] == []
    assert f"- {literal(every_verdict()['INVALID'].reasons[0].message)}" in lines


@pytest.mark.parametrize("result", [large(200), replace(large(200), reasons=tuple(reason("x", "y" * 5000) for _ in range(400)))])
def test_a_matrix_of_200_cells_fits_githubs_limits(result: Result) -> None:
    """A step summary stays below 1 MiB, a comment below 65,536 characters; what is cut is counted, and every fold closes."""
    assert len(markdown(result).encode()) < 1 << 20
    said = comment(result)
    assert len(said) < 65_536
    assert re.search(r"\n… and \d+ more; the HTML report has them all\.\n", said)
    assert said.count("<details>") == said.count("</details>")


def test_a_comment_can_be_found_again() -> None:
    """The hidden mark names the scenario, and closes no comment early whatever that name is."""
    assert comment(capped()).startswith("<!-- specbench code -->\n### CAPPED")
    assert comment(hostile()).startswith("<!-- specbench ascriptscriptalert1script -->\n")


def test_names_are_shown_and_nothing_else() -> None:
    """No markup, tag, mention or new line comes out of a message."""
    assert literal("a|b`c*d_e <img> & [x](y) #1\r\nnew") == r"a\|b\`c\*d\_e &lt;img&gt; &amp; \[x\](y) \#1 new"
    assert literal("@octocat") == "@\u200boctocat"
    assert "<script" not in markdown(hostile())


def test_an_absolute_limit_has_its_unit() -> None:
    """'≤ 5' could be of anything."""
    assert "| ≤ 5 ms | ✗ |" in markdown(twice_judged())
