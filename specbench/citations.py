"""The runs that a scenario cites for the places of its arms, found and read; what they say is copied into the manifest."""

from pathlib import Path

from specbench.analysis.citation import citation
from specbench.errors import DataError
from specbench.model.cited import CitedRun
from specbench.model.seen import Manifest
from specbench.report.result_file import read_result
from specbench.store import MANIFEST, read_manifest


def cited_runs(here: Manifest, folder: Path) -> tuple[CitedRun, ...]:
    """Each cited run as it was found, by path or by its id beside this run's folder; one that cannot be read says so."""
    return tuple(_cited(cited, here, folder) for cited in here.scenario.place_runs)


def _cited(cited: str, here: Manifest, folder: Path) -> CitedRun:
    places = (Path(cited), folder.parent / cited)
    found = next((place for place in places if (place / MANIFEST).is_file()), None)
    if found is None:
        return _unread(cited, f"there is no such run, neither at {places[0]} nor at {places[1]}")
    try:
        return citation(cited, read_manifest(found), read_result(found), here)
    except DataError as error:
        return _unread(cited, str(error))


def _unread(cited: str, problem: str) -> CitedRun:
    return CitedRun(cited=cited, run_id=None, kind=None, verdict=None, checked=(), findings=(), problem=problem)
