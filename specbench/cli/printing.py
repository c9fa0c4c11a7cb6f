"""How commands print: their common options, what the terminal can show, and a result as text, line or JSON."""

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TextIO

import typer

from specbench.cli.completion import runs
from specbench.run.output import deliver, say, tell

if TYPE_CHECKING:
    from specbench.model.result import Result
    from specbench.model.tuning.tune_values import Tune
    from specbench.report.terminal.screen import Screen

ColorWhen = Literal["auto", "always", "never"]
OUTPUT = "Output"
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", rich_help_panel=OUTPUT, help="Add all metrics, checks, reasons and notes.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", rich_help_panel=OUTPUT, help="Print the verdict line only.")]
AsJson = Annotated[bool, typer.Option("--json", rich_help_panel=OUTPUT, help="Print JSON instead of text.")]
Color = Annotated[
    ColorWhen, typer.Option("--color", metavar="WHEN", rich_help_panel=OUTPUT, help="auto, always or never.", show_default=True)
]
NewRun = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", rich_help_panel=OUTPUT, help="The new run folder; default reports/NAME-TIME."),
]
OutputFile = Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", rich_help_panel=OUTPUT, help="Where to.")]
AnyRun = Annotated[
    Path | None,
    typer.Argument(
        metavar="[RUN]", help="A run folder, such as reports/code-20261129-101500; default: latest.", autocompletion=runs
    ),
]


def this_screen(color: ColorWhen = "auto", stream: TextIO | None = None) -> "Screen":
    """What standard output can show: its width, colours on a terminal that takes them, plain characters where it lacks others."""
    from specbench.report.terminal.screen import BEYOND_ASCII, WIDTH, Screen

    out = sys.stdout if stream is None else stream
    width = shutil.get_terminal_size((WIDTH, 24)).columns
    return Screen(width=width, color=_colored(color, out), ascii=not _writes(out, BEYOND_ASCII))


def _colored(when: ColorWhen, out: TextIO | None) -> bool:
    if when != "auto":
        return when == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    try:
        return out is not None and out.isatty() and os.environ.get("TERM", "") != "dumb"
    except ValueError:  # it is closed
        return False


def _writes(out: TextIO | None, text: str) -> bool:
    """Whether the stream has all of these characters."""
    try:
        text.encode(getattr(out, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def check_one_of(verbose: bool, quiet: bool, as_json: bool) -> None:
    """Refuses options that contradict each other."""
    given = [name for name, is_set in (("--verbose", verbose), ("--quiet", quiet), ("--json", as_json)) if is_set]
    if len(given) > 1:
        raise typer.BadParameter(f"give one of them: {', '.join(given)}", param_hint=given[0])


def run_named(run: Path | None) -> Path:
    """The run's folder; says on standard error which one it is where it was not named."""
    from specbench.report.runs import named_run

    folder, said = named_run(run)
    if said is not None:
        tell(f"specbench: {said}")
    return folder


def run_or_folder(path: Path) -> Path:
    """The folder that a path or 'latest' means, be it a run or not; says on standard error which run was chosen."""
    from specbench.report.runs import run_folder

    folder, said = run_folder(path)
    if said is not None:
        tell(f"specbench: {said}")
    return folder


def print_result(
    result: "Result",
    folder: Path,
    *,
    verbose: bool = False,
    quiet: bool = False,
    as_json: bool = False,
    color: ColorWhen = "auto",
    exit_code: int | None = None,
) -> None:
    """Print the result as text, or as the verdict's line, or as JSON."""
    from specbench.report import result_json
    from specbench.report.formats.text import TextOptions, text

    if as_json:
        deliver(result_json(result))
        return
    screen = this_screen(color)
    options = TextOptions(folder=folder, verbose=verbose, quiet=quiet, exit_code=exit_code, screen=screen)
    say(text(result, options).rstrip("\n"), styled=screen.color)


def print_tune(found: "Tune", folder: Path, *, quiet: bool = False, as_json: bool = False) -> None:
    """Print a tune as its table, or in one line, or as JSON."""
    from specbench.explain.tuning.tune_sentences import heading
    from specbench.report.terminal.tune_table import tune_table
    from specbench.store import pretty

    if as_json:
        deliver(pretty(found))
    else:
        say(heading(found) if quiet else tune_table(found, str(folder)))
