"""A broken verifier breaks the rule that it is told to break, and no other."""

import random
from collections.abc import Sequence
from typing import Any

import pytest

from specbench.engine.core.faulty_verify import (
    WrongRules,
    faulty_shaping,
    verify_chain_wrongly,
    verify_tree_wrongly,
    wrong_place,
)
from specbench.engine.core.verify import Drafted, Node, Round, verify_chain
from specbench.engine.models.distribution import Shaping, TokenDistribution, one_hot
from specbench.engine.options import VerifierFaults
from tests.support.engines import answer_of, drawn, generation, outputs_of, small_engine, table_distribution

P = table_distribution({1: 0.5, 2: 0.3, 3: 0.2})
Q = table_distribution({1: 0.2, 2: 0.2, 3: 0.6})
DRAFTING = {"method": "draft_model", "num_speculative_tokens": 3}
DRAWS = 4_000


def always(distribution: TokenDistribution) -> Any:
    """The same distribution whatever the text."""
    return lambda context: distribution


def round_of(
    token: int, rng: random.Random, p: TokenDistribution = P, q: TokenDistribution | None = None, **faults: Any
) -> Round:
    """One round over one drafted token, the bonus always 9."""
    rules = WrongRules(faults=VerifierFaults(**faults), bonus=always(one_hot(9)), relaxed_to=always(p))
    return verify_chain_wrongly([7], [Drafted(token, None)], always(p), rng, rules)


def share(token: int, **faults: Any) -> float:
    """How often a best guess of that token stands."""
    rng = random.Random(5)
    return sum(round_of(token, rng, **faults).accepted for _ in range(DRAWS)) / DRAWS


def first_tokens(token: int, **faults: Any) -> dict[int, float]:
    """Shares of what the round's first token is."""
    rng = random.Random(5)
    made = [round_of(token, rng, **faults).tokens[0] for _ in range(DRAWS)]
    return {each: made.count(each) / DRAWS for each in (1, 2, 3)}


def test_without_a_fault_it_is_the_right_one() -> None:
    """The same draws give the same rounds."""
    rng, other = random.Random(3), random.Random(3)
    rules = WrongRules(faults=VerifierFaults(), bonus=always(Q), relaxed_to=always(P))
    for seed in range(200):
        drafts = [Drafted(drawn(Q, random.Random(seed)), Q)] * 3

        assert verify_chain_wrongly([7], drafts, always(P), rng, rules) == verify_chain([7], drafts, always(P), other)


def test_a_lenient_one_accepts_so_many_points_more() -> None:
    """A guess of probability .2 stands in .3 of rounds, and in all where it is 100 points too lenient."""
    assert share(3) == pytest.approx(0.2, abs=0.03)
    assert share(3, lenient=10) == pytest.approx(0.3, abs=0.03)
    assert share(3, lenient=100) == 1.0


def test_without_the_residual_a_rejected_token_may_come_again() -> None:
    """The guess 3 falls in .8 of rounds, and then comes in .2 of these: .2 + .8 × .2."""
    assert first_tokens(3)[3] == pytest.approx(0.2, abs=0.03)
    assert first_tokens(3, no_residual=True)[3] == pytest.approx(0.36, abs=0.03)


def test_acceptance_by_a_second_draw_favours_what_both_models_like() -> None:
    """The guess 1 stands where a draw gives 1, and else is drawn anew from p: .5 + .5 × .5."""
    assert first_tokens(1, equality=True)[1] == pytest.approx(0.75, abs=0.03)


def test_a_relaxed_one_takes_what_is_half_as_probable_as_the_best() -> None:
    """.3 is more than half of .5 and stands always, .2 is less and stands as often as it should."""
    assert share(2, relaxed=0.5) == 1.0
    assert share(3, relaxed=0.5) == pytest.approx(0.2, abs=0.03)


def test_the_bonus_of_the_draft() -> None:
    """All drafts stand, and the last token is the draft's; a round that ends earlier has none."""
    assert round_of(1, random.Random(1), p=one_hot(1), draft_bonus=True) == Round((1, 9), 1)
    assert round_of(2, random.Random(1), p=one_hot(1), draft_bonus=True) == Round((1,), 0)


@pytest.mark.parametrize(
    ("loses", "late", "seen"),
    [
        (True, False, [[1, 2], [1, 2, 8], [1, 2, 8, 9]]),
        (False, True, [[1, 2], [1, 2, 3], [1, 2, 3, 8]]),
        (True, True, [[1], [1, 2], [1, 2, 8]]),
    ],
)
def test_which_text_is_seen(loses: bool, late: bool, seen: list[list[int]]) -> None:
    """The text was 1 2 3 when the round began, 8 and 9 are drafts: without its last token, or a place before."""
    texts: list[list[int]] = []

    def score(context: Sequence[int]) -> TokenDistribution:
        texts.append(list(context))
        return P

    wrong = wrong_place(score, 3, loses=loses, late=late)
    for text in ([1, 2, 3], [1, 2, 3, 8], [1, 2, 3, 8, 9]):
        wrong(text)

    assert texts == seen


def test_another_temperature_leaves_greedy_greedy() -> None:
    """Ten percent more of .8; nothing of 0."""
    assert faulty_shaping(Shaping(0.8, 0.95), VerifierFaults(temperature=1.1)) == Shaping(0.8 * 1.1, 0.95)
    assert faulty_shaping(Shaping(0.0), VerifierFaults(temperature=1.1)).temperature == 0.0


def test_a_lenient_walk_takes_the_first_candidate() -> None:
    """A tree whose candidates the target never draws: all of the first path at 100 points, nothing at 0."""
    tree = (Node(4, (Node(5, ()),)), Node(6, ()))

    assert verify_tree_wrongly([], tree, always(one_hot(1)), random.Random(1), 100.0) == Round((4, 5, 1), 2)
    assert verify_tree_wrongly([], tree, always(one_hot(1)), random.Random(1), 0.0) == Round((1,), 0)


@pytest.mark.parametrize(
    "faults",
    [
        {"lost_token": 1.0},
        {"lenient": 100},
        {"draft_bonus": True},
        {"relaxed": 0.1},
        {"late": True},
    ],
    ids=str,
)
def test_a_fault_reaches_greedy_answers(faults: dict[str, Any]) -> None:
    """An engine with it answers otherwise than one without; its strength of nothing changes nothing."""
    exact, _ = answer_of(small_engine(speculative=DRAFTING), generation())
    broken, _ = answer_of(small_engine(speculative=DRAFTING, faults={"verifier": faults}), generation())

    assert broken != exact


@pytest.mark.parametrize("faults", [{"no_residual": True}, {"equality": True}, {"temperature": 3.0}, {"lenient": 50}], ids=str)
def test_a_fault_reaches_sampled_answers(faults: dict[str, Any]) -> None:
    """With the same seed of the request, some answer of eight is another one."""
    requests = [generation(shaping=Shaping(0.8), seed=seed) for seed in range(8)]
    exact = [answer_of(small_engine(speculative=DRAFTING), each)[0] for each in requests]
    broken = [answer_of(small_engine(speculative=DRAFTING, faults={"verifier": faults}), each)[0] for each in requests]

    assert broken != exact


@pytest.mark.parametrize("faults", [{"lenient": 0}, {"lost_token": 0}, {"temperature": 1}, {"relaxed": None}, {}], ids=str)
def test_a_fault_of_no_strength_changes_nothing(faults: dict[str, Any]) -> None:
    """Token by token, greedy and sampled."""
    for request in (generation(), generation(shaping=Shaping(0.8, 0.95), seed=4)):
        exact, _ = answer_of(small_engine(speculative=DRAFTING), request)
        same, _ = answer_of(small_engine(speculative=DRAFTING, faults={"verifier": faults}), request)

        assert same == exact


def test_a_fault_may_need_company() -> None:
    """From four requests on: alone an answer is right, among three others it is not."""
    faults = {"verifier": {"late": True, "from_batch": 4}}
    exact, _ = answer_of(small_engine(speculative=DRAFTING), generation())
    alone, _ = answer_of(small_engine(speculative=DRAFTING, faults=faults), generation())
    engine = small_engine(speculative=DRAFTING, faults=faults)
    for i in range(4):
        engine.submit(str(i), generation())
    among = tuple(token for output in outputs_of(engine)["0"] for token in output.growth.tokens)

    assert alone == exact
    assert among != exact


def test_an_engine_without_drafts_can_lose_tokens_too() -> None:
    """What a baseline does that contradicts itself."""
    exact, _ = answer_of(small_engine(), generation())
    broken, _ = answer_of(small_engine(faults={"verifier": {"lost_token": 1.0}}), generation())

    assert broken != exact
    assert broken[0] == exact[0], "the first token comes with the prompt, before anything can be lost"
