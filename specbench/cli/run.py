"""The commands on a scenario: run it, and plan it. As in `main.py`, heavy imports stand inside the commands."""

from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from specbench.cli.completion import profiles, scenarios
from specbench.cli.help import add
from specbench.cli.printing import OUTPUT, AsJson, Color, Quiet, Verbose, check_one_of, print_result
from specbench.cli.results import GATE, AllowCapped, verdict_code
from specbench.errors import Interrupted
from specbench.run.output import deliver, tell

if TYPE_CHECKING:
    from specbench.model.scenario import Design, Scenario
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


PROFILES = ("smoke", "standard", "full")
NAMED = 5  # scenarios that an error names


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
        str,
        typer.Option(
            "--until",
            metavar="WHEN",
            rich_help_panel=SIZE,
            help="resolved: stop once the verdict is settled; budget: after all pairs.",
        ),
    ] = "budget",
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
    gate: Annotated[bool, typer.Option("--gate", rich_help_panel=GATE, help="Exit with the verdict's code.")] = False,
    allow_capped: AllowCapped = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", rich_help_panel=OUTPUT, help="The new run folder; default reports/NAME-TIME."),
    ] = None,
    verbose: Verbose = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
    color: Color = "auto",
) -> None:
    """Measure both arms, judge, and write the report: the main job."""
    from specbench.run.progress import progress_on
    from specbench.run.run import folder_for, run

    check_one_of(verbose, quiet, as_json)
    if until not in ("budget", "resolved"):
        raise typer.BadParameter(f"{until}: resolved or budget", param_hint="--until")
    if aa and swap:
        raise typer.BadParameter("either --aa or --swap", param_hint="--aa, --swap")
    if answers not in (None, "on", "off"):
        raise typer.BadParameter(f"{answers}: on or off", param_hint="--answers")
    more = [] if answers is None else [f"answers.check={answers}"]
    overrides = scenario_overrides(profile, [*(settings or ()), *more], baseline, speculative, model)
    design: Design = "aa" if aa else "swap" if swap else "plain"
    overrides = replace(overrides, design=design, place=tuple(place or ()), up_to=up_to, rate_up_to=rate_up_to)
    asked = named_scenario(scenario, overrides)
    folder = out or folder_for(asked)
    try:
        with progress_on() as watching:
            result = run(asked, folder, watching, until_resolved=until == "resolved")
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
    overrides = scenario_overrides(profile, settings, baseline, speculative, model)
    asked = named_scenario(scenario, overrides)
    if asked.workload.dataset is not None:
        from specbench.arms.prompt_source import dataset_of
        from specbench.explain.dataset.dataset_notes import bins_line

        tell(f"{asked.name}: {bins_line(dataset_of(asked).census)}")
    spreads = stated_prior(asked) if like is None else spreads_in(like)
    trials = trials_of(asked, cells_of(asked))
    if verbose:
        deliver(f"{describe(asked, trials)}\n\n{describe_power(asked, spreads)}")
    elif as_json:
        deliver(plan_json(asked, trials, spreads))
    else:
        deliver(plan_line(asked, trials) if quiet else plan_table(asked, trials, spreads))
    if like is not None:
        check_margins(asked, spreads)


def scenario_overrides(
    profile: str | None, settings: list[str] | None, baseline: str | None, speculative: str | None, model: str | None
) -> "Overrides":
    """What the command line changes in the scenario, from the options that several commands share."""
    from specbench.scenario.parse import Overrides

    if profile is not None and profile not in PROFILES:
        raise typer.BadParameter(f"{profile}: smoke, standard or full", param_hint="--profile")
    pairs: list[tuple[str, str]] = []
    for setting in settings or ():
        key, equals, value = setting.partition("=")
        if not equals or not key:
            raise typer.BadParameter(f"{setting}: write key=value, as in matrix.pairs=8", param_hint="--set")
        pairs.append((key.strip(), value))
    return Overrides(profile=profile, settings=tuple(pairs), baseline_url=baseline, speculative_url=speculative, model=model)


def named_scenario(scenario: Path | None, overrides: "Overrides") -> "Scenario":
    """The scenario that was given, with what the command line changes in it.

    Raises:
        BadParameter: none was given.
        ScenarioError: it cannot be read, or asks for what cannot be.
    """
    return _scenario(_named(scenario, overrides), overrides)


def _named(scenario: Path | None, overrides: "Overrides") -> Path:
    """The scenario that was given.

    Raises:
        BadParameter: none was; the command that writes one, with the URLs that were given.
    """
    if scenario is not None:
        return scenario
    urls = (("--baseline", overrides.baseline_url), ("--speculative", overrides.speculative_url))
    words = [word for flag, url in urls if url is not None for word in (flag, quote(url))]
    raise typer.BadParameter(f"none is given; write one with: {' '.join(['specbench', 'init', *words])}", param_hint="SCENARIO")


def _scenario(path: Path, overrides: "Overrides") -> "Scenario":
    from specbench.errors import ScenarioError, did_you_mean
    from specbench.files import other_encoding
    from specbench.scenario.parse import parse_scenario
    from specbench.scenario.shipped import shipped_scenario

    try:
        held = (shipped_scenario(path) or path).read_bytes()
        if (encoding := other_encoding(held)) is not None:
            raise ScenarioError(f"{path}: is {encoding} text; save it as UTF-8")
        content = held.decode("utf-8-sig")
    except OSError as error:
        near = [str(one) for folder in {path.parent, Path("scenarios")} for one in sorted(folder.glob("*.yaml"))]
        hint = did_you_mean(str(path), near) or (f"; here are {', '.join(near[:NAMED])}" if near else "")
        if isinstance(error, FileNotFoundError):
            raise ScenarioError(f"{path}: no such scenario{hint or '; write one with: specbench demo'}") from None
        raise ScenarioError(f"{path}: cannot be read: {error.strerror}{hint}") from None
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{path}: is not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    scenario = parse_scenario(content, str(path), overrides)
    _check_engine_options(scenario, content, str(path))
    return scenario


def _check_engine_options(scenario: "Scenario", content: str, name: str) -> None:
    """Nothing, where every embedded engine that is to be started can be: the scenario's own checks know of no engine.

    Raises:
        ScenarioError: one line with file, line and key path.
    """
    from specbench.engine.options import options_of
    from specbench.errors import ScenarioError
    from specbench.model.scenario import ARMS
    from specbench.scenario.yaml_source import read_text

    for which, arm in ((each, scenario.arm(each)) for each in ARMS):
        if arm.engine != "embedded" or arm.url is not None:
            continue
        try:
            options_of({**arm.options, "speculative": arm.speculative, "slow_by": arm.slow_by})
        except ScenarioError as error:
            key, _, message = str(error).partition(": ")
            inside = () if key.split(".")[0] in ("speculative", "slow_by") else ("options",)
            raise read_text(content, name).error(("arms", which, *inside, *key.split(".")), message) from None


def _print_partial(folder: Path, as_json: bool) -> None:
    from specbench.store import MANIFEST, RESULT

    if (folder / RESULT).exists():
        from specbench.report import read_result

        print_result(read_result(folder / RESULT), folder, as_json=as_json)
    elif (folder / MANIFEST).exists():
        tell(f"specbench: interrupted; what was measured is kept, judge it with: specbench analyze {folder}")
    else:
        tell("specbench: interrupted before anything was measured")
