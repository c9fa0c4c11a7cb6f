"""Proposers draft what they should, from what they may see."""

import random

import pytest

from specbench.engine.core.decoding import propose_by_heads, propose_by_lookup, propose_by_model, propose_tree
from specbench.engine.models.distribution import Shaping, probability
from specbench.engine.models.vocabulary import encode
from tests.support.engines import PROMPTS, small_models

MODELS = small_models()
TEXT = encode(MODELS.vocabulary, PROMPTS[0])


@pytest.mark.parametrize(
    ("text", "bounds", "expected"),
    [
        ([1, 2, 3, 4, 1, 2], (2, 4), [3, 4, 1]),
        ([1, 2, 3, 4, 5, 2], (2, 4), []),  # only one token matches
        ([1, 2, 3, 4, 5, 2], (1, 4), [3, 4, 5]),
        ([1, 2, 9, 1, 2, 8, 1, 2], (2, 4), [8, 1, 2]),  # of equally long matches the latest
        ([7, 1, 2, 9, 5, 1, 2, 8, 7, 1, 2], (2, 4), [9, 5, 1]),  # a longer match beats a later one
        ([7, 1, 2, 9, 5, 1, 2, 8, 7, 1, 2], (2, 2), [8, 7, 1]),  # unless it may not be longer
        ([4, 4, 4], (2, 4), [4]),  # the text itself ends the draft
        ([4], (1, 4), []),
    ],
)
def test_lookup_drafts_what_followed(text: list[int], bounds: tuple[int, int], expected: list[int]) -> None:
    """Three tokens from after the longest, latest earlier match of the text's end."""
    drafts = propose_by_lookup(text, 3, *bounds)

    assert [drafted.token for drafted in drafts] == expected
    assert all(drafted.q is None for drafted in drafts)


def test_a_draft_model_drafts_in_sequence() -> None:
    """Each best guess follows the guesses before it."""
    tokens = [drafted.token for drafted in propose_by_model(TEXT, 4, MODELS.draft, Shaping(), None)]

    for i, token in enumerate(tokens):
        assert token == MODELS.draft.next_token([*TEXT, *tokens[:i]]).tokens[0]


def test_a_sampled_draft_carries_its_distribution() -> None:
    """q is the draft's distribution under the request's own settings, at the place of the token."""
    shaping = Shaping(0.7, 0.9)
    drafts = propose_by_model(TEXT, 4, MODELS.draft, shaping, random.Random(1))

    for i, drafted in enumerate(drafts):
        q = MODELS.draft.next_token([*TEXT, *(before.token for before in drafts[:i])], shaping)
        assert drafted.q == q
        assert probability(q, drafted.token) > 0


def test_heads_do_not_see_the_last_token() -> None:
    """All heads predict from the state that made the last token, which does not know it."""
    shaping = Shaping(0.7)
    one = propose_by_heads([*TEXT, 300], MODELS.heads, shaping, random.Random(2))
    other = propose_by_heads([*TEXT, 301], MODELS.heads, shaping, random.Random(2))

    assert one == other
    assert [drafted.q for drafted in one] == [head.next_token(TEXT, shaping) for head in MODELS.heads]
    guesses = propose_by_heads([*TEXT, 300], MODELS.heads, shaping, None)
    assert [guess.token for guess in guesses] == [head.next_token(TEXT).tokens[0] for head in MODELS.heads]


def test_a_tree_holds_every_path() -> None:
    """Two candidates, then one below each, then three below those."""
    tree = propose_tree([*TEXT, 300], MODELS.heads[:3], (2, 1, 3))
    heads = [head.next_token(TEXT).tokens.tolist() for head in MODELS.heads]

    assert [node.token for node in tree] == heads[0][:2]
    assert [[below.token for below in node.children] for node in tree] == [heads[1][:1]] * 2
    assert [leaf.token for leaf in tree[1].children[0].children] == heads[2][:3]
