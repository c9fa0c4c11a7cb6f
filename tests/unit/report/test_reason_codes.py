"""Each reason that a rule gives reaches builds, gates, routers, scrapers and those who ask, whatever its code."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from prometheus_client.parser import text_string_to_metric_families
from typer.testing import CliRunner

from specbench.cli.main import app as commands
from specbench.explain.next_run import HELD
from specbench.model.result import CellResult, Finding, IntegrityCheck, Result
from specbench.report import render, result_json
from specbench.report.formats.github import annotations
from specbench.report.formats.junit import junit
from specbench.report.formats.policy import policy_of
from specbench.report.formats.prometheus import prometheus
from specbench.report.serve import app
from tests.support.results import capped, invalid, promote, reason, rollback
from tests.unit.report.test_serve import Client


def _said(code: str) -> str:
    return f"what {code.replace('_', ' ')} says."


def _with(
    result: Result, code: str, place: int = 0, *, found: Finding | None = None, check: IntegrityCheck | None = None
) -> Result:
    """The result with this reason first, and a finding or a check of one of its cells."""
    cells = list(result.cells)
    if cells:
        cell: CellResult = cells[place]
        more = () if found is None else (found,)
        checks = () if check is None else (check,)
        cells[place] = replace(cell, findings=(*cell.findings, *more), integrity=(*cell.integrity, *checks))
    first = reason(code, _said(code), None, None if found is None else found.metric)
    return replace(result, cells=tuple(cells), reasons=(first, *result.reasons))


def _failed(result: Result, place: int, **fields: object) -> Finding:
    cell = result.cells[place]
    return replace(cell.findings[0], cell=cell.id, state="FAIL", required=True, **fields)  # type: ignore[arg-type]


def _check(name: str, ok: bool | None, cell: str | None) -> IntegrityCheck:
    return IntegrityCheck(id=name, cell=cell, ok=ok, value=0.08, limit=0.025, message=_said(name))


def _held() -> Result:
    """A HOLD with nothing else to say: the findings of a run that would be promoted."""
    won = promote()
    return replace(won, verdict="HOLD", promote=False, exit_code=10, enable_range=None, reasons=())


RESULTS: dict[str, Callable[[], Result]] = {
    "harm_in_a_bin": lambda: _with(
        rollback(), "harm_in_a_bin", found=_failed(rollback(), 0, metric="ttft_paired", notes=("harm_in_a_bin",))
    ),
    "safety": lambda: _with(rollback(), "safety", found=_failed(rollback(), 0, metric="stalled_answers", role="safety")),
    "harm_beyond": lambda: _with(capped(), "harm_beyond", 2, found=_failed(capped(), 2, metric="stalled_answers", role="safety")),
    "carry_over": lambda: replace(_with(invalid(), "carry_over"), integrity=(_check("carry_over", False, None),)),
    "order_not_excluded": lambda: _with(_held(), "order_not_excluded"),
    "fading": lambda: _with(_held(), "fading"),
    "own_history": lambda: _with(_held(), "own_history"),
    "slows_within_blocks": lambda: _with(_held(), "slows_within_blocks", check=_check("slows_within_blocks", None, "c1")),
}
TAGS = {"PROMOTE": None, "CAPPED": "skipped", "HOLD": "skipped", "ROLLBACK": "failure", "INVALID": "error"}
EXITS = {"CAPPED": 11, "HOLD": 10, "ROLLBACK": 20, "INVALID": 30}


@pytest.fixture(params=list(RESULTS))
def coded(request: pytest.FixtureRequest) -> tuple[str, Result]:
    """A code and a result that gives it as its first reason."""
    return request.param, RESULTS[request.param]()


def test_a_build_shows_it(coded: tuple[str, Result]) -> None:
    """In the case of the verdict, which ends as the verdict does."""
    code, result = coded
    root = ElementTree.fromstring(junit(result))
    case = next(one for one in root.iter("testcase") if one.attrib["name"] == "verdict")

    assert (case[0].tag, _said(code) in (case[0].text or "")) == (TAGS[result.verdict], True)


def test_a_gate_ends_with_its_code(coded: tuple[str, Result], tmp_path: Path) -> None:
    """`explain` prints its sentence."""
    code, result = coded
    (tmp_path / "manifest.json").touch()
    (tmp_path / "result.json").write_bytes(result_json(result))

    answer = CliRunner().invoke(commands, ["gate", str(tmp_path)])

    assert answer.exit_code == EXITS[result.verdict]
    assert _said(code) in " ".join(CliRunner().invoke(commands, ["explain", str(tmp_path)]).output.split())


def test_routers_and_those_who_ask_are_told(coded: tuple[str, Result], tmp_path: Path) -> None:
    """Nothing is switched on by it but what a cap proposes."""
    code, result = coded
    (tmp_path / "result.json").write_bytes(result_json(result))
    answer = Client(app(tmp_path)).get("/verdict").json()

    assert policy_of(result)["enable"] == []
    assert (answer["verdict"], answer["promote"]) == (result.verdict, False)
    assert json.loads(Client(app(tmp_path)).get("/result.json").content)["reasons"][0]["code"] == code


def test_scrapers_see_every_finding(coded: tuple[str, Result]) -> None:
    """Each with the one state that holds."""
    _, result = coded
    samples = [
        sample
        for family in text_string_to_metric_families(prometheus(result).decode())
        for sample in family.samples
        if family.name == "specbench_finding" and sample.value == 1
    ]
    findings = [found for cell in result.cells for found in cell.findings] + list(result.run_findings)

    assert sorted((s.labels["metric"], s.labels["specbench_finding"]) for s in samples) == sorted(
        (found.metric, found.state) for found in findings
    )


@pytest.mark.parametrize("format", ["markdown", "html"])
def test_people_read_it(coded: tuple[str, Result], format: str) -> None:
    """In the long forms."""
    code, result = coded
    content = render(result, format)

    assert _said(code) in " ".join((content if isinstance(content, str) else content.decode()).split())


def test_a_cell_that_slows_is_skipped_in_a_build_and_named_in_a_workflow() -> None:
    """It voids nothing, and it is no pass."""
    result = RESULTS["slows_within_blocks"]()
    slow = replace(result, cells=(replace(result.cells[0], state="INCONCLUSIVE"), *result.cells[1:]))
    root = ElementTree.fromstring(junit(slow))
    case = next(one for one in root.iter("testcase") if "slows" in one.attrib["name"])
    github = annotations(slow)

    assert case[0].tag == "skipped"
    assert f"title=HOLD at 1 stream::{_said('slows_within_blocks')}" in github


@pytest.mark.parametrize("code", [*RESULTS, "order not tested", "stalled_answers"])
def test_the_documentation_explains_it(code: str) -> None:
    """A row or a sentence in docs/verdict.md, and a word in the glossary."""
    assert re.search(rf"`{code}`", Path("docs/verdict.md").read_text())
    assert code in ("safety", "harm_beyond") or code in Path("docs/glossary.md").read_text()


@pytest.mark.parametrize("code", ["order_not_excluded", "fading", "own_history", "slows_within_blocks"])
def test_a_hold_that_is_no_question_of_pairs_says_what_it_waits_for(code: str) -> None:
    """The next run to make."""
    assert code in HELD
