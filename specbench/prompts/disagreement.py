"""Whether the endpoint counts a prompt's tokens as the drawing of prompts did; the endpoint's count is the one that holds."""

from collections.abc import Sequence

TOLERATED = 0.10
TEMPLATE = 48  # tokens that a chat template may add to a prompt without being a disagreement


def disagreement(counted: Sequence[float], told: Sequence[int | None]) -> str | None:
    """A sentence with the ratio endpoint ÷ drawing over the prompts of which both are known; None where they agree.

    Args:
        counted: (n_prompts,) tokens as the prompts were drawn.
        told: (n_prompts,) the same in the endpoint's usage, None where an answer had none.
    """
    both = [(own, theirs) for own, theirs in zip(counted, told, strict=True) if theirs is not None]
    drawn, served = sum(own for own, _ in both), sum(theirs for _, theirs in both)
    if not drawn or -TOLERATED * drawn <= served - drawn <= TOLERATED * drawn + TEMPLATE * len(both):
        return None
    return (
        f"The endpoint counts {served / drawn:.2f} times the prompt tokens that were drawn: its count is the one in this report,"
        " and prompts lie outside the bins' bands by as much."
    )
