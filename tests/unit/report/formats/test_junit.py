"""JUnit: what each state does to a build, numbers that add up, and XML that any parser takes."""

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from specbench.explain.brief import next_step
from specbench.model.result import PerArm, Result, VerdictWord
from specbench.report.formats.junit import junit
from tests.support.goldens import same_text
from tests.support.results import (
    capped,
    every_verdict,
    hold,
    hostile,
    large,
    promote,
    rollback,
    sliced,
    slices_with_a_cap,
    twice_judged,
)

# What junit-10.xsd lets an element hold, and the attributes that it asks for.
CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"properties", "testcase"},
    "properties": {"property"},
    "testcase": {"skipped", "error", "failure", "system-out"},
}
REQUIRED = {
    "testsuite": {"name", "tests", "failures", "errors"},
    "property": {"name", "value"},
    "testcase": {"classname", "name"},
}


@pytest.mark.parametrize("result", [*every_verdict().values(), sliced(), hostile(), large(24)], ids=lambda found: found.verdict)
def test_the_document_keeps_to_the_schema_and_its_counts_add_up(result: Result) -> None:
    """Elements hold what they may, and a suite's counts are those of its cases."""
    root = ElementTree.fromstring(junit(result))
    for element in root.iter():
        assert {child.tag for child in element} <= CHILDREN.get(element.tag, set())
        assert REQUIRED.get(element.tag, set()) <= set(element.attrib)
    suites = root.findall("testsuite")
    assert len(suites) == len(result.cells) + 1
    for suite in suites:
        cases = suite.findall("testcase")
        for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(suite.attrib[attribute]) == sum(case.find(tag) is not None for case in cases)
        assert int(suite.attrib["tests"]) == len(cases)
        assert all(len(case) == 1 for case in cases)


def _outcomes(result: Result) -> dict[tuple[str, str], str]:
    root = ElementTree.fromstring(junit(result))
    return {(case.attrib["classname"], case.attrib["name"]): case[0].tag for case in root.iter("testcase")}


@pytest.mark.parametrize(
    ("verdict", "tag"),
    [("PROMOTE", "system-out"), ("CAPPED", "skipped"), ("HOLD", "skipped"), ("ROLLBACK", "failure"), ("INVALID", "error")],
)
def test_the_verdict_is_a_case_of_its_own(verdict: VerdictWord, tag: str) -> None:
    """PROMOTE passes, CAPPED and HOLD pause, ROLLBACK fails, INVALID is an error."""
    assert _outcomes(every_verdict()[verdict])["specbench.run", "verdict"] == tag


def test_a_message_is_one_short_line_and_the_reason_stands_in_full_below() -> None:
    """Both arms' figures, the change and the limit; viewers show the message in a list."""
    root = ElementTree.fromstring(junit(rollback()))
    failures = [one for one in root.iter("failure") if one.attrib["type"] == "ROLLBACK"]

    assert all(len(one.attrib["message"]) <= 120 for one in failures if "→" in one.attrib["message"])
    assert "TPOT p95 12.9 → 16.8 ms, +30 %, limit +10 %" in [one.attrib["message"] for one in failures]
    assert all(one.text for one in failures)


def test_a_demonstration_says_so_beside_the_verdict() -> None:
    """Where a build shows the message of the verdict's case, it shows that virtual times decide nothing; of real arms no word."""
    case = next(one for one in ElementTree.fromstring(junit(capped())).iter("testcase") if one.attrib["name"] == "verdict")
    assert next_step.DEMO in case[0].attrib["message"]
    arms = capped().endpoints
    real = PerArm(replace(arms.baseline, engine="vllm"), replace(arms.speculative, engine="vllm"))
    assert next_step.DEMO.encode() not in junit(replace(capped(), endpoints=real))


def test_each_state_of_a_finding_has_its_outcome() -> None:
    """FAIL fails, INCONCLUSIVE is skipped, no data is an error, and an advisory never does anything to a build."""
    found = _outcomes(hold())
    assert found["specbench.c4", "TPOT p95"] == "skipped"
    assert found["specbench.c4", "TTFT p95"] == "error"
    assert found["specbench.c1", "TPOT p95"] == "system-out"
    assert found["specbench.c4", "ITL p95"] == "system-out"
    assert _outcomes(rollback())["specbench.c1", "TPOT p95"] == "failure"


def test_harm_beyond_a_cap_paints_no_build_red() -> None:
    """The cap keeps traffic away from it, so it is shown as skipped, with the reason."""
    root = ElementTree.fromstring(junit(capped()))
    assert root.findall(".//failure") == root.findall(".//error") == []
    beyond = [case[0].get("message") for case in root.iter("testcase") if case.attrib["classname"] == "specbench.c16"]
    same_text("beyond a cap", *(message for message in beyond if message))


def test_a_hold_paints_no_build_red() -> None:
    """Also where a finding is a FAIL, as where the gain that was asked for is ruled out."""
    result = hold()
    ruled_out = tuple(replace(one, state="FAIL", required=True) for one in result.cells[0].findings)
    failed = replace(result, cells=(replace(result.cells[0], findings=ruled_out), *result.cells[1:]))

    assert ElementTree.fromstring(junit(failed)).findall(".//failure") == []


def test_no_two_cases_of_a_suite_are_equal() -> None:
    """Benefit and guardrail on one metric, two guardrails, and two run-wide rules are cases with names of their own."""
    root = ElementTree.fromstring(junit(twice_judged()))
    cases = [(case.attrib["classname"], case.attrib["name"]) for case in root.iter("testcase")]
    properties = [one.attrib["name"] for one in root.findall("testsuite")[1].iter("property")]
    assert len(cases) == len(set(cases))
    assert len(properties) == len(set(properties))
    found = _outcomes(twice_judged())
    assert found["specbench.c1", "TPOT p50 (benefit)"] == "system-out"
    assert found["specbench.c1", "TPOT p50 (guardrail)"] == "failure"
    assert (found["specbench.c1", "TTFT p95"], found["specbench.c1", "TTFT p95 (2)"]) == ("system-out", "skipped")
    assert (found["specbench.run", "error rate"], found["specbench.run", "error rate (2)"]) == ("failure", "system-out")


@pytest.mark.parametrize("result", [*every_verdict().values(), large(4), sliced(), slices_with_a_cap(), twice_judged()])
def test_no_two_cases_of_a_document_have_one_name(result: Result) -> None:
    """N-31: viewers drop a case whose class and name were there already, in whatever suite."""
    cases = [(case.get("classname"), case.get("name")) for case in ElementTree.fromstring(junit(result)).iter("testcase")]

    assert len(set(cases)) == len(cases)


def test_an_optional_cell_breaks_no_build() -> None:
    """What decides nothing is shown with its sentence; the same fault in a required cell is an error."""
    cell = promote().cells[2]
    late = (replace(cell.integrity[0], ok=False, message="The generator was late."),)
    optional = replace(cell, required=False, state="ADVISORY", integrity=late, findings=())
    cells = promote().cells[:2]
    assert _outcomes(replace(promote(), cells=(*cells, optional)))["specbench.c16", "integrity: generator lag"] == "system-out"
    required = replace(promote(), cells=(*cells, replace(optional, required=True)))
    assert _outcomes(required)["specbench.c16", "integrity: generator lag"] == "error"


def test_harm_in_a_slice_that_is_rolled_back_is_a_failure() -> None:
    """No cap keeps that traffic away from it; beyond the cap of another slice it is skipped."""
    root = ElementTree.fromstring(junit(slices_with_a_cap("CAPPED", "ROLLBACK")))
    found = {
        case.attrib["classname"]: (case[0].tag, case[0].get("message"))
        for case in root.iter("testcase")
        if case.attrib["name"] == "TPOT p95"
    }
    assert found["specbench.c16-complete-greedy"][0] == "skipped"
    assert found["specbench.c1-complete-sampled"][0] == "failure"
    same_text("a slice", *(f"{place}: {said}" for place, (_, said) in sorted(found.items()) if said))


def test_an_absolute_limit_has_its_unit() -> None:
    """'at most 5.00' could be of anything."""
    told = {one.attrib["name"]: one.attrib["value"] for one in ElementTree.fromstring(junit(twice_judged())).iter("property")}
    assert told["tpot_p50.guardrail.allowed"] == "at most 5.00 ms"


def test_the_numbers_stand_in_the_suites_properties() -> None:
    """Estimate, bounds, limit and probability of each guardrail."""
    suite = ElementTree.fromstring(junit(capped())).findall("testsuite")[3]
    told = {one.attrib["name"]: one.attrib["value"] for one in suite.iter("property")}
    assert (told["tpot_p95.ratio"], told["tpot_p95.allowed"], told["tpot_p95.p_harm"]) == ("1.31", "≤ 1.10", "0.001")
    assert (told["tpot_p95.ci_low"], told["tpot_p95.ci_high"]) == ("1.26095", "1.36096")
