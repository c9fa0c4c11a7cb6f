"""From a surveyed dataset to the rows that are sent: lengths, bins, a seeded sample of each, and the census of it all.

The sample of a bin are the rows whose content has the smallest digests, so it is the same whatever the order of the lines. Shares
and counts are the whole file's; at most 500 rows a bin are counted exactly, and what that puts outside the bin leaves it.
"""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from specbench.errors import DataError
from specbench.model.data.datasets import Census, DatasetReading
from specbench.model.scenario import Bin, Workload
from specbench.prompts.dataset.row import Row
from specbench.prompts.dataset.survey import Numbers, Survey, rows_at, survey
from specbench.prompts.lengths import Floats, ScriptRatios, TextCounter, fitted

SAMPLE_BYTES = 1 << 20
COUNTED = 500  # rows of a bin that are counted exactly
FITTED, FITTED_RECORDED = 200, 2_000  # rows that the ratios are fitted to
LEAST_RECORDED = 20
FALLS_BACK_S = 1.0
RECORDED = "the file's own record"


@dataclass(frozen=True, slots=True)
class Dataset:
    """The rows that may be sent, by bin, and what is known of the whole file. `compresses`: their text so many times to one."""

    rows: Mapping[str, tuple[Row, ...]]
    census: Census
    compresses: float = 1.0

    @property
    def texts(self) -> list[str]:
        """The texts of all rows that have one."""
        return [row.text for rows in self.rows.values() for row in rows if not row.made_up]


@dataclass(frozen=True, slots=True)
class RowLengths:
    """(n,) tokens of each request's prompt and answer, the latter NaN where not known, and the ratios that they rest on."""

    before: Floats
    after: Floats
    ratios: ScriptRatios


def read_dataset(path: Path, workload: Workload, seed: int, counter: TextCounter | None, largest: int = 1) -> Dataset:
    """The rows of the file that the workload's bins take, with their census.

    Args:
        counter: what counts tokens; None where nothing can.
        largest: the streams of the largest load, as many as each bin must have rows.

    Raises:
        DataError: the file cannot be read (file and line), holds no usable row, or too few for a bin.
    """
    surveyed = survey(path, workload.reading, seed, workload.route)
    lengths = lengths_of(surveyed, workload.reading, counter)
    dataset = sampled(surveyed, workload.bins, workload.reading, lengths, counter)
    _check_bins(dataset, surveyed, workload.bins, lengths, largest)
    return dataset


def lengths_of(surveyed: Survey, reading: DatasetReading, counter: TextCounter | None) -> RowLengths:
    """The lengths of all requests: by the counter's ratios, else as recorded and by the record's ratios, else by stated ones."""
    ratios = _ratios(surveyed, reading, counter)
    before = ratios.of(surveyed.characters)
    recorded = surveyed.before >= 0
    own = recorded if counter is None or ratios.counted_by != counter.name else recorded & surveyed.made_up
    answers = ratios.of(surveyed.answer)
    after = np.where(surveyed.after >= 0, surveyed.after, np.where(answers > 0, np.maximum(answers, 1.0), np.nan))
    return RowLengths(np.maximum(np.rint(np.where(own, surveyed.before, before)), 1.0), np.rint(after), ratios)


def sampled(
    surveyed: Survey, bins: Sequence[Bin], reading: DatasetReading, lengths: RowLengths, counter: TextCounter | None
) -> Dataset:
    """The sample of each bin, and the census of the file."""
    place = bin_of_rows(surveyed, bins, lengths)
    chosen = {
        band.name: _smallest(surveyed.digest, np.flatnonzero(place == number), reading.sample) for number, band in enumerate(bins)
    }
    rows = _rows_of(surveyed, np.concatenate(list(chosen.values())), reading)
    counted, left = 0, 0
    kept: dict[str, tuple[Row, ...]] = {}
    for band in bins:
        own = chosen[band.name]
        exact = _counted(own, rows, counter)
        counted += len(exact)
        inside = _still_inside(own, exact, lengths.before, band)
        left += len(own) - len(inside)
        kept[band.name] = tuple(rows[int(one)] for one in inside)
    digests, copies = np.unique(surveyed.digest, return_counts=True)
    used = place >= 0
    census = Census(
        path=surveyed.path.name,
        bytes=surveyed.bytes,
        sha256=surveyed.sha256,
        shapes=surveyed.shapes,
        rows=surveyed.rows,
        used=int(used.sum()),
        bins={band.name: int((place == number).sum()) for number, band in enumerate(bins)},
        sampled={name: len(found) for name, found in kept.items()},
        outside=_outside(surveyed, bins, lengths, place),
        skipped=surveyed.skipped,
        copies=int(copies.sum()) - len(digests),
        counted=_how(surveyed, lengths.ratios),
        counted_exactly=counted or int(((surveyed.before >= 0) & used).sum()) * (counter is None),
        left=left,
        made_up=sum(row.made_up for found in kept.values() for row in found),
        unsorted=_unsorted(surveyed.at_s),
        output_lengths=bool(np.isfinite(lengths.after).any()),
    )
    return Dataset(kept, census, _compression(kept))


def bin_of_rows(surveyed: Survey, bins: Sequence[Bin], lengths: RowLengths) -> Numbers:
    """(n,) the place of the first bin that takes each request, −1 where none does."""
    place = np.full(len(surveyed.digest), -1, dtype=np.int64)
    for number, band in enumerate(bins):
        fits = _within(lengths.before, band.input_tokens) & _labelled(surveyed, band)
        fits &= np.isnan(lengths.after) | _within(lengths.after, band.output_tokens)
        place[(place < 0) & fits] = number
    return place


def _within(tokens: Floats, band: tuple[int, int]) -> Numbers:
    found: Numbers = (tokens >= band[0]) & (tokens <= band[1])
    return found


def _labelled(surveyed: Survey, band: Bin) -> Numbers:
    if not band.label:
        return np.ones(len(surveyed.digest), dtype=bool)
    found: Numbers = np.isin(surveyed.label, [surveyed.labels.index(one) for one in band.label if one in surveyed.labels])
    return found


def _outside(surveyed: Survey, bins: Sequence[Bin], lengths: RowLengths, place: Numbers) -> dict[str, int]:
    """How many requests no bin takes: by their label, their answer, or a prompt below, above or between the bands."""
    out = place < 0
    fitting = [_labelled(surveyed, band) for band in bins]
    named = np.logical_or.reduce(fitting)
    ends = np.array([band.input_tokens for band in bins], dtype=np.float64)
    low = np.min(np.where(np.array(fitting), ends[:, :1], np.inf), axis=0)
    high = np.max(np.where(np.array(fitting), ends[:, 1:], -np.inf), axis=0)
    in_band = [_within(lengths.before, band.input_tokens) for band in bins]
    by_input = np.logical_or.reduce([fits & own for fits, own in zip(in_band, fitting, strict=True)])
    counts = {
        "label": out & ~named,
        "below": out & named & (lengths.before < low),
        "above": out & named & (lengths.before > high),
        "output": out & by_input,
    }
    found = {name: int(mask.sum()) for name, mask in counts.items()}
    found["between"] = int(out.sum()) - sum(found.values())
    return {name: count for name, count in found.items() if count}


def _smallest(digest: Numbers, places: Numbers, most: int) -> Numbers:
    """The places with the smallest digests, one for each content."""
    _, first = np.unique(digest[places], return_index=True)
    return places[first[:most]]


def _rows_of(surveyed: Survey, places: Numbers, reading: DatasetReading) -> dict[int, Row]:
    """The requests at these places of the columns, their times counted from the first one's."""
    at = {(int(surveyed.number[one]), int(surveyed.turn[one])): int(one) for one in places}
    began = np.nanmin(surveyed.at_s) if np.isfinite(surveyed.at_s).any() else 0.0
    found = list(rows_at(surveyed.path, reading, set(at)))
    if len(found) < len(at):
        raise DataError(f"{surveyed.path}: was changed while it was read; try again")
    return {at[where]: row if row.at_s is None else row._replace(at_s=row.at_s - float(began)) for where, row in found}


def _ratios(surveyed: Survey, reading: DatasetReading, counter: TextCounter | None) -> ScriptRatios:
    with_text = np.flatnonzero(~surveyed.made_up)
    if counter is not None:
        places = _smallest(surveyed.digest, with_text, FITTED)
        rows = _rows_of(surveyed, places, reading)
        counts = counter.count([rows[int(one)].whole_text for one in places])
        known = [(one, count) for one, count in zip(places, counts, strict=True) if count]
        if known:
            chosen = np.array([one for one, _ in known])
            return fitted(surveyed.characters[chosen], np.array([count for _, count in known], dtype=np.float64), counter.name)
    recorded = with_text[surveyed.before[with_text] > 0]
    if len(recorded) < LEAST_RECORDED:
        return ScriptRatios()
    places = _smallest(surveyed.digest, recorded, FITTED_RECORDED)
    return fitted(surveyed.characters[places], surveyed.before[places].astype(np.float64), RECORDED)


def _counted(places: Numbers, rows: Mapping[int, Row], counter: TextCounter | None) -> dict[int, int]:
    """The exact tokens of some of these rows."""
    some = [int(one) for one in places[:COUNTED] if not rows[int(one)].made_up]
    if counter is None or not some:
        return {}
    counts = counter.count([rows[one].whole_text for one in some])
    return {one: count for one, count in zip(some, counts, strict=True) if count}


def _still_inside(places: Numbers, exact: Mapping[int, int], estimated: Floats, band: Bin) -> Numbers:
    """The places whose exact count, or whose estimate by the counted ones' ratio, lies in the band."""
    if not exact:
        return places
    of_counted = sum(estimated[one] for one in exact)
    ratio = sum(exact.values()) / of_counted if of_counted else 1.0
    tokens = np.array([exact.get(int(one), round(estimated[one] * ratio)) for one in places], dtype=np.float64)
    return places[_within(tokens, band.input_tokens)]


def _how(surveyed: Survey, ratios: ScriptRatios) -> str:
    if len(surveyed.digest) and bool((surveyed.made_up & (surveyed.before >= 0)).all()):
        return RECORDED
    return ratios.counted_by or "estimated"


def _unsorted(at_s: Floats) -> int:
    known = at_s[np.isfinite(at_s)]
    return int((known < np.maximum.accumulate(known) - FALLS_BACK_S).sum()) if len(known) else 0


def _compression(rows: Mapping[str, Sequence[Row]]) -> float:
    """How many times smaller the texts are compressed."""
    text = "\n".join(row.text for found in rows.values() for row in found).encode()[:SAMPLE_BYTES]
    return len(text) / len(zlib.compress(text))


def _check_bins(dataset: Dataset, surveyed: Survey, bins: Sequence[Bin], lengths: RowLengths, largest: int) -> None:
    """Nothing, where each bin has a row for each stream of the largest load."""
    for band in bins:
        count = len(dataset.rows[band.name])
        if count >= max(1, largest):
            continue
        low, high = band.input_tokens
        labels = f" and the label {' or '.join(band.label)}" if band.label else ""
        held = f"none of its {len(surveyed.digest):,} prompts has" if not count else f"only {count:,} of its prompts have"
        streams = f", and the largest load needs {largest:,}" if count else ""
        ends = ", ".join(f"p{at} {np.percentile(lengths.before, at):.0f}" for at in (1, 50, 99))
        reasons = "".join(f"; {number:,} skipped: {reason}" for reason, number in list(surveyed.skipped.items())[:3])
        raise DataError(
            f"{surveyed.path}: {held} the {low} to {high} tokens{labels} of bin {band.name}{streams}; its prompts have {ends}"
            f" tokens{reasons}; for bins that fit: specbench bins {surveyed.path}"
        )
