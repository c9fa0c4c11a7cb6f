"""Where two texts may part, of which it is not told from which tokens they were made. Pure.

A word may have been generated in other parts than a tokenizer cuts it into, and a token may begin another one, as " foo" does
" foobar". So every token with which a text goes on may be the one that was generated.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from specbench.analysis.answers.token_scores import gap_nats
from specbench.model.answers.token_probabilities import TokenProbabilities
from specbench.model.result import PerArm
from specbench.telemetry.engines.rulers import NextToken

UNTOLD = NextToken("", float("-inf"))
"""A token that is none of the best ones."""


@dataclass(frozen=True, slots=True)
class Parting:
    """Behind a place: both arms' gaps if they part there, None where no tokens do; and the token by which both may go on."""

    gaps: PerArm[float] | None
    common: NextToken | None


def parting(best: Sequence[NextToken], texts: PerArm[str], at: int, parted: int) -> Parting:
    """How the texts go on behind `at` characters, if `parted` is the first one in which they differ.

    Of all pairs of unlike tokens of which one reaches as far as that, the gaps are those of the pair whose wider gap is smallest.
    """
    ours, theirs = fitting(best, texts.baseline, at), fitting(best, texts.speculative, at)
    pairs = [(own, other) for own in ours for other in theirs if _part(own, other, parted - at)]
    gaps = min((_gaps(best, own, other) for own, other in pairs), key=widest, default=None)
    common = next((one for one in ours if one is not None and one != UNTOLD and one in theirs), None)
    return Parting(gaps, common)


def widest(gaps: PerArm[float]) -> float:
    """The wider of both gaps."""
    return max(gaps.baseline, gaps.speculative)


def _part(own: NextToken | None, other: NextToken | None, left: int) -> bool:
    """Whether an arm that takes one and an arm that takes the other part here, with so many characters left that are alike."""
    if own is None or other is None or UNTOLD in (own, other):
        return True
    return own != other and max(len(own.text), len(other.text)) > left


def fitting(best: Sequence[NextToken], text: str, at: int) -> list[NextToken | None]:
    """The tokens with which the text goes on, the most probable first; `UNTOLD` where none fits, None at the text's end."""
    if at >= len(text):
        return [None]
    return [one for one in best if one.text and text.startswith(one.text, at)] or [UNTOLD]


def _gaps(best: Sequence[NextToken], own: NextToken | None, other: NextToken | None) -> PerArm[float]:
    """Both arms' gaps; of an arm whose text ended there, and its end is not told, the least that it can be."""
    place = TokenProbabilities(token=None, log_p=None, best=tuple((rank, one.log_p) for rank, one in enumerate(best)))
    ours, theirs = (
        None if token is None else gap_nats(place, best.index(token) if token in best else len(best)) for token in (own, other)
    )
    least = best[0].log_p - best[1].log_p if len(best) > 1 else 0.0
    if ours is None and theirs is None:
        return PerArm(0.0, 0.0)
    if ours is None:
        return PerArm(least if theirs == 0.0 else 0.0, theirs or 0.0)
    return PerArm(ours, (least if ours == 0.0 else 0.0) if theirs is None else theirs)
