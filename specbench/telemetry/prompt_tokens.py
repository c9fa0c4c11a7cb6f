"""Which count of prompt tokens holds where the client and the server count differently: one source for all requests.

How either of them counts is not known here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

# A chat template adds a few tokens to every prompt; beyond this the two do not use the same tokenizer.
TOLERATED = 0.10


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptTokens:
    """Prompt tokens per request, all from one source; `ratio` is server ÷ client, None where the server told none."""

    counts: tuple[int, ...]
    source: Literal["server", "client"]
    ratio: float | None
    warning: str | None


def prompt_tokens(counted: Sequence[int], told: Sequence[int | None]) -> PromptTokens:
    """The server's counts if it told every one, else the client's, never a mix of the two.

    Args:
        counted: (n_requests,) as the client counted.
        told: (n_requests,) `usage.prompt_tokens`, None where an answer had none.
    """
    server = [told_one for told_one in told if told_one is not None]
    both = [(own, theirs) for own, theirs in zip(counted, told, strict=True) if theirs is not None]
    client_sum = sum(own for own, _ in both)
    ratio = sum(theirs for _, theirs in both) / client_sum if client_sum else None
    whole = len(server) == len(counted) > 0
    warning = None
    if ratio is not None and abs(ratio - 1) > TOLERATED:
        used = "the server's counts are used" if whole else "some answers tell none, so the client's counts are used"
        warning = f"the server counts {ratio:.2f} times the prompt tokens that the client does: {used}"
    return PromptTokens(
        counts=tuple(server) if whole else tuple(counted), source="server" if whole else "client", ratio=ratio, warning=warning
    )
