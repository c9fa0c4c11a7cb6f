"""The commands that look something up: what a run or a word means, and which runs there are."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from specbench.cli.help import add
from specbench.cli.printing import AsJson, Color, Quiet, run_named, this_screen
from specbench.errors import DataError
from specbench.run.output import deliver, say

if TYPE_CHECKING:
    from specbench.report.terminal.screen import Screen

LATEST = "latest"


def register(app: typer.Typer) -> None:
    """Adds these commands to the application."""
    add(app, explain)
    add(app, list_runs, "list")


def explain(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[RUN] [WORD]", help="A run folder or latest; a word or a code; or RUN LOAD METRIC."),
    ] = None,
    as_json: AsJson = False,
    color: Color = "auto",
) -> None:
    """Explain a run, a word or code of its report, or the arithmetic of one finding."""
    from specbench.explain.glossary.lookup import entries_for, nearest
    from specbench.report.terminal.explanation import entry_text

    named = list(words or [])
    if not named or named[0] == LATEST or Path(named[0]).exists():
        _explain_run(Path(named[0]) if named else None, named[1:], as_json, this_screen(color))
        return
    word = " ".join(named)
    found = entries_for(word)
    if not found and "/" in word:
        raise DataError(f"{word}: no such run folder; list the runs with: specbench list")
    if not found:
        hint = nearest(word)
        meant = f"did you mean {hint}?" if hint else "see docs/glossary.md"
        raise DataError(f"{word}: no such word, code or run folder; {meant}")
    if as_json:
        deliver(json.dumps([asdict(entry) for entry in found], indent=2, ensure_ascii=False))
        return
    screen = this_screen(color)
    say(entry_text(found, screen).rstrip("\n"), styled=screen.color)


def _explain_run(run: Path | None, rest: list[str], as_json: bool, screen: "Screen") -> None:
    """The run at length; with one word what it says under that code, with a load and a metric the arithmetic of that finding."""
    from specbench.explain.glossary.lookup import entries_for
    from specbench.report import read_result
    from specbench.report.terminal.explanation import as_document, entry_text, explanation, finding_text, reasons_of

    result = read_result(run_named(run))
    if len(rest) > 2:
        raise typer.BadParameter("RUN LOAD METRIC at most; put words with blanks in quotes", param_hint="[RUN] [WORD]")
    if as_json and not rest:
        deliver(json.dumps(as_document(result), indent=2, ensure_ascii=False))
        return
    text = explanation(result, screen)
    if len(rest) == 2:
        text = finding_text(result, rest[0], rest[1], screen)
    elif rest:
        text = "\n".join(filter(None, (entry_text(entries_for(rest[0]), screen), reasons_of(result, rest[0], screen))))
    if not text:
        raise DataError(f"{rest[0]}: no such word or code; a load needs a metric too: specbench explain RUN LOAD METRIC")
    say(text.rstrip("\n"), styled=screen.color)


def list_runs(
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="A folder with run folders.")] = Path("reports"),
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="At most the newest N.")] = 20,
    quiet: Quiet = False,
    as_json: AsJson = False,
    color: Color = "auto",
) -> None:
    """List the runs in a folder, newest first, with verdict, change and finding."""
    from specbench.report.runs import run_folders, runs_in
    from specbench.report.terminal.run_table import run_lines

    runs = runs_in(folder, limit)
    if as_json:
        deliver(json.dumps([asdict(run) | {"folder": str(run.folder)} for run in runs], indent=2, ensure_ascii=False))
        return
    screen = this_screen(color)
    if quiet:
        say("\n".join(f"{run.verdict or 'none'}  {run.folder}" for run in runs))
        return
    say(run_lines(runs, screen, len(run_folders(folder)) - len(runs)), styled=screen.color)
