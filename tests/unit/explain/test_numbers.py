"""Numbers as people read them: enough digits, no exponent, never a point where there is an interval."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specbench.explain import labels, numbers


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "n/a"),
        (0.0, "0"),
        (0.000123, "0.000123"),
        (0.5, "0.500"),
        (9.999, "10.0"),
        (11.24, "11.2"),
        (99.96, "100"),
        (1234.5, "1,234"),
        (-3.456, "-3.46"),
    ],
)
def test_three_digits_carry_a_figure(value: float | None, said: str) -> None:
    """Small or large, a figure has three significant digits and no exponent."""
    assert numbers.number(value) == said


@given(st.floats(1e-6, 1e9))
def test_a_figure_reads_back_to_within_half_a_percent(value: float) -> None:
    """What is printed is the value to three digits, and never in exponent form."""
    said = numbers.number(value)
    assert "e" not in said
    assert float(said.replace(",", "")) == pytest.approx(value, rel=0.0051)


@pytest.mark.parametrize(
    ("fraction", "said"),
    [
        (None, "n/a"),
        (0.0, "0 %"),
        (0.0017, "0.17 %"),
        (0.02, "2 %"),
        (0.0995, "10 %"),
        (0.126, "13 %"),
        (1.0, "100 %"),
        (10.0, "1000 %"),
    ],
)
def test_percent_has_no_idle_zero(fraction: float | None, said: str) -> None:
    """Whole from ten on, and no trailing zero below."""
    assert numbers.percent(fraction) == said


def test_units_that_people_do_not_read_become_those_that_they_do() -> None:
    """A share is percent, bytes are GiB, an absence has no unit."""
    assert numbers.quantity(0.953, "share") == "95 %"
    assert numbers.quantity(3 * 2**30, "bytes") == "3.00 GiB"
    assert numbers.quantity(11.24, "ms") == "11.2 ms"
    assert numbers.quantity(None, "ms") == "n/a"


def test_a_narrow_interval_does_not_look_like_a_point() -> None:
    """A third decimal appears where two would make both ends equal."""
    assert numbers.interval(0.43, 0.47) == "0.43 to 0.47"
    assert numbers.interval(0.4876, 0.4912) == "0.488 to 0.491"
    assert numbers.interval(None, 0.5) == numbers.interval(0.5, None) == ""


@pytest.mark.parametrize(
    ("ratio", "said"), [(0.45, "55 % less"), (1.31, "31 % more"), (2.5, "2.50 times"), (1.0, "no change"), (None, "n/a")]
)
def test_a_ratio_is_what_a_person_says(ratio: float | None, said: str) -> None:
    """Less, more, times, or no change."""
    assert numbers.change(ratio) == said


@given(st.text())
def test_plain_text_is_one_printable_line(text: str) -> None:
    """Whatever an endpoint said, one line without control characters is left, and saying it again changes nothing."""
    said = numbers.plain(text)
    assert said.isprintable()
    assert numbers.plain(said) == said


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        ("tpot_p95", "TPOT p95"),
        ("chunk_gap_p99", "chunk gap p99"),
        ("output_tps", "output TPS"),
        ("kv_peak", "KV peak"),
        ("tpot_classic_p50", "classic TPOT p50"),
        ("something_new_p90", "something new p90"),
        ("something_new", "something new"),
    ],
)
def test_a_metric_has_the_fields_own_name(metric: str, said: str) -> None:
    """Known metrics by their names, unknown ones by their words."""
    assert labels.metric(metric) == said
