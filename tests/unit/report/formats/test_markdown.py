"""Markdown for CI: within GitHub's limits, and showing every name as it is."""

import re
from dataclasses import replace

import pytest

from specbench.explain.reader_questions import reader_questions
from specbench.explain.verdict import headline
from specbench.model.result import Result
from specbench.report.formats.markdown import comment, literal, markdown
from tests.support.results import capped, hold, hostile, large, reason, twice_judged


def test_the_summary_says_verdict_reasons_answers_and_cells() -> None:
    """The first lines carry the decision, and the table has a row per cell."""
    lines = markdown(capped()).splitlines()
    assert lines[:3] == ["## specbench: CAPPED", "", f"**{headline(capped())}**"]
    found = reader_questions(capped())[2]
    load = next(line for line in lines if line.startswith(f"| {found.question} | **{found.short}** | {literal(found.text)}"))
    assert "<code>specbench run code.yaml --profile standard --up-to 4</code> |" in lines[lines.index(load) - 2]
    assert "| 16 streams | 1.31 (1.26–1.36) | 1.31 (1.26–1.36) | 1.22 (1.17–1.27) | 0.76 (0.73–0.79) | 3.40 | ✗ FAIL |" in lines


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


@pytest.mark.parametrize("result", [large(200), replace(large(200), reasons=tuple(reason("x", "y" * 5000) for _ in range(400)))])
def test_a_matrix_of_200_cells_fits_githubs_limits(result: Result) -> None:
    """A step summary stays below 1 MiB, a comment below 65,536 characters; what is cut is counted."""
    assert len(markdown(result).encode()) < 1 << 20
    said = comment(result)
    assert len(said) < 65_536
    assert re.search(r"\n… and \d+ more; the HTML report has them all\.\n", said)


def test_a_comment_can_be_found_again() -> None:
    """The hidden mark names the scenario, and closes no comment early whatever that name is."""
    assert comment(capped()).startswith("<!-- specbench code -->\n## specbench: CAPPED\n")
    assert comment(hostile()).startswith("<!-- specbench ascriptscriptalert1script -->\n")


def test_names_are_shown_and_nothing_else() -> None:
    """No markup, tag, mention or new line comes out of a message."""
    assert literal("a|b`c*d_e <img> & [x](y) #1\r\nnew") == r"a\|b\`c\*d\_e &lt;img&gt; &amp; \[x\](y) \#1 new"
    assert literal("@octocat") == "@\u200boctocat"
    assert "<script" not in markdown(hostile())


def test_an_absolute_limit_that_was_not_kept_has_its_unit() -> None:
    """The table of what did not pass says of what the limit is."""
    assert "| 1 stream (primary) | TPOT p50 | ✗ FAIL | at most 5.00 ms | The TPOT p50 is 5.9 ms. |" in markdown(twice_judged())


def test_an_absent_figure_gives_its_reason() -> None:
    """n/a never stands alone."""
    assert "n/a (no request of the speculative arm succeeded)" in markdown(hold())
