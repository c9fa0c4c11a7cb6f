"""Every form in which a result leaves the program: one file per format, one row in `FORMATS`. Nothing is judged here.

A format's module is imported when it is asked for, so that text and JSON need neither matplotlib nor pandas nor Jinja.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from specbench.credentials import printable
from specbench.errors import DataError, did_you_mean
from specbench.model.result import Result
from specbench.report.formats.result_json import read_result, result_json, schema, tune_schema
from specbench.store import REPORT, stream_run, write_atomically, write_in_run

__all__ = ["FORMATS", "TABLES", "Format", "read_result", "render", "result_json", "schema", "tune_schema", "write_report"]


@dataclass(frozen=True, slots=True)
class Format:
    """One output format: the function that makes it, by name, and the file it goes to (None: standard output)."""

    module: str
    function: str
    file: str | None

    def of(self, result: Result) -> str | bytes:
        """The result in this format."""
        made: Callable[[Result], str | bytes] = getattr(import_module(f"specbench.report.formats.{self.module}"), self.function)
        return made(result)


FORMATS: dict[str, Format] = {
    "html": Format("html", "html", REPORT),
    "text": Format("text", "text", None),
    "json": Format("result_json", "result_json", None),
    "markdown": Format("markdown", "markdown", None),
    "comment": Format("markdown", "comment", None),
    "annotations": Format("github", "annotations", None),
    "outputs": Format("github", "outputs", None),
    "junit": Format("junit", "junit", "junit.xml"),
    "prometheus": Format("prometheus", "prometheus", "specbench.prom"),
    "gitlab": Format("prometheus", "gitlab", "metrics.txt"),
    "badge": Format("badge", "badge", "badge.json"),
    "policy": Format("policy", "policy", None),
}


# Formats that hold names and labels as they are told; the others make them fit for a terminal themselves.
_AS_IT_IS = ("prometheus", "gitlab", "badge", "policy")
TABLES = ("csv", "parquet")  # made of the run's records, not of its result, and two files each


def render(result: Result, format: str) -> str | bytes:
    """The result in that format.

    Raises:
        DataError: There is no such format.
    """
    if format not in FORMATS:
        known = (*FORMATS, *TABLES)
        raise DataError(f"there is no format {format!r}; the formats are {', '.join(known)}{did_you_mean(format, known)}")
    return FORMATS[format].of(result)


def write_report(run: Path, format: str, output: Path | None, say: Callable[[str], None] = lambda _: None) -> Path | bytes:
    """A run folder's report in that format: where it was written to, or its bytes where it goes to standard output.

    `output` of '-' means standard output whatever the format; for the tables it is the folder that takes them.
    `say` is told what of a damaged run is not in its tables; the other formats hold that themselves.

    Raises:
        DataError: There is no such format, the run cannot be read, or the file cannot be written.
    """
    if format in TABLES:
        return _write_tables(run, format, output, say)
    found = FORMATS.get(format)
    made = _text(run) if format == "text" else render(read_result(run), format)
    content = made.encode() if isinstance(made, str) else made
    if format in _AS_IT_IS:
        content = printable(content.decode()).encode()
    file = output if output is not None else run / found.file if found is not None and found.file is not None else None
    if file is None or str(file) == "-":
        return content
    (write_in_run if output is None else write_atomically)(file, content)
    return file


def _text(run: Path) -> str:
    """The text, which names the folder in the commands that it ends with."""
    from specbench.report.formats.text import TextOptions, text

    return text(read_result(run), TextOptions(folder=run))


def _write_tables(run: Path, kind: str, output: Path | None, say: Callable[[str], None]) -> Path:
    from specbench.analysis.attempts import counted_blocks
    from specbench.report.formats.tables import write_tables

    if output is not None and str(output) == "-":
        raise DataError(f"{kind} is two tables, requests and events: name a folder for them with -o")
    folder = output if output is not None else run / "tables"
    blocks, records = stream_run(run, say)
    write_tables(folder, "parquet" if kind == "parquet" else "csv", counted_blocks(blocks), records)
    return folder
