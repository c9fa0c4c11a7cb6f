"""How long one answer may take. Values only: the clock that enforces them is in `transport.py`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Limits of one request in seconds: opening a connection, silence before and between tokens, and the whole.

    `first_token_s` runs from the moment the request was sent, `between_tokens_s` from the last read that held a `data:`
    line (a comment keeps a connection open, it is no token) or anything of a compressed body, `total_s` from the moment the
    request was sent.
    """

    connect_s: float = 10.0
    first_token_s: float = 120.0
    between_tokens_s: float = 30.0
    total_s: float = 600.0
