"""The page: whole on its own, verdict first, every figure with words, and nothing in it that a name could break."""

import re
from dataclasses import replace

import pytest

from specbench.analysis.theory import limiting_factors
from specbench.explain.notes import demonstration, limiting_factor
from specbench.explain.reader_questions import reader_questions
from specbench.model.result import Result, VerdictWord
from specbench.report.formats.html import html, sentence, shell
from tests.support.page import Page
from tests.support.results import capped, every_verdict, hold, hostile, large, sliced

ALL: dict[str, Result] = {
    **{str(verdict): result for verdict, result in every_verdict().items()},
    "sliced": sliced(),
    "hostile": hostile(),
}


@pytest.fixture(scope="module")
def pages() -> dict[str, Page]:
    """Every kind of result as a page, made once."""
    return {name: Page(html(result)) for name, result in ALL.items()}


@pytest.mark.parametrize("name", ALL)
def test_a_page_is_well_formed_and_needs_nothing_else(pages: dict[str, Page], name: str) -> None:
    """Every tag closes, ids are unique, no script runs, and nothing is fetched from anywhere."""
    page = pages[name]
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    links = [attributes[key] for _, attributes in page.elements for key in ("src", "href", "xlink:href") if key in attributes]
    assert page.problems == []
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in links if link.startswith("#")} <= set(ids)
    assert {link for link in links if not link.startswith("#")} == {"data:,"}
    assert page.all("script") == []
    assert not re.search(r"url\((?!#)|@import", page.source)


@pytest.mark.parametrize("verdict", ["PROMOTE", "CAPPED", "HOLD", "ROLLBACK", "INVALID"])
def test_the_verdict_and_its_reasons_come_first(pages: dict[str, Page], verdict: VerdictWord) -> None:
    """Before any table or chart a reader has met the word, the instruction and each reason."""
    source = pages[verdict].source
    head = source[: min(source.find(mark) for mark in ("<table", "<figure", "<pre") if mark in source)]
    text = Page(head).text
    assert verdict in text
    assert all(reason.message in text for reason in ALL[verdict].reasons)


def test_six_questions_have_their_answers(pages: dict[str, Page]) -> None:
    """What a reader wants to know stands on the page in words."""
    text = pages["CAPPED"].text
    found = reader_questions(capped())
    assert len(found) == 6
    for answer in found:
        assert f"{answer.question} {answer.short}" in text


@pytest.mark.parametrize("name", ALL)
def test_every_chart_and_table_speaks(pages: dict[str, Page], name: str) -> None:
    """A chart has a text alternative, a wide table a named region that the keyboard reaches, a header cell its scope."""
    page = pages[name]
    assert all(one["role"] == "img" and len(one["aria-label"]) > 40 for one in page.all("svg"))
    regions = [one for one in page.all("div") if "scroll" in one.get("class", "")]
    assert all(one["tabindex"] == "0" and one["role"] == "region" and one["aria-label"] for one in regions)
    assert len(page.all("table")) <= len(regions)
    assert all("scope" in one for one in page.all("th"))
    assert len(page.all("h1")) == 1


def test_charts_follow_the_pages_colours(pages: dict[str, Page]) -> None:
    """A chart holds no colour of its own, so that it reads on light and on dark, and keeps the digits of its labels."""
    charts = "".join(re.findall(r"<svg.*?</svg>", pages["CAPPED"].source, re.DOTALL))
    assert not re.search(r"#[0-9a-f]{6}\b", charts)
    assert "var(--speculative)" in charts
    assert ">1.31<" in charts


def test_names_cannot_break_the_page(pages: dict[str, Page]) -> None:
    """T-11: scenario names, error texts and model names come out as the same strings, and nothing runs."""
    page = pages["hostile"]
    assert "a</script><script>alert(1)</script>" in page.text
    assert 'BaNaNa "x" & <b>' in page.text
    assert "502: <!-- <html> | % ::error::owned" in page.text
    assert "]]> `tick`" in page.text
    assert page.source.count("<title>") == 1


def test_an_absent_figure_is_na_with_its_reason(pages: dict[str, Page]) -> None:
    """T-10: what could not be had is 'n/a', and the reason stands in its row; no page says nan, inf or None."""
    assert "n/a: TTFT p95 (no request of the speculative arm succeeded)." in pages["HOLD"].text
    for page in pages.values():
        assert not re.search(r"\b(nan|inf|None|NaN|Infinity)\b", page.text)


def test_virtual_times_and_a_partial_run_are_said_plainly() -> None:
    """Both stand above the answers; an engine that is real says nothing of virtual times."""
    result = capped()
    text = Page(html(replace(result, run=replace(result.run, partial=True)))).text
    second_question = text.index(reader_questions(result)[1].question)
    assert text.index(demonstration(result)) < text.index("This run is partial") < second_question
    assert text.index("Times are virtual") < second_question
    arms = replace(
        result.endpoints,
        baseline=replace(result.endpoints.baseline, engine="vllm"),
        speculative=replace(result.endpoints.speculative, engine="vllm"),
    )
    assert "virtual" not in Page(html(replace(hold(), endpoints=arms))).text.replace("overran their virtual time", "")


def test_overruns_of_the_engine_and_differences_of_the_arms_are_shown(pages: dict[str, Page]) -> None:
    """The share of late steps per cell is on the page, and a fact that differs is called different."""
    text = pages["CAPPED"].text
    assert "16 streams 21 of 12,100 (0.17 %)" in text
    assert "speculation not told draft_model, 4 tokens may differ" in text
    assert 'model specbench-ngram BaNaNa "x" & <b> differs' in pages["hostile"].text


def test_what_held_speculation_back_is_named_with_its_cell(pages: dict[str, Page]) -> None:
    """The explanation stands beside the factors, and leads to the cell."""
    (found,) = limiting_factors(ALL["CAPPED"])
    title, evidence = limiting_factor(found.code, found.figures)
    assert f"{title} 16 streams : {evidence}" in pages["CAPPED"].text
    assert "What held speculation back" not in pages["PROMOTE"].text


def test_on_a_narrow_screen_a_long_word_wraps(pages: dict[str, Page]) -> None:
    """Commands, and links and chips with names, stay whole where they fit and are never cut off where they do not."""
    style = pages["CAPPED"].source.partition("<style>")[2].partition("</style>")[0]
    rules = dict(re.findall(r"^([^@{}\n]+?) \{([^}]*)\}", style, re.MULTILINE))
    for name in (".command i", ".reasons a", ".chip, .badge", ".chip"):
        assert "nowrap" not in rules[name]
    assert "inline-block" in rules[".command i"]
    assert "overflow-wrap: anywhere" in rules[".chip"]


def test_the_same_result_gives_the_same_page() -> None:
    """No date, no random id: a page is a function of its result."""
    assert html(capped()) == html(capped())


def test_a_full_matrix_stays_below_three_megabytes() -> None:
    """24 cells with all their charts fit the budget of one file."""
    assert len(html(large(24)).encode()) < 3_000_000


def test_acceptance_and_lag_are_drawn_over_the_run_where_they_are_known(pages: dict[str, Page]) -> None:
    """Two charts a cell; an engine that tells no acceptance leaves the generator's lag alone."""
    assert pages["CAPPED"].text.count("Over the run (every block of this cell)") == 3
    assert pages["CAPPED"].source.count("Acceptance length, block by block") >= 3
    silent = replace(capped(), cells=tuple(replace(cell, block_series=()) for cell in capped().cells))
    assert "Over the run" not in Page(html(silent)).text


def test_code_in_a_sentence_is_shown_as_code_and_stays_text() -> None:
    """What stands in backquotes is a word of the scenario or the shell; whatever it holds is escaped."""
    assert sentence("use `place: same`") == "use <code>place: same</code>"
    assert sentence("`<b>` at 5 %") == "<code>&lt;b&gt;</code> at 5\u00a0%"
    assert sentence("one ` alone") == "one ` alone"
    assert shell("run a.yaml --set 'b=<1>' --gate") == "<i>run a.yaml</i> <i>--set &#39;b=&lt;1&gt;&#39;</i> <i>--gate</i>"
