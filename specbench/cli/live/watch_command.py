"""`watch`: options in, a watch of live traffic, its state as exit code out."""

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from specbench.cli.completion import engines, runs
from specbench.cli.help import add
from specbench.cli.live.watch_options import (
    address,
    check_together,
    cited,
    engine_name,
    errors_known,
    facts_address,
    kept_name,
    limits,
    limits_of_run,
    second_source,
    server_of,
    source,
    span,
)
from specbench.cli.live.watch_printing import Format, WindowPrinter, rejudged

if TYPE_CHECKING:
    from specbench.live.state_folder import Recorded
    from specbench.model.live.watch_result import WatchResult

WHAT, HOW, JUDGED, OUTPUT = "What is watched", "How long", "What is judged", "Output"
AssignmentName = Literal["random", "slices", "before-after"]
LEAST_WINDOW_S = 1.0


def register(app: typer.Typer) -> None:
    """Adds the command to the command line."""
    add(app, watch)


def watch(
    run: Annotated[
        Path | None,
        typer.Argument(metavar="[RUN]", help="The run that let speculation go live, or latest.", autocompletion=runs),
    ] = None,
    speculative: Annotated[
        str | None,
        typer.Option("--speculative", metavar="SRC", rich_help_panel=WHAT, help="PromQL selector, or metrics URLs with commas."),
    ] = None,
    baseline: Annotated[
        str | None, typer.Option("--baseline", metavar="SRC", rich_help_panel=WHAT, help="The same of the baseline, if any.")
    ] = None,
    prometheus: Annotated[
        str | None, typer.Option("--prometheus", metavar="URL", rich_help_panel=WHAT, help="Prometheus server of the selectors.")
    ] = None,
    prometheus_key_env: Annotated[
        str | None,
        typer.Option("--prometheus-key-env", metavar="VARIABLE", rich_help_panel=WHAT, help="Variable with its key."),
    ] = None,
    metrics_key_env: Annotated[
        str | None,
        typer.Option(
            "--metrics-key-env", metavar="VARIABLE", rich_help_panel=WHAT, help="Variable with the key of metrics URLs."
        ),
    ] = None,
    facts: Annotated[
        str | None,
        typer.Option("--facts", metavar="URL", rich_help_panel=WHAT, help="Speculative endpoint, to see changed facts."),
    ] = None,
    errors: Annotated[
        str | None,
        typer.Option(
            "--errors", metavar="PROMQL", rich_help_panel=WHAT, help="Share of failed requests by label arm; or none, if unknown."
        ),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(
            "--engine", metavar="NAME", rich_help_panel=WHAT, help="Engine name; detected if omitted.", autocompletion=engines
        ),
    ] = None,
    window: Annotated[str, typer.Option("--window", metavar="SPAN", rich_help_panel=HOW, help="Length of a window.")] = "5m",
    since: Annotated[
        str, typer.Option("--since", metavar="SPAN", rich_help_panel=HOW, help="How far back Prometheus is read first.")
    ] = "24h",
    once: Annotated[
        bool, typer.Option("--once", rich_help_panel=HOW, help="Judge what there is, or one window, and exit.")
    ] = False,
    lasts: Annotated[
        str | None, typer.Option("--for", metavar="SPAN", rich_help_panel=HOW, help="End after that; default: until interrupted.")
    ] = None,
    state: Annotated[
        Path | None, typer.Option("--state", metavar="DIR", rich_help_panel=HOW, help="Folder that keeps every window.")
    ] = None,
    rejudge: Annotated[
        Path | None,
        typer.Option("--rejudge", metavar="DIR", rich_help_panel=HOW, help="Judge a folder's windows again and exit."),
    ] = None,
    assignment: Annotated[
        AssignmentName,
        typer.Option(
            "--assignment", metavar="A", rich_help_panel=JUDGED, help="How traffic is split: random, slices, before-after."
        ),
    ] = "slices",
    limit: Annotated[
        list[str] | None,
        typer.Option("--limit", metavar="M=V", rich_help_panel=JUDGED, help="Such as tpot_p99=50ms or alpha=0.7; repeatable."),
    ] = None,
    tolerance: Annotated[
        float, typer.Option("--tolerance", metavar="SHARE", rich_help_panel=JUDGED, help="Fall of acceptance that is no drift.")
    ] = 0.03,
    listen: Annotated[
        str | None,
        typer.Option("--listen", metavar="HOST:PORT", rich_help_panel=OUTPUT, help="Serve /verdict, /metrics, /policy.json."),
    ] = None,
    format: Annotated[
        Format, typer.Option("--format", "-f", metavar="F", rich_help_panel=OUTPUT, help="text, json or emf.")
    ] = "text",
) -> None:
    """Watch live traffic after launch: guardrails, drift, break-even, changes."""
    from specbench.analysis.live.run_reference import cited_run
    from specbench.live.state_folder import StateFolder, WatchSettings
    from specbench.live.watch import WatchOrder, watch
    from specbench.live.watch_server import WatchServer
    from specbench.model.live.watch_result import WatchRules

    result_of_run = cited(run)
    if rejudge is not None:
        raise typer.Exit(rejudged(rejudge, result_of_run, format))
    if speculative is None:
        raise typer.BadParameter("name the speculative arm: a PromQL selector, or metrics URLs", param_hint="--speculative")
    check_together(assignment, baseline, tolerance)
    rules = WatchRules(
        assignment=assignment,
        limits=limits([*limits_of_run(run), *(limit or [])]),
        tolerance=tolerance,
        errors=errors_known(errors, prometheus),
    )
    server = server_of(prometheus, prometheus_key_env)
    settings = WatchSettings(
        speculative=kept_name(speculative),
        baseline=None if baseline is None else kept_name(baseline),
        run=None if result_of_run is None else result_of_run.run.id,
        period_s=max(span(window, "--window"), LEAST_WINDOW_S),
        rules=rules,
    )
    order = WatchOrder(
        settings=settings,
        speculative=source(speculative, "--speculative", server, engine, metrics_key_env),
        baseline=second_source(speculative, baseline, server, engine, metrics_key_env),
        server=server,
        run=None if result_of_run is None else cited_run(result_of_run),
        engine=engine_name(engine),
        since_s=span(since, "--since"),
        once=once,
        lasts_s=None if lasts is None else span(lasts, "--for"),
        errors=None if errors == "none" else errors,
        facts_url=facts_address(facts),
    )
    served = WatchServer(result_of_run)
    if listen is not None:
        served.start(*address(listen))
    printer = WindowPrinter(format, settings.run)

    def on_period(one: "Recorded", result: "WatchResult") -> None:
        served.show(result, [period for period in (one.baseline, one.speculative) if period is not None])
        printer.print(one, result)

    with StateFolder(state, settings) if state is not None else nullcontext() as folder:
        raise typer.Exit(watch(order, folder, on_period).exit_code)
