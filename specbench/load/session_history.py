"""What the answers of a session add to its later turns, where those are to hold the arm's own. Nothing is decoded in any other.

An answer is decoded in the pause behind it, while its user thinks, and other streams are read meanwhile.
"""

from functools import partial

import gevent
import msgspec

from specbench.load.messages import RequestJob
from specbench.model.captures import Capture
from specbench.stream.record import content_of


class SessionHistory:
    """One session's answers so far."""

    def __init__(self, job: RequestJob) -> None:
        self._own = job.own_history
        self._answers: list[bytes] = []

    def body_of(self, turn: RequestJob) -> bytes:
        """The body of a turn, with the answers to all turns before it."""
        return turn.with_answers(self._answers)

    def goes_on(self, answer: Capture) -> bool:
        """Whether the next turn can be sent; an own answer is kept for it. One that failed or has no text ends the session."""
        if not self._own:
            return True
        content = content_of(answer, between=partial(gevent.sleep, 0))
        if content is not None:
            self._answers.append(json_string(content))
        return content is not None


def json_string(text: str) -> bytes:
    """The text as a JSON string; half a surrogate pair, which has no UTF-8, becomes a question mark."""
    return msgspec.json.encode(text.encode("utf-8", "replace").decode())
