"""The runs that a scenario cites for the places of its arms, found and read; what they say is copied into the manifest."""

from pathlib import Path

from specbench.analysis.hosts.previous_run_checks import citation
from specbench.errors import DataError, ScenarioError
from specbench.model.previous_runs import PreviousRun
from specbench.model.records import Manifest
from specbench.model.result import Result
from specbench.model.scenario import Scenario
from specbench.report.formats.result_json import read_result
from specbench.store import MANIFEST, read_manifest


def previous_runs(here: Manifest, folder: Path) -> tuple[PreviousRun, ...]:
    """Each cited run as it was found, by path or by its id beside this run's folder; one that cannot be read says so.

    An A/A itself cites nothing.
    """
    if here.scenario.design == "aa":
        return ()
    return tuple(_cited(cited, here, folder) for cited in here.scenario.place_runs)


def check_previous_runs(scenario: Scenario, folder: Path) -> None:
    """Nothing, where every run that the scenario cites can be read; else the load of a whole run would be for nothing.

    Raises:
        ScenarioError: one is not there, or cannot be read.
    """
    for cited in scenario.place_runs if scenario.design != "aa" else ():
        try:
            _read(cited, folder)
        except DataError as error:
            raise ScenarioError(
                f"{scenario.path}: place: run {cited}: {error}; fix or remove it (without it, host equivalence stays unproven)"
            ) from None


def _cited(cited: str, here: Manifest, folder: Path) -> PreviousRun:
    try:
        return citation(cited, *_read(cited, folder), here)
    except DataError as error:
        return PreviousRun(cited=cited, run_id=None, kind=None, verdict=None, checked=(), findings=(), problem=str(error))


def _read(cited: str, folder: Path) -> tuple[Manifest, Result]:
    """The cited run's manifest and result.

    Raises:
        DataError: there is no such run, or it cannot be read.
    """
    places = (Path(cited), folder.parent / cited)
    found = next((place for place in places if _holds_run(place)), None)
    if found is None:
        raise DataError(f"no such run at {places[0]} or {places[1]}")
    return read_manifest(found), read_result(found)


def _holds_run(place: Path) -> bool:
    try:
        return (place / MANIFEST).is_file()
    except OSError as error:  # a name that is too long, a folder that is closed to us
        raise DataError(f"{place}: cannot be read ({error.strerror})") from None
