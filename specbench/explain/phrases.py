"""Metrics, cells and confidence as parts of a sentence.

No finding may be known here; the sentences themselves are in `findings.py`, `integrity.py` and `verdict.py`.
"""

import math
from collections.abc import Sequence

from specbench.explain.numbers import figure
from specbench.model.metrics import METRICS
from specbench.model.records import Cell


def place_of(cell: Cell) -> str:
    """The cell in words, as the beginning of a sentence."""
    if cell.rate is not None:
        load = load_words(cell.rate, by_rate=True)
    else:
        load = f"{cell.concurrency} {'stream' if cell.concurrency == 1 else 'streams'}"
    slice_name = "/".join(part for part in (cell.bin, cell.sampling) if part is not None)
    return f"At {load} of {slice_name}" if slice_name else f"At {load}"


def load_words(level: float, *, by_rate: bool) -> str:
    """A load inside a sentence: '2.5 requests per second', '8 streams'."""
    return f"{figure(level)} {'request' if by_rate else 'stream'}{'' if level == 1 else 's'}{' per second' if by_rate else ''}"


def metric_words(metric: str) -> str:
    """The metric by its one name, as tables have it; the glossary says what it measures."""
    known = METRICS.get(metric)
    return f"the metric {metric}" if known is None else known.label


def subject_of(metric: str, cell_id: str | None, cells: Sequence[Cell]) -> str:
    """What is judged and where, inside a sentence: the metric, and its cell unless it is the whole run's."""
    where = next((place_of(cell) for cell in cells if cell.id == cell_id), "")
    return f"{metric_words(metric)} {where[:1].lower()}{where[1:]}".strip()


def sure(alpha: float) -> str:
    """The confidence of a one-sided bound at this alpha."""
    return f"{figure(100 * (1 - alpha))} % confidence"


def server_limit(running: float) -> str:
    """A cap as a limit set on a server, which is a whole number: the mean of requests running there, rounded up."""
    limit = max(1, math.ceil(running - 1e-9))
    return f"server limit: {limit} running {'request' if limit == 1 else 'requests'}; mean {figure(running)}"
