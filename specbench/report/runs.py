"""The runs in a folder, newest first, each with its verdict and what it found; and the run that a person means by `latest`.

Reads manifests and results and nothing else. A run that cannot be read is listed with the reason.
"""

import os
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from shlex import quote
from typing import Any

import msgspec

from specbench.errors import DataError
from specbench.explain.brief import headline
from specbench.explain.brief.table_words import row_label
from specbench.files import regular_bytes
from specbench.model import queries
from specbench.model.result import Result
from specbench.report.formats.result_json import read_result
from specbench.report.view.comparison_rows import cell_rows
from specbench.store import MANIFEST, RESULT

REPORTS = Path("reports")
LATEST = "latest"
NAMED = 3  # runs that an error names


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """One run in a line: its folder, verdict, finding, and the change of the metric that must gain, in the primary cell.

    `problem` says why there is no verdict; then the fields about it are empty. `minutes` is None in a run that did not end.
    """

    folder: Path
    started: str
    name: str = ""
    verdict: str = ""
    found: str = ""
    metric: str = ""
    before: str = ""
    after: str = ""
    changed: str = ""
    profile: str = ""
    pairs: int = 0
    minutes: float | None = None
    problem: str = ""


class _Started(msgspec.Struct):
    started: str = ""
    run: dict[str, Any] = {}
    capacity: dict[str, Any] | None = None


def runs_in(folder: Path, most: int | None = None) -> tuple[RunSummary, ...]:
    """The runs right below the folder, or the folder itself where it is one, newest first; the first `most` of them.

    Raises:
        DataError: There is no such folder, or no run in it.
    """
    found = run_folders(folder)
    if not found:
        raise DataError(f"{folder}: no run is here; make one with: specbench run SCENARIO")
    return tuple(_summary(*one) for one in found[:most])


def run_folders(folder: Path) -> list[tuple[str, Path]]:
    """When each run in the folder began and where it is, newest first; searches for capacity have no verdict and are left out.

    Raises:
        DataError: There is no such folder.
    """
    try:
        below = [Path(entry.path) for entry in os.scandir(folder) if entry.is_dir()]
    except OSError as error:
        raise DataError(f"{folder}: cannot be read ({error.strerror}); name a folder with runs, such as {REPORTS}") from None
    runs = [one for one in (folder, *below) if ((one / MANIFEST).is_file() or (one / RESULT).is_file()) and not _searches(one)]
    return sorted(((_started(one), one) for one in runs), key=lambda pair: (pair[0], str(pair[1])), reverse=True)


def named_run(name: Path | None) -> tuple[Path, str | None]:
    """The run's folder as `run_folder` finds it, and a sentence where it was chosen and not named.

    Raises:
        DataError: There is none, or the folder is no run but holds some.
    """
    folder, said = run_folder(name)
    if folder.is_dir() and not (folder / MANIFEST).exists() and not (folder / RESULT).exists() and (below := run_folders(folder)):
        known = ", ".join(quote(str(one)) for _, one in below[:NAMED])
        raise DataError(f"{folder}: no run itself, but holds {len(below)}; name one: {known}")
    return folder, said


def run_folder(name: Path | None) -> tuple[Path, str | None]:
    """The folder that is meant, and a sentence where it was chosen and not named: None and 'latest' are the newest of `reports`,
    and a run's result.json or manifest.json is the folder that it lies in.

    Raises:
        DataError: There is no run to choose from.
    """
    if name is None or (str(name) == LATEST and not name.exists()):
        found = run_folders(REPORTS) if REPORTS.is_dir() else []
        if not found:
            raise DataError(f"{REPORTS}: no run is here; name a run's folder, or make one with: specbench run SCENARIO")
        return found[0][1], f"the latest run: {found[0][1]}"
    return (name.parent if name.name in (RESULT, MANIFEST) and name.is_file() else name), None


def _searches(folder: Path) -> bool:
    """Whether the folder holds a search for capacity."""
    try:
        return msgspec.json.decode(regular_bytes(folder / MANIFEST), type=_Started).capacity is not None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, DataError):
        return False


def _started(folder: Path) -> str:
    """When the run began (UTC, ISO 8601), by its manifest, else by its result; '' where neither says."""
    for file in (folder / MANIFEST, folder / RESULT):
        try:
            told = msgspec.json.decode(regular_bytes(file), type=_Started)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, DataError):
            continue
        if started := told.started or told.run.get("started"):
            return str(started)
    return ""


def _summary(started: str, folder: Path) -> RunSummary:
    try:
        result = read_result(folder)
    except DataError as error:
        return RunSummary(folder=folder, started=started, problem=str(error).removeprefix(f"{folder}/{RESULT}: "))
    return _judged(folder, result)


def _judged(folder: Path, result: Result) -> RunSummary:
    cell, metric = queries.primary(result), result.config.success_metric
    rows = [] if cell is None else [one for one in cell_rows(cell, metric, result.config.alpha) if one.metric == metric]
    row = rows[0] if rows else None
    return RunSummary(
        folder=folder,
        started=result.run.started,
        name=result.run.name,
        verdict=result.verdict,
        found=headline.found(result),
        metric=row_label(metric),
        before="" if row is None else row.before,
        after="" if row is None else row.after,
        changed="" if row is None else row.changed,
        profile=result.run.profile,
        pairs=result.config.pairs,
        minutes=_minutes(result),
    )


def _minutes(result: Result) -> float | None:
    try:
        ended = datetime.fromisoformat(result.run.finished or "")
        return (ended - datetime.fromisoformat(result.run.started)).total_seconds() / 60
    except (ValueError, TypeError):
        return None
