"""Who holds which stream and gets which request. Pure."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import cycle

from specbench.load.messages import RequestJob

AHEAD = 16
"""How many requests a worker holds beyond one per stream and one in reserve for each: they may all end at once."""


def stream_numbers(workers: int, streams: int) -> tuple[tuple[int, ...], ...]:
    """The streams 0, 1, 2, ... of each worker, dealt round robin; a worker that gets none is idle."""
    return tuple(tuple(range(worker, streams, workers)) for worker in range(workers))


class Dealer:
    """Requests on their way to workers: by demand in a closed loop, request i to worker i mod N in the open loop."""

    def __init__(self, streams: Sequence[int], *, open_loop: bool) -> None:
        self._open_loop = open_loop
        self._stock: deque[RequestJob] = deque()
        self._wanted = [2 * count + AHEAD if count else 0 for count in streams]
        self._turns = cycle(range(len(streams)))
        self._workers = len(streams)
        self._all_in = False
        self._end_dealt = False

    @property
    def ahead(self) -> int:
        """How many requests to hand over before load begins."""
        return sum(self._wanted)

    def take(self, jobs: Iterable[RequestJob]) -> None:
        """More requests to deal."""
        self._stock.extend(jobs)

    def no_more(self) -> None:
        """No request follows those that were taken in."""
        self._all_in = True

    def ended(self, worker: int, count: int) -> None:
        """A worker is done with so many requests, or sessions: it may have as many more."""
        self._wanted[worker] += count

    def deals(self) -> Iterator[tuple[int, RequestJob]]:
        """The requests that can go to a worker now."""
        while self._stock:
            if self._open_loop:
                worker = self._stock[0].index % self._workers
            elif any(self._wanted):
                worker = next(one for one in self._turns if self._wanted[one])
                self._wanted[worker] -= 1
            else:
                return
            yield worker, self._stock.popleft()

    def just_done(self) -> bool:
        """Whether all requests are dealt and none follows; True once."""
        done = self._all_in and not self._stock and not self._end_dealt
        self._end_dealt = self._end_dealt or done
        return done
