"""A reader sees at once that a run is an A/A, or a swap; a plain run needs no such word."""

from dataclasses import replace

import pytest

from specbench.model.result import Result
from specbench.model.scenario import Design
from specbench.report.formats.text import text
from specbench.report.view.report_view import view_of
from tests.support.goldens import same_text
from tests.support.results import hold


def run_as(design: Design) -> Result:
    """A held run of this design."""
    return replace(hold(), config=replace(hold().config, design=design))


@pytest.mark.parametrize("design", ["aa", "swap"])
def test_the_design_is_a_headline_fact(design: Design) -> None:
    """On the page, on the terminal, and in the command that makes the run again."""
    view = view_of(run_as(design))

    (words,) = (fact.text for fact in view.facts if fact.label == "Design")
    same_text(design, words)
    assert words in " ".join(text(run_as(design)).split())
    assert f" --{design} --profile" in view.reproduce[0]


def test_a_plain_run_says_nothing_of_it() -> None:
    """Nothing to know."""
    view = view_of(run_as("plain"))

    assert "Design" not in {fact.label for fact in view.facts}
    assert "--aa" not in view.reproduce[0]
