"""Numbers, metrics and cells in words."""

import pytest

from specbench.analysis.metrics import METRICS
from specbench.analysis.words import apart, chance, metric_words, number, outward, percent, place_of
from specbench.model.seen import Cell


def test_every_metric_has_words() -> None:
    """A metric's id is no word of a sentence."""
    assert [metric for metric in METRICS if metric_words(metric).startswith("the metric ")] == []


@pytest.mark.parametrize(
    ("p", "words"),
    [
        (0.0, "less than once in 1,000 such runs"),
        (0.0009, "less than once in 1,000 such runs"),
        (0.004, "about once in 250 such runs"),
        (0.03, "about once in 33 such runs"),
        (0.6, "in about every second such run"),
    ],
)
def test_chance_in_runs(p: float, words: str) -> None:
    """A probability as a frequency."""
    assert chance(p) == words


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
    assert number(value) == text


def test_shares_in_per_cent() -> None:
    """Binary fractions leave no trace."""
    assert [percent(share) for share in (0.005, 0.0973, 0.07, 1.0, 0.0)] == ["0.5 %", "9.73 %", "7 %", "100 %", "0 %"]


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
