"""What another depth would bring: walked by hand, and against the embedded engine's own decoding at those depths."""

import random
from dataclasses import replace
from functools import cache

import pytest

from specbench.analysis.judge import judge
from specbench.analysis.other_depths import answers_of, chain_depth, tokens_at
from specbench.engine.core.decoding import next_tokens
from specbench.engine.models.cache import trained_for
from specbench.engine.models.training import Models, Recipe, models_of, python_documents
from specbench.engine.models.vocabulary import encode
from specbench.engine.options import speculation_of
from tests.support.engines import GREEDY
from tests.support.evidence import Effect, a_scenario, evidence
from tests.support.records import a_record

ANSWERS, TOKENS = 60, 96


def test_rounds_that_a_wrong_draft_ended_are_walked_again_exactly() -> None:
    # At depth 4: two right, one wrong; one wrong. At depth 1 the first round keeps one and adds one, then two rounds of one.
    assert tokens_at([[3, 1]], 4, 1) == pytest.approx(4 / 3)
    assert tokens_at([[3, 1]], 4, 2) == pytest.approx(4 / 2)
    assert tokens_at([[3, 1]], 4, 4) == pytest.approx(4 / 2)


def test_the_place_after_a_whole_round_counts_as_often_right_as_the_last_place() -> None:
    # Depth 1: two of three rounds that came to the last draft kept it, so the third token of [2, ...] is right with 2/3.
    answers = [[2, 2, 1]]
    # Depth 2 by hand: places right with 1, 2/3, 1, 2/3, 0. Rounds: begin at 0; then at 2 (2/3 missed or kept is place 1) ...
    begin = {0: 1.0, 2: 1 / 3, 3: 2 / 3}
    begin[4] = begin[2] * (1 / 3) + begin[3] * (1 / 3)
    assert tokens_at(answers, 1, 2) == pytest.approx(5 / sum(begin.values()))


def test_a_step_of_more_tokens_than_a_whole_round_is_no_chain_of_that_depth() -> None:
    assert tokens_at([[6, 6, 6]], 4, 2) is None


def test_no_step_predicts_nothing() -> None:
    assert tokens_at([], 4, 2) is None


@pytest.mark.parametrize(
    ("declared", "depth"),
    [
        ({"method": "draft_model", "num_speculative_tokens": 4}, 4),
        ({"method": "ngram", "num_speculative_tokens": 8}, 8),
        ({"method": "eagle", "num_speculative_tokens": 3, "eagle_topk": 1}, 3),
        ({"method": "eagle", "num_speculative_tokens": 3, "eagle_topk": 4}, None),
        ({"method": "heads", "num_speculative_tokens": 2, "tree": [3, 2]}, None),
        ({"num_speculative_tokens": 4, "num_speculative_tokens_per_batch_size": [[1, 4, 4]]}, None),
        ({"num_speculative_tokens": True}, None),
        ({"method": "draft_model"}, None),
        (None, None),
    ],
)
def test_only_a_chain_of_one_depth_can_be_walked(declared: dict[str, object] | None, depth: int | None) -> None:
    assert chain_depth(declared) == depth


def test_the_first_step_is_the_prompts_and_events_without_counts_tell_no_step() -> None:
    told = a_record((1.0, 2.0, 3.0), (1, 3, 2), token_source="token_ids")
    spread = a_record((1.0, 2.0, 3.0), (2, 2, 2), token_source="final_usage_spread")
    failed = a_record((1.0, 2.0), (1, 3), token_source="token_ids", outcome="stalled")
    assert answers_of([told, spread, failed]) == ((3, 2),)


def test_events_of_one_token_are_put_together_to_their_steps() -> None:
    burst = a_record((1.0, 2.0, 2.1, 3.0), token_source="events", step_events=(1, 2, 1))
    assert answers_of([burst]) == ((2, 1),)


@pytest.mark.parametrize("method", ["draft_model", "ngram"])
@pytest.mark.parametrize("depth", [1, 2, 4])
def test_from_depth_8_the_tokens_of_other_depths_are_predicted_within_3_percent(method: str, depth: int) -> None:
    predicted = tokens_at(decoded(method, 8)[0], 8, depth)
    assert predicted == pytest.approx(per_step(decoded(method, depth)[0]), rel=0.03)


def test_the_engines_counts_by_position_predict_lookup_wrongly_by_more_than_8_percent() -> None:
    answers, kept = decoded("ngram", 8)
    rounds = sum(map(len, answers))
    by_position = {depth: 1 + sum(kept[:depth]) / rounds for depth in (1, 2, 4)}
    off = [by_position[depth] / per_step(decoded("ngram", depth)[0]) - 1 for depth in (1, 2, 4)]
    assert min(off) < -0.08


def per_step(answers: list[list[int]]) -> float:
    return sum(map(sum, answers)) / sum(map(len, answers))


@cache
def whole_models() -> Models:
    """The embedded engine's own: a small model's text repeats itself too rarely for lookup."""
    recipe = Recipe(corpus="python")
    return models_of(recipe, trained_for(recipe))


@cache
def decoded(method: str, depth: int) -> tuple[list[list[int]], list[int]]:
    """Answers of the engine's decoder at that depth, greedy: the tokens of each round, and how often each position was kept."""
    models, speculation = whole_models(), speculation_of({"method": method, "num_speculative_tokens": depth})
    draw = random.Random(5)
    documents = [document for document in python_documents() if len(document) > 1000][:200]
    answers, kept = [], [0] * depth
    for _ in range(ANSWERS):
        document = draw.choice(documents)
        start = draw.randrange(len(document) - 400)
        text = encode(models.vocabulary, document[start : start + 400].decode("utf-8", "replace"))[:48]
        end = len(text) + TOKENS
        text += next_tokens(models, None, text, GREEDY, draw)[0].tokens
        steps = []
        while len(text) < end:
            made = next_tokens(models, speculation, text, GREEDY, random.Random(len(text)))[0]
            steps.append(min(len(made.tokens), end - len(text)))
            text += made.tokens
            for place in range(made.accepted):
                kept[place] += 1
        answers.append(steps)
    return answers, kept


def test_a_run_of_a_declared_chain_predicts_depths_up_to_twice_its_own_and_not_its_own() -> None:
    cell = judge(evidence(Effect(tokens_per_step=3), a_scenario([4], pairs=2)), "0.1.0").cells[0]
    assert [one.depth for one in cell.other_depths] == [1, 2, 3, 5, 6, 8]
    # Every round of depth 4 kept two drafts, then one was wrong: no depth beyond 2 yields more.
    assert [one.tokens_per_step for one in cell.other_depths[1:]] == pytest.approx([3.0] * 5, rel=0.03)


def test_a_run_of_a_tree_predicts_no_depth() -> None:
    plain = a_scenario([4], pairs=2)
    tree = replace(plain.speculative, speculative={"method": "heads", "num_speculative_tokens": 2, "tree": [3, 2]})
    cell = judge(evidence(Effect(tokens_per_step=3), replace(plain, speculative=tree)), "0.1.0").cells[0]
    assert cell.other_depths == ()
