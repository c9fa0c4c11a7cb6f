"""What `--help` says of every command, to the word."""

import re

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from specbench.cli.main import app
from tests.support.goldens import same_file

COMMANDS = sorted(get_command(app).commands)  # type: ignore[attr-defined]  # a group, as there are commands
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize("command", ["specbench", *COMMANDS])
def test_the_help_of_a_command_says_what_it_did(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On 80 columns without colour, whatever the terminal of the tests is."""
    monkeypatch.setenv("COLUMNS", "80")
    words = ["--help"] if command == "specbench" else [command, "--help"]
    done = CliRunner().invoke(app, words, prog_name="specbench", color=False)

    assert done.exit_code == 0
    same_file(f"help/{command}.txt", COLOUR.sub("", done.output))
