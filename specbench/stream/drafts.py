"""Speculation as one answer tells it: rounds, drafted and accepted tokens. Pure; counters of `/metrics` are elsewhere."""

from specbench.model.seen import Acceptance
from specbench.stream.answer import Answer
from specbench.stream.chunks import SpeculativeDecoding, Timings


def acceptance_of(answer: Answer) -> Acceptance | None:
    """What the answer told of its own speculation, None where it told nothing.

    vLLM's histogram h (index: accepted in a round) gives everything: rounds = Σ h[j], accepted = Σ j·h[j], and position i
    was accepted in Σ_{j>i} h[j] rounds. llama.cpp tells drafted and accepted tokens, no rounds, and tells nothing where
    nothing was drafted.
    """
    if answer.speculative is not None:
        return _of_histogram(answer.speculative)
    if answer.timings is not None and answer.timings.draft_n is not None:
        return _of_timings(answer.timings)
    return None


def _of_histogram(told: SpeculativeDecoding) -> Acceptance:
    rounds, accepted, per_position = told.num_spec_steps, told.num_accepted_draft_tokens, None
    if (histogram := told.acceptance_histogram) is not None:
        rounds = sum(histogram)
        accepted = sum(length * count for length, count in enumerate(histogram))
        per_position = tuple(sum(histogram[position + 1 :]) for position in range(len(histogram) - 1))
    return Acceptance(rounds=rounds, drafted=told.num_draft_tokens, accepted=accepted, per_position=per_position)


def _of_timings(told: Timings) -> Acceptance:
    return Acceptance(rounds=None, drafted=told.draft_n, accepted=told.draft_n_accepted, per_position=None)
