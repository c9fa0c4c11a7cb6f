"""The rows that the table and the page of a tune share: one a load, one figure a candidate, the pick and how sure it is."""

from dataclasses import dataclass
from typing import Literal

from specbench.credentials import printable_line
from specbench.explain.tuning import tune_sentences as words
from specbench.model.metrics import METRICS
from specbench.model.tuning.tune_values import BASELINE, LoadFigure, LoadPick, Tune

Tone = Literal["good", "bad", "flat"]
PAGE = "tune.html"
ABSENT = "-"
CLEAR = 0.005  # a change that rounds to a whole percent has a colour


@dataclass(frozen=True, slots=True)
class TuneCell:
    """What one candidate showed at one load: its change against the baseline, what was predicted, and whether it is the pick."""

    measured: str
    predicted: str
    tone: Tone
    ruled_out: str | None
    is_pick: bool


@dataclass(frozen=True, slots=True)
class TuneRow:
    """One load: a cell for each candidate, no speculation first."""

    streams: str
    cells: tuple[TuneCell, ...]
    pick: str
    sure: str


@dataclass(frozen=True, slots=True)
class TriedRow:
    """One candidate: in how many series it was started, and why no more; `folder`: of its run, where there is one."""

    name: str
    series: int
    reason: str
    folder: str


def column_names(tune: Tune) -> tuple[str, ...]:
    """The candidates' names, no speculation first."""
    return (BASELINE, *(one.candidate.name for one in tune.candidates))


def heads_of(tune: Tune) -> tuple[str, ...]:
    """What stands above the candidates' columns: a depth alone where that says all."""
    return tuple(map(words.candidate_head, column_names(tune)))


def tune_rows(tune: Tune) -> tuple[TuneRow, ...]:
    """A row for each load, by rising load."""
    higher = METRICS[tune.rules.metric].direction == "higher"
    names = column_names(tune)
    return tuple(
        TuneRow(
            streams=str(load.streams),
            cells=tuple(_cell(load, name, higher=higher) for name in names),
            pick=words.pick_name(load),
            sure=words.sure(load.sure) if load.pick else "",
        )
        for load in tune.loads
    )


def tried_rows(tune: Tune) -> tuple[TriedRow, ...]:
    """A row for each candidate, as they were tried."""
    return tuple(
        TriedRow(one.candidate.name, one.series, printable_line(one.reason or ""), one.candidate.name if one.series else "")
        for one in tune.candidates
    )


def has_predictions(tune: Tune) -> bool:
    """Whether anything was predicted of a candidate that was measured."""
    return any(one.predicted is not None for load in tune.loads for one in load.figures)


def cell_text(load: LoadPick, name: str) -> str:
    """The change against the baseline; a bracket where it may not be picked."""
    found = _figure(load, name)
    if found is None or found.ratio is None:
        return ABSENT
    shown = "0 %" if name == BASELINE else words.change(found.ratio)
    return f"[{shown}]" if found.ruled_out is not None else shown


def _figure(load: LoadPick, name: str) -> LoadFigure | None:
    return next((one for one in load.figures if one.candidate == name), None)


def _cell(load: LoadPick, name: str, *, higher: bool) -> TuneCell:
    found = _figure(load, name)
    ratio = None if found is None else found.ratio
    return TuneCell(
        measured=cell_text(load, name),
        predicted=ABSENT if found is None or found.predicted is None else words.change(found.predicted),
        tone="flat" if ratio is None or abs(ratio - 1) < CLEAR else "good" if (ratio > 1) == higher else "bad",
        ruled_out=None if found is None else found.ruled_out,
        is_pick=load.pick == name,
    )
