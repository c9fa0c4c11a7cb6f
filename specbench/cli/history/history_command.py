"""`specbench history`: parse flags, read the runs, print. As in `cli/main.py`, heavy imports stand inside the command."""

from pathlib import Path
from typing import Annotated

import typer

from specbench.cli.help import add
from specbench.cli.printing import OUTPUT, AsJson, Color, OutputFile, this_screen
from specbench.errors import did_you_mean
from specbench.run.output import deliver, say


def register(app: typer.Typer) -> None:
    """Adds the command to the application."""
    add(app, history)


def history(
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="A folder with run folders.")] = Path("reports"),
    scenario: Annotated[str | None, typer.Option("--scenario", metavar="NAME", help="Only runs of this scenario.")] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", metavar="M", help="A metric's id, repeatable, or all; default: the gain's metric and alpha."),
    ] = None,
    format: Annotated[
        str, typer.Option("--format", "-f", metavar="F", rich_help_panel=OUTPUT, help="text, json, csv or otava.")
    ] = "text",
    output: OutputFile = None,
    as_json: AsJson = False,
    color: Color = "auto",
) -> None:
    """Show runs over time: where a level changed, and which facts changed there."""
    from specbench.report.history.history_folder import history_of
    from specbench.report.history.history_formats import FORMATS_OF_HISTORIES, history_text
    from specbench.store import write_atomically

    kind = "json" if as_json else format.casefold()
    if kind not in FORMATS_OF_HISTORIES:
        hint = did_you_mean(kind, FORMATS_OF_HISTORIES)
        raise typer.BadParameter(f"{format}: {', '.join(FORMATS_OF_HISTORIES)}{hint}", param_hint="--format")
    found = history_of(folder, scenario, metric or ())
    if output is not None and str(output) != "-":
        write_atomically(output, (FORMATS_OF_HISTORIES[kind](found) + "\n").encode())
        say(f"wrote {output}")
    elif kind == "text":
        say(history_text(found, this_screen(color)))
    else:
        deliver(FORMATS_OF_HISTORIES[kind](found))
