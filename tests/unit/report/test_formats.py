"""The table of formats: each renders every verdict, text and JSON stay light, and files land where they should."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from specbench.errors import DataError
from specbench.model.result import PerArm, Result
from specbench.report import FORMATS, render, result_json, write_report
from tests.support.results import capped, every_verdict, hostile, sliced

RESULTS = [*every_verdict().values(), sliced(), hostile()]


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "html"])
@pytest.mark.parametrize("result", RESULTS, ids=lambda found: f"{found.verdict}-{len(found.cells)}-{len(found.slices)}")
def test_each_format_renders_each_result_the_same_twice(name: str, result: Result) -> None:
    """Every verdict, with and without cells or slices, has every form; the page has tests of its own."""
    first = render(result, name)
    assert first
    assert first == render(result, name)


def test_formats_for_machines_and_logs_stay_light() -> None:
    """None of them imports matplotlib, pandas, Jinja, numpy or scipy, which would slow a gate down."""
    code = (
        "import sys; from specbench.report import render; from tests.support.results import capped; "
        "[render(capped(), name) for name in ('text', 'json', 'markdown', 'annotations', 'outputs', 'badge', 'junit')]; "
        "print([heavy for heavy in ('matplotlib', 'pandas', 'jinja2', 'numpy', 'scipy', 'locust') if heavy in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_an_unknown_format_names_those_that_exist() -> None:
    """One line lists what may be asked for."""
    with pytest.raises(DataError, match=r"there is no format 'pdf'; the formats are html, text, json, markdown"):
        render(capped(), "pdf")


def test_files_go_into_the_run_folder_and_text_to_standard_output(tmp_path: Path) -> None:
    """JUnit is a file of the run, text is bytes to print; '-' prints a file format, and a path takes any."""
    (tmp_path / "result.json").write_bytes(result_json(capped()))
    assert write_report(tmp_path, "junit", None) == tmp_path / "junit.xml"
    assert (tmp_path / "junit.xml").read_bytes() == render(capped(), "junit")
    printed = write_report(tmp_path, "text", None)
    assert isinstance(printed, bytes)
    assert printed.decode().startswith("CAPPED ")
    assert write_report(tmp_path, "junit", Path("-")) == render(capped(), "junit")
    assert write_report(tmp_path, "text", tmp_path / "report.txt") == tmp_path / "report.txt"
    assert (tmp_path / "report.txt").read_bytes() == printed


def test_a_folder_without_a_result_says_what_to_do(tmp_path: Path) -> None:
    """A run that was never analysed is told so in one line."""
    (tmp_path / "manifest.json").touch()
    with pytest.raises(DataError, match=r"make one with: specbench analyze"):
        write_report(tmp_path, "html", None)


@pytest.mark.parametrize("format", sorted(set(FORMATS) - {"html"}))
def test_no_format_brings_a_control_character_to_a_terminal(tmp_path: Path, format: str) -> None:
    """Whatever a run folder of others holds; what is left in Markdown keeps `@` from being a mention."""
    told = "a\x1b[31m\x9b2J\u202eb\x7f"
    base = capped()
    spec = replace(base.endpoints.speculative, model=told, engine_version=told, facts={"note": told})
    odd = replace(base, run=replace(base.run, name=told, id=told), endpoints=PerArm(base.endpoints.baseline, spec), notes=(told,))
    (tmp_path / "result.json").write_bytes(result_json(odd))

    made = write_report(tmp_path, format, Path("-"))

    assert isinstance(made, bytes)
    assert {one for one in made.decode() if not one.isprintable()} <= {"\n", "\u200b"}
