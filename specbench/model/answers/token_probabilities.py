"""What the baseline thinks of one place in a text: how probable the token is that stands there, and which are the best ones.

An engine's own form of it is read in `telemetry/engines/`.
"""

from dataclasses import dataclass

Token = int | str
"""A token by its id, or by its text where an engine tells no ids."""

TokenLogProbability = tuple[Token, float]
"""A token with its log probability, in nats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenProbabilities:
    """The log probabilities of one place, before any sampling setting shapes them.

    `token`: what stands there, None where only the best ones are known. `log_p`: its own; None where it was told as minus
    infinity, or no number. `best`: the most probable tokens that were told, with their log probabilities, falling.
    """

    token: Token | None
    log_p: float | None
    best: tuple[TokenLogProbability, ...]
