"""The command line: parse flags, call one function, print, exit. Heavy imports stand inside the commands."""

import errno
import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from specbench import __version__
from specbench.cli import answers, bins, compare_results, completion, demo, fleet_command, lookups, results, run, tools
from specbench.cli.capacity import capacity_command
from specbench.cli.export import export_command
from specbench.cli.help import GroupedCommands
from specbench.cli.history import history_command
from specbench.cli.live import watch_command
from specbench.cli.scenarios import init
from specbench.cli.tuning import tune_commands
from specbench.errors import ExitCode, Interrupted, SpecbenchError
from specbench.run.output import prepare, say, tell

if TYPE_CHECKING:
    pass

SHOWN = 60  # characters of a name that is too long

app = typer.Typer(
    name="specbench",
    cls=GroupedCommands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Decides whether speculative decoding goes live. Measures a baseline and a speculative endpoint under the same load, "
    "and answers PROMOTE, CAPPED, HOLD, ROLLBACK or INVALID, with reasons.",
    epilog="Exit codes: 0 PROMOTE or done, 10 HOLD, 11 CAPPED, 20 ROLLBACK, 30 INVALID, 2 command line, 64 scenario, 65 bad "
    "data, 69 endpoint not reachable, 70 internal error, 129, 130 and 143 interrupted.",
)

COMMANDS = (
    run,
    answers,
    tune_commands,
    capacity_command,
    demo,
    init,
    results,
    compare_results,
    lookups,
    bins,
    tools,
    watch_command,
    history_command,
    export_command,
    fleet_command,
    completion,
)
for commands in COMMANDS:
    commands.register(app)


def main() -> None:
    """Runs the command line; every error that we know ends as one line on stderr and its exit code."""
    # Our arrays are small: threads of the linear algebra library cost more to start than they ever save.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    prepare()
    completion.prepare_completion()
    try:
        app()
    except SpecbenchError as error:
        tell(f"specbench: {error}")
        sys.exit(error.exit_code)
    except Interrupted as interruption:
        sys.exit(128 + interruption.signal_number)
    except KeyboardInterrupt:
        sys.exit(ExitCode.INTERRUPTED)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG and isinstance(error.filename, str):
            tell(f"specbench: {error.filename[:SHOWN]}…: is too long for the name of a file; check what was given")
            sys.exit(ExitCode.DATA)
        # Others are such as the text of --help on a full disk.
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
