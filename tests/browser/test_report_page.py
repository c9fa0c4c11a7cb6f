"""The page in a real Chromium: it answers at once, fits, asks for nothing, and works by eye, mouse, keyboard and on paper."""

from collections.abc import Iterator
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import pytest

from specbench.model.result import Result
from specbench.report.formats.html import html
from specbench.report.tuning.tune_page import tune_page
from tests.support.browser import Browser, browsing, chromium
from tests.support.results import every_verdict, hostile, large, sliced
from tests.support.tunes import predicted_tune

pytestmark = pytest.mark.browser

RESULTS: dict[str, Result] = {
    **{verdict.lower(): result for verdict, result in every_verdict().items()},
    "sliced": sliced(),
    "hostile": hostile(),
    "large": large(8),
}
A4_PX = 702  # 210 mm less two margins of 12 mm, at 96 pixels to the inch
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
OPEN_ALL = """document.querySelectorAll('details').forEach(one => one.open = true);
    document.querySelectorAll('[role=tabpanel]').forEach(one => one.hidden = false)"""
# The contrast of each visible text with the first opaque background behind it, by the formula of WCAG 2.2, section 1.4.3.
LOW_CONTRAST = """
(() => {
  const rgba = text => { const p = text.match(/[\\d.]+/g).map(Number); return [...p.slice(0, 3), p[3] ?? 1]; };
  const light = c => { const s = c / 255; return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4; };
  const luminance = c => 0.2126 * light(c[0]) + 0.7152 * light(c[1]) + 0.0722 * light(c[2]);
  const behind = one => { for (let at = one; at; at = at.parentElement) {
    const colour = rgba(getComputedStyle(at).backgroundColor); if (colour[3] === 1) return colour; } return [255, 255, 255, 1]; };
  const found = [];
  for (const one of document.querySelectorAll('body *')) {
    const text = [...one.childNodes].some(node => node.nodeType === 3 && node.data.trim());
    if (!text || !one.checkVisibility() || one.closest('style, .sr, .skip')) continue;
    const style = getComputedStyle(one), svg = one.namespaceURI.endsWith('svg');
    const a = luminance(rgba(svg ? style.fill : style.color)), b = luminance(behind(one));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) found.push([ratio.toFixed(2), one.tagName, one.textContent.trim().slice(0, 40)].join(' '));
  }
  return found;
})()
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all of these tests."""
    program = chromium()
    assert program is not None
    with browsing(program) as tab:
        yield tab


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Every kind of result as a file."""
    folder = tmp_path_factory.mktemp("pages")
    made = {name: folder / f"{name}.html" for name in RESULTS}
    for name, file in made.items():
        file.write_text(html(RESULTS[name]), encoding="utf-8")
    return made


@pytest.mark.parametrize("name", RESULTS)
def test_a_page_fits_and_asks_for_nothing(browser: Browser, pages: dict[str, Path], name: str) -> None:
    """With everything opened it is no wider than windows of 360 to 1920 px; it loads itself alone and logs nothing."""
    browser.open(pages[name], 360)
    browser.evaluate(OPEN_ALL)
    for width in (360, 390, 600, 768, 1024, 1280, 1920):
        browser.resize(width, 900)
        assert (width, browser.evaluate(OVERFLOW)) == (width, 0)
    assert {request for request in browser.requests if not request.startswith("data:")} == {pages[name].as_uri()}
    assert browser.errors == []


@pytest.mark.parametrize("name", ["promote", "capped", "hold", "rollback", "invalid", "sliced"])
def test_the_first_screen_answers(browser: Browser, pages: dict[str, Path], name: str) -> None:
    """Without scrolling at 1280 x 800: the verdict, the finding, the next command, and the whole picture."""
    browser.open(pages[name], 1280)
    browser.resize(1280, 800)
    below = """(selectors => selectors.filter(one => [...document.querySelectorAll(one)].some(
        found => found.checkVisibility() && found.getBoundingClientRect().bottom > innerHeight)))"""
    shown = ["#verdict .word", "#verdict h1", "#verdict .next", "#verdict .command", "#verdict figure"]
    assert browser.evaluate(f"{below}({shown})") == []
    seen = browser.evaluate("[...document.querySelectorAll('#verdict .word, #verdict h1, #verdict .next')].length")
    assert seen == 3
    assert browser.evaluate("document.querySelectorAll('#verdict figure').length") == (0 if name == "invalid" else 4)


def test_tabs_show_one_load_at_a_time_by_mouse_key_and_link(browser: Browser, pages: dict[str, Path]) -> None:
    """Arrow keys go round, a link to a load opens its tab."""
    browser.open(pages["capped"], 1280)
    visible = "[...document.querySelectorAll('[role=tabpanel]')].map(one => one.checkVisibility())"
    chosen = "[...document.querySelectorAll('[role=tab]')].findIndex(one => one.ariaSelected === 'true')"
    assert browser.evaluate(visible) == [True, False, False]
    browser.evaluate("document.querySelectorAll('[role=tab]')[1].click()")
    assert browser.evaluate(visible) == [False, True, False]
    browser.evaluate("document.querySelectorAll('[role=tab]')[1].focus()")
    browser.press("ArrowRight")
    assert (browser.evaluate(visible), browser.evaluate("document.activeElement.id")) == ([False, False, True], "tab-load-3")
    browser.press("ArrowRight")
    assert browser.evaluate(chosen) == 0
    browser.evaluate("document.querySelector('#numbers thead a[href$=load-2]').click()")
    browser.evaluate("new Promise(done => setTimeout(done, 100))")
    assert browser.evaluate(visible) == [False, True, False]


def test_a_table_sorts_up_down_and_back(browser: Browser, pages: dict[str, Path]) -> None:
    """By the numbers themselves, not by their text; rows without one stay at the end."""
    browser.open(pages["capped"], 1280)
    head = "document.querySelectorAll('#load-1 table.full thead th')[1]"
    column = "[...document.querySelectorAll('#load-1 table.full tbody tr')].map(row => row.cells[1].dataset.value)"
    before = browser.evaluate(column)
    sorted_up = [*sorted((one for one in before if one), key=float), *(one for one in before if not one)]
    for state, values in (("ascending", sorted_up), ("descending", None), (None, before)):
        browser.evaluate(f"{head}.querySelector('button').click()")
        assert browser.evaluate(f"{head}.getAttribute('aria-sort')") == state
        assert values is None or browser.evaluate(column) == values


def test_buttons_copy_the_command_and_the_table(browser: Browser, pages: dict[str, Path]) -> None:
    """As text for a shell, and as Markdown; that it is done is said."""
    browser.open(pages["capped"], 1280)
    browser.ask("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    for button, begins in (("#verdict button.copy", "specbench run "), ("#numbers button.copy", "| load | metric | baseline |")):
        browser.ask("Page.bringToFront")
        browser.evaluate(f"document.querySelector('{button}').focus()")
        browser.press("Enter")
        browser.evaluate("new Promise(done => setTimeout(done, 200))")
        assert browser.evaluate("document.getElementById('said').textContent") == "Copied"
        assert browser.evaluate("navigator.clipboard.readText()").startswith(begins)


def test_values_appear_by_keyboard_and_go_with_escape(browser: Browser, pages: dict[str, Path]) -> None:
    """Each mark of the picture is a stop that says what it shows, inside the window."""
    browser.open(pages["capped"], 390)
    fits = "tip.hidden ? null : [tip.textContent, tip.getBoundingClientRect().right <= innerWidth]"
    shown = f"(tip => {fits})(document.getElementById('tip'))"
    browser.evaluate("document.querySelectorAll('#verdict svg .mark[tabindex]')[0].focus()")
    text, inside = browser.evaluate(shown)
    assert text.startswith("1 stream: TPOT p50, ms: 11.7 → 5.25")
    assert inside is True
    browser.press("Escape")
    assert browser.evaluate(shown) is None


def test_without_script_everything_is_there(browser: Browser, pages: dict[str, Path]) -> None:
    """All loads one below the other, no button that would do nothing."""
    browser.ask("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(pages["capped"], 1280)
    finally:
        browser.ask("Emulation.setScriptExecutionDisabled", value=False)
    assert browser.evaluate("[...document.querySelectorAll('.panel')].map(one => one.checkVisibility())") == [True, True, True]
    assert browser.evaluate("[...document.querySelectorAll('button')].filter(one => one.checkVisibility()).length") == 0
    assert browser.evaluate("document.querySelectorAll('svg .mark > title').length") > 20


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["promote", "capped", "hold", "rollback", "invalid", "sliced"])
def test_every_text_stands_out(browser: Browser, pages: dict[str, Path], name: str, scheme: Literal["light", "dark"]) -> None:
    """Contrast of at least 4.5 to 1, charts included, on light and on dark."""
    browser.open(pages[name], 1280, scheme)
    browser.evaluate(OPEN_ALL)
    assert browser.evaluate(LOW_CONTRAST) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_of_a_tune_fits_and_stands_out(browser: Browser, tmp_path: Path, scheme: Literal["light", "dark"]) -> None:
    """No wider than windows of 360 to 1280 px, alone, and readable on light and on dark."""
    page = tmp_path / "tune.html"
    page.write_text(tune_page(predicted_tune(), "reports/t"), encoding="utf-8")
    browser.open(page, 360, scheme)
    for width in (360, 390, 768, 1280):
        browser.resize(width, 900)
        assert (width, browser.evaluate(OVERFLOW)) == (width, 0)
    assert browser.evaluate(LOW_CONTRAST) == []
    assert {request for request in browser.requests if not request.startswith("data:")} == {page.as_uri()}
    assert browser.errors == []


def test_dark_is_dark(browser: Browser, pages: dict[str, Path]) -> None:
    """The page and the text of its charts follow the reader's colour scheme."""
    seen = []
    for scheme in ("light", "dark"):
        browser.open(pages["capped"], 1280, "dark" if scheme == "dark" else "light")
        page = browser.evaluate("getComputedStyle(document.body).backgroundColor")
        chart = browser.evaluate("getComputedStyle(document.querySelector('figure svg text')).fill")
        seen.append((page, chart))
    assert seen[0][0] != seen[1][0]
    assert seen[0][1] != seen[1][1]


def test_the_keyboard_reaches_everything(browser: Browser, pages: dict[str, Path]) -> None:
    """The first stop skips to the verdict, a fold opens by key, and whatever scrolls can be focused."""
    browser.open(pages["capped"], 390)
    browser.press("Tab")
    assert browser.evaluate("document.activeElement.className") == "skip"
    browser.press("Enter")
    assert browser.evaluate("location.hash") == "#verdict"
    browser.evaluate("document.querySelector('#load-1 details').querySelector('summary').focus()")
    browser.press("Enter")
    assert browser.evaluate("document.querySelector('#load-1 details').open") is True
    unreachable = "[...document.querySelectorAll('*')].filter(one => one.scrollWidth > one.clientWidth + 1 && one.tabIndex < 0"
    unreachable += " && ['auto', 'scroll'].includes(getComputedStyle(one).overflowX)).length"
    assert browser.evaluate(unreachable) == 0


def test_paper_shows_what_the_screen_folds_away(browser: Browser, pages: dict[str, Path]) -> None:
    """In print every load is laid out, the navigation is gone, and a sheet of A4 is wide enough."""
    browser.open(pages["capped"], A4_PX, media="print")
    assert browser.evaluate("document.documentElement.scrollWidth") <= A4_PX
    height = "document.querySelector('#load-3 table').getBoundingClientRect().height"
    assert browser.evaluate(height) > 100
    assert browser.evaluate("getComputedStyle(document.querySelector('nav')).display") == "none"


def test_hostile_names_are_text_in_the_dom(browser: Browser, pages: dict[str, Path]) -> None:
    """T-11: the parser finds no script, and the title is the very name."""
    browser.open(pages["hostile"], 1280)
    assert browser.evaluate("document.title") == "CAPPED: a</script><script>alert(1)</script>"
    assert browser.evaluate("document.scripts.length") == 1
    assert browser.evaluate("document.querySelectorAll('main > section').length") >= 6


if find_spec("axe_core_python"):  # of the development extra
    # The large page holds the elements of the others, only more of each, and would take axe most of a minute.
    @pytest.mark.parametrize("name", [name for name in RESULTS if name != "large"])
    def test_axe_finds_no_fault(browser: Browser, pages: dict[str, Path], name: str) -> None:
        """axe-core, the reference checker for accessibility, has nothing to say against the page."""
        browser.open(pages[name], 1280)
        browser.evaluate(OPEN_ALL)
        browser.evaluate((files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8") + "; 0")
        assert browser.evaluate("axe.run(document).then(found => found.violations.map(one => [one.id, one.nodes[0].html]))") == []
