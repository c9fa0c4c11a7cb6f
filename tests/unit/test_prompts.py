"""Prompts are natural text of the asked length, the same for both arms and fresh for every pair."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specbench.model.asked import Band, Sampling, Workload
from specbench.prompts.body import body_of
from specbench.prompts.corpora import documents
from specbench.prompts.dataset import Row
from specbench.prompts.draw import Drawing, prompt, rows_by_bin, salted
from specbench.prompts.pieces import Tokens, cut, measured
from tests.unit.test_plan import code

GREEDY = Sampling(name="greedy", temperature=0.0, top_p=None, top_k=None, seed=None)
HOT = Sampling(name="hot", temperature=1.0, top_p=0.9, top_k=None, seed=None)
ONE = Tokens(1.0, measured=True)


def workload(shared_prefix_tokens: int = 0) -> Workload:
    """Two bins, three to one, and two samplings."""
    return Workload(
        corpus="python",
        dataset=None,
        route="completions",
        length="natural",
        streaming=True,
        shared_prefix_tokens=shared_prefix_tokens,
        bins=(
            Band(name="short", input_tokens=(20, 40), output_tokens=(8, 16), weight=3),
            Band(name="long", input_tokens=(200, 300), output_tokens=(32, 64), weight=1),
        ),
        sampling=(GREEDY, HOT),
    )


def drawing(shared_prefix_tokens: int = 0, seed: int = 0) -> Drawing:
    """Prompts from Python's source, one token a piece."""
    return Drawing(documents=documents("python"), unit=ONE, workload=workload(shared_prefix_tokens), seed=seed)


def test_a_prompt_depends_on_its_pair_and_index_alone() -> None:
    """The two arms of a pair draw the same prompts; another pair, index or seed draws others."""
    assert prompt(drawing(), "c4/p00", None, None, 3) == prompt(drawing(), "c4/p00", None, None, 3)
    texts = {
        prompt(drawing(), "c4/p00", None, None, 3).text,
        prompt(drawing(), "c4/p01", None, None, 3).text,
        prompt(drawing(), "c4/p00", None, None, 4).text,
        prompt(drawing(seed=1), "c4/p00", None, None, 3).text,
    }
    assert len(texts) == 4


def test_lengths_lie_in_their_band_and_bins_come_by_weight() -> None:
    """Of 400 prompts about three quarters are short; lengths stay within the band up to the cut's rounding."""
    drawn = [prompt(drawing(), "c1/p00", None, None, index) for index in range(400)]
    short = [p for p in drawn if p.bin == "short"]

    assert 270 <= len(short) <= 330
    assert all(8 <= p.max_tokens <= 16 for p in short)
    inside = [p for p in drawn if (20 if p.bin == "short" else 200) <= ONE.of(p.text) <= (40 if p.bin == "short" else 300)]
    assert len(inside) >= 396


def test_samplings_take_turns() -> None:
    """Each sampling gets the same number of requests."""
    assert [prompt(drawing(), "c1/p00", None, None, i).sampling.name for i in range(4)] == ["greedy", "hot", "greedy", "hot"]


def test_a_separate_cell_draws_its_own_bin_and_sampling_only() -> None:
    """A slice never sees another slice's requests."""
    drawn = [prompt(drawing(), "x", "long", "hot", index) for index in range(20)]

    assert {(p.bin, p.sampling.name) for p in drawn} == {("long", "hot")}


def test_a_shared_prefix_is_the_same_in_all_prompts() -> None:
    """What a prefix cache could serve is equal to the letter."""
    first, second = (prompt(drawing(shared_prefix_tokens=15), "x", "long", None, i).text for i in (0, 1))

    assert first != second
    assert first[:40] == second[:40]


def test_a_salt_makes_a_prompt_unlike_any_other_from_its_first_sign() -> None:
    """No cache can serve one arm's prompt from the other's."""
    assert salted("text", "a").splitlines()[0] != salted("text", "b").splitlines()[0]
    assert salted("text", "a").endswith("\ntext")


@given(st.text(max_size=300), st.integers(1, 50))
def test_a_cut_is_a_prefix_and_no_longer_than_asked(text: str, tokens: int) -> None:
    """Cutting never invents text, and counts pieces as `of` counts them."""
    piece = cut(text, 0, tokens, ONE)

    assert text.startswith(piece)
    assert ONE.of(piece) <= tokens


def test_tokens_per_piece_are_what_the_endpoint_counted() -> None:
    """Two texts of 3 and 1 pieces counted as 6 and 2 tokens: 2 tokens a piece."""
    assert measured(["a b c", "a"], [6, 2]) == Tokens(2.0, measured=True)
    assert measured([], []).measured is False


@pytest.mark.parametrize("corpus", ["python", "prose"])
def test_a_corpus_is_long_and_plain(corpus: str) -> None:
    """There is text enough for a full run, in documents long enough to cut."""
    found = documents(corpus)

    assert sum(map(len, found)) > 500_000
    assert len(found) > 100


def test_bodies_of_the_two_arms_are_the_same_bytes() -> None:
    """Only what the scenario declares per arm may differ."""
    scenario = code()
    asked = prompt(drawing(), "x", None, None, 1)
    bodies = {
        body_of(asked, scenario.workload, "m", {"stream_options": {"include_usage": True}}, arm)
        for arm in (scenario.baseline, scenario.speculative)
    }

    assert len(bodies) == 1
    body = bodies.pop()
    assert b'"temperature":1.0' in body
    assert b'"top_p":0.9' in body
    assert b'"max_tokens"' in body
    assert b'"stream":true' in body


def test_rows_of_a_dataset_go_to_the_bin_of_their_length_and_take_turns() -> None:
    """Each row belongs to the first band it fits; none comes twice before all have come."""
    rows = [Row(" ".join(["w"] * length), "be brief" if length == 25 else None) for length in (21, 25, 30, 250, 9000)]
    by_bin = rows_by_bin(rows, workload().bins, ONE)
    drawing_of_rows = Drawing(documents=(), unit=ONE, workload=workload(), seed=0, rows=by_bin)
    drawn = [prompt(drawing_of_rows, "c1/p00", "short", None, index) for index in range(6)]

    assert {name: len(found) for name, found in by_bin.items()} == {"short": 3, "long": 1}
    assert len({p.text for p in drawn[:3]}) == 3
    assert [p.text for p in drawn[:3]] == [p.text for p in drawn[3:]]
    assert {p.system for p in drawn} == {None, "be brief"}


def test_a_system_text_is_a_turn_of_its_own_in_chat_and_stands_first_in_completions() -> None:
    """Both routes carry it."""
    asked = replace(prompt(drawing(), "x", None, None, 0), system="Be brief.", text="Hi")
    arm = code().baseline
    chat = body_of(asked, replace(workload(), route="chat"), "m", {}, arm)
    completions = body_of(asked, workload(), "m", {}, arm)

    assert b'[{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"}]' in chat
    assert b'"prompt":"Be brief.\\n\\nHi"' in completions
