"""The demonstration: writes its scenario into the folder at hand, runs it in short form, and names or opens the report."""

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from specbench.cli.help import add
from specbench.cli.printing import OUTPUT, Color, NewRun, Quiet, Verbose
from specbench.cli.run import run
from specbench.errors import DataError
from specbench.run.output import tell

SCENARIO = "demo.yaml"
PROFILE = "smoke"
SHIPPED = "code.yaml"


def register(app: typer.Typer) -> None:
    """Adds the command to the application."""
    add(app, demo)


def demo(
    out: NewRun = None,
    show: Annotated[bool, typer.Option("--open", rich_help_panel=OUTPUT, help="Open the report in the browser.")] = False,
    verbose: Verbose = False,
    quiet: Quiet = False,
    color: Color = "auto",
) -> None:
    """Run the built-in demo: embedded engines, no GPU, no model, no key; about two minutes."""
    from specbench.run.run import folder_for
    from specbench.scenario.parse import Overrides, parse_scenario
    from specbench.store import REPORT

    path = written_here(Path.cwd())
    tell(f"specbench: the scenario is {path}; change it and run it again with: specbench run {path}")
    folder = out or folder_for(parse_scenario(path.read_text(encoding="utf-8"), str(path), Overrides(profile=PROFILE)))
    run(path, profile=PROFILE, out=folder, verbose=verbose, quiet=quiet, color=color)
    if show and not webbrowser.open((folder / REPORT).resolve().as_uri()):
        tell(f"specbench: no browser can be opened here; open {folder / REPORT} yourself")


def written_here(folder: Path) -> Path:
    """The demonstration's scenario in that folder, written if it is not there.

    Raises:
        DataError: Another file of that name is there, or none can be written.
    """
    from specbench.scenario.shipped import shipped_file

    file, shipped = folder / SCENARIO, shipped_file(SHIPPED)
    if shipped is None:
        raise DataError(f"{SHIPPED}: did not come with this installation; install specbench again")
    try:
        content = shipped.read_bytes()
        if file.exists() and file.read_bytes() != content:
            raise DataError(f"{file}: is another scenario; run it with: specbench run {SCENARIO}, or try the demo elsewhere")
        if not file.exists():
            file.write_bytes(content)
    except OSError as error:
        raise DataError(f"{file}: cannot be written ({error.strerror}); change to a folder that can") from None
    return Path(SCENARIO)
