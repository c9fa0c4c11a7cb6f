"""The command that sets two results beside each other: of another tool, or two runs of ours."""

from pathlib import Path
from typing import Annotated

import typer

from specbench.cli.help import add
from specbench.cli.printing import OUTPUT, AsJson, OutputFile, run_or_folder
from specbench.cli.results import GATE
from specbench.errors import ExitCode
from specbench.run.output import deliver, say


def register(app: typer.Typer) -> None:
    """Adds the command to the application."""
    add(app, compare)


def compare(
    baseline: Annotated[Path, typer.Argument(metavar="A", help="The baseline's result: a file, or a folder with repeats.")],
    speculative: Annotated[Path, typer.Argument(metavar="B", help="The speculative arm's; or two run folders of specbench.")],
    between_runs: Annotated[
        str,
        typer.Option("--between-runs", metavar="SHARE", help="How far one run differs from the next where that is not measured."),
    ] = "10%",
    gate: Annotated[
        bool, typer.Option("--gate", rich_help_panel=GATE, help="Exit 10 or 20 where it says HOLD, ROLLBACK or worse.")
    ] = False,
    format: Annotated[
        str, typer.Option("--format", "-f", metavar="F", rich_help_panel=OUTPUT, help="text, markdown, json or html.")
    ] = "text",
    output: OutputFile = None,
    as_json: AsJson = False,
) -> None:
    """Compare two results of another tool, which never promotes; or two runs of specbench."""
    from specbench.report.compared.compared_formats import FORMATS_OF_COMPARISONS, compared_as
    from specbench.report.compared.two_results import two_results
    from specbench.store import write_atomically

    share = _share(between_runs)
    kind = "json" if as_json else format.casefold()
    if kind not in FORMATS_OF_COMPARISONS:
        raise typer.BadParameter(f"{format}: {', '.join(FORMATS_OF_COMPARISONS)}", param_hint="--format")
    found = two_results(run_or_folder(baseline), run_or_folder(speculative), share)
    made = compared_as(found, kind)
    if output is not None and str(output) != "-":
        write_atomically(output, (made + "\n").encode())
        say(f"wrote {output}")
    elif kind == "text":
        say(made)
    else:
        deliver(made)
    if gate or found.exit_code == ExitCode.INVALID:
        raise typer.Exit(found.exit_code)


def _share(text: str) -> float:
    try:
        value = float(text.strip().removesuffix("%")) / (100 if text.strip().endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0.01 <= value <= 1:
        raise typer.BadParameter(f"{text}: a share from 1% to 100%, such as 10%", param_hint="--between-runs")
    return value
