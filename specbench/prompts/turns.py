"""Which turn of its bin each prompt of a pair is: 0 for the bin's first one, 1 for the next."""

from collections import Counter
from collections.abc import Callable
from threading import Lock


class Turns:
    """Turns of one pair, counted once and as far as was asked, so that they depend on the bins alone and not on who asks when."""

    def __init__(self, bin_of: Callable[[int], str]) -> None:
        self._bin_of = bin_of
        self._turns: list[int] = []
        self._had: Counter[str] = Counter()
        self._lock = Lock()  # two arms at once ask from a thread each

    def of(self, index: int) -> int:
        """How many prompts before number `index` have its bin."""
        with self._lock:
            while len(self._turns) <= index:
                name = self._bin_of(len(self._turns))
                self._turns.append(self._had[name])
                self._had[name] += 1
            return self._turns[index]
