"""The check of answers alone: both arms are asked the same prompts, then the baseline about both answers. Nothing is timed."""

from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from specbench.analysis.answers.judged_answers import JudgedAnswers, judged_answers
from specbench.answers.answer_loads import loads_without_run
from specbench.arms.arms import open_arms
from specbench.errors import RefusedError
from specbench.load.parent import LoadGenerator
from specbench.model.records import RunData
from specbench.model.result import VerdictWord
from specbench.model.scenario import Arm, Scenario
from specbench.run.answers.answers_phase import AnsweringArms, AnswersPhase
from specbench.run.answers.kept_answers import AnswerKeeper
from specbench.run.progress import RunProgress
from specbench.run.run import manifest_of, prepared_arms, refuse_what_cannot_end, signals_as_interrupts

NONE_KEPT = "no load ran"
TIMES_AS_FAST = 10  # as nothing is timed


@dataclass(frozen=True, slots=True)
class AnswersVerdict:
    """What the answers alone say of speculation, and why."""

    word: VerdictWord
    judged: JudgedAnswers


def check_answers(scenario: Scenario, watcher: RunProgress) -> AnswersVerdict:
    """The verdict on the answers of both arms to as many prompts of each sampling as the scenario says.

    Raises:
        ScenarioError: an arm cannot be started as the scenario asks, or a key is not set.
        UnreachableError: an arm did not answer.
        RefusedError: the arms may not be compared.
        Interrupted: Ctrl-C, SIGTERM, or a terminal that closed (SIGHUP).
    """
    scenario = replace(scenario, baseline=untimed(scenario.baseline), speculative=untimed(scenario.speculative))
    refuse_what_cannot_end(scenario)
    with signals_as_interrupts(), ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="specbench-answers-")))
        watcher.say(f"{scenario.name}: starting the arms")
        visit = stack.enter_context(open_arms(scenario, lambda name: folder / f"{name}.log"))
        child = stack.enter_context(LoadGenerator())
        prepared = prepared_arms(scenario, visit, child, watcher, timed=False)
        if prepared.drawing is None:
            raise RefusedError(prepared.refusal or "the arms may not be compared")
        manifest = manifest_of(scenario, folder, prepared)
        arms = AnsweringArms(
            scenario=scenario, drawing=prepared.drawing, child=child, visit=visit, ways=prepared.ways, watcher=watcher
        )
        none = AnswerKeeper(scenario.answers.prompts, scenario.seed, scenario.workload.sampling, NONE_KEPT)
        found = AnswersPhase(arms, none, scenario.answers.prompts, loads_without_run(scenario)).comparison()
    data = RunData(manifest=manifest, blocks=(), records=(), finished=manifest.started, problems=(), answers=found)
    judged = judged_answers(data, ())
    return AnswersVerdict(answers_word(judged), judged)


def untimed(arm: Arm) -> Arm:
    """The arm; where it is an embedded engine that is started here, one that lets less time pass than its accelerator would."""
    if arm.url is not None or arm.launch is not None:
        return arm
    return replace(arm, options={"times_as_fast": TIMES_AS_FAST, **arm.options})


def answers_word(judged: JudgedAnswers) -> VerdictWord:
    """The verdict's word by the findings on answers alone: a proven change first, then a baseline that is no reference.

    What could not be compared is nothing shown, unless something else was.
    """
    deciding = [one for one in judged.findings if one.role == "safety"]
    if any(one.state == "FAIL" for one in deciding):
        return "ROLLBACK"
    if any(check.ok is False for check in judged.checks):
        return "INVALID"
    open_ones = [one for one in deciding if one.state == "INCONCLUSIVE" and one.required]
    return "HOLD" if open_ones or not any(one.state == "PASS" for one in judged.findings) else "PROMOTE"
