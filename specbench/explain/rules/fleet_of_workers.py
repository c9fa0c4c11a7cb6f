"""The sentences about a fleet of workers: why a block counts for nothing, what the checks on workers and clocks found."""

from specbench.explain.numbers import figure
from specbench.explain.phrases import place_of
from specbench.model.records import MOST_CLOCK_ERROR_MS, Cell, Void

_WHY: dict[Void, str] = {
    "worker_lost": "a worker was lost",
    "workers_missing": "workers are missing, and none came in their place",
    "workers_changed": "other workers drove the other arm",
    "requests_missing": "the requests that were dealt, sent and reported differ",
    "clocks_disagree": f"a worker's clock is not known within {figure(MOST_CLOCK_ERROR_MS)} ms",
}
_REMEDY = "Keep the workers' machines and the network between them free and up"


def block_void(block: str, void: Void, again: bool) -> str:
    """That a block counts for nothing, why, and what follows."""
    return f"{block} does not count: {_WHY[void]}; {'its pair is measured again' if again else 'its pair is left out'}"


def probe_void(void: Void) -> str:
    """That a probe came to nothing, and why."""
    return f"the probe counts for nothing: {_WHY[void]}; {_REMEDY[0].lower()}{_REMEDY[1:]}, and probe again"


def workers_missing(block: str) -> str:
    """That the run ended there, as workers were missing for good."""
    return f"{block}: {_WHY['workers_missing']}; the remaining blocks were skipped"


def workers_held(cell: Cell, repeated: int, pairs: int, limit: float, ok: bool | None) -> str:
    """How many of a cell's pairs had to be measured again, or were left out."""
    if ok is None:
        return f"{place_of(cell)}, one process drove the load."
    message = f"{place_of(cell)}, the workers did not hold in {repeated} of {pairs} pairs (limit {figure(100 * limit)} %)."
    return message if ok else f"{message} {_REMEDY}."


def clocks_agree(cell: Cell, worst: tuple[str, float] | None, limit: float, ok: bool | None) -> str:
    """How closely the clocks of the workers were known: the worst of them by name, and by how much in milliseconds."""
    if worst is None:
        return f"{place_of(cell)}, one clock timed the load."
    name, error_ms = worst
    message = f"{place_of(cell)}, the clock of worker {name} is known within {figure(error_ms)} ms (limit {figure(limit)} ms)."
    return message if ok else f"{message} Use a quicker network between the workers, or keep their clocks from being set."


def worst_worker(name: str) -> str:
    """Which of the workers was the worst."""
    return f"The worst worker is {name}."


def waiting_for(workers: int, address: str, wait_s: float) -> str:
    """That workers of other machines are waited for."""
    return f"waiting for {workers} {'worker' if workers == 1 else 'workers'} at {address}, at most {figure(wait_s)} s"


def refused(count: int) -> str:
    """How many connections or messages the fleet's master refused."""
    return f"the fleet refused {count} {'connection or message' if count == 1 else 'connections or messages'} of strangers"
