"""The command line: what cannot be asked for ends in one line and its exit code."""

import socket
from pathlib import Path

import pytest
from typer.testing import CliRunner

from specbench.cli.main import app
from specbench.errors import DataError, UnreachableError

EXAMPLE = "reports/example"


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["serve", EXAMPLE, "--port", "99999"], "--port"),
        (["calibrate", "--jobs", "0"], "--jobs"),
        (["calibrate", "--most", "0"], "--most"),
        (["run", "scenarios/code.yaml", "--until", "noon"], "--until"),
        (["plan", "scenarios/code.yaml", "--set", "matrix"], "--set"),
    ],
)
def test_a_value_beyond_an_option_is_an_error_of_the_command_line(words: list[str], option: str) -> None:
    """Exit 2, and the option by its name."""
    done = CliRunner().invoke(app, words)

    assert done.exit_code == 2
    assert option in done.output


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """Before any campaign runs."""
    (tmp_path / "file").touch()
    done = CliRunner().invoke(app, ["calibrate", "--out", str(tmp_path / "file" / "folder")])

    assert isinstance(done.exception, DataError)
    assert "cannot be made: Not a directory" in str(done.exception)


@pytest.mark.parametrize("words", [["engine"], ["serve", EXAMPLE]])
def test_a_port_in_use_is_an_address_that_cannot_be_had(words: list[str]) -> None:
    """Exit 69, with the port; another one is to be given."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = CliRunner().invoke(app, [*words, "--port", port])

    assert isinstance(done.exception, UnreachableError)
    assert port in str(done.exception)
    assert "give another" in str(done.exception)
