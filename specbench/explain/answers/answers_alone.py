"""What `specbench answers` prints: one headline for its verdict, one line for each finding."""

from collections.abc import Sequence

from specbench.explain.answers.answers_in_verdict import beside
from specbench.model.result import Finding, VerdictWord

_HEADLINES: dict[VerdictWord, str] = {
    "PROMOTE": "No change of the answers was found.",
    "CAPPED": "No change of the answers was found.",
    "HOLD": "Whether the answers stay the same was not shown.",
    "ROLLBACK": "Turn speculation off: it changes the answers.",
    "INVALID": "The baseline contradicts itself, so it is no reference.",
}


def answers_headline(word: VerdictWord, findings: Sequence[Finding]) -> str:
    """The sentence behind the verdict's word, and where nothing was found, which answers were not compared and why."""
    headline = _HEADLINES[word]
    return f"{headline.removesuffix('.')}{beside(findings)}." if word in ("PROMOTE", "CAPPED") else headline


def finding_line(finding: Finding) -> str:
    """'  FAIL answers_greedy: 31 of 128 ...'"""
    advice = "" if finding.role == "safety" else f" ({finding.role})"
    return f"  {finding.state} {finding.metric}{advice}: {finding.reason}"
