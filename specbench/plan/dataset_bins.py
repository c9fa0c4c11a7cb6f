"""Bins proposed for a dataset, and what the dataset holds: the job of `specbench bins`."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from specbench.errors import DataError
from specbench.model.data.dataset_summary import PERCENTILES, Arrivals, DatasetSummary
from specbench.model.data.datasets import DatasetReading
from specbench.prompts.dataset.sample import RowLengths, bin_of_rows, lengths_of, sampled
from specbench.prompts.dataset.survey import Survey, survey
from specbench.prompts.lengths import TextCounter
from specbench.prompts.propose import groups_of, proposed_bins, weighted

MOST_SECONDS = 10_000_000  # of a trace, in which requests are counted second by second
MOST_SHOWN = 20  # labels


@dataclass(frozen=True, slots=True, kw_only=True)
class BinsRequest:
    """A dataset and how to look at it; `output`: the band of answers, None where the data are to say."""

    path: Path
    reading: DatasetReading
    seed: int = 0
    most: int = 6
    output: tuple[int, int] | None = None


def summary_of(order: BinsRequest, counter: TextCounter | None) -> DatasetSummary:
    """The dataset's bins and figures.

    Raises:
        DataError: the file cannot be read, hardly a row of it can be used, or none has the label.
    """
    surveyed = survey(order.path, order.reading, order.seed)
    if order.reading.label is not None and not surveyed.labels:
        raise DataError(f"{order.path}: no row has the field {order.reading.label} for a label; name another (dots go inwards)")
    lengths = lengths_of(surveyed, order.reading, counter)
    groups = groups_of(surveyed.label, surveyed.labels, order.most)
    proposed = proposed_bins(lengths.before, lengths.after, groups, order.most, order.output)
    place = bin_of_rows(surveyed, proposed, lengths)
    bins = weighted(proposed, [int((place == number).sum()) for number in range(len(proposed))])
    dataset = sampled(surveyed, bins, order.reading, lengths, counter)
    known = lengths.after[np.isfinite(lengths.after)]
    return DatasetSummary(
        census=replace(dataset.census, path=str(order.path)),
        bins=bins,
        input_tokens=_percentiles(lengths.before),
        output_tokens=_percentiles(known) if len(known) else None,
        labels=_label_shares(surveyed),
        same_beginning=_same_beginning(surveyed),
        arrivals=_arrivals(surveyed),
        output_measured=order.output is None and _has_answers(lengths),
    )


def _percentiles(tokens: NDArray[np.float64]) -> dict[str, int]:
    return {f"p{at}": round(float(np.percentile(tokens, at))) for at in PERCENTILES}


def _label_shares(surveyed: Survey) -> dict[str, float]:
    counts = np.bincount(surveyed.label[surveyed.label >= 0], minlength=len(surveyed.labels))
    order = sorted(range(len(surveyed.labels)), key=lambda place: (-counts[place], surveyed.labels[place]))
    return {surveyed.labels[place]: round(float(counts[place]) / len(surveyed.label), 4) for place in order[:MOST_SHOWN]}


def _same_beginning(surveyed: Survey) -> float:
    heads = surveyed.head[surveyed.head != 0]
    return float(np.unique(heads, return_counts=True)[1].max()) / len(surveyed.head) if len(heads) else 0.0


def _has_answers(lengths: RowLengths) -> bool:
    return bool(np.isfinite(lengths.after).any())


def _arrivals(surveyed: Survey) -> Arrivals | None:
    known = surveyed.at_s[np.isfinite(surveyed.at_s)]
    if len(known) < 2 or known.max() == known.min():
        return None
    span_s = float(known.max() - known.min())
    dispersion = None
    if 2 <= span_s <= MOST_SECONDS:
        counts = np.bincount((known - known.min()).astype(np.int64))[: int(span_s)]  # whole seconds alone
        dispersion = float(counts.var() / counts.mean()) if counts.mean() > 0 else None
    return Arrivals(span_s=span_s, rate_per_s=len(known) / span_s, dispersion=dispersion)
