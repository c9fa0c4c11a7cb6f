"""What the first screen of the page says of each verdict, in figures of both arms."""

from dataclasses import replace
from pathlib import Path

import pytest

from specbench.model.result import Result, VerdictWord
from specbench.report import read_result
from specbench.report.view.first_screen import FirstScreen, first_screen
from specbench.report.view.load_tables import load_tables
from tests.support.goldens import same_text
from tests.support.results import capped, every_verdict, hostile, large, sliced, twice_judged


def shown(result: Result) -> FirstScreen:
    """The first screen of the result."""
    return first_screen(result, load_tables(result))


@pytest.mark.parametrize("verdict", ["PROMOTE", "CAPPED", "HOLD", "ROLLBACK", "INVALID"])
def test_each_verdict_says_gain_harm_what_is_open_or_what_got_worse(verdict: VerdictWord) -> None:
    """At most three sentences, then the next step and how much was measured."""
    found = shown(every_verdict()[verdict])

    assert len(found.sentences) <= 3
    same_text(verdict, found.headline, *found.sentences, found.advice, found.command, *found.sure)


def test_the_example_tells_milliseconds_of_both_arms() -> None:
    """What a reader takes away in a minute."""
    same_text("example", *shown(read_result(Path("reports/example/result.json"))).sentences)


def test_without_any_figure_nothing_is_claimed() -> None:
    """Not even that nothing got worse."""
    bare = replace(capped(), cells=tuple(replace(cell, metrics=(), findings=()) for cell in capped().cells))

    assert shown(bare).sentences == ()


@pytest.mark.parametrize("result", [sliced(), hostile(), large(12), twice_judged(), replace(capped(), reasons=())])
def test_no_result_is_without_words(result: Result) -> None:
    """Slices, hostile names, many loads, two limits on a metric, no reason at all."""
    found = shown(result)

    assert found.sentences
    assert all(len(one.split()) <= 30 for said in found.sentences for one in said.split(". "))
    assert found.headline
