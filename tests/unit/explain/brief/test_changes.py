"""Ratios to the baseline as changes."""

import pytest

from specbench.explain.brief.changes import beside_limit, compared, end, p_value, reach, signed, span


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.46, "54 % lower than the baseline's"),
        (1.052, "5.2 % higher than the baseline's"),
        (1.0, "equal to the baseline's"),
        (1.0004, "equal to the baseline's"),
        (2.99, "199 % higher than the baseline's"),
        (4.714, "4.71 times the baseline's"),
        (0.0, "100 % lower than the baseline's"),
    ],
)
def test_a_ratio_is_a_change_in_per_cent(value: float | None, text: str) -> None:
    """Whole from 10 % on; a factor only from three times on."""
    assert compared(value) == text


def test_a_change_and_its_limit_never_look_alike_when_they_differ() -> None:
    """Of 1.0999 and 1.1 both would be 10 %."""
    assert beside_limit(1.53, 1.10) == ("53 % higher than the baseline's", "+10 %")
    assert beside_limit(1.0999, 1.10) == ("9.99 % higher than the baseline's", "+10 %")
    assert beside_limit(0.951, 0.95) == ("4.9 % lower than the baseline's", "−5 %")
    assert beside_limit(1.1, 1.1) == ("10 % higher than the baseline's", "+10 %")


@pytest.mark.parametrize(
    ("value", "below", "text"),
    [
        (0.527, True, "at least 47 % lower"),
        (1.034, True, "at most 4 % higher"),
        (1.262, False, "at least 26 % higher"),
        (0.955, False, "at most 5 % lower"),
        (1.0, True, "not higher"),
        (1.0, False, "not lower"),
        (3.52, True, "at most 3.52 times as high"),
        (None, True, "open"),
    ],
)
def test_a_bound_says_what_is_sure(value: float | None, below: bool, text: str) -> None:
    """Rounded away from the point, so that the claim stays true."""
    assert end(value, below=below) == text


def test_what_is_possible_is_the_farthest_change() -> None:
    """Without an end it is any change."""
    assert [reach(1.886, up=True), reach(0.801, up=False), reach(None, up=True), reach(8.0, up=True)] == [
        "up to +89 %",
        "down to −20 %",
        "any change",
        "up to 8.00 times",
    ]
    assert span(1.081, 1.183) == "+8 % to +19 %"
    assert span(0.96, 0.9) == "−10 % to −4 %"
    assert span(None, 1.2) == "open"


def test_signs_stand_before_changes() -> None:
    """A minus is no hyphen; nothing changed has no sign."""
    assert [signed(0.1), signed(-0.054), signed(0.0), signed(0.0004), signed(2.5)] == ["+10 %", "−5.4 %", "0 %", "0 %", "+250 %"]


def test_p_values_are_p_values() -> None:
    """Two digits, and none below one in a thousand."""
    assert p_value(0.0312, adjusted=True) == "adjusted p = 0.031"
    assert p_value(0.4, adjusted=False) == "p = 0.4"
    assert p_value(0.00012, adjusted=True) == "adjusted p < 0.001"
