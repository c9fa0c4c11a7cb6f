"""Requests and events of a run as CSV or Parquet, one row each, in the facts' own units. Nothing is derived or judged here.

Two tables: `requests` (one row per request, failed ones too) and `events` (one row per content event); `block` and `index`
together name a request in both. Rows are written in batches, so that memory does not grow with the run.
"""

import csv
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from specbench.errors import DataError
from specbench.model.records import Block, RequestRecord

Kind = Literal["csv", "parquet"]
Write = Callable[[pd.DataFrame], None]
BATCH = 2_000  # requests; some hundred events each

# Column: its type, which holds for a column without any value too.
REQUESTS = {
    "block": "string",
    "index": "Int64",
    "cell": "string",
    "arm": "string",
    "pair": "Int64",
    "concurrency": "Int64",
    "rate": "Float64",
    "stream": "Int64",
    "bin": "string",
    "sampling": "string",
    "max_tokens": "Int64",
    "scheduled_ns": "Int64",
    "sent_ns": "Int64",
    "connect_ns": "Int64",
    "retries": "Int64",
    "outcome": "string",
    "reason": "string",
    "status": "Int64",
    "first_event_ns": "Int64",
    "last_event_ns": "Int64",
    "first_answer_ns": "Int64",
    "end_ns": "Int64",
    "events": "Int64",
    "steps": "Int64",
    "censored": "Int64",
    "prompt_tokens": "Int64",
    "output_tokens": "Int64",
    "cached_tokens": "Int64",
    "finish_reason": "string",
    "stamp_source": "string",
    "token_source": "string",
    "rounds": "Int64",
    "drafted": "Int64",
    "accepted": "Int64",
    "text_chars": "Int64",
    "text_sha256": "string",
    "looping": "boolean",
    "flags": "string",
}
FORMULA = tuple("=+-@\t\r\n＝＋－＠")
"""What a cell begins with that a spreadsheet takes for a formula, or for the end of the cell before it."""

EVENTS = {
    "block": "string",
    "index": "Int64",
    "event": "Int64",
    "step": "Int64",
    "since_sent_ns": "Int64",
    "tokens": "Int64",
    "censored": "boolean",
}


def request_row(record: RequestRecord, block: Block | None) -> tuple[Any, ...]:
    """One request in the order of `REQUESTS`; what its block says is None where the block is not known."""
    counted = record.acceptance
    place = (block.cell, block.arm, block.pair, block.concurrency, block.rate) if block is not None else (None,) * 5
    times = record.event_ns
    return (
        record.block,
        record.index,
        *place,
        record.stream,
        record.bin,
        record.sampling,
        record.max_tokens,
        record.scheduled_ns,
        record.sent_ns,
        record.connect_ns,
        record.retries,
        record.outcome,
        record.reason,
        record.status,
        times[0] if times else None,
        times[-1] if times else None,
        record.first_answer_ns,
        record.end_ns,
        len(times),
        len(times) if record.step_events is None else len(record.step_events),
        len(record.censored),
        record.prompt_tokens,
        record.output_tokens,
        record.cached_tokens,
        record.finish_reason,
        record.stamp_source,
        record.token_source,
        *((counted.rounds, counted.drafted, counted.accepted) if counted is not None else (None,) * 3),
        record.text_chars,
        record.text_sha256,
        record.looping,
        " ".join(record.flags),
    )


def event_rows(record: RequestRecord) -> Iterator[tuple[Any, ...]]:
    """The content events of one request in the order of `EVENTS`; times are since it was sent."""
    sizes = (1,) * len(record.event_ns) if record.step_events is None else record.step_events
    steps = (step for step, size in enumerate(sizes) for _ in range(size))
    late = set(record.censored)
    for event, (step, time_ns, tokens) in enumerate(zip(steps, record.event_ns, record.event_tokens, strict=True)):
        yield record.block, record.index, event, step, time_ns, tokens, event in late


def frame(rows: Iterable[tuple[Any, ...]], columns: Mapping[str, str]) -> pd.DataFrame:
    """The rows as a table whose columns have the same types whatever is absent."""
    return pd.DataFrame.from_records(list(rows), columns=list(columns)).astype(dict(columns))


def write_tables(folder: Path, kind: Kind, blocks: Iterable[Block], records: Iterable[RequestRecord]) -> tuple[Path, Path]:
    """Writes both tables into the folder and returns their paths; the records are passed over once.

    Raises:
        DataError: The folder cannot be written, or Parquet was asked for and pyarrow is not installed.
    """
    known = {block.id: block for block in blocks}
    files = folder / f"requests.{kind}", folder / f"events.{kind}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            requests, events = (WRITERS[kind](file, stack) for file in files)
            for batch in _batches(records):
                requests(frame((request_row(record, known.get(record.block)) for record in batch), REQUESTS))
                events(frame((row for record in batch for row in event_rows(record)), EVENTS))
    except OSError as error:
        raise DataError(f"{folder}: cannot be written: {error.strerror}") from None
    return files


def as_cell(text: str) -> str:
    """The text as a cell of CSV may hold it: without control characters, and quoted where a spreadsheet would compute it."""
    shown = "".join(one if one.isprintable() or one in "\t\r\n" else " " for one in text)
    return f"'{shown}" if shown.startswith(FORMULA) else shown


def _batches(records: Iterable[RequestRecord]) -> Iterator[list[RequestRecord]]:
    source = iter(records)
    batch = list(islice(source, BATCH))
    yield batch  # the first one even where it is empty, so that a table without rows has its head
    while batch := list(islice(source, BATCH)):
        yield batch


def _no_link(path: str, flags: int) -> int:
    """Opens the file, unless it is a link: a run folder may come from others, and nothing outside is written."""
    return os.open(path, flags | os.O_NOFOLLOW, 0o666)


def _csv(file: Path, stack: ExitStack) -> Write:
    out = stack.enter_context(open(file, "w", encoding="utf-8", newline="", opener=_no_link))  # noqa: SIM115 - so it is

    def write(table: pd.DataFrame) -> None:
        head = out.tell() == 0
        texts = [name for name in table.columns if table[name].dtype == "string"]
        table = table.assign(**{name: table[name].map(as_cell, na_action="ignore") for name in texts})
        text = table.to_csv(index=False, header=head, lineterminator="\n")
        if "\r" in text:  # the csv module leaves a bare one unquoted, and readers take it for the end of a row
            text = table.to_csv(index=False, header=head, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
        out.write(text)

    return write


def _parquet(file: Path, stack: ExitStack) -> Write:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise DataError("parquet needs pyarrow: pip install 'specbench-llm[parquet]', or ask for csv") from None
    writers: list[Any] = []

    def write(table: pd.DataFrame) -> None:
        rows = pyarrow.Table.from_pandas(table, preserve_index=False)
        if not writers:
            taking = stack.enter_context(open(file, "wb", opener=_no_link))  # noqa: SIM115 - so it is
            writers.append(stack.enter_context(parquet.ParquetWriter(taking, rows.schema, compression="zstd")))
        writers[0].write_table(rows)

    return write


WRITERS: dict[Kind, Callable[[Path, ExitStack], Write]] = {"csv": _csv, "parquet": _parquet}
