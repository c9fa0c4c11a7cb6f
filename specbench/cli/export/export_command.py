"""`export`: files for Prometheus, Grafana, CloudWatch and the Gateway API, made of a run and of the selectors of both arms."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from specbench.cli.completion import runs
from specbench.cli.export.export_options import PickedExport, file_of, watched_limits
from specbench.cli.help import add
from specbench.cli.live.watch_options import cited

ARMS, RULES, ROUTES, OUTPUT = "Arms", "Rules and dashboard", "Routes", "Output"
FileKind = Literal["rules", "dashboard", "cloudwatch", "routes"]


def register(app: typer.Typer) -> None:
    """Adds the command to the command line."""
    add(app, export)


def export(
    what: Annotated[FileKind, typer.Argument(metavar="WHAT", help="rules, dashboard, cloudwatch or routes.")],
    run: Annotated[
        Path | None,
        typer.Argument(metavar="[RUN]", help="The run that let speculation go live, or latest.", autocompletion=runs),
    ] = None,
    speculative: Annotated[
        str | None,
        typer.Option("--speculative", metavar="ARM", rich_help_panel=ARMS, help="Selector of labels; for routes NAME:PORT."),
    ] = None,
    baseline: Annotated[
        str | None, typer.Option("--baseline", metavar="ARM", rich_help_panel=ARMS, help="The same of the baseline.")
    ] = None,
    kind: Annotated[
        Literal["rules", "PrometheusRule"],
        typer.Option("--kind", metavar="K", rich_help_panel=RULES, help="rules: a rule file; PrometheusRule: for the operator."),
    ] = "rules",
    depth: Annotated[
        int | None,
        typer.Option("--depth", metavar="N", min=1, rich_help_panel=RULES, help="Drafted tokens per round; default: the run's."),
    ] = None,
    limit: Annotated[
        list[str] | None,
        typer.Option("--limit", metavar="M=V", rich_help_panel=RULES, help="Such as tpot_p99=50ms or alpha=0.7; repeatable."),
    ] = None,
    buckets: Annotated[
        str | None,
        typer.Option("--custom-histogram-buckets", metavar="JSON", rich_help_panel=RULES, help="The engine's, if it has own."),
    ] = None,
    watch: Annotated[
        str | None,
        typer.Option("--watch", metavar="SEL", rich_help_panel=RULES, help="Selector of a scraped `watch --listen`."),
    ] = None,
    format: Annotated[
        Literal["gateway-api"], typer.Option("--format", "-f", metavar="F", rich_help_panel=ROUTES, help="gateway-api.")
    ] = "gateway-api",
    weight: Annotated[
        int,
        typer.Option("--weight", metavar="%", min=0, max=100, rich_help_panel=ROUTES, help="Share of enabled traffic."),
    ] = 100,
    gateway: Annotated[
        str, typer.Option("--gateway", metavar="NAME", rich_help_panel=ROUTES, help="Gateway that the route belongs to.")
    ] = "inference-gateway",
    allow_capped: Annotated[
        bool, typer.Option("--allow-capped", rich_help_panel=ROUTES, help="Enable caps that no run has confirmed.")
    ] = False,
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", rich_help_panel=OUTPUT, help="Name of the object.")
    ] = "specbench",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", rich_help_panel=OUTPUT, help="Where to; tests of rules beside it."),
    ] = None,
) -> None:
    """Write alarms, a dashboard or routes for live traffic, made of a run."""
    from specbench.run.output import deliver, say, tell
    from specbench.store import write_atomically

    picked = PickedExport(
        what=what,
        speculative=speculative,
        baseline=baseline,
        operator=kind == "PrometheusRule",
        depth=depth,
        limits=(*watched_limits(what, run), *(limit or ())),
        buckets=buckets,
        watch=watch,
        weight=weight,
        gateway=gateway,
        allow_capped=allow_capped,
        name=name,
        tests_for=None if output is None or str(output) == "-" else output.name,
    )
    made = file_of(picked, cited(run))
    for remark in made.remarks:
        tell(remark)
    if output is None or str(output) == "-":
        deliver(made.text.encode())
        return
    write_atomically(output, made.text.encode())
    say(f"wrote {output}")
    if made.tests is not None:
        beside = output.with_name(f"{output.stem}.test{output.suffix or '.yml'}")
        write_atomically(beside, made.tests.encode())
        say(f"wrote {beside}")
