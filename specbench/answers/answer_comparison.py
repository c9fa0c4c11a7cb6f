"""All that is to be known of a run's answers: each pair compared, and what the baseline, asked, thinks of both."""

from collections.abc import Sequence
from dataclasses import replace

from specbench.analysis.answers.examples import examples_of
from specbench.answers.asked_differences import asked_differences
from specbench.answers.asked_pairs import AskedPair, Ruled
from specbench.answers.baseline import asked_baseline
from specbench.answers.scored_answers import scored
from specbench.arms.arms import RunningArm
from specbench.credentials import Secrets
from specbench.explain.answers import asking_reasons as reasons
from specbench.model.answers.compared_answers import AnswerComparison, AnswerExample
from specbench.model.result import PerArm
from specbench.model.scenario import Scenario
from specbench.telemetry import ENGINES

ASKING_S = 300.0  # for all questions of a run


def answer_comparison(scenario: Scenario, ready: RunningArm, asked: Sequence[AskedPair], streams: int = 1) -> AnswerComparison:
    """The pairs with what the baseline thinks of them, and the widest differences as examples.

    Args:
        ready: the baseline, with no load on it.
        streams: Questions that it gets at once.
    """
    engine = ENGINES[ready.arm.engine]
    with asked_baseline(ready, scenario.workload.route, streams, ASKING_S) as baseline:
        if engine.ruler.scoring is not None:
            ruled = scored(baseline, engine.ruler.scoring, asked)
            sampled = ruled.unanswerable
        elif engine.ruler.next_token is not None:
            ruled = asked_differences(baseline, engine.ruler.next_token, asked, scenario.seed)
            sampled = reasons.no_given_text(engine.label)
        else:
            ruled = Ruled(tuple(one.compared for one in asked))
            sampled = None
    why = {"greedy": ruled.unanswerable, "sampled": sampled}
    examples = examples_of([one.pair for one in asked], ruled.compared, ruled.best_log_p, scenario.answers.examples)
    return AnswerComparison(
        compared=ruled.compared,
        examples=tuple(_without(ready.secrets, example) for example in examples),
        ruler=ruled.ruler,
        unanswerable=tuple((question, reason) for question, reason in why.items() if reason is not None),
    )


def _without(secrets: Secrets, example: AnswerExample) -> AnswerExample:
    return replace(example, texts=PerArm(secrets.out_of(example.texts.baseline), secrets.out_of(example.texts.speculative)))
