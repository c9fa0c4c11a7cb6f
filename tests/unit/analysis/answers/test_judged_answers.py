"""What a run concludes of its answers: which count, what is said where none were compared, and what the verdict makes of it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from specbench.analysis.answers.declared_loss import is_lossy, is_made_up
from specbench.analysis.judge import judge
from specbench.model.answers.compared_answers import AnswerComparison, AnswerExample
from specbench.model.records import RequestRecord, RunData
from specbench.model.result import FindingState, PerArm, Result, VerdictWord
from specbench.report.formats.result_json import result_json, result_of
from tests.support.answers import a_sample, an_answer, greedy_run, scores
from tests.support.evidence import a_scenario, evidence
from tests.support.goldens import same_text
from tests.support.verdicts import WINS

WON = evidence(WINS, a_scenario([1, 4]), requests=24)
ALIKE = greedy_run(256, near=195)


def _with(answers: AnswerComparison | None, run: RunData = WON, **fields: Any) -> RunData:
    """The run with these answers and these fields of its scenario's `answers`."""
    scenario = run.manifest.scenario
    asked = replace(scenario, answers=replace(scenario.answers, **fields))
    return replace(run, answers=answers, manifest=replace(run.manifest, scenario=asked))


def _states(result: Result) -> dict[str, FindingState]:
    return {one.metric: one.state for one in result.run_findings if one.metric.startswith("answers")}


def _marking(run: RunData, arm: str, every: int, **marks: Any) -> RunData:
    """The run with every nth answer of this arm marked so."""
    blocks = {block.id for block in run.blocks if block.arm == arm}

    def one(record: RequestRecord) -> RequestRecord:
        return replace(record, **marks) if record.block in blocks and record.index % every == 0 else record

    return replace(run, records=tuple(map(one, run.records)))


@pytest.mark.parametrize(
    ("case", "answers", "word", "codes"),
    [
        ("alike", ALIKE, "PROMOTE", ["promote", "benefit"]),
        ("clear", greedy_run(64, 31), "ROLLBACK", ["unsafe", "safety"]),
        ("open", greedy_run(64, 1), "HOLD", ["answers_not_shown", "answers_not_shown", "benefit"]),
        ("no-reference", greedy_run(256, 30, clear_baseline=20), "INVALID", ["invalid", "baseline_contradicts_itself"]),
        ("unanswerable", greedy_run(256, 31, unanswerable=(("greedy", "X reports none"),)), "PROMOTE", ["promote", "benefit"]),
        ("older", None, "PROMOTE", ["promote", "benefit"]),
    ],
)
def test_what_the_verdict_makes_of_greedy_answers(
    case: str, answers: AnswerComparison | None, word: VerdictWord, codes: list[str]
) -> None:
    """A proven change is rule 1, an open one is no pass, and what cannot be compared stands in the headline."""
    result = judge(_with(answers), "0")

    assert (result.verdict, [reason.code for reason in result.reasons]) == (word, codes)
    same_text(f"answers-verdict-{case}", *(one.message for one in result.reasons))


def test_a_run_killed_before_the_questions_is_partial() -> None:
    """Its blocks are all there, and nothing was compared."""
    result = judge(replace(_with(None), finished=None), "0")

    assert (result.verdict, result.reasons[0].code) == ("HOLD", "partial")
    assert _states(result) == {"answers_greedy": "NODATA", "answers_form": "NODATA"}


def test_nothing_is_compared_where_it_is_switched_off() -> None:
    """Whatever the facts hold."""
    result = judge(_with(greedy_run(64, 31), check=False), "0")

    assert (result.verdict, result.answers) == ("PROMOTE", None)
    same_text("answers-off", result.reasons[0].message)


def test_loss_that_is_declared_decides_nothing_and_stands_in_the_headline() -> None:
    """Form stays safety."""
    lossy = _with(greedy_run(64, 31), lossy=True)
    result = judge(lossy, "0")
    looping = judge(_marking(lossy, "speculative", 4, looping=True), "0")

    assert (result.verdict, looping.verdict) == ("PROMOTE", "ROLLBACK")
    assert next(one for one in result.run_findings if one.metric == "answers_greedy").role == "advisory"
    same_text("answers-lossy", result.reasons[0].message)


def test_looping_answers_of_the_speculative_arm_are_a_change_and_of_the_baseline_no_measurement() -> None:
    """One in four, in records of whatever version."""
    speculative, baseline = (judge(_marking(_with(None), arm, 4, looping=True), "0") for arm in ("speculative", "baseline"))

    assert (speculative.verdict, _states(speculative)["answers_form"]) == ("ROLLBACK", "FAIL")
    assert (baseline.verdict, baseline.reasons[1].code) == ("INVALID", "excess_looping")


def test_a_script_is_foreign_that_no_baseline_answer_of_the_bin_has() -> None:
    """What the baseline writes too is the model's; half a character is nobody's."""
    foreign = {"scripts": ("Latin", "Hangul"), "foreign_scripts": ("Hangul",), "marks": ("foreign",)}
    odd = _marking(_with(ALIKE), "speculative", 4, **foreign)
    usual = _marking(odd, "baseline", 50, **foreign)
    half = {"scripts": ("Latin", "U+FFFD"), "foreign_scripts": ("U+FFFD",)}
    lost = _marking(_marking(_with(ALIKE), "speculative", 4, **half), "baseline", 50, **half)

    assert [judge(run, "0").verdict for run in (odd, usual, lost)] == ["ROLLBACK", "PROMOTE", "ROLLBACK"]


def test_answers_of_optional_loads_and_of_pairs_that_do_not_count_are_left_out() -> None:
    """They decide nothing."""
    elsewhere = tuple(replace(one, cell="c64") for one in greedy_run(64, 31).compared)
    lost = tuple(replace(one, pair=99) for one in greedy_run(64, 31).compared)
    answers = replace(ALIKE, compared=(*ALIKE.compared, *elsewhere, *lost))

    shown = judge(_with(answers), "0").answers

    assert shown is not None
    assert shown.greedy is not None
    assert (shown.greedy.compared, shown.greedy.clear) == (256, 0)


def test_prompts_sent_after_the_last_pair_count_in_all_three() -> None:
    """Their marks come with their lines, as they have no records."""
    broken = an_answer(cell=None, pair=None, marks=PerArm((), ("looping",)))
    clean = an_answer(cell=None, pair=None, marks=PerArm((), ()))
    result = judge(_with(AnswerComparison(compared=(broken,) * 40 + (clean,) * 88, ruler=1.0)), "0")

    assert result.answers is not None
    assert result.answers.marks[0].only_speculative == 40
    assert _states(result) == {"answers_greedy": "PASS", "answers_form": "FAIL"}


def test_answers_that_workers_decoded_show_loops_alone() -> None:
    """They have no marks, so that a pass rests on the prompts that were sent last; loops in excess are a change all the same."""
    fleet = replace(WON, blocks=tuple(replace(block, workers=2) for block in WON.blocks))
    clean = an_answer(cell=None, pair=None, marks=PerArm((), ()))
    few = AnswerComparison(compared=(clean,) * 64, ruler=1.0)
    counted = judge(_with(few, fleet), "0")
    looping = judge(_marking(_with(few, fleet), "speculative", 4, looping=True), "0")

    assert _states(judge(_with(few), "0"))["answers_form"] == "PASS"
    assert _states(counted)["answers_form"] == "INCONCLUSIVE"
    assert counted.answers is not None
    assert counted.answers.marks[0].answers == 64
    assert _states(looping)["answers_form"] == "FAIL"


def test_each_kind_of_sampling_that_the_workload_has_gets_its_finding() -> None:
    """Greedy alone, sampled alone, both."""

    def states(*temperatures: float) -> set[str]:
        workload = WON.manifest.scenario.workload
        settings = tuple(replace(workload.sampling[0], temperature=one) for one in temperatures)
        scenario = replace(WON.manifest.scenario, workload=replace(workload, sampling=settings))
        return set(_states(judge(replace(WON, manifest=replace(WON.manifest, scenario=scenario)), "0")))

    assert states(0.0) == {"answers_greedy", "answers_form"}
    assert states(0.8) == {"answers_sampled", "answers_form"}
    assert states(0.0, 0.8) == {"answers_greedy", "answers_sampled", "answers_form"}


def test_a_result_keeps_the_counts_and_the_examples_and_one_without_them_is_read() -> None:
    """Old results have no such field."""
    example = AnswerExample(cell="c4", index=7, texts=PerArm("a b", "a c"), probabilities=PerArm(0.8, 0.01))
    samples = tuple(a_sample(scores(0.01 * (i % 3)), scores(0.01 * (i % 5))) for i in range(64))
    result = judge(_with(replace(ALIKE, compared=(*ALIKE.compared, *samples), examples=(example,))), "0")
    read = result_of(result_json(result), "here")

    assert read.answers == result.answers
    assert result.answers is not None
    assert result.answers.examples[0].speculative_probability == 0.01
    assert result.answers.median_first_difference == 20
    assert [(one.concurrency, one.counts.compared) for one in result.answers.by_load] == [(4, 256)]
    same_text("answers-note", *(note for note in result.notes if note.startswith("Answers")))


DECLARED: list[tuple[dict[str, Any], bool, bool]] = [
    ({"method": "ngram"}, False, False),
    ({"rejection_sample_method": "standard"}, False, False),
    ({"rejection_sample_method": "block"}, False, False),
    ({"rejection_sample_method": "fly"}, True, False),
    ({"rejection_sample_method": "synthetic"}, False, True),
    ({"speculative_accept_threshold_single": 1.0}, False, False),
    ({"speculative_accept_threshold_acc": 0.9}, True, False),
]


@pytest.mark.parametrize(("speculative", "lossy", "made_up"), DECLARED)
@pytest.mark.parametrize("how", ["declared", "reported"])
def test_how_loss_is_declared(speculative: dict[str, Any], lossy: bool, made_up: bool, how: str) -> None:
    """By the scenario's block of the arm, or by what its endpoint says of itself."""
    manifest = WON.manifest
    scenario = manifest.scenario
    arm = replace(scenario.speculative, speculative=speculative if how == "declared" else {"method": "ngram"})
    text = ", ".join(f"{key}: {value}" for key, value in speculative.items())
    endpoints = tuple(
        replace(one, facts={**one.facts, "speculation_config": text}) if how == "reported" else one for one in manifest.endpoints
    )
    found = replace(manifest, scenario=replace(scenario, speculative=arm), endpoints=endpoints)

    assert (is_lossy(found), is_made_up(found)) == (lossy, made_up)


def test_synthetic_acceptance_is_never_promoted() -> None:
    """The figures may be right, and the answers are nobody's."""
    scenario = WON.manifest.scenario
    arm = replace(scenario.speculative, speculative={"method": "mtp", "rejection_sample_method": "synthetic"})
    run = replace(WON, manifest=replace(WON.manifest, scenario=replace(scenario, speculative=arm)))
    held, failed = (judge(replace(run, answers=answers), "0") for answers in (ALIKE, greedy_run(64, 31)))

    assert (held.verdict, held.reasons[0].code, failed.verdict) == ("HOLD", "synthetic_acceptance", "ROLLBACK")
    same_text("answers-synthetic", held.reasons[0].message)


@pytest.mark.parametrize("made", [lambda: ALIKE, lambda: greedy_run(64, 31), lambda: greedy_run(64, 1)])
def test_no_sentence_calls_answers_identical_or_lossless(made: Callable[[], AnswerComparison]) -> None:
    """A pass says what was compared and what would have shown."""
    result = judge(_with(made()), "0")
    said = " ".join([*(one.message for one in result.reasons), *result.notes, *(one.reason for one in result.run_findings)])

    assert not any(word in said.lower() for word in ("identical", "lossless", "unchanged"))
