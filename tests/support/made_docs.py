"""What is made for the docs: the README's example, docs/cli.md, docs/scenario.md and the picture. `make docs` writes them.

Each is a function from the code to a text, so that a test can say what is stale. The picture needs a Chromium.
"""

import base64
import hashlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PIL import Image, PngImagePlugin
from typer.main import get_command
from typer.testing import CliRunner

from specbench.cli.help import GROUPS
from specbench.cli.main import app
from specbench.report import read_result
from specbench.report.formats.html import html
from specbench.report.formats.text import TextOptions, text
from specbench.scenario.schema import json_schema
from tests.support.browser import browsing, chromium

README, CLI, SCENARIO, PICTURE = Path("README.md"), Path("docs/cli.md"), Path("docs/scenario.md"), Path("docs/report.png")
EXAMPLE = Path("reports/example")
MADE_OF = "made of"  # the name of the picture's own note
BLOCK = re.compile(r"(?<=<!-- example -->\n```text\n).*?(?=```\n<!-- /example -->)", re.DOTALL)
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
WIDTH, HEIGHT = 1280, 800


def readme() -> str:
    """The README with the terminal report of the committed example."""
    shown = text(read_result(EXAMPLE / "result.json"), TextOptions(folder=EXAMPLE)).rstrip("\n") + "\n"
    return BLOCK.sub(lambda _: shown, README.read_text())


def cli_page() -> str:
    """docs/cli.md: the help of every command, group by group."""
    lines = ["# Commands", "", "Made from `--help` by `make docs`; formats of `report` and exit codes are at the end.", ""]
    known = get_command(app).commands  # type: ignore[attr-defined]  # a group, as there are commands
    for group, commands in GROUPS.items():
        lines += [f"## {group}", ""]
        for command in commands:
            if command in known:
                lines += [f"### specbench {command}", "", "```text", *_help(command).strip("\n").splitlines(), "```", ""]
    return "\n".join([*lines, *_FORMATS])


def _help(command: str) -> str:
    done = CliRunner().invoke(app, [command, "--help"], prog_name="specbench", color=False, env={"COLUMNS": "80"})
    return "\n".join(line.rstrip() for line in COLOUR.sub("", done.output).splitlines())


_FORMATS = (
    "## Formats of `report`",
    "",
    "| format | for |",
    "|---|---|",
    "| `html`, `text`, `json` | people, terminals, programs |",
    "| `markdown`, `comment`, `annotations`, `outputs` | GitHub: step summary, pull request comment, annotations, outputs |",
    "| `junit`, `gitlab`, `badge`, `prometheus` | CI systems, GitLab's metrics report, a badge, a textfile collector |",
    "| `policy` | a router: which traffic may speculate, up to what load, as JSON |",
    "| `csv`, `parquet` | tables of requests and events (`parquet` needs the extra `specbench-llm[parquet]`) |",
    "",
    "## Exit codes",
    "",
    "0 PROMOTE or done, 10 HOLD, 11 CAPPED (0 with `--allow-capped`), 20 ROLLBACK, 30 INVALID, 2 command line, 64 scenario,",
    "65 bad data, 69 endpoint not reachable, 70 internal error, 129, 130 and 143 interrupted.",
    "`run` without `--gate` exits 0 once it has measured and judged, except INVALID, which is 30 always.",
    "",
)


def scenario_page() -> str:
    """docs/scenario.md: every key with its type, its default and its meaning."""
    schema = json_schema()
    lines = [
        "# The scenario file",
        "",
        "YAML. Every key is checked; a mistake is one line with file, line and key. Made from the schema by `make docs`;",
        "`specbench schema` prints it as JSON. A complete example is [scenarios/code.yaml](../scenarios/code.yaml).",
        "",
    ]
    for model in (schema, *schema["$defs"].values()):
        lines += [f"## {_title(model['description'])}", "", "| key | value | default | meaning |", "|---|---|---|---|"]
        for key, told in model["properties"].items():
            default = "required" if key in model.get("required", ()) else _default(told.get("default"))
            lines.append(f"| `{key}` | {_kind(told, schema)} | {default} | {_cell(told.get('description', ''))} |")
        lines.append("")
    return "\n".join(lines)


def _title(description: str) -> str:
    return {"The whole scenario.": "Top level"}.get(description, description.split(":")[0].split("\n")[0].rstrip("."))


def _cell(content: str) -> str:
    return content.replace("|", "\\|")


def _default(value: object) -> str:
    if value is None or isinstance(value, dict):
        return ""
    if isinstance(value, list):
        return ", ".join(str(one) for one in value if not isinstance(one, dict))
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _kind(told: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    if "anyOf" in told:
        return " or ".join(dict.fromkeys(_kind(one, schema) for one in told["anyOf"] if one.get("type") != "null"))
    if "$ref" in told:
        return _title(schema["$defs"][told["$ref"].rpartition("/")[2]]["description"]).removeprefix("An entry of ")
    if "enum" in told:
        return ", ".join(f"`{one}`" for one in told["enum"])
    if told.get("type") == "array":
        return "two whole numbers" if "prefixItems" in told else f"list: {_kind(told['items'], schema)}"
    return _KINDS[told["type"]]


_KINDS = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "object": "keys and values",
}


def picture_source() -> str:
    """The digest of what the picture shows: the golden page as far as the first table, and its style."""
    shown = Path("tests/golden/reports/html.txt").read_text().partition("<tbody>")[0]
    return hashlib.sha256((shown + Path("specbench/report/page/page.css").read_text()).encode()).hexdigest()


def picture_made_of() -> str:
    """The digest that the committed picture was made of."""
    with Image.open(PICTURE) as picture:
        return str(picture.info.get(MADE_OF, ""))


def take_picture(folder: Path) -> None:
    """Writes docs/report.png anew: the first screen of the example's page."""
    page, shot = folder / "page.html", folder / "shot.png"
    page.write_text(html(read_result(EXAMPLE / "result.json")), encoding="utf-8")
    # A process of its own: fonts that were drawn with hold the numbers of files that the browser's pipes take.
    subprocess.run([sys.executable, "-m", "tests.support.made_docs", str(page.resolve()), str(shot)], check=True)
    note = PngImagePlugin.PngInfo()
    note.add_text(MADE_OF, picture_source())
    with Image.open(shot) as picture:
        picture.convert("P", palette=Image.Palette.ADAPTIVE, colors=128).save(PICTURE, pnginfo=note, optimize=True)


def photograph(page: Path, file: Path) -> None:
    """Writes the first screen of the page to the file."""
    program = chromium()
    assert program is not None
    with browsing(program) as browser:
        browser.open(page, WIDTH)
        browser.resize(WIDTH, HEIGHT)
        file.write_bytes(base64.b64decode(browser.ask("Page.captureScreenshot", format="png")["data"]))


def main() -> int:
    """Writes all of them; the picture only where it is stale and there is a browser."""
    README.write_text(readme())
    CLI.write_text(cli_page())
    SCENARIO.write_text(scenario_page())
    if PICTURE.exists() and picture_made_of() == picture_source():
        return 0
    if chromium() is None:
        sys.stderr.write("docs/report.png is stale, and there is no Chromium to make it\n")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        take_picture(Path(folder))
    return 0


if __name__ == "__main__":
    if len(sys.argv) > 1:
        photograph(Path(sys.argv[1]), Path(sys.argv[2]))
    else:
        sys.exit(main())
