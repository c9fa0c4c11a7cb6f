"""What a search found, as text, JSON and a page."""

import json
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

from specbench.analysis.capacity.capacity_result import capacity_of
from specbench.model.capacity.capacity_values import CapacityResult, ServiceLimit
from specbench.report.capacity.capacity_file import capacity_json
from specbench.report.capacity.capacity_page import capacity_page
from specbench.report.capacity.capacity_text import capacity_text
from specbench.report.terminal.screen import Screen
from tests.support.evidence import a_scenario
from tests.support.goldens import same_text
from tests.support.searches import PLAN, a_search, around

PRICED = a_scenario(labels={"price_per_hour": "2.5", "currency": "EUR", "gpus": "8"})
TWO = replace(PLAN, limits=(*PLAN.limits, ServiceLimit("tpot_p95", 16.0, 0.95)))


def found() -> CapacityResult:
    return capacity_of(a_search(around(4.0), around(6.0), TWO, PRICED), TWO, "0.1.0")


def test_the_text_fits_into_80_columns() -> None:
    text = capacity_text(found(), Path("reports/known-effects-capacity"), Screen())
    same_text("at 80 columns", text)
    assert max(map(len, text.splitlines())) <= 80


def test_the_text_of_a_plain_screen_has_plain_characters() -> None:
    assert capacity_text(found(), Path("reports/x"), Screen(ascii=True)).isascii()


def test_the_json_holds_the_same_figures() -> None:
    result = found()
    told = json.loads(capacity_json(result))
    assert told["arms"]["baseline"]["rate"] == result.arms.baseline.rate
    assert told["machines"]["speculative"]["fewest"] == result.machines.speculative.fewest  # type: ignore[union-attr]
    assert told["comparison"] == "fewer"


def test_the_page_is_one_file_that_closes_what_it_opens() -> None:
    page = capacity_page(found())
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "<script src" not in page
    balance = _Balance()
    balance.feed(page)
    assert balance.open == []
    assert page.count("<svg role") == 2


def test_a_name_that_looks_like_markup_stays_text() -> None:
    assert "<b>x</b>" not in capacity_page(replace(found(), name="<b>x</b>"))


VOID = frozenset({"meta", "link", "br", "img", "input", "hr"})


class _Balance(HTMLParser):
    """Which tags are open."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
