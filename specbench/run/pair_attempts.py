"""Which blocks are measured again after one that counts for nothing: its pair, both arms, at most once. Pure.

Whether a block counts is a matter of the client alone, so that no figure decides what is measured again.
"""

from collections import deque
from dataclasses import replace

from specbench.model.records import Block, Void
from specbench.plan.trials import Trial

MOST_TRIES = 2
"""How often a run measures a pair: once, and once again."""


def void_of(block: Block) -> Void | None:
    """Why the block counts for nothing; None where it counts."""
    return None if block.fleet is None else block.fleet.void


class PairAttempts:
    """The blocks that are to run, in their order; a pair with a void block comes once more, at once."""

    def __init__(self, trials: tuple[Trial, ...], *, again: bool = True) -> None:
        self._rest = deque(trials)
        self._again = again
        self._first: dict[tuple[str, int], int] = {}
        self._pairs: dict[tuple[str, int], list[Trial]] = {}
        for trial in trials:
            self._first.setdefault(_pair(trial), trial.attempt)
            self._pairs.setdefault(_pair(trial), []).append(trial)

    def next(self) -> Trial | None:
        """The block that comes next; None at the end."""
        return self._rest[0] if self._rest else None

    def take(self) -> Trial:
        """The block that comes next, which is then begun."""
        return self._rest.popleft()

    def void(self, trial: Trial) -> bool:
        """The block counts for nothing. Whether its pair comes again; the other block of this try is left out in any case."""
        if not self._again:
            return False
        self._rest = deque(one for one in self._rest if _pair(one) != _pair(trial))
        comes_again = trial.attempt - self._first[_pair(trial)] + 1 < MOST_TRIES
        if comes_again:
            self._rest.extendleft(replace(one, attempt=trial.attempt + 1) for one in reversed(self._pairs[_pair(trial)]))
        return comes_again


def _pair(trial: Trial) -> tuple[str, int]:
    return trial.cell.id, trial.pair
