"""How long a block waits for what it sent: as long as a request may take, and less once an arm was seen to leave some hanging."""

from collections.abc import Iterable

from specbench.load.block_phases import SLOWEST_ANSWERS
from specbench.model.records import LoadFacts, Outcome, RequestRecord
from specbench.model.scenario import ArmName
from specbench.units import seconds

LEAST_S = 10.0
HANGING: frozenset[Outcome] = frozenset({"unanswered", "timeout_first_token", "stalled", "timeout_total"})


class Drains:
    """What the blocks of a run have shown of how long each arm's answers take; blocks of two arms may run at once."""

    def __init__(self) -> None:
        self._slowest_s: dict[ArmName, float] = {}
        self._hung: set[ArmName] = set()

    def shorter_s(self, arm: ArmName) -> float | None:
        """The time after which the arm's next block need not wait on for a few; None where it is to wait for every request.

        An arm that never answers some requests would else cost every block the whole of their limits.
        """
        return max(LEAST_S, SLOWEST_ANSWERS * self._slowest_s.get(arm, 0.0)) if arm in self._hung else None

    def note(self, arm: ArmName, load: LoadFacts, ended: Iterable[RequestRecord]) -> None:
        """A block of the arm is over, and these are its requests."""
        for record in ended:
            if record.outcome == "ok":
                self._slowest_s[arm] = max(self._slowest_s.get(arm, 0.0), seconds(record.end_ns))
            elif record.outcome in HANGING and held_up(load, record):
                self._hung.add(arm)


def held_up(load: LoadFacts, record: RequestRecord) -> bool:
    """Whether the block waited for this request after its window had closed."""
    start_ns = record.sent_ns if record.scheduled_ns is None else record.scheduled_ns
    opened_ns, closed_ns = load.window_open_ns, load.window_close_ns
    if opened_ns is None or closed_ns is None:
        return False
    return opened_ns <= start_ns < closed_ns < record.sent_ns + record.end_ns
