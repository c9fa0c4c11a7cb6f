"""The first line of `specbench answers` says more than its word where some answers could not be compared."""

from specbench.analysis.answers.answers_greedy import answers_greedy
from specbench.analysis.answers.answers_sampled import answers_sampled
from specbench.explain.answers.answers_alone import answers_headline
from specbench.model.result import Finding
from tests.support.answers import greedy_run

FINDINGS: tuple[Finding, ...] = (
    answers_greedy(greedy_run(256)),
    answers_sampled(greedy_run(256, unanswerable=(("sampled", "no engine of ours"),))),
)


def test_where_nothing_was_found_it_says_what_was_not_compared() -> None:
    """And why; where all was, it ends there."""
    assert answers_headline("PROMOTE", FINDINGS).endswith("; sampled answers not compared (no engine of ours).")
    assert ";" not in answers_headline("PROMOTE", FINDINGS[:1])


def test_where_answers_changed_nothing_else_matters() -> None:
    """What could not be compared is in the findings below."""
    assert answers_headline("ROLLBACK", FINDINGS) == answers_headline("ROLLBACK", ())
