"""The commands on a run folder: judge again, report, gate; and the schemas of what is read and written."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from specbench.cli.capacity.capacity_printing import print_capacity
from specbench.cli.completion import formats, runs
from specbench.cli.help import add
from specbench.cli.printing import (
    AnyRun,
    AsJson,
    Color,
    Quiet,
    Verbose,
    check_one_of,
    print_result,
    print_tune,
    run_named,
)
from specbench.errors import ExitCode
from specbench.run.output import deliver, say, tell

if TYPE_CHECKING:
    from specbench.model.result import Result

GATE = "Gate"
RunPath = Annotated[
    Path,
    typer.Argument(metavar="RUN", help="A run folder, such as reports/code-20261129-101500, or latest.", autocompletion=runs),
]
Gate = Annotated[bool, typer.Option("--gate", rich_help_panel=GATE, help="Exit with the verdict's code.")]
AllowCapped = Annotated[bool, typer.Option("--allow-capped", rich_help_panel=GATE, help="Exit 0 on CAPPED.")]


def register(app: typer.Typer) -> None:
    """Adds these commands to the application."""
    for command in (analyze, report, gate, schema):
        add(app, command)


def analyze(run: RunPath, verbose: Verbose = False, quiet: Quiet = False, as_json: AsJson = False, color: Color = "auto") -> None:
    """Judge a run again; writes result.json and report.html."""
    from specbench.run.analyze import analyze, facts_changed
    from specbench.run.capacity.analyze_capacity import analyze_capacity, is_search
    from specbench.store import is_tune

    check_one_of(verbose, quiet, as_json)
    if is_tune(run):
        from specbench.tune.tuning import analyze_tune

        print_tune(analyze_tune(run), run, quiet=quiet, as_json=as_json)
        return
    folder = run_named(run)
    if is_search(folder):
        print_capacity(analyze_capacity(folder), folder, as_json=as_json, color=color)
        return
    changed = facts_changed(folder)
    if changed is not None:
        tell(f"specbench: {changed}")
    print_result(analyze(folder), folder, verbose=verbose, quiet=quiet, as_json=as_json, color=color)


def report(
    run: AnyRun = None,
    format: Annotated[
        str,
        typer.Option(
            "--format",
            "-f",
            metavar="F",
            help="html, text, json, markdown, junit, prometheus, csv, parquet and more.",
            autocompletion=formats,
        ),
    ] = "text",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Where to; '-' for standard output.")
    ] = None,
    verbose: Verbose = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
    color: Color = "auto",
) -> None:
    """Write a run's result in a format: html, text, json and others."""
    from specbench.report import read_result, write_report
    from specbench.store import RESULT, is_tune

    check_one_of(verbose, quiet, as_json)
    if run is not None and is_tune(run):
        _report_tune(run, "json" if as_json else format.casefold(), output, quiet)
        return
    folder = run_named(run)
    kind = "json" if as_json else format.casefold()
    if kind == "text" and output is None:
        print_result(read_result(folder / RESULT), folder, verbose=verbose, quiet=quiet, color=color)
        return
    written = write_report(folder, kind, output, say=tell)
    if not isinstance(written, Path):
        deliver(written)
    elif not quiet:
        say(f"wrote {written}")


def _report_tune(folder: Path, kind: str, output: Path | None, quiet: bool) -> None:
    from specbench.errors import DataError
    from specbench.store import write_atomically, write_in_run
    from specbench.tune.picks import read_tune

    found = read_tune(folder)
    if kind == "html":
        from specbench.report.tuning.tune_page import tune_page
        from specbench.report.tuning.tune_rows import PAGE

        page, file = tune_page(found, str(folder)).encode(), output or folder / PAGE
        if str(file) == "-":
            deliver(page)
            return
        (write_in_run if output is None else write_atomically)(file, page)
        if not quiet:
            say(f"wrote {file}")
        return
    if kind not in ("text", "json"):
        raise DataError(f"{folder}: is a tune, reported as html, text or json; for {kind} name one of the run folders in it")
    print_tune(found, folder, quiet=quiet, as_json=kind == "json")


def gate(
    run: AnyRun = None,
    allow_capped: AllowCapped = False,
    verbose: Verbose = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
    color: Color = "auto",
) -> None:
    """Print the verdict and exit with its code."""
    from specbench.report import read_result
    from specbench.store import RESULT

    check_one_of(verbose, quiet, as_json)
    folder = run_named(run)
    result = read_result(folder / RESULT)
    code = verdict_code(result, allow_capped)
    print_result(result, folder, verbose=verbose, quiet=quiet, as_json=as_json, color=color, exit_code=code)
    raise typer.Exit(code)


def schema() -> None:
    """Print the JSON Schemas of the scenario, of result.json and of tune.json."""
    import json

    from specbench.report import schema, tune_schema
    from specbench.scenario.schema import json_schema

    deliver(json.dumps({"scenario": json_schema(), "result": schema(), "tune": tune_schema()}, indent=2))


def verdict_code(result: "Result", allow_capped: bool) -> int:
    """The exit code of the verdict, 0 for CAPPED where that is allowed."""
    return int(ExitCode.PROMOTE if allow_capped and result.verdict == "CAPPED" else ExitCode[result.verdict])
