"""The findings as JUnit XML: a suite per cell, a case per guardrail. What a state means to a build is decided here, nowhere else.

FAIL is a failure; INCONCLUSIVE is skipped, so that a HOLD stays visible without painting a build red; no data and a broken
measurement are errors. Of a CAPPED run no finding is a failure, as harm beyond the cap is what the cap is for, but in a slice
that says ROLLBACK; nor of one that ends HOLD, as where the gain that was asked for is ruled out. Cells that are not required do
nothing to a build.

Source: junit-10.xsd of Jenkins' xUnit plugin, which GitLab and GitHub's actions read too.
"""

from collections.abc import Sequence
from xml.etree import ElementTree

from specbench.explain import labels, numbers
from specbench.explain.brief import headline, next_step
from specbench.explain.brief.row_line import beyond_cap
from specbench.explain.findings import limit
from specbench.model import queries
from specbench.model.guardrails import SLOWS
from specbench.model.result import CellResult, Finding, IntegrityCheck, Result, VerdictWord
from specbench.report.view.comparison_rows import ComparisonRow
from specbench.report.view.deciding_rows import line_of, rows_by_finding

Rows = dict[int, ComparisonRow]  # by the `id` of their finding

PROBLEMS = {"FAIL": ("failure", "ROLLBACK"), "INCONCLUSIVE": ("skipped", "HOLD"), "NODATA": ("error", "NODATA")}
VERDICT_PROBLEMS = {"ROLLBACK": "failure", "INVALID": "error", "HOLD": "skipped", "CAPPED": "skipped"}


def junit(result: Result) -> bytes:
    """The whole result as one JUnit document in UTF-8."""
    root = ElementTree.Element("testsuites", name="specbench")
    rows = rows_by_finding(result)
    suites = [_run_suite(result, rows), *(_cell_suite(result, cell, rows) for cell in result.cells)]
    for suite in suites:
        suite.set("tests", str(len(suite.findall("testcase"))))
        for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            suite.set(attribute, str(len(suite.findall(f"testcase/{tag}"))))
        root.append(suite)
    ElementTree.indent(root)
    data: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return data + b"\n"


def _suite(result: Result, name: str) -> ElementTree.Element:
    started = result.run.started.removesuffix("Z").partition(".")[0]
    return ElementTree.Element("testsuite", name=numbers.plain(name), time="0", timestamp=started)


def _run_suite(result: Result, rows: Rows) -> ElementTree.Element:
    """The verdict, the run-wide findings and the run's integrity."""
    suite = _suite(result, f"{result.run.name}: run")
    _properties(suite, [("run", result.run.id), ("verdict", result.verdict), ("exit_code", str(result.exit_code))])
    case = _case(suite, "run", "verdict")
    said = (f"{result.verdict}: {headline.found(result)}.", next_step.demonstration(result), next_step.action(result))
    reasons = " ".join(one.message for one in result.reasons)
    _end(case, VERDICT_PROBLEMS.get(result.verdict), result.verdict, (" ".join(filter(None, said)), reasons))
    _findings(suite, "run", result.run_findings, (result.verdict, result.verdict), rows)
    _checks(suite, "run", result.integrity, decides=True)
    return suite


def _cell_suite(result: Result, cell: CellResult, rows: Rows) -> ElementTree.Element:
    part = numbers.slice_name(cell.axes)
    suite = _suite(result, f"{result.run.name}: {numbers.load(cell.axes)}{f', {part}' if part else ''}")
    pairs = [("state", cell.state), ("pairs", f"{cell.pairs_used} of {max(cell.pairs_planned, cell.pairs_used)}")]
    for found in cell.metrics:
        figures = (("ratio", found.ratio), ("ci_low", found.ci_low), ("ci_high", found.ci_high))
        pairs += [(f"{found.metric}.{name}", f"{value:.6g}") for name, value in figures if value is not None]
    marked = _marked(cell.findings)
    pairs += [(".".join([one.metric, *mark, "allowed"]), limit(one, queries.unit(cell, one.metric))) for one, mark in marked]
    pairs += [(".".join([one.metric, *mark, "p_harm"]), f"{one.p_harm:.6g}") for one, mark in marked if one.p_harm is not None]
    _properties(suite, pairs)
    own = queries.slice_of(result, cell)
    _findings(suite, cell.id, cell.findings, (result.verdict, own.verdict if own else result.verdict), rows)
    _checks(suite, cell.id, cell.integrity, decides=cell.required)
    return suite


def _marked(found: Sequence[Finding]) -> list[tuple[Finding, tuple[str, ...]]]:
    """Each finding with what tells it apart from others of its metric: its role where they have several, its number from 2 on."""
    roles: dict[str, set[str]] = {}
    for one in found:
        roles.setdefault(one.metric, set()).add(labels.ROLES[one.role])
    return [
        (one, (*((labels.ROLES[one.role],) if len(roles[one.metric]) > 1 else ()), *((str(number),) if number > 1 else ())))
        for one, number in queries.numbered(found)
    ]


def _findings(
    suite: ElementTree.Element,
    place: str,
    findings: Sequence[Finding],
    verdicts: tuple[VerdictWord, VerdictWord],
    rows: Rows,
) -> None:
    """A case per finding; `verdicts` are the run's, and that of the slice that the findings are of."""
    run, own = verdicts
    for found, mark in _marked(findings):
        tag, kind = PROBLEMS.get(found.state, (None, ""))
        kept_off = found.state == "FAIL" and run in ("CAPPED", "HOLD") and own != "ROLLBACK"
        line = line_of(found, rows.get(id(found)))
        message = beyond_cap(line) if kept_off and own == "CAPPED" else line
        case = _case(suite, place, labels.metric(found.metric) + (f" ({', '.join(mark)})" if mark else ""))
        _end(case, ("skipped" if kept_off else tag) if found.required else None, kind, (message, found.reason))


def _checks(suite: ElementTree.Element, place: str, checks: Sequence[IntegrityCheck], decides: bool) -> None:
    for check in checks:
        case = _case(suite, place, f"integrity: {check.id.replace('_', ' ')}")
        tag = "error" if check.ok is False else "skipped" if check.id == SLOWS else None
        _end(case, tag if decides else None, "INVALID", (check.message, check.message))


def _properties(suite: ElementTree.Element, pairs: Sequence[tuple[str, str]]) -> None:
    holder = ElementTree.SubElement(suite, "properties")
    for name, value in pairs:
        ElementTree.SubElement(holder, "property", name=numbers.plain(name), value=numbers.plain(value))


def _case(suite: ElementTree.Element, place: str, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(
        suite, "testcase", classname=numbers.plain(f"specbench.{place}"), name=numbers.plain(name), time="0"
    )


def _end(case: ElementTree.Element, tag: str | None, kind: str, said: tuple[str, str]) -> None:
    """Closes a case with its problem, or with why it passed; `said` is one short line, and the reason in full."""
    message, reason = map(numbers.plain, said)
    if tag is None:
        ElementTree.SubElement(case, "system-out").text = message
        return
    attributes = {"message": message} if tag == "skipped" else {"type": kind, "message": message}
    ElementTree.SubElement(case, tag, attributes).text = reason
