"""What the documentation says is what the code does."""

import ast
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import typer

from specbench.cli.main import app
from specbench.imports.known_tools import TOOLS
from specbench.model.metrics import METRICS
from specbench.report import FORMATS, TABLES
from specbench.scenario.key_meanings import MEANINGS
from specbench.scenario.parse import Overrides, parse_scenario
from specbench.scenario.schema import json_schema
from specbench.telemetry import ENGINES
from tests.support import made_docs
from tests.support.commands import specbench

README = Path("README.md").read_text()
GLOSSARY = Path("docs/glossary.md").read_text()
COMMANDS = sorted(command.name or (command.callback.__name__ if command.callback else "") for command in app.registered_commands)


def test_the_glossary_defines_every_metric_as_the_code_does() -> None:
    """The glossary's rows are the METRICS table, to the letter."""
    rows = set(re.findall(r"^\| (.+?) \| (.+?) \| (lower|higher|equal) \| (.+?) \|$", GLOSSARY, re.MULTILINE))

    assert rows == {(metric.id, metric.unit, metric.direction, metric.definition) for metric in METRICS.values()}


@pytest.mark.parametrize("name", sorted(ENGINES))
def test_every_engine_has_a_row_in_the_docs(name: str) -> None:
    """Nobody has to read code to learn what an engine tells."""
    assert re.search(rf"^\| `?{name}`?\b", Path("docs/engines.md").read_text(), re.MULTILINE)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_readme_names_every_command(name: str) -> None:
    """A command that the README does not know is a command that nobody finds."""
    assert f"specbench {name}" in README


@pytest.mark.parametrize("name", sorted({*FORMATS, *TABLES}))
def test_the_docs_name_every_format(name: str) -> None:
    """So it is with output formats."""
    assert f"`{name}`" in made_docs.cli_page().partition("## Formats")[2]


def test_the_readme_is_read_in_a_few_minutes_and_names_no_index() -> None:
    """What it says of installing works today: from a clone."""
    assert len(README.splitlines()) <= 120
    assert re.findall(r"(?:pip|pipx|uv tool) install (?!/path/to/specbench)\S*", README) == []


@pytest.mark.parametrize(
    ("file", "made"),
    [(made_docs.README, made_docs.readme), (made_docs.CLI, made_docs.cli_page), (made_docs.SCENARIO, made_docs.scenario_page)],
    ids=lambda value: value.name if isinstance(value, Path) else "",
)
def test_what_is_made_from_the_code_is_not_stale(file: Path, made: Callable[[], str]) -> None:
    """If it is: make docs."""
    assert file.read_text() == made()


def test_the_picture_shows_the_page_as_it_is() -> None:
    """It was made of today's first screen; if it was not: make docs, with a Chromium."""
    assert made_docs.picture_made_of() == made_docs.picture_source()


def test_every_key_of_a_scenario_has_a_meaning() -> None:
    """In the table of keys, for the docs and for editors; none of a key that is gone."""
    schema = json_schema()
    keys = {name: set(model["properties"]) for name, model in {"": schema, **schema["$defs"]}.items()}

    assert {name: set(told) for name, told in MEANINGS.items()} == keys


def shell_lines() -> list[str]:
    """The commands in README's shell blocks."""
    blocks = re.findall(r"```(?:sh|console)\n(.*?)```", README, re.DOTALL)
    return [line.removeprefix("$ ").split("#")[0].strip() for block in blocks for line in block.splitlines() if line.strip()]


@pytest.mark.parametrize("line", [line for line in shell_lines() if line.startswith("specbench ")])
def test_the_commands_of_the_readme_exist_with_their_options(line: str) -> None:
    """Each documented command line parses: command and options are known."""
    words = shlex.split(line)[1:]
    command = next(c for c in app.registered_commands if (c.name or (c.callback and c.callback.__name__)) == words[0])
    known = typer.main.get_command(app).commands[words[0]]  # type: ignore[attr-defined]  # a group, as there are commands
    options = {option for parameter in known.params for option in (*parameter.opts, *parameter.secondary_opts)}

    assert command is not None
    assert [word for word in words[1:] if word.startswith("--") and word not in options] == []


def test_every_file_that_the_readme_links_to_exists() -> None:
    """No dead link."""
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", README) if not link.startswith("http")]

    assert [link for link in links if not Path(link).exists()] == []
    assert links


def test_the_changelog_names_the_version() -> None:
    """The version that the package claims has its section."""
    from specbench import __version__

    assert f"## {__version__}" in Path("CHANGELOG.md").read_text()


def test_the_doctors_page_names_every_symptom() -> None:
    """Whatever `doctor` may print in front of a colon, but for the outcomes of failed answers."""
    calls = (
        node
        for module in Path("specbench/doctor").glob("*.py")
        for node in ast.walk(ast.parse(module.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Symptom"
    )
    named = {call.args[0].value for call in calls if call.args and isinstance(call.args[0], ast.Constant)}

    assert named == set(re.findall(r"^\| `([a-z_]+)` \|", Path("docs/doctor.md").read_text(), re.MULTILINE))


def test_the_docs_name_every_flag_of_the_decoder() -> None:
    """One table tells what each means; it names none that no answer can have."""
    source = "".join(path.read_text() for path in Path("specbench/stream").glob("*.py"))
    text = Path("docs/engines.md").read_text()
    table = text[text.index("| flag of a request |") :].split("\n\n")[0]
    named = {flag for row in table.splitlines()[2:] for flag in re.findall(r"`(\w+)`", row.split("|")[1])}

    assert set(re.findall(r'(?:flags|oddities)\.add\("(\w+)"\)', source)) <= named
    assert all(f'"{flag}"' in source for flag in named)


def codes_of_reasons(module: ast.Module) -> set[str]:
    """The codes that a module of sentences gives to reasons: a constant that makes one, or is handed to what does."""
    places = {"_reason": 0, "_of": 1, "_open": 1}
    found = set()
    for call in (node for node in ast.walk(module) if isinstance(node, ast.Call)):
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        named = [keyword.value for keyword in call.keywords if name == "Reason" and keyword.arg == "code"]
        place = places.get(name)
        values = named if place is None or len(call.args) <= place else [call.args[place]]
        found |= {value.value for value in values if isinstance(value, ast.Constant) and isinstance(value.value, str)}
    return found


def test_the_page_of_the_verdict_names_every_code_of_a_reason() -> None:
    """A code that a script meets in a result is one that a person can look up."""
    modules = [ast.parse(path.read_text()) for path in Path("specbench/explain").rglob("*.py")]
    codes = set().union(*map(codes_of_reasons, modules))
    rows = [line.split("|")[1] for line in Path("docs/verdict.md").read_text().splitlines() if line.startswith("| `")]

    assert {"harm", "no_benefit", "capped", "killed_from_outside"} <= codes
    assert codes - {word for row in rows for word in re.findall(r"`(\w+)`", row)} == set()


PAGES = sorted(Path("docs").rglob("*.md"))
BLOCK = re.compile(r"(?:<!-- not run: (?P<reason>[^>]+?) -->\n)?```sh\n(?P<lines>.*?)```", re.DOTALL)
BLOCKS = [(page, found["lines"], found["reason"]) for page in PAGES for found in BLOCK.finditer(page.read_text())]
RUN = [(page, lines) for page, lines, reason in BLOCKS if reason is None]


@pytest.mark.parametrize(("page", "lines"), RUN, ids=[f"{page}-{at}" for at, (page, _) in enumerate(RUN)])
def test_a_block_of_commands_in_the_docs_runs(page: Path, lines: str) -> None:
    """In the checkout, line by line; a block that cannot says why above it."""
    for line in lines.splitlines():
        done = specbench(*shlex.split(line, comments=True)[1:])
        assert line.startswith("specbench "), f"{page}: {line}"
        assert done.returncode == 0, f"{page}: {line}\n{done.stdout}{done.stderr}"


def test_blocks_that_are_not_run_give_a_reason_and_options_that_exist() -> None:
    """How many of both there are is printed."""
    not_run = [(page, lines, reason) for page, lines, reason in BLOCKS if reason is not None]
    commands = [line for _, lines, _ in not_run for line in lines.splitlines() if line.startswith("specbench ")]
    sys.stdout.write(f"blocks of commands in docs: {len(RUN)} run, {len(not_run)} not run\n")

    assert RUN
    assert all(len(reason) > 10 for _, _, reason in not_run)
    assert [line for line in commands if not_known(line)] == []


def not_known(line: str) -> list[str]:
    """The options in a command line that its command does not have; the command itself where that is not there."""
    words = [word for word in shlex.split(line, comments=True)[1:] if word != "&"]
    command = typer.main.get_command(app).commands.get(words[0])  # type: ignore[attr-defined]  # a group, as there are commands
    if command is None:
        return words[:1]
    options = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    return [word for word in words[1:] if word.startswith("--") and word not in options]


@pytest.mark.parametrize("page", sorted(Path("docs/cookbook").glob("*.md")), ids=lambda page: page.stem)
def test_the_scenarios_of_the_cookbook_parse(page: Path) -> None:
    """Each is a whole one."""
    for text in re.findall(r"```yaml\n(.*?)```", page.read_text(), re.DOTALL):
        assert parse_scenario(text, str(page), Overrides()).workload.bins


def test_every_page_of_the_docs_is_on_the_map_and_no_link_is_dead() -> None:
    """The map is docs/README.md; a link is to a file that is there."""
    linked = {
        (page.parent / link).resolve()
        for page in PAGES
        for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text())
        if not link.startswith("http")
    }
    mapped = {Path("docs", link).resolve() for link in re.findall(r"\]\(([^)#]+)\)", Path("docs/README.md").read_text())}
    pages = {page.resolve() for page in PAGES if "adr" not in page.parts and page.name != "README.md"}

    assert [str(link) for link in linked if not link.exists()] == []
    assert [str(page) for page in pages - mapped] == []


def test_the_page_of_imports_names_every_tool() -> None:
    """Whatever can be read has a row."""
    text = Path("docs/imports.md").read_text()

    assert [tool.label for tool in TOOLS if tool.label.split()[0] not in text] == []
