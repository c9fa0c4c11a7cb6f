"""Numbers, metrics and cells in words, as every sentence of the analysis uses them.

No finding is known here; the sentences themselves are in `reasons.py` and `headlines.py`.
"""

import math
from collections.abc import Sequence

from specbench.model.seen import Cell

_QUANTITY = {
    "ttft": ("time to the first token", "requests are faster"),
    "tpot": ("time per output token", "requests are faster"),
    "tpot_classic": ("time per output token as other tools count it", "requests are faster"),
    "e2e": ("time to the whole answer", "requests are faster"),
    "itl": ("time between tokens", "tokens are faster"),
    "pace": ("time per token over stretches of 8 tokens", "stretches are faster"),
    "chunk_gap": ("gap between pieces of text", "gaps are shorter"),
    "stall": ("longest gap of an answer", "answers stay below it"),
}
_QUANTILE = {"p50": "half of the", "p90": "9 of 10", "p95": "19 of 20", "p99": "99 of 100"}
_WORDS = {
    "output_tps": "the output in tokens per second",
    "completed_rps": "the number of requests completed per second",
    "error_rate": "the share of requests that failed",
    "output_length": "the mean length of an answer",
    "acceptance_length": "the number of tokens per verification round",
    "acceptance_rate": "the share of drafted tokens that were kept",
    "alpha": "the chance that a drafted token is accepted (alpha)",
    "tokens_per_step": "the number of tokens per engine step",
    "step_time": "the time of an engine step",
    "kv_peak": "the highest use of the KV cache",
    "queue_time": "the mean wait in the server's queue",
    "preemptions": "the number of requests that the server had to set aside",
    "memory": "the highest use of GPU memory",
    "oom": "the number of times that memory ran out",
    "restarts": "the number of engine restarts",
}


def place_of(cell: Cell) -> str:
    """The cell in words, as the beginning of a sentence."""
    if cell.rate is not None:
        load = f"{number(cell.rate)} {'request' if cell.rate == 1 else 'requests'} per second"
    else:
        load = f"{cell.concurrency} {'stream' if cell.concurrency == 1 else 'streams'}"
    slice_name = "/".join(part for part in (cell.bin, cell.sampling) if part is not None)
    return f"At {load} of {slice_name}" if slice_name else f"At {load}"


def metric_words(metric: str) -> str:
    """The metric as a phrase that explains its percentile."""
    quantity, _, quantile = metric.rpartition("_")
    if quantity in _QUANTITY and quantile in _QUANTILE:
        words, below = _QUANTITY[quantity]
        return f"the {quantile} {words} ({_QUANTILE[quantile]} {below})"
    return _WORDS.get(metric, f"the metric {metric}")


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


def outward(end: float | None, up: bool) -> str:
    """The end of an interval with two decimals, rounded away from the point, so that what is said of it stays true."""
    if end is None:
        return "unknown"
    hundredths = math.ceil(end * 100 - 1e-9) if up else math.floor(end * 100 + 1e-9)
    return f"{hundredths / 100:.2f}"


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
    """How often chance alone would show as much, in runs."""
    if p < 0.001:
        return "less than once in 1,000 such runs"
    return f"about once in {max(2, round(1 / p)):,} such runs" if p <= 0.4 else "in about every second such run"


def sure(alpha: float) -> str:
    """The confidence of a one-sided bound at this alpha."""
    return f"{number(100 * (1 - alpha))} % confidence"
