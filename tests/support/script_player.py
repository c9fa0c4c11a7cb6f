"""Answers requests at the reference endpoint by the scripts of `scripts.py`, and notes when each event with tokens left.

A request asks for a script by naming it as its model, and for what has been delivered by the model `delivered`.

    python -m tests.support.script_player [the reference endpoint's own options]
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field

from specbench.engine.reference_endpoint.reference_endpoint import Performance, Request, chunk_of, main
from tests.support.scripts import NO_KEY, Script, head
from tests.support.scripts_chunks import CHUNKS
from tests.support.scripts_framing import FRAMING

NS_PER_MS = 1_000_000
DELIVERED = "delivered"
SCRIPTS: Mapping[str, Script] = FRAMING | CHUNKS


@dataclass(slots=True)
class Delivered:
    """One script as it went: when its request arrived, and of each event with tokens when it had left and how many it held.

    Times are nanoseconds of the monotonic clock; `keys` is whether the request brought a key.
    """

    name: str
    asked_ns: int
    keys: bool
    sent_ns: list[int] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)


def performances() -> dict[str, Callable[[Request], Performance]]:
    """Every script by its name, and `delivered`, which tells how those before it went."""
    told: list[Delivered] = []

    def delivered(request: Request) -> Performance:
        text = json.dumps([asdict(one) for one in told]).encode()
        yield request.arrived_ns, head("Content-Type: application/json", f"Content-Length: {len(text)}") + text

    return {name: _performance(name, script, told) for name, script in SCRIPTS.items()} | {DELIVERED: delivered}


def _performance(name: str, script: Script, told: list[Delivered]) -> Callable[[Request], Performance]:
    def performed(request: Request) -> Performance:
        """Its head at once, then each of its writes when it is due, counted from the one before."""
        note = Delivered(name, request.arrived_ns, b"\r\nauthorization:" in request.head.lower())
        told.append(note)
        if script.refuses_reused and request.earlier:
            yield None
            return
        if script.refuses_keys and note.keys:
            yield request.arrived_ns, NO_KEY
            return
        yield request.arrived_ns, script.head
        before_ns = request.arrived_ns
        for place, write in enumerate(script.writes, start=1):
            last = place == len(script.writes) and not script.stays_open
            data = chunk_of(write.data) + b"0\r\n\r\n" * last if script.framed else write.data
            before_ns = yield before_ns + round(write.after_ms * NS_PER_MS), data
            note.sent_ns += [before_ns] * len(write.tokens)
            note.tokens += write.tokens

    return performed


if __name__ == "__main__":
    main(performances())
