"""Prompts are natural text of the asked length, the same for both arms and fresh for every pair."""

import json
from dataclasses import replace
from itertools import product, takewhile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specbench.model.scenario import Bin, Sampling, Workload
from specbench.prompts.corpora import documents
from specbench.prompts.dataset.row import Row
from specbench.prompts.request_body import body_of
from specbench.prompts.sampler import PromptSource, Turns, prompt, salted, with_salt
from specbench.prompts.token_estimate import TokenEstimator, cut, measured
from tests.support.scenarios import code

GREEDY = Sampling(name="greedy", temperature=0.0, top_p=None, top_k=None, seed=None)
HOT = Sampling(name="hot", temperature=1.0, top_p=0.9, top_k=None, seed=None)
ONE = TokenEstimator(1.0, measured=True)


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
            Bin(name="short", input_tokens=(20, 40), output_tokens=(8, 16), weight=3),
            Bin(name="long", input_tokens=(200, 300), output_tokens=(32, 64), weight=1),
        ),
        sampling=(GREEDY, HOT),
    )


def drawing(shared_prefix_tokens: int = 0, seed: int = 0) -> PromptSource:
    """Prompts from Python's source, one token a piece."""
    return PromptSource(documents=documents("python"), unit=ONE, workload=workload(shared_prefix_tokens), seed=seed)


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


@pytest.mark.parametrize("corpus", ["python", "prose"])
def test_prompts_open_each_in_its_own_way(corpus: str) -> None:
    """Of 400 prompts at least 390 differ within 40 characters: a prefix cache has next to nothing of them."""
    drawn = replace(drawing(), documents=documents(corpus))

    assert len({prompt(drawn, "c1/p00", None, None, index).text[:40] for index in range(400)}) >= 390


def test_a_prompt_opens_at_a_word_and_early_enough_to_be_whole() -> None:
    """From one line of 5,000 words: whole words in their order, 200 to 300 of them, and no second document."""
    words = ["".join(letters) for letters in product("bcdfghklmnprst", "aeiou", "lmnrst", "aeiou", "kt")][:5000]
    line = " ".join(words)
    drawn = replace(drawing(), documents=(line,))
    texts = [prompt(drawn, "x", "long", None, index).text for index in range(100)]

    assert all(f" {text} " in f" {line} " for text in texts)
    assert {200 <= len(text.split()) <= 300 for text in texts} == {True}
    assert len(set(texts)) == 100


def test_a_prompt_opens_at_a_line_where_there_are_lines() -> None:
    """The head of a line, not the next word."""
    text = "One two three.\n" * 500
    drawn = replace(drawing(), documents=(text,))

    assert {prompt(drawn, "x", None, None, index).text[:14] for index in range(50)} == {"One two three."}


@pytest.mark.parametrize(("document", "opening"), [("x" * 900, "xxx"), ("word " * 6, "word word")])
def test_a_document_without_room_or_without_a_blank_is_never_opened_within_a_word(document: str, opening: str) -> None:
    """A line without blanks is taken from its start; what is shorter than the prompt is joined by more."""
    drawn = replace(drawing(), documents=(document,))

    assert all(prompt(drawn, "x", "short", None, index).text.startswith(opening) for index in range(20))


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
    assert measured(["a b c", "a"], [6, 2]) == TokenEstimator(2.0, measured=True)
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


def test_rows_of_a_dataset_take_turns() -> None:
    """None comes twice before all have come, and each keeps its system text."""
    rows = [Row(" ".join(["w"] * length), "be brief" if length == 25 else None) for length in (21, 25, 30)]
    by_bin = {"short": tuple(rows), "long": (Row("w " * 250),)}
    drawing_of_rows = PromptSource(documents=(), unit=ONE, workload=workload(), seed=0, rows=by_bin)
    drawn = [prompt(drawing_of_rows, "c1/p00", "short", None, index) for index in range(6)]

    assert len({p.text for p in drawn[:3]}) == 3
    assert [p.text for p in drawn[:3]] == [p.text for p in drawn[3:]]
    assert {p.system for p in drawn} == {None, "be brief"}


def test_a_recorded_conversation_is_sent_whole_with_its_tools() -> None:
    """The messages as recorded, the fields that are kept, and the recorded limit in the arm's own name for it."""
    talk = ({"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"})
    row = Row("c", messages=talk, fields={"tools": [{"type": "function"}], "max_completion_tokens": 77})
    chat = replace(workload(), route="chat")
    drawn = PromptSource(documents=(), unit=ONE, workload=chat, seed=0, rows={"short": (row,), "long": (row,)})
    body = json.loads(body_of(prompt(drawn, "x", None, None, 0), chat, "m", {}, code().baseline))

    assert body["messages"] == list(talk)
    assert body["tools"] == [{"type": "function"}]
    assert (body["max_tokens"], "max_completion_tokens" in body) == (77, False)


def test_a_salted_conversation_differs_from_its_first_question_on() -> None:
    """The system text, which all requests may share, stays as it is."""
    talk = ({"role": "system", "content": "s"}, {"role": "user", "content": "a"}, {"role": "assistant", "content": "b"})
    drawn = PromptSource(documents=(), unit=ONE, workload=workload(), seed=0, rows={"short": (Row("a", messages=talk),)})
    asked = with_salt(prompt(drawn, "x", "short", None, 0), "run 1")

    assert [message["content"] for message in asked.messages] == ["s", salted("a", "run 1"), "b"]


def test_a_block_of_a_trace_is_the_same_text_wherever_it_comes() -> None:
    """Prompts of 700 tokens that share their first block of 512 share its text, and no more."""
    rows = {"short": tuple(Row("", input_tokens=700, made_up=True, blocks=(7, own), number=own) for own in (1, 2))}
    drawn = PromptSource(documents=documents("prose"), unit=ONE, workload=workload(), seed=0, rows=rows)
    first, second = (prompt(drawn, "x", "short", None, index).text for index in (0, 1))

    shared = "".join(letter for letter, _ in takewhile(lambda two: two[0] == two[1], zip(first, second, strict=False)))
    assert ONE.of(shared) == pytest.approx(512, abs=20)
    assert ONE.of(first) == pytest.approx(700, abs=10)


def equal_bins(rows: int) -> PromptSource:
    """Two bins, one to one, with `rows` prompts each."""
    bins = tuple(replace(band, weight=1) for band in workload().bins)
    by_bin = {name: tuple(Row(f"{name} {number}") for number in range(rows)) for name in ("short", "long")}
    return PromptSource(documents=(), unit=ONE, workload=replace(workload(), bins=bins), seed=0, rows=by_bin)


@pytest.mark.parametrize("name", ["short", "long"])
def test_no_row_comes_again_before_all_others_of_its_bin(name: str) -> None:
    """Two equal bins of 50 rows: each bin's first 50 prompts are all its rows, and so are its next 50."""
    drawn = [prompt(equal_bins(50), "c1/p00", None, None, index) for index in range(260)]
    texts = [p.text for p in drawn if p.bin == name]

    assert len(set(texts[:50])) == 50
    assert texts[50:100] == texts[:50]


def test_rows_are_the_same_whoever_asks_first() -> None:
    """Prompt 200 asked alone is the one that comes after 199 others, and a note for the reader changes none."""
    alone = prompt(equal_bins(50), "c1/p01", None, None, 200)
    noted = replace(equal_bins(50), notes=("a note",))

    assert [prompt(noted, "c1/p01", None, None, index) for index in range(201)][200] == alone


def test_a_turn_counts_the_prompts_of_its_bin_before_it() -> None:
    """Bins a, b, a, a, b: turns 0, 0, 1, 2, 1, asked in any order."""
    assert [Turns("abaab".__getitem__).of(index) for index in range(5)] == [0, 0, 1, 2, 1]
    turns = Turns("abaab".__getitem__)
    assert [turns.of(index) for index in (4, 0, 3, 1, 2)] == [1, 0, 2, 0, 1]


def test_a_system_text_is_a_turn_of_its_own_in_chat_and_stands_first_in_completions() -> None:
    """Both routes carry it."""
    asked = replace(prompt(drawing(), "x", None, None, 0), system="Be brief.", text="Hi")
    arm = code().baseline
    chat = body_of(asked, replace(workload(), route="chat"), "m", {}, arm)
    completions = body_of(asked, workload(), "m", {}, arm)

    assert b'[{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"}]' in chat
    assert b'"prompt":"Be brief.\\n\\nHi"' in completions
