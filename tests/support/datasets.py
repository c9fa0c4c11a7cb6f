"""Datasets for tests: files of rows, workloads over them, and what is read of them."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from specbench.model.data.datasets import DatasetReading
from specbench.model.scenario import Bin, Sampling, Workload
from specbench.prompts.dataset.sample import Dataset, read_dataset
from specbench.prompts.lengths import TextCounter

WORDS = TextCounter("words", lambda texts: [len(text.split()) for text in texts])


def one_bin(low: int = 1, high: int = 1_000_000, name: str = "all", label: tuple[str, ...] = ()) -> Bin:
    """A bin that takes prompts of this length, and any answer."""
    return Bin(name=name, input_tokens=(low, high), output_tokens=(1, 1_000_000), weight=1.0, label=label)


def workload(*bins: Bin, reading: DatasetReading | None = None) -> Workload:
    """Chat over a dataset."""
    return Workload(
        corpus=None,
        dataset="d.jsonl",
        route="chat",
        length="natural",
        streaming=True,
        shared_prefix_tokens=0,
        bins=bins or (one_bin(),),
        sampling=(Sampling(name="greedy", temperature=0.0, top_p=None, top_k=None, seed=None),),
        reading=reading or DatasetReading(),
    )


def lines(path: Path, rows: Iterable[Any]) -> Path:
    """The file, with a line of JSON for each row."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def read(path: Path, *bins: Bin, counter: TextCounter | None = None, reading: DatasetReading | None = None) -> Dataset:
    """The dataset in these bins."""
    return read_dataset(path, workload(*bins, reading=reading), 0, counter)


def texts_in(path: Path) -> list[str]:
    """All texts of the file, in the order in which they stand there."""
    rows = [row for found in read(path).rows.values() for row in found]
    return [row.text for row in sorted(rows, key=lambda row: (row.number, row.turn))]
