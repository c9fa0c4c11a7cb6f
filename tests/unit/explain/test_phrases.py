"""Numbers, metrics and cells in words."""

import pytest

from specbench.explain.numbers import apart, figure, outward, percentage
from specbench.explain.phrases import metric_words, place_of, server_limit
from specbench.model.metrics import METRICS
from specbench.model.records import Cell
from tests.support.goldens import same_text


def test_every_metric_has_words() -> None:
    """A metric's id is no word of a sentence."""
    assert [metric for metric in METRICS if metric_words(metric).startswith("the metric ")] == []


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (0.005, "0.005"),
        (12.345, "12.3"),
        (999.4, "999"),
        (1234.5, "1,234"),
        (1e-7, "1e-07"),
        (0.00001234, "0.000012"),
    ],
)
def test_numbers_as_people_read_them(value: float, text: str) -> None:
    """Three significant digits, no exponents where they can be avoided."""
    assert figure(value) == text


def test_shares_in_per_cent() -> None:
    """Binary fractions leave no trace."""
    assert [percentage(share) for share in (0.005, 0.0973, 0.07, 1.0, 0.0)] == ["0.5 %", "9.73 %", "7 %", "100 %", "0 %"]


def test_ratios_that_differ_look_different() -> None:
    """0.951 is not 0.95 when 0.95 is the limit."""
    assert apart(1.53, 1.10) == ("1.53", "1.10")
    assert apart(0.9512, 0.95) == ("0.951", "0.950")
    assert apart(1.1, 1.1) == ("1.10", "1.10")


def test_the_end_of_an_interval_is_rounded_away_from_the_point() -> None:
    """'Below 1.04' must hold for 1.0366 and 'above 0.95' for 0.9561."""
    assert [outward(1.0366, up=True), outward(0.9561, up=False)] == ["1.04", "0.95"]
    assert [outward(1.04, up=True), outward(0.95, up=False)] == ["1.04", "0.95"]


@pytest.mark.parametrize(
    ("concurrency", "rate", "bin_name", "sampling", "words"),
    [
        (1, None, None, None, "At 1 stream"),
        (16, None, None, None, "At 16 streams"),
        (None, 1.0, None, None, "At 1 request per second"),
        (None, 2.5, None, None, "At 2.5 requests per second"),
        (4, None, "edit", "greedy", "At 4 streams of edit/greedy"),
    ],
)
def test_a_cell_in_words(
    concurrency: int | None, rate: float | None, bin_name: str | None, sampling: str | None, words: str
) -> None:
    """The beginning of a sentence."""
    cell = Cell(id="x", concurrency=concurrency, rate=rate, bin=bin_name, sampling=sampling, required=True, traffic_share=None)

    assert place_of(cell) == words


def test_a_one_sided_end_never_looks_like_the_interval_s() -> None:
    """0.437 is inside an interval that ends at 0.44, and is printed so."""
    assert outward(0.4367, up=True, beside=0.443) == "0.437"
    assert outward(0.4367, up=True, beside=0.46) == "0.44"
    assert outward(2.098, up=False, beside=2.088) == "2.098"


def test_a_limit_on_a_server_is_a_whole_number() -> None:
    """0.9 requests on average need room for one."""
    same_text("server limits", *(server_limit(running) for running in (0.9, 1.0, 3.6)))
