"""The history of a folder of runs, from their results as they stand."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from specbench.analysis.history.history_series import EVERY, TOLD, RunResult, run_history
from specbench.errors import DataError, did_you_mean
from specbench.model.history.run_history import RunHistory
from specbench.model.metrics import METRICS
from specbench.report.formats.result_json import read_result
from specbench.report.runs import run_folders
from specbench.store import RESULT


def history_of(folder: Path, scenario: str | None = None, metrics: Sequence[str] = ()) -> RunHistory:
    """The runs right below the folder, oldest first, with their series and changes.

    Raises:
        DataError: There is no run, none of that scenario, or no metric of that name.
    """
    for metric in metrics:
        known = (*METRICS, *TOLD, EVERY)
        if metric not in known:
            raise DataError(f"--metric {metric}: no such metric; docs/glossary.md lists them{did_you_mean(metric, known)}")
    found = [_read(started, path) for started, path in reversed(run_folders(folder))]
    if not found:
        raise DataError(f"{folder}: no run is here; make one with: specbench run SCENARIO")
    if scenario is not None:
        names = sorted({one.result.run.name for one in found if one.result is not None})
        found = [one for one in found if one.result is not None and one.result.run.name == scenario]
        if not found:
            known_names = f"; there are {', '.join(names)}" if names else ""
            raise DataError(f"{folder}: no run of scenario {scenario} is here{known_names}{did_you_mean(scenario, names)}")
    return run_history(str(folder), found, metrics)


def history_as_it_stands(folder: Path) -> RunHistory:
    """The history of a folder, for a page that is requested often: read anew only where a result was written since.

    Raises:
        DataError: There is no run.
    """
    return _kept(folder, tuple((str(path), _written(path / RESULT)) for _, path in run_folders(folder)))


@lru_cache(maxsize=4)
def _kept(folder: Path, _as_they_stand: tuple[tuple[str, tuple[int, int]], ...]) -> RunHistory:
    return history_of(folder)


def _written(file: Path) -> tuple[int, int]:
    """When the file was written and its size; zeros where there is none."""
    try:
        status = file.stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size


def _read(started: str, folder: Path) -> RunResult:
    try:
        return RunResult(folder.name, started, read_result(folder))
    except DataError as error:
        return RunResult(folder.name, started, None, str(error).removeprefix(f"{folder}/{RESULT}: "))
