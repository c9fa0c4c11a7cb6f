"""The sentences: the change, its limit, how sure it is, and few terms of statistics."""

import re
from typing import Any

import pytest

from specbench.analysis.judge import judge
from specbench.analysis.verdict.benefit import benefit
from specbench.analysis.verdict.findings import Case, judge_cases
from specbench.model.metrics import METRICS
from specbench.model.result import PerArm
from specbench.model.scenario import Success
from tests.support.goldens import same_text
from tests.support.judging import AT_4, a_comparison, a_guardrail
from tests.support.verdicts import RUNS

# Words that a sentence may not use, as the glossary would have to explain them.
TERMS = re.compile(r"\b(significan|standard error|alpha level|Holm|jackknife|quantile|t-test|degrees of freedom|null)\w*", re.I)


def _said(metric: str = "tpot_p95", ratio: float | None = 1.0, se_log: float | None = 0.02, **fields: Any) -> str:
    rule = a_guardrail(metric, fields.pop("margin", 0.10), slo=fields.pop("slo", None))
    case = Case(
        guardrail=rule,
        comparison=a_comparison(metric, ratio, se_log, **fields),
        setting=AT_4,
        in_family=True,
        withheld=fields.get("withheld"),
    )
    return judge_cases([case], 0.05)[0].reason


def test_a_pass_says_how_far_the_truth_may_lie() -> None:
    """Seen, allowed, sure."""
    same_text("a pass", _said(ratio=0.62))


def test_a_harm_has_its_p_value() -> None:
    """Adjusted where the checks of a run share one error rate."""
    same_text("a harm", _said(ratio=1.53))


def test_a_fall_is_called_a_fall() -> None:
    """Where higher is better, the limit is a lower end."""
    same_text("a fall", _said("output_tps", 0.80, 0.02, margin=0.05))


def test_what_is_open_says_what_it_takes() -> None:
    """The margin that the data do support, and the pairs that the asked one needs."""
    same_text("what is open", _said(ratio=1.06, se_log=0.03))
    same_text("far from settled", _said(ratio=1.0999, se_log=0.03))


def test_an_absolute_limit_is_told_in_its_unit() -> None:
    """Milliseconds, of the speculative arm alone."""
    same_text(
        "an absolute limit",
        _said("ttft_p95", None, None, slo=200.0, margin=None, value=PerArm(None, 150.0), bound=PerArm(None, 180.0)),
    )


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("unbounded: speculative", {"unbounded": PerArm(False, True), "ratio": None}),
        ("unbounded: both", {"unbounded": PerArm(True, True), "ratio": None}),
        ("unbounded: baseline", {"unbounded": PerArm(True, False), "ratio": None}),
        ("few values", {"low_n": True, "n": PerArm(12, 11)}),
        ("no variation", {"se_log": 0.0}),
        ("one pair", {"se_log": None}),
        ("no success", {"ratio": None, "value": PerArm(None, None), "reason": "both arms: no request succeeded"}),
    ],
)
def test_what_cannot_be_judged_says_why(name: str, fields: dict[str, Any]) -> None:
    """Each reason in words."""
    same_text(name, _said(**fields))


@pytest.mark.parametrize(
    ("name", "ratio", "se_log"), [("gain: shown", 0.60, 0.02), ("gain: excluded", 1.00, 0.01), ("gain: open", 0.95, 0.05)]
)
def test_the_benefit_in_words(name: str, ratio: float, se_log: float) -> None:
    """Shown, excluded, open."""
    asked = Success(metric="tpot_p50", improve_by=0.05)

    same_text(name, benefit(asked, a_comparison("tpot_p50", ratio, se_log), AT_4, None).reason)


def test_no_sentence_uses_a_term_that_it_would_have_to_explain() -> None:
    """Over all metrics and states."""
    for metric in METRICS:
        for ratio, se_log in ((0.6, 0.02), (1.0, 0.02), (1.06, 0.03), (1.5, 0.02), (1.5, 0.5), (1.0, None), (None, None)):
            for slo in (None, 25.0):
                sentence = _said(metric, ratio, se_log, slo=slo, bound=PerArm(None, 30.0))
                assert not TERMS.search(sentence), sentence
                assert "  " not in sentence
                assert sentence.startswith("At 4 streams, ")


@pytest.mark.parametrize("name", list(RUNS))
def test_runs_end_in_the_verdict_they_are_named_after(name: str) -> None:
    """Eleven runs, every sentence of which a person can read: a whole sentence, without terms, without a gap."""
    result = judge(RUNS[name](), "0")

    assert result.verdict == name.partition(":")[0]
    for reason in result.reasons:
        assert reason.message.endswith("."), reason.message
        assert reason.message[0].isupper() or ":" in reason.message, reason.message
        assert not TERMS.search(reason.message), reason.message
        assert not any(gap in reason.message for gap in ("None", "unknown", "  ", "nan")), reason.message
