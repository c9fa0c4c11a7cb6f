"""What a screen can show."""

import pytest

from specbench.report.terminal.screen import Screen, padded


@pytest.mark.parametrize(("width", "columns"), [(200, 80), (80, 80), (40, 40), (20, 20), (3, 20), (0, 20)])
def test_a_line_has_80_columns_at_most_and_never_none(width: int, columns: int) -> None:
    """A wide terminal is not filled, as columns are read across."""
    assert Screen(width=width).columns == columns


def test_plain_characters_replace_those_that_a_console_lacks() -> None:
    """A minus stays one, and a tick is a word."""
    assert Screen(ascii=True).fit("−5 % ≤ ×2 ✓ ✗ → ∞ · –") == "-5 % <= x2 ok FAIL -> inf | -"
    assert Screen().fit("−5 % ≤ ×2 ✓") == "−5 % ≤ ×2 ✓"


@pytest.mark.parametrize("said", ["\x1b[31mred", "a\nb", "a ::error::b", "::error::b", "x ##[error]y", "\u202eabc"])
def test_what_others_said_becomes_one_harmless_line(said: str) -> None:
    """No escape, no line break, no command of a CI system."""
    shown = Screen(color=True).fit(said)

    assert shown.isprintable()
    assert " ::" not in f" {shown}"
    assert "##[" not in shown


def test_colours_are_put_around_what_is_seen_alone() -> None:
    """Not around blanks, not in an unknown style, and not where the screen takes none."""
    assert Screen(color=True).paint("ok", "good", "bold") == "\x1b[32;1mok\x1b[0m"
    assert Screen(color=True).paint("  ", "good") == "  "
    assert Screen(color=True).paint("ok", "purple") == "ok"
    assert Screen().paint("ok", "good") == "ok"


def test_a_long_text_is_clipped_with_an_ellipsis() -> None:
    """A wide character counts as two cells."""
    assert Screen().clipped("no request succeeded", 10) == "no reques…"
    assert Screen(ascii=True).clipped("no request succeeded", 10) == "no requ..."
    assert Screen().clipped("short", 10) == "short"
    assert Screen().clipped("速度速度速度", 6) == "速度…"


def test_a_percent_sign_is_never_alone_at_the_head_of_a_line() -> None:
    """It stays with its number."""
    lines = Screen(width=20).paragraph("a change of +1,234 % at 16 streams")

    assert not any(line.strip().startswith("%") for line in lines)


def test_a_command_is_continued_at_its_options() -> None:
    """As a shell takes it."""
    lines = Screen(width=50).command("specbench run code.yaml --profile standard --up-to 4 --set a=1", 8)

    assert lines == ["specbench run code.yaml \\", "          --profile standard --up-to 4 \\", "          --set a=1"]


def test_columns_count_cells() -> None:
    """Left by a positive width, right by a negative one; too long a text is left whole."""
    assert padded("速", 4) == "速  "
    assert padded("12", -4) == "  12"
    assert padded("12345", 4) == "12345"
