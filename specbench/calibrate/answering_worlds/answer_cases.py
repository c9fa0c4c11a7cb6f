"""Each simulated run of the answers, through the findings and the rules of the verdict, with everything else passed.

A case is a function of a number alone. What is asked of its outcomes is `answer_rows.py`'s.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from specbench.analysis.answers.answers_form import answers_form
from specbench.analysis.answers.answers_greedy import answers_greedy, contradicts_itself
from specbench.analysis.answers.answers_sampled import answers_sampled
from specbench.analysis.verdict.findings import draft_of
from specbench.analysis.verdict.verdict import verdict_of
from specbench.calibrate.answering_worlds.compared_arms import greedy_answers, sampled_answers
from specbench.calibrate.answering_worlds.decoding_arms import RIGHT, VerifierFault, decoded, prompts_of, speculated
from specbench.calibrate.answering_worlds.token_models import GREEDY, SAMPLED, Decoding, Random, models_of
from specbench.calibrate.simulators import random_of
from specbench.calibrate.whole_runs import SEED, Outcome
from specbench.model.answers.answer_rules import ALWAYS
from specbench.model.answers.compared_answers import AnswerComparison, ComparedAnswers
from specbench.model.cell_assessment import CellAssessment, RunConditions
from specbench.model.result import Finding, IntegrityCheck, PerArm
from specbench.model.scenario import Guardrail

PROMPTS, TOKENS = 256, 96  # of each sampling, and of each answer
FORM_PROMPTS = 400
BROKEN = "bad_tool_call"
POSSIBLE = (*ALWAYS, BROKEN, "unfinished")  # in a workload with tools, whose answers end by themselves
_GAIN = Guardrail(metric="tpot_p50", role="success", margin=0.05, floor=0.0, slo=None, required=True, cells=None, bins=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerCase:
    """One campaign: which answers there are, how noisy the arithmetic is, and what is wrong with either arm."""

    name: str
    what: str
    greedy: bool = False
    sampled: bool = False
    noise: float = 0.1
    fault: VerifierFault = field(default=RIGHT)
    baseline_loses: float = 0.0  # share of the baseline's steps that see the text without its last token
    whole: bool = True  # the engine scores given text; else it is asked at first differences alone


def outcome_of_answers(case: AnswerCase, index: int) -> Outcome:
    """What the run of this number comes to: the verdict, and the state of each finding."""
    random = random_of(SEED, "answers", case.name, index)
    models = models_of(random)
    compared: tuple[ComparedAnswers, ...] = ()
    for asked, shaping in ((case.greedy, GREEDY), (case.sampled, SAMPLED)):
        if not asked:
            continue
        prompts = prompts_of(PROMPTS, random)
        arms = PerArm(
            decoded(models, prompts, Decoding(TOKENS, shaping, case.noise), random, case.baseline_loses),
            speculated(models, prompts, Decoding(TOKENS, shaping, case.noise), random, case.fault),
        )
        if shaping is GREEDY:
            compared += greedy_answers(models, prompts, arms, case.noise, random, whole=case.whole)
        else:
            compared += sampled_answers(models, prompts, arms, shaping, case.noise, random)
    found = AnswerComparison(compared=compared, ruler=1.0)
    findings = [answers_greedy(found)] if case.greedy else []
    findings += [answers_sampled(found)] if case.sampled else []
    check = contradicts_itself(found)
    return _summary(findings, [check] if check is not None else [])


def outcome_of_form(broken: PerArm[float], index: int) -> Outcome:
    """A run whose tool calls are broken by chance, at these shares of the answers of each arm."""
    random = random_of(SEED, "answers_form", f"{broken.speculative}", index)
    marks = PerArm(_marked(broken.baseline, random), _marked(broken.speculative, random))
    answers = [PerArm(before, after) for before, after in zip(marks.baseline, marks.speculative, strict=True)]
    return _summary([answers_form(answers, POSSIBLE)], [])


def _marked(share: float, random: Random) -> list[frozenset[str]]:
    return [frozenset({BROKEN} if hit else ()) for hit in random.random(FORM_PROMPTS) < share]


def _summary(findings: Sequence[Finding], checks: Sequence[IntegrityCheck]) -> Outcome:
    verdict = verdict_of([_passing()], findings, checks, RunConditions())
    return {"verdict": verdict.word, "states": {one.metric: one.state for one in findings}}


def _passing() -> CellAssessment:
    """A load at which everything else passes and the gain is shown: a verdict then says what the answers do to it."""
    gain = replace(draft_of(_GAIN, "c4"), state="PASS")
    return CellAssessment(
        id="c4",
        place="At 4 streams",
        slice=(None, None),
        axis="concurrency",
        level=4.0,
        required=True,
        primary=True,
        state="PASS",
        dead=(),
        benefit=gain,
        findings=(),
        integrity=(),
        running_mean=4.0,
    )


NOISES = (0.0, 0.06, 0.1, 0.15)
HONEST = tuple(
    AnswerCase(name=f"answers_honest-{noise:g}", what=f"honest, noise {noise:g} nat", greedy=True, sampled=True, noise=noise)
    for noise in NOISES
)
# Asked at first differences alone, as engines are that score no given text.
ASKED = tuple(
    AnswerCase(
        name=f"answers_asked-{noise:g}",
        what=f"honest, asked at differences, noise {noise:g} nat",
        greedy=True,
        noise=noise,
        whole=False,
    )
    for noise in NOISES
)
_GREEDY_FAULTS = {
    "lost": ("text without its last token in 5 % of rounds", VerifierFault(lost_token=0.05)),
    "bonus": ("bonus token from the draft", VerifierFault(draft_bonus=True)),
    "relaxed": ("any draft with half the best's probability accepted", VerifierFault(relaxed=0.5)),
}
GREEDY_FAULTS = tuple(
    AnswerCase(
        name=f"answers_greedy-{name}-{noise:g}{'' if whole else '-asked'}",
        what=f"greedy, {what}, noise {noise:g} nat{'' if whole else ', asked at differences'}",
        greedy=True,
        noise=noise,
        fault=fault,
        whole=whole,
    )
    for name, (what, fault) in _GREEDY_FAULTS.items()
    for noise, whole in ((0.0, True), (0.1, True), (0.1, False))
)
_SAMPLED_FAULTS = {
    "lenient": ("accepts 5 points too much", VerifierFault(lenient=0.05)),
    "residual": ("rejected drafts replaced from p", VerifierFault(no_residual=True)),
    "equality": ("accepts where the draft equals a second draw", VerifierFault(equality=True)),
    "temperature": ("temperature 10 % too high", VerifierFault(temperature=1.1)),
    "twice": ("top_p twice", VerifierFault(twice=True)),
    "late": ("logits one position late", VerifierFault(late=True)),
}
_UNSEEN = {
    "lenient-2": ("accepts 2 points too much", VerifierFault(lenient=0.02)),
    "relaxed": ("any draft with 0.3 of the best's probability accepted", VerifierFault(relaxed=0.3)),
    "no-bonus": ("bonus token left out (the text is unchanged)", VerifierFault(no_bonus=True)),
}


def _sampled_cases(faults: dict[str, tuple[str, VerifierFault]]) -> tuple[AnswerCase, ...]:
    return tuple(
        AnswerCase(name=f"answers_sampled-{name}", what=f"sampled, {what}", sampled=True, fault=fault)
        for name, (what, fault) in faults.items()
    )


SAMPLED_FAULTS, SHOWN = _sampled_cases(_SAMPLED_FAULTS), _sampled_cases(_UNSEEN)
CONTRADICTING = AnswerCase(
    name="answers_contradicting",
    what="a baseline that loses a token in 5 % of its own steps",
    greedy=True,
    sampled=True,
    baseline_loses=0.05,
)
FORMS: dict[str, tuple[str, PerArm[float]]] = {
    "answers_form-broken": ("form, a tool call broken in 5 % of 400 answers", PerArm(0.0, 0.05)),
    "answers_form-honest": ("form, tool calls broken in 1 % of the answers of either arm", PerArm(0.01, 0.01)),
}
ANSWER_CASES = (*HONEST, *ASKED, *GREEDY_FAULTS, *SAMPLED_FAULTS, *SHOWN, CONTRADICTING)
