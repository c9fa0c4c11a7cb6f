"""The commands on a run folder: judge again, report, gate; and the schemas of what is read and written."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from specbench.errors import ExitCode
from specbench.run.output import deliver, say, tell

if TYPE_CHECKING:
    from specbench.model.result import Result

RunPath = Annotated[Path, typer.Argument(metavar="RUN", help="A run folder, such as reports/code-20261129-101500.")]
AllowCapped = Annotated[bool, typer.Option("--allow-capped", help="Exit 0 on CAPPED.")]


def register(app: typer.Typer) -> None:
    """Adds these commands to the application, in the order of its help."""
    for command in (analyze, report, gate, schema):
        app.command()(command)


def analyze(run: RunPath) -> None:
    """Judge a run's facts again; writes result.json and report.html."""
    from specbench.run.analyze import analyze, facts_changed

    changed = facts_changed(run)
    if changed is not None:
        tell(f"specbench: {changed}")
    print_result(analyze(run), run)


def report(
    run: RunPath,
    format: Annotated[
        str, typer.Option("--format", metavar="F", help="html, text, json, markdown, junit, prometheus, csv, parquet and more.")
    ] = "text",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Where to; '-' for standard output.")
    ] = None,
) -> None:
    """Write a run's result in a format: html, text, json and others."""
    from specbench.report import write_report

    written = write_report(run, format, output, say=tell)
    if isinstance(written, Path):
        say(f"wrote {written}")
    else:
        deliver(written)


def gate(run: RunPath, allow_capped: AllowCapped = False) -> None:
    """Print the verdict and exit with its code."""
    from specbench.report import read_result, render
    from specbench.store import RESULT

    result = read_result(run / RESULT)
    say(str(render(result, "text")))
    raise typer.Exit(verdict_code(result, allow_capped))


def schema() -> None:
    """Print the JSON Schemas of the scenario and of result.json."""
    import json

    from specbench.report import schema
    from specbench.scenario.schema import json_schema

    deliver(json.dumps({"scenario": json_schema(), "result": schema()}, indent=2))


def print_result(result: "Result", folder: Path) -> None:
    """Print the result for a terminal, and where its report is."""
    from specbench.report import render
    from specbench.store import REPORT

    say(str(render(result, "text")) + f"\nreport: {folder / REPORT}")


def verdict_code(result: "Result", allow_capped: bool) -> int:
    """The exit code of the verdict, 0 for CAPPED where that is allowed."""
    return int(ExitCode.PROMOTE if allow_capped and result.verdict == "CAPPED" else ExitCode[result.verdict])
