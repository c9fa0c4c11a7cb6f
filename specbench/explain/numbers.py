"""Numbers and strings as people read them: significant digits, units, one line. No result or format may be known here."""

import math
from collections.abc import Iterable, Sequence

from rich.cells import cell_len

from specbench.model.result import CellCoordinates, SliceResult

ABSENT = "n/a"
SIGNIFICANT = 3
BYTES_PER_GIB = 1 << 30


def number(value: float | None) -> str:
    """Three significant digits without an exponent, thousands separated; 'n/a' where there is none."""
    if value is None:
        return ABSENT
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    rounded = float(f"{value:.{SIGNIFICANT}g}")
    decimals = next((places for places in range(8) if abs(rounded) >= 10 ** (SIGNIFICANT - 1 - places)), 8)
    return f"{rounded:.{decimals}f}"


def figure(value: float | None) -> str:
    """Three significant digits inside a sentence: no trailing zeros, commas from 1,000 on, 'unknown' where there is none."""
    if value is None:
        return "unknown"
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    text = f"{value:.3g}"
    return f"{value:.6f}".rstrip("0") if "e" in text and abs(value) >= 1e-6 else text


def percentage(share: float) -> str:
    """A share in per cent with three significant digits, such as '0.5 %' and '9.73 %', inside a sentence."""
    return f"{figure(round(100 * share, 4))} %"


def quantity(value: float | None, unit: str) -> str:
    """The number with its unit; shares are in percent, bytes in GiB, and an absence stands alone."""
    if value is None:
        return ABSENT
    if unit == "share":
        return percent(value)
    if unit == "bytes":
        return f"{number(value / BYTES_PER_GIB)} GiB"
    return f"{number(value)} {unit}".strip()


def count(value: int) -> str:
    """A whole number, thousands separated."""
    return f"{value:,}"


def ratio(value: float | None) -> str:
    """A ratio with two decimals, fewer where it is large, more where it is tiny."""
    if value is None or 0 < abs(value) < 0.1:
        return number(value)
    return f"{value:.2f}" if abs(value) < 10 else f"{value:,.1f}" if abs(value) < 1000 else f"{value:,.0f}"


def interval(low: float | None, high: float | None) -> str:
    """Both ends of an interval of ratios; empty where there is none.

    A third decimal stands where two would make a narrow interval look like a point.
    """
    if low is None or high is None:
        return ""
    ends = ratio(low), ratio(high)
    return " to ".join(ends if ends[0] != ends[1] or high >= 10 else (f"{low:.3f}", f"{high:.3f}"))


def apart(ratio: float | None, limit: float | None) -> tuple[str, str]:
    """A ratio and its limit with two decimals, or as many more (up to five) as it takes that different ones look different."""
    texts = ("unknown", "unknown")
    for decimals in range(2, 6):
        texts = ("unknown" if ratio is None else f"{ratio:.{decimals}f}", "unknown" if limit is None else f"{limit:.{decimals}f}")
        if texts[0] != texts[1] or ratio == limit:
            break
    return texts


def outward(end: float | None, up: bool, beside: float | None = None) -> str:
    """The end of an interval with two decimals, rounded away from the point, so that what is said of it stays true.

    With as many more (up to four) as it takes to differ from `beside`, the end of the two-sided interval, in two decimals.
    """
    if end is None:
        return "unknown"
    text = ""
    for decimals in (2, 3, 4):
        scale = 10**decimals
        text = f"{(math.ceil(end * scale - 1e-9) if up else math.floor(end * scale + 1e-9)) / scale:.{decimals}f}"
        if beside is None or float(text) != float(f"{beside:.2f}"):
            break
    return text


def short(value: float) -> str:
    """Three significant digits without trailing zeros, for limits and counts."""
    text = number(value)
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(fraction: float | None) -> str:
    """A fraction in percent: whole from 10 % on, one decimal below, two below 1 %; no trailing zero."""
    if fraction is None:
        return ABSENT
    value = fraction * 100
    text = f"{value:.{0 if abs(value) >= 9.95 else 1 if abs(value) >= 0.995 else 2}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} %"


def tenths(share: float) -> str:
    """A share in percent with one decimal, for columns."""
    return f"{100 * share:.1f} %"


def design(word: str) -> str:
    """What a run was besides a plain comparison, in words; empty for a plain one."""
    return {"aa": "A/A of the two places", "swap": "arms in each other's place"}.get(word, "")


def change(value: float | None) -> str:
    """A ratio as what a person says: '55 % less', '31 % more', 'no change'."""
    if value is None:
        return ABSENT
    if f"{abs(value - 1):.3f}" == "0.000":
        return "no change"
    return f"{percent(1 - value)} less" if value < 1 else f"{percent(value - 1)} more" if value < 2 else f"{ratio(value)} times"


def load(axes: CellCoordinates) -> str:
    """Where a cell lies: '4 streams' in the closed loop, '2.5 requests/s' in the open one."""
    if axes.rate is not None:
        return f"{axes.rate:g} requests/s"
    return streams(axes.concurrency)


def streams(value: float | None) -> str:
    """A number of concurrent streams."""
    if value is None:
        return "unknown load"
    return f"{value:g} stream" if value == 1 else f"{value:g} streams"


def slice_name(axes: CellCoordinates) -> str:
    """Bin and sampling of a cell that has one of its own, '' for the mix."""
    return ", ".join(part for part in (axes.bin, axes.sampling) if part)


def slice_words(found: CellCoordinates | SliceResult) -> str:
    """The slice inside a sentence, as the sentences of the analysis name it: 'chat/greedy'."""
    return "/".join(part for part in (found.bin, found.sampling) if part)


def listed(names: Sequence[str]) -> str:
    """Names in a sentence: 'a', 'a and b', 'a, b and c'."""
    return " and ".join([", ".join(names[:-1]), *names[-1:]]) if len(names) > 1 else "".join(names)


def plain(text: str) -> str:
    """The text on one line without control characters, safe for a terminal and for line-based formats."""
    return " ".join("".join(character if character.isprintable() else " " for character in text).split())


def one_of(amount: int, singular: str, plural: str | None = None) -> str:
    """An amount with its noun: '1 cell', '3 cells'."""
    return f"{amount} {singular if amount == 1 else plural or singular + 's'}"


def columns(rows: Iterable[Sequence[str]], widths: Sequence[int], gap: str = " ", indent: str = "  ") -> list[str]:
    """Rows of a text table as lines: every field at least so many cells of a terminal wide, to the right where it is negative."""
    return [indent + gap.join(_in_column(*pair) for pair in zip(row, widths, strict=False)) for row in rows]


def _in_column(field: str, width: int) -> str:
    room = " " * (abs(width) - cell_len(field))
    return room + field if width < 0 else field + room
