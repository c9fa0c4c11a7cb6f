"""Runs campaigns in parts and keeps each part's outcomes in a file, so that the table can be made in pieces and resumed.

The same code makes the same bytes; a part that other code made is made again, from the kept facts where it ran over sockets.
What outcomes mean is `targets.py`'s.
"""

import gc
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache
from itertools import chain
from multiprocessing import get_context
from pathlib import Path

import specbench
from specbench.calibrate.campaigns import CAMPAIGNS, Campaign
from specbench.calibrate.whole_runs import Outcome
from specbench.errors import ScenarioError

# What outcomes follow from; the rest (reports, targets, this file) can change without a new run.
_DECIDING = (
    "analysis",
    "model",
    "plan/variance.py",
    "plan/trials.py",
    *(f"engine/{name}.py" for name in ("core/scheduler", "core/kv", "core/setup", "timing/roofline")),
    *(f"calibrate/{name}.py" for name in ("simulators", "synthetic_runs", "whole_runs", "single_comparisons", "faults")),
    *(f"calibrate/{name}.py" for name in ("engine_simulation", "live_runs")),
    "calibrate/worlds",
    "calibrate/answering_worlds/token_models.py",
    "calibrate/answering_worlds/decoding_arms.py",
    "calibrate/answering_worlds/compared_arms.py",
    "calibrate/answering_worlds/answer_cases.py",
)


_OBJECTS_BETWEEN = 200_000  # made between two looks of the collector


@dataclass(frozen=True, slots=True)
class RunBatch:
    """The runs `first` to `last` - 1 of one campaign, kept in one file."""

    campaign: str
    first: int
    last: int

    @property
    def file(self) -> str:
        """The part's file name."""
        return f"{self.campaign}.{self.first:04d}-{self.last:04d}.json"


def batches_of(campaigns: Iterable[Campaign], most: int | None = None) -> tuple[RunBatch, ...]:
    """All parts of these campaigns, in their order; with `most`, of the first so many runs of each."""
    parts = []
    for campaign in campaigns:
        count = campaign.count if most is None else min(campaign.count, most)
        parts += [RunBatch(campaign.name, first, min(first + campaign.part, count)) for first in range(0, count, campaign.part)]
    return tuple(parts)


def chosen(names: Sequence[str], *, real: bool) -> tuple[Campaign, ...]:
    """The campaigns of these names, or whose names begin so; all simulated ones where none is named, the real ones if asked.

    Raises:
        ScenarioError: No campaign has such a name.
    """
    if not names:
        return tuple(campaign for campaign in CAMPAIGNS if real or not campaign.real)
    for name in names:
        if not any(campaign.name.startswith(name) for campaign in CAMPAIGNS):
            raise ScenarioError(f"{name}: no campaign begins so; known are {', '.join(c.name for c in CAMPAIGNS)}")
    return tuple(campaign for campaign in CAMPAIGNS if campaign.name.startswith(tuple(names)))


def run_batches(folder: Path, parts: Sequence[RunBatch], jobs: int, say: Callable[[str], None]) -> None:
    """Makes those of the parts that are missing in `folder`; simulated ones by `jobs` processes, real ones one after another.

    The first runs of every campaign come first, so that a table that is stopped has something of each row.

    Args:
        jobs: Processes; with 1 all runs in this one.
        say: Takes a line of progress for each part.
    """
    folder.mkdir(parents=True, exist_ok=True)
    missing = sorted((part for part in parts if _kept(folder, part) is None), key=_place_in_campaign)
    apart = [part for part in missing if jobs > 1 and not _campaign(part).real]
    here = [part for part in missing if part not in apart]
    for done, file in enumerate(chain(_side_by_side(folder, apart, jobs), (make_batch(folder, part) for part in here)), 1):
        say(f"{done} of {len(missing)} parts: {file}")


def _place_in_campaign(part: RunBatch) -> float:
    return part.first / _campaign(part).count


def _side_by_side(folder: Path, parts: Sequence[RunBatch], jobs: int) -> Iterator[str]:
    if not parts:
        return
    # Workers start afresh: a fork would copy whatever threads and locks this process holds.
    with ProcessPoolExecutor(max_workers=jobs, mp_context=get_context("spawn")) as pool:
        for future in as_completed([pool.submit(make_batch, folder, part) for part in parts]):
            yield future.result()


def make_batch(folder: Path, part: RunBatch) -> str:
    """Runs one part and keeps its outcomes; gives the file's name."""
    # Runs leave no cycles worth looking for, and looking takes a sixth of their time.
    threshold = gc.get_threshold()
    gc.set_threshold(_OBJECTS_BETWEEN, *threshold[1:])
    outcomes = [_campaign(part).outcome(index, folder) for index in range(part.first, part.last)]
    gc.set_threshold(*threshold)
    text = json.dumps({"code": fingerprint(), "outcomes": outcomes}, sort_keys=True, indent=0)
    unfinished = folder / f".{part.file}.{os.getpid()}"
    unfinished.write_text(text + "\n", encoding="utf-8")
    unfinished.replace(folder / part.file)
    return part.file


def outcomes_in(folder: Path, parts: Sequence[RunBatch]) -> dict[str, list[Outcome]]:
    """The outcomes of every campaign by its name, in their order, as far as these parts are there; none of the others."""
    found: dict[str, list[Outcome]] = {campaign.name: [] for campaign in CAMPAIGNS}
    for part in parts:
        found[part.campaign].extend(_kept(folder, part) or [])
    return found


@cache
def fingerprint() -> str:
    """A digest of the code that outcomes follow from."""
    root = Path(specbench.__file__).parent
    files = [file for name in _DECIDING for file in _sources(root / name)]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]


def _campaign(part: RunBatch) -> Campaign:
    return next(campaign for campaign in CAMPAIGNS if campaign.name == part.campaign)


def _sources(place: Path) -> list[Path]:
    return sorted(place.rglob("*.py")) if place.is_dir() else [place]


def _kept(folder: Path, part: RunBatch) -> list[Outcome] | None:
    file = folder / part.file
    if not file.exists():
        return None
    kept = json.loads(file.read_text(encoding="utf-8"))
    outcomes: list[Outcome] = kept["outcomes"]
    return outcomes if kept["code"] == fingerprint() else None
