"""What held speculation back in a cell, as a title and a sentence. Which factors there are is decided in `analysis/`."""

from collections.abc import Callable, Sequence

from specbench.explain import numbers
from specbench.model.guardrails import LOW_ALPHA

_LITTLE_ROOM = "Little room in the KV cache"
_SENTENCES: dict[str, tuple[str, Callable[..., str]]] = {
    "prefill": (
        "Prefill dominates",
        lambda share: (
            f"{numbers.percent(share)} of an answer's time passes before its first token; speculation shortens only the rest."
        ),
    ),
    "acceptance": (
        "Acceptance is low",
        lambda alpha: f"A drafted token is kept with a chance of {numbers.ratio(alpha)}; the usual alarm is {LOW_ALPHA:g}.",
    ),
    "saturated": (
        "The server is saturated",
        lambda gain, load: (
            f"The baseline's throughput is {numbers.ratio(gain)} times that at {numbers.streams(load)}: no idle"
            " compute is left for drafts."
        ),
    ),
    "kv_full": (
        _LITTLE_ROOM,
        lambda share: f"At its peak {numbers.percent(share)} of the cache was in use with speculation.",
    ),
    "put_back": (
        _LITTLE_ROOM,
        lambda with_it, without: (
            f"Requests were put back {numbers.short(with_it)} times with speculation and {numbers.short(without)} without."
        ),
    ),
    "step_cost": (
        "A step costs more than it brings",
        lambda tokens, needed: (
            f"A step brought {numbers.ratio(tokens)} tokens where {numbers.ratio(needed)} were needed to break even."
        ),
    ),
}


def limiting_factor(code: str, figures: Sequence[float]) -> tuple[str, str]:
    """The title and the sentence of this factor."""
    title, sentence = _SENTENCES[code]
    return title, sentence(*figures)
