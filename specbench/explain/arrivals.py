"""The sentences on arrivals at a rate: whether each arm served them as they came.

Values in, text out; what is a sign and what a proof is decided elsewhere.
"""

from dataclasses import dataclass

from specbench.explain.numbers import figure, percentage
from specbench.explain.phrases import place_of
from specbench.model.records import Cell
from specbench.model.result import PerArm
from specbench.units import MS_PER_S

UNTOLD = "fewer than two blocks of an arm tell whether it kept up with what arrived"
BASELINE_OUTRUN = (
    "arrivals outran the baseline alone, so its figures are those of a queue that grows, and nothing compares with them"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedArrivals:
    """Of one arm: the share of arrivals served in the second half of the blocks, how TTFT moved there, and what is allowed."""

    served: float
    least_served: float
    rise_s: float
    most_rise_s: float

    def words(self) -> str:
        """'94 % of them in the second half of a block, where TTFT was 410 ms higher than in the first'."""
        moved = f"{figure(MS_PER_S * abs(self.rise_s))} ms {'higher' if self.rise_s >= 0 else 'lower'}"
        return f"{percentage(self.served)} of them in the second half of a block, where TTFT was {moved} than in the first"


_HEADS = {
    "kept_up": "the speculative arm served arrivals as they came",
    "outrun": "arrivals outran the speculative arm, and not the baseline",
    "outrun_both": "arrivals seem to outrun both arms, so their queues grow for as long as such load lasts",
    "outrun_baseline": "arrivals outran the baseline alone, so nothing compares here",
    "outrun_open": "it is not shown that the speculative arm kept up with what arrived",
}
_REMEDIES = {
    "outrun_both": "; test a lower rate, or longer blocks (matrix.block.min_s)",
    "outrun_baseline": "; compare at a rate that the baseline can serve",
    "outrun_open": "; longer blocks (matrix.block.min_s) or more pairs would tell",
}


def backlog(cell: Cell, code: str, arms: PerArm[ServedArrivals]) -> str:
    """How both arms fared, what is allowed, and what to do where speculation did not pass by this."""
    after, before = arms.speculative, arms.baseline
    allowed = f"{percentage(after.least_served)} or more, and at most {figure(MS_PER_S * after.most_rise_s)} ms higher"
    return (
        f"{place_of(cell)} {_HEADS[code]}: it served {after.words()} (allowed: {allowed});"
        f" the baseline served {before.words()}{_REMEDIES.get(code, '')}."
    )


def backlog_unknown(cell: Cell) -> str:
    """That there was too little to tell."""
    return f"{place_of(cell)} {UNTOLD}."
