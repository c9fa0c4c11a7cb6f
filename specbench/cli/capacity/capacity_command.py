"""`specbench capacity`: parse flags, search, print. As in `cli/main.py`, heavy imports stand inside the command."""

from pathlib import Path
from typing import Annotated

import typer

from specbench.cli.capacity.capacity_printing import print_capacity
from specbench.cli.help import add
from specbench.cli.printing import OUTPUT, AsJson, Color
from specbench.cli.run import BaselineUrl, Model, ScenarioPath, Settings, SpeculativeUrl
from specbench.cli.scenarios.given_scenario import given_scenario, overrides_of
from specbench.errors import DataError, Interrupted
from specbench.run.output import tell

SEARCH = "Search"


def register(app: typer.Typer) -> None:
    """Adds the command to the application."""
    add(app, capacity)


def capacity(
    scenario: ScenarioPath = None,
    slo: Annotated[
        list[str] | None,
        typer.Option(
            "--slo",
            metavar="METRIC=LIMIT",
            rich_help_panel=SEARCH,
            help="A limit, as in ttft_p95=400ms or error_rate=1%; default: the scenario's slo guardrails.",
        ),
    ] = None,
    traffic: Annotated[
        float | None,
        typer.Option("--traffic", metavar="RATE", rich_help_panel=SEARCH, help="Requests per second at the peak, for machines."),
    ] = None,
    headroom: Annotated[
        str, typer.Option("--headroom", metavar="SHARE", rich_help_panel=SEARCH, help="Share of a machine that stays free.")
    ] = "20%",
    minutes: Annotated[
        float, typer.Option("--minutes", metavar="M", rich_help_panel=SEARCH, help="How long the search of both arms may take.")
    ] = 60.0,
    baseline: BaselineUrl = None,
    speculative: SpeculativeUrl = None,
    model: Model = None,
    settings: Settings = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", rich_help_panel=OUTPUT, help="The new folder; default reports/NAME-capacity-TIME."),
    ] = None,
    as_json: AsJson = False,
    color: Color = "auto",
) -> None:
    """Find each arm's highest rate that keeps your limits, and the machines that traffic needs."""
    from specbench.plan.service_limits import capacity_plan
    from specbench.run.capacity.analyze_capacity import analyze_capacity
    from specbench.run.capacity.find_capacity import find_capacity, folder_for_search
    from specbench.run.progress import progress_on

    requested = given_scenario(scenario, overrides_of(None, settings, baseline, speculative, model))
    plan = capacity_plan(requested, slo or (), traffic, headroom, minutes)
    folder = out or folder_for_search(requested)
    try:
        with progress_on() as watching:
            result = find_capacity(requested, plan, folder, watching)
    except Interrupted as interruption:
        try:
            print_capacity(analyze_capacity(folder), folder, as_json=as_json, color=color)
        except DataError:
            tell("specbench: interrupted before anything was measured")
        raise typer.Exit(128 + interruption.signal_number) from None
    print_capacity(result, folder, as_json=as_json, color=color)
