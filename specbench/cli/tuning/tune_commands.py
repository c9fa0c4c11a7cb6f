"""The commands that look for a speculation setting and test one. As in `main.py`, heavy imports stand inside the commands."""

from pathlib import Path
from typing import Annotated

import typer

from specbench.cli.completion import runs
from specbench.cli.help import add
from specbench.cli.printing import OUTPUT, AsJson, Color, NewRun, Quiet, Verbose, check_one_of, print_tune, run_or_folder
from specbench.cli.results import AllowCapped, Gate
from specbench.cli.run import (
    Model,
    ProfileName,
    ScenarioPath,
    Settings,
    measure_and_print,
)
from specbench.cli.scenarios.given_scenario import check_candidates, content_of, overrides_of, scenario_path
from specbench.errors import ExitCode, Interrupted

PICKS = "Picks"
Vary = Annotated[
    str | None,
    typer.Option("--vary", metavar="KEY=V,V", rich_help_panel=PICKS, help="Values to try, as in num_speculative_tokens=1,2,4."),
]
Series = Annotated[
    int,
    typer.Option("--series", metavar="N", rich_help_panel=PICKS, help="At most N starts of each candidate.", show_default=True),
]
Blocks = Annotated[
    int, typer.Option("--blocks", metavar="N", rich_help_panel=PICKS, help="Blocks of each load per start.", show_default=True)
]


def register(app: typer.Typer) -> None:
    """Adds these commands to the application."""
    for command in (tune, confirm):
        add(app, command)


def tune(
    scenario: ScenarioPath = None,
    vary: Vary = None,
    earlier: Annotated[
        Path | None,
        typer.Option("--from", metavar="TUNE", rich_help_panel=PICKS, help="Vary another key of an earlier tune's pick."),
    ] = None,
    within: Annotated[
        str, typer.Option("--within", metavar="S", rich_help_panel=PICKS, help="A loss that does not matter.", show_default=True)
    ] = "2%",
    sure: Annotated[
        str, typer.Option("--sure", metavar="S", rich_help_panel=PICKS, help="How sure all picks must be.", show_default=True)
    ] = "90%",
    series: Series = 4,
    blocks: Blocks = 3,
    settings: Settings = None,
    model: Model = None,
    profile: ProfileName = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", rich_help_panel=OUTPUT, help="The new folder; default reports/NAME-tune-TIME."),
    ] = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Find the best depth at each load; the setting is a proposal."""
    from specbench.run.progress import progress_on
    from specbench.store import is_tune
    from specbench.tune.candidates import TuneRequest
    from specbench.tune.picks import read_tune
    from specbench.tune.tuning import base_of, folder_for_tune, tune, tune_rules

    check_one_of(False, quiet, as_json)
    overrides = overrides_of(profile, settings, None, None, model)
    path = scenario_path(scenario, overrides)
    base = None if earlier is None else base_of(earlier)
    request = TuneRequest(content=content_of(path), path=str(path), overrides=overrides, vary=vary, base=base)
    check_candidates(request)
    rules = tune_rules(request, _share(within, "--within"), _share(sure, "--sure"), series, blocks)
    folder = out or folder_for_tune(request)
    try:
        with progress_on() as watching:
            found = tune(request, rules, folder, watching)
    except Interrupted as interruption:
        if is_tune(folder):
            print_tune(read_tune(folder), folder, quiet=quiet, as_json=as_json)
        raise typer.Exit(128 + interruption.signal_number) from None
    print_tune(found, folder, quiet=quiet, as_json=as_json)
    if not found.picked:
        raise typer.Exit(int(ExitCode.INVALID))


def confirm(
    source: Annotated[
        Path, typer.Argument(metavar="RUN|TUNE", help="A CAPPED run's folder, a tune's, or latest.", autocompletion=runs)
    ],
    enforce: Annotated[
        str | None,
        typer.Option("--enforce", metavar="WHO", rich_help_panel=PICKS, help="engine or router; the engine if it takes a table."),
    ] = None,
    profile: ProfileName = None,
    gate: Gate = False,
    allow_capped: AllowCapped = False,
    out: NewRun = None,
    verbose: Verbose = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
    color: Color = "auto",
) -> None:
    """Test a tune's setting, or a cap, as it will be deployed."""
    from specbench.run.run import folder_for
    from specbench.tune.confirming import REPORTS, confirming, earlier_tries, proposal_of

    check_one_of(verbose, quiet, as_json)
    if enforce not in (None, "engine", "router"):
        raise typer.BadParameter(f"{enforce}: engine or router", param_hint="--enforce")
    size = overrides_of(profile, None, None, None, None).profile or "standard"
    source = run_or_folder(source)
    proposal = proposal_of(source, enforce)  # type: ignore[arg-type]
    folder = out or folder_for(proposal.scenario)
    tries = earlier_tries(proposal.of, (REPORTS, folder.parent, source.resolve().parent))
    requested = confirming(proposal, size, tries, folder)
    measure_and_print(
        requested, folder, gate=gate, allow_capped=allow_capped, verbose=verbose, quiet=quiet, as_json=as_json, color=color
    )


def _share(text: str, flag: str) -> float:
    """`2%` as 0.02."""
    from specbench.scenario.field_types import fraction

    try:
        return float(fraction(text))
    except ValueError:
        raise typer.BadParameter(f"{text}: write a share, such as 2%", param_hint=flag) from None
