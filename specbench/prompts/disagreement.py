"""Whether the endpoint counts a prompt's tokens as the drawing of prompts did; the endpoint's count is the one that holds."""

from collections.abc import Mapping, Sequence

TOLERATED = 0.10
TEMPLATE = 48  # tokens that a chat template may add to a prompt without being a disagreement


def disagreement(
    counted: Sequence[float], told: Sequence[int | None], bands: Mapping[str, tuple[int, int]] | None = None
) -> str | None:
    """A sentence with the ratio endpoint ÷ drawing over the prompts of which both are known; None where they agree.

    Args:
        counted: (n_prompts,) tokens as the prompts were drawn.
        told: (n_prompts,) the same in the endpoint's usage, None where an answer had none.
        bands: Each bin's band of prompt tokens as drawn, to be named in both counts.
    """
    both = [(own, theirs) for own, theirs in zip(counted, told, strict=True) if theirs is not None]
    drawn, served = sum(own for own, _ in both), sum(theirs for _, theirs in both)
    if not drawn or -TOLERATED * drawn <= served - drawn <= TOLERATED * drawn + TEMPLATE * len(both):
        return None
    factor = served / drawn
    both_counts = "; ".join(
        f"{name} {low} to {high} as drawn, about {low * factor:.0f} to {high * factor:.0f} as the endpoint counts"
        for name, (low, high) in (bands or {}).items()
    )
    return (
        f"The endpoint counts {factor:.2f} times the prompt tokens that were drawn: its count is the one in this report, the"
        f" bins' bands are as drawn{f' ({both_counts})' if both_counts else ''}."
    )
