"""The end of a run: answers that its load did not bring are asked of both arms, then the baseline is asked what it thinks of all.

Nothing is timed any more, and nothing is added to what the speculative arm is sent. Under `restart` both happen in the last
starts that the load needs anyway, as far as that is possible.
"""

from collections import Counter
from collections.abc import Sequence

from specbench.answers.answer_comparison import answer_comparison
from specbench.answers.asked_pairs import AskedPair, asked_pair
from specbench.answers.more_answers import Answered, MorePrompts, answered, more_prompts, pairs_of
from specbench.arms.arms import RunningArm
from specbench.arms.preflight import try_arm, way_of
from specbench.explain.answers import asking_reasons as said
from specbench.model.answers.compared_answers import AnswerComparison
from specbench.model.answers.kept_pairs import KeptPair
from specbench.model.records import Cell
from specbench.model.result import PerArm
from specbench.model.scenario import ArmName
from specbench.run.schedule import ScheduleContext

LEAST_PROMPTS = 128
"""Prompts of each sampling setting that are compared, where the scenario asks for no fewer."""


class AnswersPhase:
    """The answers of one run, compared once `comparison` is asked for; an arm that is up anyway may be asked before."""

    def __init__(self, course: ScheduleContext, cells: Sequence[Cell], wanted: int) -> None:
        self._course, self._cells, self._wanted = course, cells, wanted
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
        if self._prompts().prompts and "speculative" not in self._found:
            with self._course.visit("speculative") as visited:
                self._answer("speculative", self._ready(visited, "speculative"))
        with self._course.visit("baseline") as visited:
            ready = self._ready(visited, "baseline")
            self._answer("baseline", ready)
            return self._compared(ready)

    def _prompts(self) -> MorePrompts:
        """The prompts that the load lacked, known once it is over."""
        if self._more is None:
            bench = self._course.bench
            had = Counter(pair.sampling for pair in bench.answers.pairs)
            missing = {one.name: max(0, self._wanted - had[one.name]) for one in bench.scenario.workload.sampling}
            self._more = more_prompts(bench.scenario, bench.drawing, self._cells, missing)
            if self._more.prompts:
                self._course.watcher.phase(said.asking_for_more(len(self._more.prompts)))
        return self._more

    def _ready(self, visited: RunningArm, arm: ArmName) -> RunningArm:
        bench = self._course.bench
        ready = way_of(visited, self._course.ways.of(arm))
        if bench.scenario.matrix.schedule == "restart":
            try_arm(bench.child, bench.scenario, ready, arm, bench.drawing)
        return ready

    def _answer(self, arm: ArmName, ready: RunningArm) -> None:
        bench = self._course.bench
        self._found[arm] = answered(bench.child, bench.scenario, ready, arm, self._prompts())

    def _compared(self, baseline: RunningArm) -> AnswerComparison:
        bench = self._course.bench
        found = PerArm(self._found.get("baseline", {}), self._found.get("speculative", {}))
        sent_last = pairs_of(bench.scenario, self._prompts(), found)
        asked = [asked_pair(pair) for pair in bench.answers.pairs]
        asked += [_with_marks(pair, records) for pair, records in sent_last]
        self._course.watcher.phase(said.asking_the_baseline(len(asked)))
        return answer_comparison(bench.scenario, baseline, asked)


def _with_marks(pair: KeptPair, answers: PerArm[Answered]) -> AskedPair:
    return asked_pair(pair, PerArm(answers.baseline[0].marks, answers.speculative[0].marks))


def never_asked(pairs: Sequence[KeptPair]) -> AnswerComparison:
    """The answers of a run that ended before its baseline could be asked."""
    compared = tuple(asked_pair(pair).compared for pair in pairs)
    return AnswerComparison(compared=compared, unanswerable=(("greedy", said.EARLY_END), ("sampled", said.EARLY_END)))
