"""The page in a real Chromium: it fits, asks for nothing, complains of nothing, and is readable by eye, keyboard and paper."""

from collections.abc import Iterator
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import pytest

from specbench.model.result import Result
from specbench.report.formats.html import html
from tests.support.browser import Browser, browsing, chromium
from tests.support.results import every_verdict, hostile, large, sliced

pytestmark = pytest.mark.browser

RESULTS: dict[str, Result] = {
    **{verdict.lower(): result for verdict, result in every_verdict().items()},
    "sliced": sliced(),
    "hostile": hostile(),
    "large": large(12),
}
A4_PX = 702  # 210 mm less two margins of 12 mm, at 96 pixels to the inch
OPEN_ALL = "document.querySelectorAll('details').forEach(one => one.open = true)"
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


@pytest.mark.parametrize("width", [390, 768, 1280, 1920])
@pytest.mark.parametrize("name", RESULTS)
def test_a_page_fits_and_asks_for_nothing(browser: Browser, pages: dict[str, Path], name: str, width: int) -> None:
    """With everything opened it is no wider than the window; it loads itself alone and logs nothing."""
    browser.open(pages[name], width)
    browser.evaluate(OPEN_ALL)
    overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert browser.evaluate(overflow) == 0
    assert {request for request in browser.requests if not request.startswith("data:")} == {pages[name].as_uri()}
    assert browser.errors == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["promote", "capped", "hold", "rollback", "invalid", "sliced"])
def test_every_text_stands_out(browser: Browser, pages: dict[str, Path], name: str, scheme: Literal["light", "dark"]) -> None:
    """Contrast of at least 4.5 to 1, charts included, on light and on dark."""
    browser.open(pages[name], 1280, scheme)
    browser.evaluate(OPEN_ALL)
    assert browser.evaluate(LOW_CONTRAST) == []


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
    """The first stop skips to the verdict, a cell opens by key, and whatever scrolls can be focused."""
    browser.open(pages["capped"], 390)
    browser.press("Tab")
    assert browser.evaluate("document.activeElement.className") == "skip"
    browser.press("Enter")
    assert browser.evaluate("location.hash") == "#verdict"
    browser.evaluate("document.querySelectorAll('details.cell')[1].querySelector('summary').focus()")
    browser.press("Enter")
    assert browser.evaluate("document.querySelectorAll('details.cell')[1].open") is True
    unreachable = "[...document.querySelectorAll('*')].filter(one => one.scrollWidth > one.clientWidth + 1 && one.tabIndex < 0"
    unreachable += " && ['auto', 'scroll'].includes(getComputedStyle(one).overflowX)).length"
    assert browser.evaluate(unreachable) == 0


def test_a_tile_opens_its_cell(browser: Browser, pages: dict[str, Path]) -> None:
    """Following a tile of the heat map shows the intervals and reasons behind it, without any script."""
    browser.open(pages["capped"], 1280)
    closed = "document.querySelectorAll('details.cell')[2]"
    assert browser.evaluate(f"{closed}.open") is False
    browser.evaluate("document.querySelectorAll('.heat tbody tr')[2].querySelector('.tile').click()")
    browser.evaluate("new Promise(done => setTimeout(done, 100))")
    assert browser.evaluate(f"{closed}.open") is True


def test_paper_shows_what_the_screen_folds_away(browser: Browser, pages: dict[str, Path]) -> None:
    """In print the closed cells are laid out, the navigation is gone, and a sheet of A4 is wide enough."""
    browser.open(pages["capped"], A4_PX, media="print")
    assert browser.evaluate("document.documentElement.scrollWidth") <= A4_PX
    height = "document.querySelectorAll('details.cell')[2].querySelector('table').getBoundingClientRect().height"
    assert browser.evaluate(height) > 100
    assert browser.evaluate("getComputedStyle(document.querySelector('nav')).display") == "none"


def test_hostile_names_are_text_in_the_dom(browser: Browser, pages: dict[str, Path]) -> None:
    """T-11: the parser finds no script, and the title is the very name."""
    browser.open(pages["hostile"], 1280)
    assert browser.evaluate("document.title") == "CAPPED: a</script><script>alert(1)</script>"
    assert browser.evaluate("document.scripts.length") == 0
    assert browser.evaluate("document.querySelectorAll('main > section').length") >= 7


if find_spec("axe_core_python"):  # of the development extra
    # The large page holds the elements of the others, only more of each, and would take axe most of a minute.
    @pytest.mark.parametrize("name", [name for name in RESULTS if name != "large"])
    def test_axe_finds_no_fault(browser: Browser, pages: dict[str, Path], name: str) -> None:
        """axe-core, the reference checker for accessibility, has nothing to say against the page."""
        browser.open(pages[name], 1280)
        browser.evaluate(OPEN_ALL)
        browser.evaluate((files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8") + "; 0")
        assert browser.evaluate("axe.run(document).then(found => found.violations.map(one => [one.id, one.nodes[0].html]))") == []
