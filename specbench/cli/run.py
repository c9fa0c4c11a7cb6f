"""The commands on a scenario: run it, and plan it. As in `main.py`, heavy imports stand inside the commands."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from specbench.cli.completion import profiles, scenarios
from specbench.cli.fleet_command import Listen, Processes, Workers, WorkerWait, fleet_options
from specbench.cli.help import add
from specbench.cli.printing import OUTPUT, AsJson, Color, NewRun, Quiet, Verbose, check_one_of, print_result, run_named
from specbench.cli.results import AllowCapped, Gate, verdict_code
from specbench.cli.scenarios.given_scenario import (
    check_candidates,
    content_of,
    given_scenario,
    overrides_of,
    scenario_at,
    scenario_path,
)
from specbench.errors import Interrupted
from specbench.run.output import deliver, tell

if TYPE_CHECKING:
    from specbench.load.fleet.fleet_plan import FleetOptions
    from specbench.model.scenario import Design, Scenario
    from specbench.run.resume import InterruptedRun
    from specbench.scenario.parse import Overrides

ENDPOINTS, SIZE, PLACES = "Endpoints", "Size", "Places"
ScenarioPath = Annotated[
    Path | None,
    typer.Argument(
        metavar="SCENARIO",
        help="A scenario file, such as scenarios/code.yaml.",
        show_default=False,
        autocompletion=scenarios,
    ),
]
BaselineUrl = Annotated[str | None, typer.Option("--baseline", metavar="URL", rich_help_panel=ENDPOINTS, help="Baseline URL.")]
SpeculativeUrl = Annotated[
    str | None, typer.Option("--speculative", metavar="URL", rich_help_panel=ENDPOINTS, help="The speculative arm's URL.")
]
Model = Annotated[
    str | None, typer.Option("--model", metavar="NAME", rich_help_panel=ENDPOINTS, help="Model to request from both arms.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", rich_help_panel=SIZE, help="Change one value, as in matrix.pairs=8."),
]
ProfileName = Annotated[
    str | None,
    typer.Option(
        "--profile",
        metavar="P",
        rich_help_panel=SIZE,
        help="smoke, standard (default) or full: 4, 10 or 20 pairs.",
        autocompletion=profiles,
    ),
]


def register(app: typer.Typer) -> None:
    """Adds these commands to the application, in the order of its help."""
    for command in (run, plan):
        add(app, command)


def run(
    scenario: ScenarioPath = None,
    baseline: BaselineUrl = None,
    speculative: SpeculativeUrl = None,
    model: Model = None,
    settings: Settings = None,
    profile: ProfileName = None,
    up_to: Annotated[
        float | None, typer.Option("--up-to", metavar="C", rich_help_panel=SIZE, help="Run only concurrency levels up to C.")
    ] = None,
    rate_up_to: Annotated[
        float | None,
        typer.Option("--rate-up-to", metavar="R", rich_help_panel=SIZE, help="Run only arrival rates up to R requests/s."),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            "--until",
            metavar="WHEN",
            rich_help_panel=SIZE,
            help="resolved: stop once the verdict is settled; budget (default): after all pairs.",
            show_default=False,
        ),
    ] = None,
    answers: Annotated[
        str | None, typer.Option("--answers", metavar="WHEN", rich_help_panel=SIZE, help="off: compare no answers; default on.")
    ] = None,
    aa: Annotated[
        bool, typer.Option("--aa", rich_help_panel=PLACES, help="A/A: measure the baseline configuration on both hosts.")
    ] = False,
    swap: Annotated[
        bool, typer.Option("--swap", rich_help_panel=PLACES, help="Swap the arms: run each on the other's host.")
    ] = False,
    place: Annotated[
        list[str] | None,
        typer.Option(
            "--place",
            metavar="RUN",
            rich_help_panel=PLACES,
            help="An earlier A/A or swap run that shows both hosts perform equally, or: same.",
        ),
    ] = None,
    processes: Processes = 1,
    workers: Workers = 0,
    worker_wait: WorkerWait = "60s",
    listen: Listen = None,
    gate: Gate = False,
    allow_capped: AllowCapped = False,
    out: NewRun = None,
    resume: Annotated[
        Path | None,
        typer.Option("--resume", metavar="RUN", rich_help_panel=OUTPUT, help="Go on with an interrupted run, in its folder."),
    ] = None,
    verbose: Verbose = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
    color: Color = "auto",
) -> None:
    """Measure both arms, judge, and write the report: the main job."""
    from specbench.run.resume import interrupted_run
    from specbench.run.run import folder_for

    check_one_of(verbose, quiet, as_json)
    if until not in (None, "budget", "resolved"):
        raise typer.BadParameter(f"{until}: resolved or budget", param_hint="--until")
    if aa and swap:
        raise typer.BadParameter("either --aa or --swap", param_hint="--aa, --swap")
    if answers not in (None, "on", "off"):
        raise typer.BadParameter(f"{answers}: on or off", param_hint="--answers")
    more = [] if answers is None else [f"answers.check={answers}"]
    overrides = overrides_of(profile, [*(settings or ()), *more], baseline, speculative, model)
    design: Design = "aa" if aa else "swap" if swap else "plain"
    overrides = replace(overrides, design=design, place=tuple(place or ()), up_to=up_to, rate_up_to=rate_up_to)
    if resume is not None and out is not None:
        raise typer.BadParameter("either --resume, which goes on in its folder, or --out", param_hint="--resume, --out")
    interrupted = None if resume is None else interrupted_run(run_named(resume))
    if interrupted is None:
        requested = given_scenario(scenario, overrides)
        folder = out or folder_for(requested)
    else:
        requested, folder = _resumed(interrupted, scenario, overrides, until), interrupted.folder
        until = "resolved" if interrupted.manifest.until_resolved else "budget"
    measure_and_print(
        requested,
        folder,
        RunWays(until == "resolved", interrupted, fleet_options(processes, workers, worker_wait, listen)),
        gate=gate,
        allow_capped=allow_capped,
        verbose=verbose,
        quiet=quiet,
        as_json=as_json,
        color=color,
    )


@dataclass(frozen=True, slots=True)
class RunWays:
    """How a run goes: whether it looks at the data on the way, the run that goes on, the processes that drive it."""

    until_resolved: bool = False
    interrupted: "InterruptedRun | None" = None
    fleet: "FleetOptions | None" = None


ONCE = RunWays()


def measure_and_print(
    scenario: "Scenario",
    folder: Path,
    ways: RunWays = ONCE,
    *,
    gate: bool = False,
    allow_capped: bool = False,
    verbose: bool = False,
    quiet: bool = False,
    as_json: bool = False,
    color: Color = "auto",
) -> None:
    """Run the scenario, print its result, and exit as `run` does."""
    from specbench.load.fleet.fleet_plan import ONE_PROCESS
    from specbench.run.progress import progress_on
    from specbench.run.run import run

    try:
        with progress_on() as watching:
            result = run(scenario, folder, watching, ways.until_resolved, ways.interrupted, ways.fleet or ONE_PROCESS)
    except Interrupted as interruption:
        _print_partial(folder, as_json)
        raise typer.Exit(128 + interruption.signal_number) from None
    code = verdict_code(result, allow_capped)
    print_result(
        result,
        folder,
        verbose=verbose,
        quiet=quiet,
        as_json=as_json,
        color=color,
        exit_code=code if gate else None,
    )
    if gate or result.verdict == "INVALID":
        raise typer.Exit(code)


def plan(
    scenario: ScenarioPath = None,
    baseline: BaselineUrl = None,
    speculative: SpeculativeUrl = None,
    model: Model = None,
    settings: Settings = None,
    profile: ProfileName = None,
    like: Annotated[Path | None, typer.Option("--like", metavar="RUN", help="Take the variance from this run.")] = None,
    tune: Annotated[bool, typer.Option("--tune", help="Plan `specbench tune`: starts, blocks, minutes.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Add arms, bins, sampling and guardrails.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print one line: blocks and minutes.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Print the loads, the duration and the smallest change that the run detects."""
    from specbench.plan.describe import describe
    from specbench.plan.plan_table import plan_line, plan_table
    from specbench.plan.plan_values import plan_json
    from specbench.plan.power import check_margins, describe_power, stated_prior
    from specbench.plan.trials import cells_of, trials_of
    from specbench.plan.variance import spreads_in

    check_one_of(verbose, quiet, as_json)
    overrides = overrides_of(profile, settings, baseline, speculative, model)
    if tune:
        _plan_tune(scenario_path(scenario, overrides), overrides, as_json)
        return
    requested = given_scenario(scenario, overrides)
    if requested.workload.dataset is not None:
        from specbench.arms.prompt_source import dataset_of
        from specbench.explain.dataset.dataset_notes import bins_line

        tell(f"{requested.name}: {bins_line(dataset_of(requested).census)}")
    like = None if like is None else run_named(like)
    spreads = stated_prior(requested) if like is None else spreads_in(like)
    trials = trials_of(requested, cells_of(requested))
    if verbose:
        deliver(f"{describe(requested, trials)}\n\n{describe_power(requested, spreads)}")
    elif as_json:
        deliver(plan_json(requested, trials, spreads))
    else:
        deliver(plan_line(requested, trials) if quiet else plan_table(requested, trials, spreads))
    if like is not None:
        check_margins(requested, spreads)


def _plan_tune(path: Path, overrides: "Overrides", as_json: bool) -> None:
    import json
    from dataclasses import asdict

    from specbench.explain.tuning.tune_sentences import planned, start_assumed
    from specbench.tune.candidates import TuneRequest, candidates_of
    from specbench.tune.tune_size import tune_size
    from specbench.tune.tuning import DEFAULTS, tune_rules

    request = TuneRequest(content=content_of(path), path=str(path), overrides=overrides)
    scenario = scenario_at(path, overrides)
    check_candidates(request)
    size = tune_size(scenario, candidates_of(request), tune_rules(request, *DEFAULTS))
    if as_json:
        deliver(json.dumps(asdict(size), indent=2))
    else:
        deliver(
            f"{planned(scenario.name, size.candidates, size.starts, size.blocks, size.minutes)}\n{start_assumed(size.start_s)}"
        )


def _resumed(interrupted: "InterruptedRun", scenario: Path | None, overrides: "Overrides", until: str | None) -> "Scenario":
    """The scenario of a run that goes on: the one that is given, where it is the run's, else the one that the run keeps."""
    from specbench.run.resume import check_same_scenario, stored_scenario
    from specbench.scenario.parse import Overrides

    if scenario is None and overrides != Overrides():
        raise typer.BadParameter("what changes a scenario is given together with it, as it was at first", param_hint="SCENARIO")
    requested = stored_scenario(interrupted) if scenario is None else scenario_at(scenario, overrides)
    check_same_scenario(interrupted, requested, until)
    return requested


def _print_partial(folder: Path, as_json: bool) -> None:
    from specbench.store import MANIFEST, RESULT

    if (folder / RESULT).exists():
        from specbench.report import read_result

        print_result(read_result(folder / RESULT), folder, as_json=as_json)
    elif (folder / MANIFEST).exists():
        tell(f"specbench: interrupted; what was measured is kept, judge it with: specbench analyze {folder}")
    else:
        tell("specbench: interrupted before anything was measured")
