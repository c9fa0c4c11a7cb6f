"""The commands on a scenario: run it, and plan it. As in `main.py`, heavy imports stand inside the commands."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from specbench.cli.results import AllowCapped, print_result, verdict_code
from specbench.errors import Interrupted
from specbench.run.output import deliver, tell

if TYPE_CHECKING:
    from specbench.model.scenario import Design
    from specbench.scenario.parse import Overrides

ScenarioPath = Annotated[Path, typer.Argument(metavar="SCENARIO", help="A scenario file, such as scenarios/code.yaml.")]
BaselineUrl = Annotated[str | None, typer.Option("--baseline", metavar="URL", help="Baseline URL.")]
SpeculativeUrl = Annotated[str | None, typer.Option("--speculative", metavar="URL", help="The speculative arm's URL.")]
Model = Annotated[str | None, typer.Option("--model", metavar="M", help="The model that both arms are asked for.")]
Settings = Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change one value, as in matrix.pairs=8.")]
ProfileName = Annotated[str | None, typer.Option("--profile", metavar="P", help="smoke, standard (default) or full.")]


def register(app: typer.Typer) -> None:
    """Adds these commands to the application, in the order of its help."""
    for command in (run, plan):
        app.command()(command)


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
    print_result(result, folder)
    if gate or result.verdict == "INVALID":
        raise typer.Exit(verdict_code(result, allow_capped))


def plan(
    scenario: ScenarioPath,
    settings: Settings = None,
    profile: ProfileName = None,
    like: Annotated[Path | None, typer.Option("--like", metavar="RUN", help="Take the noise from this earlier run.")] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Also arms, bins, sampling and every guardrail.")] = False,
) -> None:
    """Print what would run, how long it takes and what difference it could detect."""
    from specbench.plan.describe import describe
    from specbench.plan.plan_table import plan_table
    from specbench.plan.power import check_margins, describe_power, stated_prior
    from specbench.plan.trials import cells_of, trials_of
    from specbench.plan.variance import spreads_in

    asked = _scenario(scenario, _overrides(profile, settings, None, None, None))
    spreads = stated_prior(asked) if like is None else spreads_in(like)
    trials = trials_of(asked, cells_of(asked))
    if verbose:
        deliver(f"{describe(asked, trials)}\n\n{describe_power(asked, spreads)}")
    else:
        deliver(plan_table(asked, trials, spreads))
    if like is not None:
        check_margins(asked, spreads)


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


def _print_partial(folder: Path) -> None:
    from specbench.store import MANIFEST, RESULT

    if (folder / RESULT).exists():
        from specbench.report import read_result

        print_result(read_result(folder / RESULT), folder)
    elif (folder / MANIFEST).exists():
        tell(f"specbench: interrupted; what was measured is kept, judge it with: specbench analyze {folder}")
    else:
        tell("specbench: interrupted before anything was measured")
