"""The form of answers: do tool calls, JSON, stops and scripts go wrong more often with speculation, prompt by prompt?

A mark is a yes or no about one answer, made when its record was; here they are counted.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from specbench.analysis.stats.alpha_spending import holm
from specbench.analysis.stats.exact_counts import mcnemar, paired_excess_bound
from specbench.analysis.verdict.findings import draft_of
from specbench.explain.answers import answer_sentences as said
from specbench.model.answers import answer_rules as rules
from specbench.model.answers.answer_form import MARKS, ValidRule
from specbench.model.answers.shown_answers import MarkCounts
from specbench.model.result import Finding, FindingState, PerArm
from specbench.model.scenario import Guardrail, Scenario

PASS_ALPHA = 0.05
_MOST_PROMPTS = 100_000
RULE = Guardrail(
    metric=rules.FORM, role="safety", margin=rules.FORM_MARGIN, floor=0.0, slo=None, required=True, cells=None, bins=None
)
Marks = frozenset[str]


@dataclass(frozen=True, slots=True)
class _Tested:
    """One mark: its counts, the probability of its excess by chance, adjusted, and the upper bound of that excess."""

    counts: MarkCounts
    p: float
    high: float

    @property
    def margin(self) -> float:
        return min(max(rules.FORM_MARGIN, self.own), rules.WIDEST_FORM_MARGIN)

    @property
    def own(self) -> float:
        """The share of the baseline's answers that have the mark."""
        return self.counts.baseline / self.counts.answers

    @property
    def must_pass(self) -> bool:
        """Whether a pass rests on this mark: not on the limit of tokens where that cuts many answers of the baseline anyway."""
        return self.counts.mark != "unfinished" or self.own <= rules.WIDEST_FORM_MARGIN

    @property
    def excess(self) -> float:
        return (self.counts.only_speculative - self.counts.only_baseline) / self.counts.answers


def possible_marks(scenario: Scenario) -> frozenset[str]:
    """The marks that an answer of this workload can have; the others are left out."""
    fields = {**scenario.baseline.extra_body, **scenario.speculative.extra_body, **scenario.workload.extra_body}
    found = {*rules.ALWAYS}
    if fields.get("stop"):
        found.add("past_stop")
    valid = [one.valid for one in scenario.workload.bins]
    if fields.get("response_format") is not None or any(_asks(rule, "json", "json_schema") for rule in valid):
        found.add("bad_json")
    if fields.get("tools"):
        found.add("bad_tool_call")
        if fields.get("tool_choice") not in (None, "auto", "none"):
            found.add("no_tool_call")
    if scenario.workload.length == "natural":
        found.add("unfinished")
    if any(_asks(rule, "regex") for rule in valid):
        found.add("invalid")
    return frozenset(found)


def mark_counts(answers: Sequence[PerArm[Marks]], possible: Collection[str]) -> tuple[MarkCounts, ...]:
    """How often each of these marks stands in one arm's answer alone, in the order of their table."""
    return tuple(_counts(mark, answers) for mark in MARKS if mark in possible)


def answers_form(answers: Sequence[PerArm[Marks]], possible: Collection[str]) -> Finding:
    """Whether the form of answers goes wrong more often with speculation, over the prompts that both arms answered.

    FAIL, for any mark: McNemar's exact one-sided test, Holm over the marks, p < .0025, and at least one point more. PASS, for all
    of them: the upper 95 % bound of the excess is below 2 points, or below the baseline's own share where that is more, 10 points
    at most, as equal arms would else pass by the number of their prompts alone. Where more than a tenth of the baseline's answers
    are `unfinished`, that mark can fail, and no pass is asked of it: sampled answers reach their limit or not by chance. Else
    INCONCLUSIVE; NODATA without a prompt.

    Args:
        answers: The marks of both answers to each prompt.
        possible: The marks that can occur in this workload; the others are left out.
    """
    draft = replace(draft_of(RULE), required=False, bound=rules.FORM_MARGIN)
    if not answers:
        return replace(draft, reason=said.not_compared(rules.FORM, said.NO_PAIRED))
    counts = mark_counts(answers, possible)
    adjusted = holm([mcnemar(one.only_speculative, one.only_baseline) for one in counts])
    tested = [
        _Tested(one, p, paired_excess_bound(one.only_speculative, one.only_baseline, one.answers, PASS_ALPHA))
        for one, p in zip(counts, adjusted, strict=True)
    ]
    failed = [one for one in tested if one.p < rules.FORM_ALPHA and one.excess >= rules.LEAST_EXCESS]
    unsettled = [one for one in tested if one.must_pass and not one.high < one.margin]
    state: FindingState = "FAIL" if failed else "INCONCLUSIVE" if unsettled else "PASS"
    passed = [one for one in tested if one.must_pass] or tested
    worst = sorted(failed or unsettled or passed, key=lambda one: (one.p, -one.excess, -one.high))
    needed = max(map(_prompts_needed, unsettled), default=None) if state == "INCONCLUSIVE" else None
    sentence = said.form(
        state,
        [one.counts for one in worst],
        said.FormLimits(answers=len(answers), high=worst[0].high, margin=worst[0].margin, needed=needed),
    )
    return replace(
        draft,
        required=True,
        state=state,
        margin=worst[0].margin,
        bound=worst[0].margin,
        upper=worst[0].high,
        p_harm=worst[0].p,
        p_harm_adjusted=worst[0].p,
        supported_margin=max(worst[0].high, 0.0),
        notes=tuple(one.counts.mark for one in failed),
        reason=sentence,
    )


def failed_form(answers: Sequence[PerArm[Marks]], possible: Collection[str], why: str) -> Finding:
    """The finding where answers were not compared as a whole: marks in excess are proof all the same, else it has no data.

    Records of older versions tell of an answer's form only whether it loops.

    Args:
        why: Why answers were not compared.
    """
    found = answers_form(answers, possible)
    if found.state == "FAIL":
        return found
    return replace(draft_of(RULE), required=False, reason=said.not_compared(rules.FORM, why))


def _counts(mark: str, answers: Sequence[PerArm[Marks]]) -> MarkCounts:
    both = [(mark in pair.baseline, mark in pair.speculative) for pair in answers if pair.baseline or pair.speculative]
    return MarkCounts(
        mark=mark,
        answers=len(answers),
        only_speculative=both.count((False, True)),
        only_baseline=both.count((True, False)),
        baseline=sum(before for before, _ in both),
    )


def _prompts_needed(one: _Tested) -> int:
    """About how many prompts it takes to pass at the shares seen; the most there are where none would do."""
    counts, prompts = one.counts, max(one.counts.answers, 1)
    while prompts < _MOST_PROMPTS:
        scale = prompts / counts.answers
        apart = round(counts.only_speculative * scale), round(counts.only_baseline * scale)
        if paired_excess_bound(*apart, prompts, PASS_ALPHA) < one.margin:
            return prompts
        prompts += max(10, prompts // 10)
    return _MOST_PROMPTS


def _asks(valid: ValidRule | None, *kinds: str) -> bool:
    return valid is not None and valid.kind in kinds
