"""Ranges of load and the traffic in words: up to where, what was tested there and what was not, and with which requests; and
whether arrivals at a rate were served as they came.

Nothing may be judged here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from specbench.explain import numbers
from specbench.explain.numbers import figure, percentage
from specbench.explain.phrases import place_of, server_limit
from specbench.model import queries
from specbench.model.records import Cell
from specbench.model.result import CellResult, LoadRange, PerArm, Result, SliceResult
from specbench.model.scenario import Length
from specbench.model.shown import TrafficBin
from specbench.units import MS_PER_S

UNTOLD = "fewer than two blocks of an arm show whether it kept up with arrivals"
BASELINE_OUTRUN = "only the baseline fell behind its arrivals, so its values are of no sustained load"
STATES = {"PASS": "passed", "FAIL": "harm shown", "ADVISORY": "not judged"}


def tops(found: Sequence[LoadRange]) -> str:
    """The highest loads of ranges in words: '4 streams', or '4 streams and 2 requests/s'."""
    return " and ".join(_top(one) for one in found)


def _top(found: LoadRange) -> str:
    top = found.high
    return numbers.streams(top) if found.by == "concurrency" else f"{top:g} requests/s" if top is not None else "unknown load"


def caps(found: Sequence[SliceResult]) -> str:
    """The caps of slices in words: 'the cap of 4 streams for chat/greedy', those of equal caps together."""
    by_cap: dict[str, list[str]] = {}
    for part in found:
        by_cap.setdefault(tops(queries.ranges(part)), []).append(numbers.slice_words(part))
    return "the cap of " + "; of ".join(f"{cap} for {numbers.listed(names)}" for cap, names in by_cap.items())


def range_words(found: Sequence[LoadRange]) -> str:
    """Ranges in words: 'from 1 to 4 streams'."""
    said = []
    for one in found:
        low = one.low
        said.append(f"at {_top(one)}" if low is None or low == one.high else f"from {low:g} to {_top(one)}")
    return " and ".join(said) or "no range"


def range_sentence(result: Result, found: LoadRange) -> str:
    """Which loads passed, what was found above them, which loads nobody tested, and what the cap means to the server."""
    cells = sorted(
        ((at, cell) for cell in result.cells if (at := queries.place(cell, found.by)) is not None), key=lambda pair: pair[0]
    )
    inside = [cell for _, cell in cells if queries.within(cell, found)]
    said = [f"Tested and passed: {_loads([cell for cell in inside if cell.required])}."]
    optional = [cell for cell in inside if not cell.required]
    said += [f"Tested, not judged (optional): {_loads(optional)}."] if optional else []
    above = [cell for at, cell in cells if found.high is not None and at > found.high]
    said += [f"Above the cap: {'; '.join(map(_state, above))}."] if above else []
    said.append(_untested([at for at, _ in cells], found))
    if found.running_at_cap is not None:
        limit = server_limit(found.running_at_cap)
        said.append(f"{limit[0].upper()}{limit[1:]} at {_top(found)}, reported by the server.")
    return " ".join(said)


def _loads(cells: Sequence[CellResult]) -> str:
    return ", ".join(numbers.load(cell.axes) for cell in cells) or "none"


def _state(cell: CellResult) -> str:
    return f"{numbers.load(cell.axes)}, {STATES.get(cell.state, 'open')}"


def _untested(loads: Sequence[float], found: LoadRange) -> str:
    """The loads between and above tested ones: inside the range they are taken to be like their neighbours, elsewhere off."""
    highest = max(loads, default=found.high or 0)
    if found.by == "rate":
        return f"Not tested: {'rates between these and ' if len(loads) > 1 else ''}above {highest:g} requests/s."
    gaps = [(low + 1, high - 1) for low, high in pairwise(loads) if high - low > 1]
    spans = [f"{low:g}" if low == high else f"{low:g} to {high:g}" for low, high in gaps]
    top = found.high
    inside = any(top is not None and high < top for _, high in gaps)
    taken = f"; below {top:g} they are assumed to be like their neighbours" if inside else ""
    named = f"{', '.join(spans)} and above" if spans else "above"
    return f"Not tested: {named} {numbers.streams(highest)}{taken}."


def mix(result: Result) -> str:
    """The requested traffic, as a phrase; of a result that does not hold it, the bins and settings that were met."""
    bins, sampling = result.config.bins, result.config.sampling
    if not bins:
        found = [one for cell in result.cells for one in cell.bins]
        bins_met, sampling_met = dict.fromkeys(one.bin for one in found), dict.fromkeys(one.sampling for one in found)
        return f"bins {', '.join(bins_met)}; sampling {', '.join(sampling_met)}" if found else "of one kind"
    said = "; ".join(_bin(one, result.config.length) for one in bins)
    turns = f"{'in each, ' if len(bins) > 1 and len(sampling) > 1 else ''}{_in_turn(sampling)}"
    return f"{said}; {turns}" + (f"; prompts from {result.config.source}" if result.config.source else "")


def _bin(one: TrafficBin, length: Length) -> str:
    return f"{numbers.percent(one.share)} {one.name} ({_span(one.input_tokens)} prompt tokens, {_output(one, length)})"


def _output(one: TrafficBin, length: Length) -> str:
    """Answers that end by themselves have a limit, forced ones that very length."""
    low, high = one.output_tokens
    if length == "forced":
        return f"exactly {low} output tokens" if low == high else f"exactly {low} to {high} output tokens"
    return f"at most {low} output tokens" if low == high else f"at most {low} to {high} output tokens"


def _span(ends: tuple[int, int]) -> str:
    low, high = ends
    return f"{low}" if low == high else f"{low} to {high}"


def _in_turn(sampling: tuple[str, ...]) -> str:
    """The settings, which requests take in turn, so in equal shares."""
    if len(sampling) < 2:
        return f"all {''.join(sampling)}"
    share = {2: "half", 3: "a third"}.get(len(sampling), f"1 in {len(sampling)}")
    return f"{share} of the requests {' and '.join([sampling[0], *(f'{share} {one}' for one in sampling[1:])])}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedArrivals:
    """Of one arm: the share of arrivals served in the second half of the blocks, how TTFT moved there, and what is allowed."""

    served: float
    least_served: float
    rise_s: float
    most_rise_s: float

    @property
    def moved(self) -> str:
        """'410 ms higher'."""
        return f"{figure(MS_PER_S * abs(self.rise_s))} ms {'higher' if self.rise_s >= 0 else 'lower'}"


_HEADS = {
    "kept_up": "speculation kept up with arrivals",
    "outrun": "speculation fell behind its arrivals, the baseline did not",
    "outrun_both": "both arms fell behind their arrivals",
    "outrun_baseline": "only the baseline fell behind its arrivals, so nothing is compared",
    "outrun_open": "it is open whether speculation keeps up with arrivals",
}
_REMEDIES = {
    "outrun_both": " Test a lower rate, or longer blocks (matrix.block.min_s).",
    "outrun_baseline": " Use a rate that the baseline can serve.",
    "outrun_open": " Use longer blocks (matrix.block.min_s) or more pairs.",
}


def backlog(cell: Cell, code: str, arms: PerArm[ServedArrivals]) -> str:
    """How both arms fared, what is allowed, and what to do where speculation did not pass by this."""
    after, before = arms.speculative, arms.baseline
    allowed = f"≥ {percentage(after.least_served)} and ≤ +{figure(MS_PER_S * after.most_rise_s)} ms"
    return (
        f"{place_of(cell)}, {_HEADS[code]}. In the second half of blocks {percentage(after.served)} were answered,"
        f" with TTFT {after.moved} (limit {allowed}). Baseline: {percentage(before.served)}, {before.moved}."
        f"{_REMEDIES.get(code, '')}"
    )


def backlog_unknown(cell: Cell) -> str:
    """That there was too little to tell."""
    return f"{place_of(cell)}, {UNTOLD}."
