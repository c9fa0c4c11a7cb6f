"""The end of a run: answers that its load did not bring are asked of both arms, then the baseline is asked what it thinks of all.

Nothing is timed any more, and nothing is added to what the speculative arm is sent. Under `restart` both happen in the last
starts that the load needs anyway, as far as that is possible.
"""

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass

from specbench.answers.answer_comparison import answer_comparison
from specbench.answers.answer_loads import AnswerLoads
from specbench.answers.asked_pairs import AskedPair, asked_pair
from specbench.answers.more_answers import Answered, MorePrompts, answered, more_prompts, pairs_of
from specbench.arms.arms import OpenArm, RunningArm, shares_server
from specbench.arms.preflight import Way, try_arm, way_of
from specbench.explain.answers import asking_reasons as said
from specbench.load.parent import LoadGenerator
from specbench.model.answers.compared_answers import AnswerComparison
from specbench.model.answers.kept_pairs import KeptPair
from specbench.model.result import PerArm
from specbench.model.scenario import ARMS, ArmName, Scenario
from specbench.plan.answer_requests import with_reserve
from specbench.prompts.sampler import PromptSource
from specbench.run.answers.kept_answers import AnswerKeeper
from specbench.run.progress import RunProgress


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweringArms:
    """Both arms as they are asked after the load: how to reach each, in which way, with what prompts; and who is told of it."""

    scenario: Scenario
    drawing: PromptSource
    child: LoadGenerator
    visit: OpenArm
    ways: PerArm[Way]
    watcher: RunProgress


class AnswersPhase:
    """The answers of one run, compared once `comparison` is asked for; an arm that is up anyway may be asked before.

    `wanted`: so many prompts of each sampling are compared, whether or not the load brought them; `kept` are those that it did,
    and at `loads` the others are asked.
    """

    def __init__(self, arms: AnsweringArms, kept: AnswerKeeper, wanted: int, loads: AnswerLoads) -> None:
        self._arms, self._kept, self._wanted, self._loads = arms, kept, wanted, loads
        self._more: MorePrompts | None = None
        self._found: dict[ArmName, dict[int, Answered]] = {}
        self._comparison: AnswerComparison | None = None

    def last_visit(self, arm: ArmName, ready: RunningArm) -> None:
        """The load is over, and this arm's engine is up for the last time that it needs: asks what can be asked now."""
        if arm == "speculative":
            self._answer(arm, ready)
        elif not self._prompts().prompts:
            self._comparison = self._compared(ready)

    def comparison(self) -> AnswerComparison:
        """All answers compared, and what the baseline thinks of them; starts what is needed for it."""
        if self._comparison is not None:
            return self._comparison
        if self._prompts().prompts and self._both_at_once():
            self._answer_both()
        elif self._prompts().prompts and "speculative" not in self._found:
            with self._arms.visit("speculative") as visited:
                self._answer("speculative", self._ready(visited, "speculative"))
        with self._arms.visit("baseline") as visited:
            ready = self._ready(visited, "baseline")
            if "baseline" not in self._found:
                self._answer("baseline", ready)
            return self._compared(ready)

    def _prompts(self) -> MorePrompts:
        """The prompts that the load lacked, known once it is over."""
        if self._more is None:
            arms = self._arms
            had = Counter(pair.sampling for pair in self._kept.pairs)
            missing = {one.name: with_reserve(self._wanted - had[one.name]) for one in arms.scenario.workload.sampling}
            self._more = more_prompts(arms.scenario, arms.drawing, self._loads.answers, missing)
            if self._more.prompts:
                self._arms.watcher.phase(said.asking_for_more(len(self._more.prompts)))
        return self._more

    def _both_at_once(self) -> bool:
        """Whether both engines are up all the time and are two."""
        scenario = self._arms.scenario
        asleep = any(arm.launch is not None and arm.launch.sleep for arm in (scenario.baseline, scenario.speculative))
        return scenario.matrix.schedule != "restart" and not asleep and not shares_server(scenario)

    def _answer_both(self) -> None:
        """Asks both arms at the same time, as nothing is timed, with a load child each."""
        arms, prompts = self._arms, self._prompts()
        with ExitStack() as stack:
            # Children of their own, that end before the threads that listen to them: then an interrupt ends both.
            pool = stack.enter_context(ThreadPoolExecutor(max_workers=len(ARMS)))
            asked: dict[ArmName, Future[dict[int, Answered]]] = {}
            for name in ARMS:
                ready = self._ready(stack.enter_context(arms.visit(name)), name)
                child = stack.enter_context(LoadGenerator())
                asked[name] = pool.submit(answered, child, arms.scenario, ready, name, prompts)
            self._found |= {name: future.result() for name, future in asked.items()}

    def _ready(self, visited: RunningArm, arm: ArmName) -> RunningArm:
        arms = self._arms
        ready = way_of(visited, self._arms.ways.of(arm))
        if arms.scenario.matrix.schedule == "restart":
            try_arm(arms.child, arms.scenario, ready, arm, arms.drawing)
        return ready

    def _answer(self, arm: ArmName, ready: RunningArm) -> None:
        arms = self._arms
        self._found[arm] = answered(arms.child, arms.scenario, ready, arm, self._prompts())

    def _compared(self, baseline: RunningArm) -> AnswerComparison:
        arms = self._arms
        found = PerArm(self._found.get("baseline", {}), self._found.get("speculative", {}))
        sent_last = pairs_of(arms.scenario, self._prompts(), found)
        asked = [asked_pair(pair) for pair in self._kept.pairs]
        asked += [_with_marks(pair, records) for pair, records in sent_last]
        self._arms.watcher.phase(said.asking_the_baseline(len(asked)))
        return answer_comparison(arms.scenario, baseline, asked, self._loads.questions)


def _with_marks(pair: KeptPair, answers: PerArm[Answered]) -> AskedPair:
    return asked_pair(pair, PerArm(answers.baseline[0].marks, answers.speculative[0].marks))


def never_asked(pairs: Sequence[KeptPair]) -> AnswerComparison:
    """The answers of a run that ended before its baseline could be asked."""
    compared = tuple(asked_pair(pair).compared for pair in pairs)
    return AnswerComparison(compared=compared, unanswerable=(("greedy", said.EARLY_END), ("sampled", said.EARLY_END)))
