"""An endpoint as a counter of tokens: its own tokenizer behind its route for it, asked a text at a time and not for ever."""

import time
from collections.abc import Sequence

from specbench.prompts.lengths import TextCounter
from specbench.telemetry.endpoint import ServedEndpoint
from specbench.telemetry.endpoint_facts import token_ids
from specbench.telemetry.engine import EngineSupport
from specbench.telemetry.http import HttpGetter

TOKENIZE_S = 5.0
ENOUGH_S = 20.0  # for all texts of one call: over a slow line fewer are counted


def endpoint_counter(served: ServedEndpoint, engine: EngineSupport) -> TextCounter | None:
    """The counter that this endpoint is; None where it does not count a first text."""
    tokenize = engine.tokenize
    if tokenize is None:
        return None

    def count(texts: Sequence[str]) -> list[int | None]:
        found: list[int | None] = []
        ends = time.monotonic() + ENOUGH_S
        with HttpGetter(served.secrets) as getter:
            for text in texts:
                path, body = tokenize(served.model, text)
                ids = token_ids(getter.post(served.url + path, served.headers, TOKENIZE_S, body).json())
                found.append(None if ids is None else len(ids))
                if ids is None or time.monotonic() > ends:
                    break
        return [*found, *[None] * (len(texts) - len(found))]

    return TextCounter("the endpoint", count) if count(["one two three"])[0] else None
