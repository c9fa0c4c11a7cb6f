"""The findings as JUnit XML: a suite per cell, a case per guardrail. What a state means to a build is decided here, nowhere else.

FAIL is a failure; INCONCLUSIVE is skipped, so that a HOLD stays visible without painting a build red; no data and a broken
measurement are errors. Of a CAPPED run no finding is a failure: harm beyond the cap is what the cap is for.

Source: junit-10.xsd of Jenkins' xUnit plugin, which GitLab and GitHub's actions read too.
"""

from collections.abc import Sequence
from xml.etree import ElementTree

from specbench.model.judged import CellResult, Finding, IntegrityCheck, Result, VerdictWord
from specbench.report import names, parts, view, wording
from specbench.report.rows import limit

PROBLEMS = {"FAIL": ("failure", "ROLLBACK"), "INCONCLUSIVE": ("skipped", "HOLD"), "NODATA": ("error", "NODATA")}
VERDICT_PROBLEMS = {"ROLLBACK": "failure", "INVALID": "error", "HOLD": "skipped", "CAPPED": "skipped"}


def junit(result: Result) -> bytes:
    """The whole result as one JUnit document in UTF-8."""
    root = ElementTree.Element("testsuites", name="specbench")
    suites = [_run_suite(result), *(_cell_suite(result, cell) for cell in result.cells)]
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
    return ElementTree.Element("testsuite", name=wording.plain(name), time="0", timestamp=started)


def _run_suite(result: Result) -> ElementTree.Element:
    """The verdict, the run-wide findings and the run's integrity."""
    suite = _suite(result, f"{result.run.name}: run")
    _properties(suite, [("run", result.run.id), ("verdict", result.verdict), ("exit_code", str(result.exit_code))])
    case = _case(suite, "run", "verdict")
    said = [f"{result.verdict}: {view.headline(result)}.", parts.demonstration(result), *(one.message for one in result.reasons)]
    message = " ".join(filter(None, said))
    _end(case, VERDICT_PROBLEMS.get(result.verdict), result.verdict, message)
    _findings(suite, "run", result.run_findings, result.verdict)
    _checks(suite, "run", result.integrity)
    return suite


def _cell_suite(result: Result, cell: CellResult) -> ElementTree.Element:
    part = wording.slice_name(cell.axes)
    suite = _suite(result, f"{result.run.name}: {wording.load(cell.axes)}{f', {part}' if part else ''}")
    pairs = [("state", cell.state), ("pairs", f"{cell.pairs_used} of {cell.pairs_planned}")]
    for found in cell.metrics:
        numbers = (("ratio", found.ratio), ("ci_low", found.ci_low), ("ci_high", found.ci_high))
        pairs += [(f"{found.metric}.{name}", f"{value:.6g}") for name, value in numbers if value is not None]
    pairs += [(f"{found.metric}.allowed", limit(found)) for found in cell.findings]
    pairs += [(f"{found.metric}.p_harm", f"{found.p_harm:.6g}") for found in cell.findings if found.p_harm is not None]
    _properties(suite, pairs)
    _findings(suite, cell.id, cell.findings, result.verdict)
    _checks(suite, cell.id, cell.integrity)
    return suite


def _findings(suite: ElementTree.Element, place: str, findings: Sequence[Finding], verdict: VerdictWord) -> None:
    for found in findings:
        tag, kind = PROBLEMS.get(found.state, (None, ""))
        beyond_cap = verdict == "CAPPED" and found.state == "FAIL"
        message = f"beyond the cap: {found.reason}" if beyond_cap else found.reason
        case = _case(suite, place, names.metric(found.metric))
        _end(case, ("skipped" if beyond_cap else tag) if found.required else None, kind, message)


def _checks(suite: ElementTree.Element, place: str, checks: Sequence[IntegrityCheck]) -> None:
    for check in checks:
        case = _case(suite, place, f"integrity: {check.id.replace('_', ' ')}")
        _end(case, "error" if check.ok is False else None, "INVALID", check.message)


def _properties(suite: ElementTree.Element, pairs: Sequence[tuple[str, str]]) -> None:
    holder = ElementTree.SubElement(suite, "properties")
    for name, value in pairs:
        ElementTree.SubElement(holder, "property", name=wording.plain(name), value=wording.plain(value))


def _case(suite: ElementTree.Element, place: str, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(
        suite, "testcase", classname=wording.plain(f"specbench.{place}"), name=wording.plain(name), time="0"
    )


def _end(case: ElementTree.Element, tag: str | None, kind: str, message: str) -> None:
    """Closes a case: with its problem, or with the sentence that says why it passed."""
    text = wording.plain(message)
    if tag is None:
        ElementTree.SubElement(case, "system-out").text = text
    elif tag == "skipped":
        ElementTree.SubElement(case, tag, message=text)
    else:
        ElementTree.SubElement(case, tag, type=kind, message=text).text = text
