"""Ranges of load in words: up to where, what was tested there, and what was not. Nothing is judged here."""

from collections.abc import Sequence
from itertools import pairwise

from specbench.model.judged import CellResult, EnableRange, Result
from specbench.report import parts, wording

STATES = {"PASS": "passed", "FAIL": "harm shown", "ADVISORY": "not judged"}


def tops(found: Sequence[EnableRange]) -> str:
    """The highest loads of ranges in words: '4 streams', or '4 streams and 2 requests/s'."""
    return " and ".join(_top(one) for one in found)


def _top(found: EnableRange) -> str:
    top = found.max_concurrency
    return wording.streams(top) if found.by == "concurrency" else f"{top:g} requests/s" if top is not None else "unknown load"


def range_words(found: Sequence[EnableRange]) -> str:
    """Ranges in words: 'from 1 to 4 streams'."""
    said = []
    for one in found:
        low = one.min_concurrency
        said.append(f"at {_top(one)}" if low is None or low == one.max_concurrency else f"from {low:g} to {_top(one)}")
    return " and ".join(said) or "no range"


def range_sentence(result: Result, found: EnableRange) -> str:
    """Which loads passed, what was found above them, which loads nobody tested, and what the cap means to the server."""
    cells = sorted(
        ((at, cell) for cell in result.cells if (at := parts.place(cell, found.by)) is not None), key=lambda pair: pair[0]
    )
    inside = [wording.load(cell.axes) for _, cell in cells if parts.within(cell, found)]
    said = [f"Tested and passed: {', '.join(inside)}."]
    above = [cell for at, cell in cells if found.max_concurrency is not None and at > found.max_concurrency]
    said.append(f"Above the cap: {'; '.join(map(_state, above))}." if above else "Higher loads were not tested.")
    said += _between([at for at, _ in cells], found)
    if found.running_at_cap is not None:
        running = wording.short(found.running_at_cap)
        at_once = f"{running} {'request' if running == '1' else 'requests'}"
        said.append(
            f"At {_top(found)} the server ran {at_once} at once on average, by its own gauge: the figure to use where a limit"
            " is set on the server."
        )
    return " ".join(said)


def _state(cell: CellResult) -> str:
    return f"{wording.load(cell.axes)}, {STATES.get(cell.state, 'not shown to be safe')}"


def _between(loads: Sequence[float], found: EnableRange) -> list[str]:
    """The loads between tested ones: those inside the range are taken to be like their neighbours, the others are off."""
    if found.by == "rate":
        return ["Rates between these were not tested."] if len(loads) > 1 else []
    gaps = [(low + 1, high - 1) for low, high in pairwise(loads) if high - low > 1]
    if not gaps:
        return []
    spans = [f"{low:g}" if low == high else f"{low:g} to {high:g}" for low, high in gaps]
    top = found.max_concurrency
    inside = any(top is not None and high < top for _, high in gaps)
    taken = f"; those below {top:g} are taken to be like their neighbours" if inside else ""
    return [f"Not tested: {', '.join(spans[:-1])}{' and ' if spans[:-1] else ''}{spans[-1]} streams{taken}."]
