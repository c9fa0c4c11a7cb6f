"""The options by which several processes drive the load, and the command that lends one machine's. Heavy imports stand inside."""

import os
import signal
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from specbench.cli.help import add
from specbench.errors import Interrupted
from specbench.run.output import tell

if TYPE_CHECKING:
    from specbench.load.fleet.fleet_plan import FleetOptions

FLEET = "Load generator"
Processes = Annotated[
    int, typer.Option("--processes", metavar="N", rich_help_panel=FLEET, help="Drive the load with N processes of this machine.")
]
Workers = Annotated[
    int,
    typer.Option(
        "--workers", metavar="N", rich_help_panel=FLEET, help="Wait for N workers of other machines (specbench worker)."
    ),
]
WorkerWait = Annotated[
    str, typer.Option("--worker-wait", metavar="TIME", rich_help_panel=FLEET, help="How long to wait for workers.")
]
Listen = Annotated[
    str | None,
    typer.Option(
        "--listen",
        metavar="HOST:PORT",
        rich_help_panel=FLEET,
        help="Where workers connect; default 127.0.0.1:5557. Needs SPECBENCH_FLEET_KEY.",
        show_default=False,
    ),
]


def register(app: typer.Typer) -> None:
    """Adds the command to the command line."""
    add(app, worker)


def fleet_options(processes: int, workers: int, worker_wait: str, listen: str | None) -> "FleetOptions":
    """The options as one value."""
    from specbench.load.fleet.fleet_plan import FleetOptions

    return FleetOptions(processes=processes, workers=workers, worker_wait=worker_wait, listen=listen)


def worker(
    master: Annotated[str, typer.Argument(metavar="HOST:PORT", help="Where the run listens for workers.")],
    processes: Annotated[int, typer.Option("--processes", metavar="P", min=1, max=500, help="How many workers to lend.")] = 1,
    wait: Annotated[str, typer.Option("--wait", metavar="TIME", help="How long to try to reach the run.")] = "10m",
) -> None:
    """Drive a part of the load of a run on another machine; SPECBENCH_FLEET_KEY must be the same there."""
    from specbench.load.fleet.fleet_plan import address_of, fleet_key, wait_s
    from specbench.load.fleet.wire import JoinFleet
    from specbench.load.fleet.worker_processes import WorkerProcesses

    host, port = address_of(master, "worker")
    join = JoinFleet(host=host, port=port, secret=fleet_key(os.environ, "worker"), wait_s=wait_s(wait, "--wait"))
    signal.signal(signal.SIGTERM, _interrupt)
    with WorkerProcesses(processes, join) as lent:
        tell(f"specbench: {processes} {'worker' if processes == 1 else 'workers'} for {host}:{port}")
        code = lent.wait()
    if code:
        raise typer.Exit(code)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise Interrupted(number)
