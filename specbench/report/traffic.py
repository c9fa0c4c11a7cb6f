"""The traffic of a run in words: which bins with which lengths, in which shares, sampled how. Nothing is judged here."""

from specbench.model.asked import Length
from specbench.model.judged import Result
from specbench.model.shown import TrafficBin
from specbench.report import wording


def mix(result: Result) -> str:
    """The traffic that was asked for, as a phrase; of a result that does not hold it, the bins and settings that were met."""
    bins, sampling = result.config.bins, result.config.sampling
    if not bins:
        found = [one for cell in result.cells for one in cell.bins]
        bins_met, sampling_met = dict.fromkeys(one.bin for one in found), dict.fromkeys(one.sampling for one in found)
        return f"bins {', '.join(bins_met)}; sampling {', '.join(sampling_met)}" if found else "of one kind"
    said = "; ".join(_bin(one, result.config.length) for one in bins)
    turns = f"{'in each, ' if len(bins) > 1 and len(sampling) > 1 else ''}{_in_turn(sampling)}"
    return f"{said}; {turns}" + (f"; prompts from {result.config.source}" if result.config.source else "")


def _bin(one: TrafficBin, length: Length) -> str:
    return f"{wording.percent(one.share)} {one.name} ({_span(one.input_tokens)} prompt tokens as drawn, {_output(one, length)})"


def _output(one: TrafficBin, length: Length) -> str:
    """Answers that end by themselves have a limit, forced ones that very length."""
    low, high = one.output_tokens
    if length == "forced":
        return f"exactly {low} output tokens" if low == high else f"output tokens forced to a number drawn from {low} to {high}"
    return f"at most {low} output tokens" if low == high else f"output tokens limited to a number drawn from {low} to {high}"


def _span(ends: tuple[int, int]) -> str:
    low, high = ends
    return f"{low}" if low == high else f"{low} to {high}"


def _in_turn(sampling: tuple[str, ...]) -> str:
    """The settings, which requests take in turn, so in equal shares."""
    if len(sampling) < 2:
        return f"all {''.join(sampling)}"
    share = {2: "half", 3: "a third"}.get(len(sampling), f"1 in {len(sampling)}")
    return f"{share} of the requests {' and '.join([sampling[0], *(f'{share} {one}' for one in sampling[1:])])}"
