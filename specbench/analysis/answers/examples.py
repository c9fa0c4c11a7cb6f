"""The widest differences as a person can read them: some characters of both answers around the place at which they part. Pure."""

from collections.abc import Mapping, Sequence
from math import exp

from specbench.analysis.answers.comparison import common_text
from specbench.model.answers.compared_answers import AnswerExample, ComparedAnswers
from specbench.model.answers.kept_pairs import KeptPair
from specbench.model.result import PerArm

AROUND = 40  # characters on either side


def examples_of(
    pairs: Sequence[KeptPair], compared: Sequence[ComparedAnswers], best_log_p: Mapping[int, float], most: int
) -> tuple[AnswerExample, ...]:
    """At most so many greedy differences, those first at which the baseline is surest that the speculative arm is wrong.

    Args:
        best_log_p: by place among the pairs, the best log probability where the answers part.
    """
    gaps = {place: one.gap_nats for place, one in enumerate(compared) if one.gap_nats is not None and not one.equal}
    widest = sorted(gaps, key=lambda place: (-gaps[place].speculative, place))[:most]
    return tuple(_example(pairs[place], compared[place], best_log_p.get(place)) for place in widest)


def _example(pair: KeptPair, compared: ComparedAnswers, best_log_p: float | None) -> AnswerExample:
    at = len(common_text(pair.answers))
    begin = max(0, at - AROUND)
    texts = (pair.answers.baseline.text[begin : at + AROUND], pair.answers.speculative.text[begin : at + AROUND])
    gaps = compared.gap_nats
    known = gaps is not None and best_log_p is not None
    probabilities = None
    if known and gaps is not None and best_log_p is not None:
        probabilities = PerArm(exp(min(0.0, best_log_p - gaps.baseline)), exp(min(0.0, best_log_p - gaps.speculative)))
    return AnswerExample(cell=compared.cell, index=compared.index, texts=PerArm(*texts), probabilities=probabilities)
