"""The command line: parse flags, call one function, print, exit. Heavy imports stand inside the commands."""

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from specbench import __version__
from specbench.cli import tools
from specbench.errors import ExitCode, Interrupted, SpecbenchError
from specbench.run.output import deliver, prepare, say, tell

if TYPE_CHECKING:
    from specbench.model.result import Result
    from specbench.model.scenario import Design
    from specbench.scenario.parse import Overrides

app = typer.Typer(
    name="specbench",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Should speculative decoding go live? Measures a baseline and a speculative endpoint with the same work, and answers "
    "PROMOTE, CAPPED, HOLD, ROLLBACK or INVALID, with reasons.",
    epilog="Exit codes: 0 PROMOTE or done, 10 HOLD, 11 CAPPED, 20 ROLLBACK, 30 INVALID, 2 command line, 64 scenario, 65 bad "
    "data, 69 endpoint not reachable, 70 internal error, 129, 130 and 143 interrupted.",
)

ScenarioPath = Annotated[Path, typer.Argument(metavar="SCENARIO", help="A scenario file, such as scenarios/code.yaml.")]
RunPath = Annotated[Path, typer.Argument(metavar="RUN", help="A run folder, such as reports/code-20261129-101500.")]
BaselineUrl = Annotated[str | None, typer.Option("--baseline", metavar="URL", help="Baseline URL.")]
SpeculativeUrl = Annotated[str | None, typer.Option("--speculative", metavar="URL", help="The speculative arm's URL.")]
Model = Annotated[str | None, typer.Option("--model", metavar="M", help="The model that both arms are asked for.")]
Settings = Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change one value, as in matrix.pairs=8.")]
ProfileName = Annotated[str | None, typer.Option("--profile", metavar="P", help="smoke, standard (default) or full.")]
AllowCapped = Annotated[bool, typer.Option("--allow-capped", help="Exit 0 on CAPPED.")]


@app.command()
def run(
    scenario: ScenarioPath,
    baseline: BaselineUrl = None,
    speculative: SpeculativeUrl = None,
    model: Model = None,
    settings: Settings = None,
    profile: ProfileName = None,
    aa: Annotated[bool, typer.Option("--aa", help="An A/A of the two places: both arms run what the baseline runs.")] = False,
    swap: Annotated[bool, typer.Option("--swap", help="Run each arm in the other's place.")] = False,
    place: Annotated[
        list[str] | None, typer.Option("--place", metavar="RUN", help="An A/A or swap that shows the places alike; or: same.")
    ] = None,
    up_to: Annotated[
        float | None, typer.Option("--up-to", metavar="C", help="Only the scenario's levels of concurrency up to C.")
    ] = None,
    rate_up_to: Annotated[
        float | None, typer.Option("--rate-up-to", metavar="R", help="Only its rates up to R requests a second.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="The new run folder; default reports/NAME-TIME.")
    ] = None,
    gate: Annotated[bool, typer.Option("--gate", help="Exit with the verdict's code.")] = False,
    allow_capped: AllowCapped = False,
    until: Annotated[
        str, typer.Option("--until", metavar="U", help="resolved: stop as soon as it is settled; budget: all pairs.")
    ] = "budget",
) -> None:
    """Measure both arms, judge, and write the report: the main job."""
    from specbench.run.progress import progress_on
    from specbench.run.run import folder_for, run

    if until not in ("budget", "resolved"):
        raise typer.BadParameter(f"{until}: resolved or budget", param_hint="--until")
    if aa and swap:
        raise typer.BadParameter("either --aa or --swap", param_hint="--aa, --swap")
    overrides = _overrides(profile, settings, baseline, speculative, model)
    design: Design = "aa" if aa else "swap" if swap else "plain"
    overrides = replace(overrides, design=design, place=tuple(place or ()), up_to=up_to, rate_up_to=rate_up_to)
    asked = _scenario(scenario, overrides)
    folder = out or folder_for(asked)
    try:
        with progress_on() as watching:
            result = run(asked, folder, watching, until_resolved=until == "resolved")
    except Interrupted as interruption:
        _print_partial(folder)
        raise typer.Exit(128 + interruption.signal_number) from None
    _print_result(result, folder)
    if gate or result.verdict == "INVALID":
        raise typer.Exit(_verdict_code(result, allow_capped))


@app.command()
def plan(
    scenario: ScenarioPath,
    settings: Settings = None,
    profile: ProfileName = None,
    like: Annotated[Path | None, typer.Option("--like", metavar="RUN", help="Take the noise from this earlier run.")] = None,
) -> None:
    """Print what would run, how long it takes and what difference it could detect."""
    from specbench.plan.describe import describe
    from specbench.plan.power import check_margins, describe_power, stated_prior
    from specbench.plan.trials import cells_of, trials_of
    from specbench.plan.variance import spreads_in

    asked = _scenario(scenario, _overrides(profile, settings, None, None, None))
    spreads = stated_prior(asked) if like is None else spreads_in(like)
    deliver(f"{describe(asked, trials_of(asked, cells_of(asked)))}\n\n{describe_power(asked, spreads)}")
    if like is not None:
        check_margins(asked, spreads)


@app.command()
def analyze(run: RunPath) -> None:
    """Judge a run's facts again; writes result.json and report.html."""
    from specbench.run.analyze import analyze, facts_changed

    changed = facts_changed(run)
    if changed is not None:
        tell(f"specbench: {changed}")
    _print_result(analyze(run), run)


@app.command()
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


@app.command()
def gate(run: RunPath, allow_capped: AllowCapped = False) -> None:
    """Print the verdict and exit with its code."""
    from specbench.report import read_result, render
    from specbench.store import RESULT

    result = read_result(run / RESULT)
    say(str(render(result, "text")))
    raise typer.Exit(_verdict_code(result, allow_capped))


@app.command()
def schema() -> None:
    """Print the JSON Schemas of the scenario and of result.json."""
    import json

    from specbench.report import schema
    from specbench.scenario.schema import json_schema

    deliver(json.dumps({"scenario": json_schema(), "result": schema()}, indent=2))


tools.register(app)


def main() -> None:
    """Runs the command line; every error that we know ends as one line on stderr and its exit code."""
    # Our arrays are small: threads of the linear algebra library cost more to start than they ever save.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    prepare()
    try:
        app()
    except SpecbenchError as error:
        tell(f"specbench: {error}")
        sys.exit(error.exit_code)
    except Interrupted as interruption:
        sys.exit(128 + interruption.signal_number)
    except KeyboardInterrupt:
        sys.exit(ExitCode.INTERRUPTED)
    except OSError as error:  # such as the text of --help on a full disk
        tell(f"specbench: {error}")
        sys.exit(ExitCode.INTERNAL)


def _version(asked: bool) -> None:
    if asked:
        say(f"specbench {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
) -> None:
    pass


def _overrides(
    profile: str | None, settings: list[str] | None, baseline: str | None, speculative: str | None, model: str | None
) -> "Overrides":
    from specbench.scenario.parse import Overrides

    pairs: list[tuple[str, str]] = []
    for setting in settings or ():
        key, equals, value = setting.partition("=")
        if not equals or not key:
            raise typer.BadParameter(f"{setting}: write key=value, as in matrix.pairs=8", param_hint="--set")
        pairs.append((key.strip(), value))
    return Overrides(profile=profile, settings=tuple(pairs), baseline_url=baseline, speculative_url=speculative, model=model)


def _scenario(path: Path, overrides: "Overrides"):  # type: ignore[no-untyped-def]
    from specbench.errors import ScenarioError
    from specbench.files import other_encoding
    from specbench.scenario.parse import parse_scenario

    try:
        held = path.read_bytes()
        if (encoding := other_encoding(held)) is not None:
            raise ScenarioError(f"{path}: is {encoding} text, as Windows programs save it; save it as UTF-8")
        content = held.decode("utf-8-sig")
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{path}: is not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    return parse_scenario(content, str(path), overrides)


def _print_result(result: "Result", folder: Path) -> None:
    from specbench.report import render
    from specbench.store import REPORT

    say(str(render(result, "text")) + f"\nreport: {folder / REPORT}")


def _print_partial(folder: Path) -> None:
    from specbench.store import MANIFEST, RESULT

    if (folder / RESULT).exists():
        from specbench.report import read_result

        _print_result(read_result(folder / RESULT), folder)
    elif (folder / MANIFEST).exists():
        tell(f"specbench: interrupted; what was measured is kept, judge it with: specbench analyze {folder}")
    else:
        tell("specbench: interrupted before anything was measured")


def _verdict_code(result: "Result", allow_capped: bool) -> int:
    return int(ExitCode.PROMOTE if allow_capped and result.verdict == "CAPPED" else ExitCode[result.verdict])
