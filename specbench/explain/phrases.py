"""Numbers, metrics and cells in words, as every sentence of the analysis uses them.

No finding is known here; the sentences themselves are in `reasons.py` and `headlines.py`.
"""

import math
from collections.abc import Sequence

from specbench.model.metrics import METRICS
from specbench.model.seen import Cell


def place_of(cell: Cell) -> str:
    """The cell in words, as the beginning of a sentence."""
    if cell.rate is not None:
        load = f"{number(cell.rate)} {'request' if cell.rate == 1 else 'requests'} per second"
    else:
        load = f"{cell.concurrency} {'stream' if cell.concurrency == 1 else 'streams'}"
    slice_name = "/".join(part for part in (cell.bin, cell.sampling) if part is not None)
    return f"At {load} of {slice_name}" if slice_name else f"At {load}"


def metric_words(metric: str) -> str:
    """The metric by its one name, with a phrase that explains it and its percentile."""
    known = METRICS.get(metric)
    return f"the metric {metric}" if known is None else known.phrase


def subject_of(metric: str, cell_id: str | None, cells: Sequence[Cell]) -> str:
    """What is judged and where, inside a sentence: the metric, and its cell unless it is the whole run's."""
    where = next((place_of(cell) for cell in cells if cell.id == cell_id), "")
    return f"{metric_words(metric)} {where[:1].lower()}{where[1:]}".strip()


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


def number(value: float | None) -> str:
    """A figure with three significant digits, never in exponent form where a person can read it plainly."""
    if value is None:
        return "unknown"
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    text = f"{value:.3g}"
    return f"{value:.6f}".rstrip("0") if "e" in text and abs(value) >= 1e-6 else text


def percent(share: float) -> str:
    """A share in per cent, such as '0.5 %'."""
    return f"{number(round(100 * share, 4))} %"


def chance(p: float) -> str:
    """In how many runs chance alone would show as much."""
    if p < 0.001:
        return "less than 1 of 1,000 runs"
    return f"about 1 of {max(2, round(1 / p)):,} runs" if p <= 0.4 else "about every second run"


def sure(alpha: float) -> str:
    """The confidence of a one-sided bound at this alpha."""
    return f"{number(100 * (1 - alpha))} % confidence"


def server_limit(running: float) -> str:
    """A cap as a limit set on a server, which is a whole number: the mean of requests running there, rounded up."""
    limit = max(1, math.ceil(running - 1e-9))
    return (
        f"server limit: at most {limit} running {'request' if limit == 1 else 'requests'},"
        f" as {number(running)} {'was' if number(running) == '1' else 'were'} running on average"
    )
