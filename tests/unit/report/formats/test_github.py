"""Workflow commands: few enough for GitHub to show them all, and impossible to forge from a message."""

from dataclasses import replace

import pytest

from specbench.model.result import PerArm, Result, VerdictWord
from specbench.report.formats.github import annotations, outputs
from tests.support.goldens import same_text
from tests.support.results import capped, every_verdict, hostile, invalid, large


def _real(result: Result) -> Result:
    arms = result.endpoints
    return replace(result, endpoints=PerArm(replace(arms.baseline, engine="vllm"), replace(arms.speculative, engine="vllm")))


@pytest.mark.parametrize(
    ("verdict", "level"),
    [("PROMOTE", "notice"), ("CAPPED", "warning"), ("HOLD", "warning"), ("ROLLBACK", "error"), ("INVALID", "error")],
)
def test_the_level_follows_the_verdict(verdict: VerdictWord, level: str) -> None:
    """Only harm and a broken measurement are errors; a pause warns."""
    lines = annotations(_real(every_verdict()[verdict])).splitlines()
    assert lines[0].startswith(f"::{level} title=specbench {verdict}::")
    assert all(line.startswith(f"::{level} title=") for line in lines)


def test_each_failed_finding_has_a_line() -> None:
    """Which load, both arms' figures, the change and the limit; what is open has none."""
    same_text("failed findings", *annotations(_real(capped())).splitlines())
    counts: dict[VerdictWord, int] = {"PROMOTE": 1, "INVALID": 2}
    for verdict, count in counts.items():
        assert len(annotations(_real(every_verdict()[verdict])).splitlines()) == count


@pytest.mark.parametrize("verdict", ["PROMOTE", "CAPPED", "HOLD", "ROLLBACK", "INVALID"])
def test_a_demonstration_is_a_notice_at_the_end(verdict: VerdictWord) -> None:
    """Its ten are counted apart from warnings and errors, and a PROMOTE has one other."""
    result = every_verdict()[verdict]
    *before, last = annotations(result).splitlines()
    assert "\n".join(before) + "\n" == annotations(_real(result))
    same_text("a demonstration", last)


def test_ten_lines_at_most_and_the_last_counts_the_rest() -> None:
    """GitHub drops the eleventh of a kind: nine are shown, and the tenth says how many more there were."""
    lines = annotations(_real(large(200))).splitlines()
    assert len(lines) == 10
    same_text("the rest", lines[-1])


def test_a_message_cannot_start_a_command() -> None:
    """Percent signs, line breaks and the separators of properties are escaped."""
    lines = annotations(_real(hostile())).splitlines()
    assert all("%25" in line for line in lines if "%" in line)
    assert all(line.count("title=") == 1 and line.startswith("::warning ") for line in lines)


def test_outputs_are_one_line_each() -> None:
    """Later steps read verdict, exit code and the cap; an empty cap is an empty value."""
    *values, headline_of = outputs(capped()).splitlines()
    same_text("headline", headline_of)
    assert values == [
        "verdict=CAPPED",
        "exit_code=11",
        "promote=false",
        "rollback=false",
        "max_concurrency=4",
        "max_rate=",
        "run=20250102-030405-code",
    ]
    assert "max_concurrency=\n" in outputs(invalid())
