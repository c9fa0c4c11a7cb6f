"""Completion for shells: the script for each, and what stands for scenarios, runs, formats, engines and profiles.

A shell asks at every press of the tab key, so that nothing is imported here but what names things.
"""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated

import typer

from specbench.cli.help import add
from specbench.run.output import deliver

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_SPECBENCH_COMPLETE"
MOST = 50  # names of one kind


def register(app: typer.Typer) -> None:
    """Adds the command to the application."""
    add(app, completion)


def prepare_completion() -> None:
    """Lets the program answer a shell that asks for completions, which it tells by an environment variable."""
    if VARIABLE in os.environ:
        from typer.completion import completion_init  # type: ignore[attr-defined]  # it is there, and not in a list of exports

        completion_init()


def scenarios(incomplete: str) -> list[str]:
    """Scenario files that begin so: in the folder named so far, and in `scenarios`."""
    return _found(incomplete, lambda path: path.suffix in (".yaml", ".yml"), Path("scenarios"))


def runs(incomplete: str) -> list[str]:
    """Run folders that begin so, in `reports` too, and `latest`."""
    found = _found(incomplete, lambda path: (path / "result.json").exists() or (path / "manifest.json").exists(), Path("reports"))
    return [*(["latest"] if "latest".startswith(incomplete) else []), *found]


def formats(incomplete: str) -> list[str]:
    """The formats of `report` that begin so."""
    from specbench.report import FORMATS, TABLES

    return _beginning(incomplete, (*FORMATS, *TABLES))


def engines(incomplete: str) -> list[str]:
    """The engines that begin so."""
    from specbench.telemetry import ENGINES

    return _beginning(incomplete, ENGINES)


def profiles(incomplete: str) -> list[str]:
    """The profiles that begin so."""
    return _beginning(incomplete, ("smoke", "standard", "full"))


def completion(
    shell: Annotated[str, typer.Argument(metavar="SHELL", help="bash, zsh or fish.", autocompletion=lambda: list(SHELLS))],
) -> None:
    """Print the completion script of a shell: specbench completion bash >>~/.bashrc."""
    from typer.completion import get_completion_script  # type: ignore[attr-defined]  # as above

    if shell not in SHELLS:
        raise typer.BadParameter(f"{shell}: {', '.join(SHELLS)}", param_hint="SHELL")
    deliver(get_completion_script(prog_name="specbench", complete_var=VARIABLE, shell=shell))


def _beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def _found(incomplete: str, is_one: Callable[[Path], bool], usual: Path) -> list[str]:
    """What is one, and folders on the way to one, below what is typed; without a folder in it also below the usual one."""
    typed = Path(incomplete).parent if "/" in incomplete else Path()
    found: list[str] = []
    for folder in dict.fromkeys((typed, *(() if "/" in incomplete else (usual,)))):
        try:
            inside = sorted(folder.iterdir())
        except OSError:
            continue
        for path in inside:
            named = str(path)
            if is_one(path):
                found.append(named)
            elif path.is_dir() and folder == typed and not path.name.startswith("."):
                found.append(f"{named}/")
    return [name for name in found if name.startswith(incomplete) or Path(name).name.startswith(incomplete)][:MOST]
