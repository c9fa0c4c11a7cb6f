"""The page: whole on its own, verdict first, every figure with words, and nothing in it that a name could break."""

import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from specbench.analysis.theory import limiting_factors
from specbench.explain.brief import headline, next_step
from specbench.explain.notes import PARTIAL, VIRTUAL, limiting_factor
from specbench.model.result import Result, VerdictWord
from specbench.report import read_result
from specbench.report.formats.html import figures, html, sentence, shell, whole
from specbench.report.view.first_screen import first_screen
from specbench.report.view.load_tables import load_tables
from tests.support.page import Page
from tests.support.results import capped, every_verdict, hold, hostile, large, sliced

ALL: dict[str, Result] = {
    **{str(verdict): result for verdict, result in every_verdict().items()},
    "sliced": sliced(),
    "hostile": hostile(),
}


def squeezed(text: str) -> str:
    """The text without blanks, as tags within a sentence part it anywhere."""
    return "".join(text.split())


@pytest.fixture(scope="module")
def pages() -> dict[str, Page]:
    """Every kind of result as a page, made once."""
    return {name: Page(html(result)) for name, result in ALL.items()}


@pytest.mark.parametrize("name", ALL)
def test_a_page_is_well_formed_and_needs_nothing_else(pages: dict[str, Page], name: str) -> None:
    """Every tag closes, ids are unique, no script runs but the page's own, and nothing is fetched from anywhere."""
    page = pages[name]
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    links = [attributes[key] for _, attributes in page.elements for key in ("src", "href", "xlink:href") if key in attributes]
    assert page.problems == []
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in links if link.startswith("#")} <= set(ids)
    assert {link for link in links if not link.startswith("#")} == {"data:,"}
    assert page.all("script") == [{}]
    assert not re.search(r"url\((?!#)|@import", page.source)


def test_no_other_script_than_the_pages_own_may_run(pages: dict[str, Page]) -> None:
    """The policy names it by its hash; it holds nothing of the result."""
    script = Path("specbench/report/page/page.js").read_text()
    digest = b64encode(sha256(script.encode()).digest()).decode()
    for page in pages.values():
        assert f"script-src &#39;sha256-{digest}&#39;" in page.source or f"script-src 'sha256-{digest}'" in page.source
        assert f"<script>{script}</script>" in page.source


@pytest.mark.parametrize("verdict", ["PROMOTE", "CAPPED", "HOLD", "ROLLBACK", "INVALID"])
def test_the_finding_the_figures_and_the_next_command_come_first(pages: dict[str, Page], verdict: VerdictWord) -> None:
    """Before the picture and any table a reader has met the verdict, what was found, what to do, and the command for it."""
    source, result = pages[verdict].source, ALL[verdict]
    head = source[: min(source.find(mark) for mark in ("<table", "<figure", 'id="trust"') if mark in source)]
    text = squeezed(Page(head).text)
    shown = first_screen(result, load_tables(result))
    for said in (verdict, shown.headline, *shown.sentences, shown.command, next_step.action(result)):
        assert squeezed(said) in text
    assert shown.headline[1:] == headline.found(result)[1:]
    assert all(squeezed(reason.message) in text for reason in result.reasons)


def test_the_picture_comes_before_the_first_table_and_has_four_metrics(pages: dict[str, Page]) -> None:
    """Time per token, between tokens, first token, throughput."""
    source = pages["CAPPED"].source
    picture = source[source.index('class="picture"') : source.index('id="numbers"')]
    assert picture.count("<svg") == 4
    assert "<table" not in source[: source.index('id="numbers"')]
    titles = re.findall(r'muted">([^<]+) · (?:low|high)er', picture)
    assert titles == ["TPOT p50, ms", "ITL p95, ms", "TTFT p95, ms", "output tok/s"]


@pytest.mark.parametrize("name", ALL)
def test_every_chart_and_table_speaks(pages: dict[str, Page], name: str) -> None:
    """A chart has a text alternative, each of its marks a title, a wide table a named region that the keyboard reaches."""
    page = pages[name]
    assert all(one["role"] in ("img", "group") and len(one["aria-label"]) > 40 for one in page.all("svg"))
    marks = re.findall(r'<g class="mark"[^>]*>(<title>[^<]+</title>)?', page.source)
    assert all(marks)
    assert bool(marks) == (name != "INVALID")
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
    assert ">+31 %<" in charts


def test_names_cannot_break_the_page(pages: dict[str, Page]) -> None:
    """T-11: scenario names, error texts and model names come out as the same strings, and nothing runs."""
    page = pages["hostile"]
    assert "a</script><script>alert(1)</script>" in page.text
    assert 'BaNaNa "x" & <b>' in page.text
    assert "502: <!-- <html> | % ::error::owned" in page.text
    assert "]]> `tick`" in page.text
    assert len(re.findall(r"<title>(?!\d|[a-z]+[,:])", page.source)) == 1


def test_an_absent_figure_is_na_with_its_reason(pages: dict[str, Page]) -> None:
    """T-10: what could not be had has its reason in its row; no page says nan, inf or None."""
    assert "n/a: TTFT p95 (no request of the speculative arm succeeded)." in pages["HOLD"].text
    for page in pages.values():
        assert not re.search(r"\b(nan|inf|None|NaN|Infinity)\b", page.text)


def test_virtual_times_and_a_partial_run_are_said_before_the_verdict() -> None:
    """An engine that is real says nothing of virtual times."""
    result = capped()
    text = Page(html(replace(result, run=replace(result.run, partial=True)))).text
    assert text.index(next_step.DEMO) < text.index(PARTIAL) < text.index("CAPPED", text.index(next_step.DEMO))
    arms = replace(
        result.endpoints,
        baseline=replace(result.endpoints.baseline, engine="vllm"),
        speculative=replace(result.endpoints.speculative, engine="vllm"),
    )
    real = Page(html(replace(hold(), endpoints=arms))).text
    assert next_step.DEMO not in real
    assert VIRTUAL not in real


def test_overruns_of_the_engine_and_differences_of_the_arms_are_shown(pages: dict[str, Page]) -> None:
    """The share of late steps per load is on the page, and a fact that differs is called different."""
    text = pages["CAPPED"].text
    assert "16 streams 21 of 12,100 (0.17 %)" in text
    assert "speculation not reported draft_model, 4 tokens may differ" in text
    assert 'model specbench-ngram BaNaNa "x" & <b> differs' in pages["hostile"].text


def test_what_limits_speculation_is_named_with_its_load(pages: dict[str, Page]) -> None:
    """The explanation stands beside the factors, and leads to the load."""
    (found,) = limiting_factors(ALL["CAPPED"])
    title, evidence = limiting_factor(found.code, found.figures)
    assert f"{title} 16 streams : {evidence}" in pages["CAPPED"].text
    assert "What limits it" not in pages["PROMOTE"].text


def test_on_a_narrow_screen_a_long_word_wraps(pages: dict[str, Page]) -> None:
    """Commands stay whole where they fit and are never cut off where they do not."""
    style = pages["CAPPED"].source.partition("<style>")[2].partition("</style>")[0]
    rules = dict(re.findall(r"^([^@{}\n]+?) \{([^}]*)\}", style, re.MULTILINE))
    assert "inline-block" in rules[".command i"]
    assert "overflow-wrap: anywhere" in rules[".command code"]


def test_the_same_result_gives_the_same_page() -> None:
    """No date, no random id: a page is a function of its result."""
    assert html(capped()) == html(capped())


def test_pages_stay_small() -> None:
    """The example below a third of a megabyte a load, so that three loads stay below one; a full matrix of 24 below three."""
    example = read_result(Path("reports/example/result.json"))
    assert len(html(example).encode()) < 333_000 * len(example.cells)
    assert len(html(large(8)).encode()) < 1_000_000


def test_acceptance_and_lag_are_drawn_over_the_run_where_they_are_known(pages: dict[str, Page]) -> None:
    """Two charts a load; an engine that tells no acceptance leaves the generator's lag alone."""
    assert pages["CAPPED"].text.count("Block by block over the run") == 3
    assert pages["CAPPED"].source.count("Acceptance length, block by block") >= 3
    silent = replace(capped(), cells=tuple(replace(cell, block_series=()) for cell in capped().cells))
    assert "Block by block over the run" not in Page(html(silent)).text


def test_code_in_a_sentence_is_shown_as_code_and_stays_text() -> None:
    """What stands in backquotes is a word of the scenario or the shell; whatever it holds is escaped."""
    assert sentence("use `place: same`") == "use <code>place: same</code>"
    assert sentence("`<b>` at 5 %") == "<code>&lt;b&gt;</code> at 5\u00a0%"
    assert sentence("one ` alone") == "one ` alone"
    assert shell("run a.yaml --set 'b=<1>' --gate") == "<i>run a.yaml</i> <i>--set &#39;b=&lt;1&gt;&#39;</i> <i>--gate</i>"


def test_figures_stand_out_and_limits_do_not() -> None:
    """Values with a unit and changes are bold and whole on a line; a limit is neither, nor is a name."""
    said = "At 4 streams each token takes 5.61 ms instead of 1,234 ms (TPOT p50, −54 %; limit +20 ms) <b>"
    assert figures(said) == (
        "At 4 streams each token takes <b>5.61\u00a0ms</b> instead of <b>1,234\u00a0ms</b>"
        " (TPOT p50, <b>−54\u00a0%</b>; limit +20 ms) &lt;b&gt;"
    )
    assert whole("wins up to 1 stream, hurts at 16") == "wins up to 1\u00a0stream, hurts at 16"
