"""Noise in log probabilities: as large as asked, the same for the same pass, another one for another arithmetic or text."""

import math
import statistics
from typing import get_args

import pytest

from specbench.engine.core.target_passes import IMPOSSIBLE_NATS, Arithmetic, TargetPasses, logprob_of, rank_of
from specbench.engine.models.distribution import Shaping
from specbench.engine.models.vocabulary import encode
from tests.support.engines import PROMPTS, answer_of, generation, small_engine, small_models, table_distribution

TARGET = small_models().target
TEXTS = [[*encode(small_models().vocabulary, prompt), *range(97, 97 + i)] for prompt in PROMPTS for i in range(6)]
DRAFTING = {"method": "draft_model", "num_speculative_tokens": 3}


def test_without_noise_it_is_the_model() -> None:
    """The very distribution, under each arithmetic."""
    passes = TargetPasses(TARGET)
    for arithmetic in get_args(Arithmetic):
        assert passes.next_token(TEXTS[0], arithmetic, Shaping(0.8)) is TARGET.next_token(TEXTS[0], Shaping(0.8))


def test_noise_is_as_large_as_asked() -> None:
    """Differences of log probabilities of two tokens have the deviation of two noises of .1 nat."""
    passes = TargetPasses(TARGET, 0.1, 1)
    off: list[float] = []
    for text in TEXTS:
        exact, noisy = TARGET.next_token(text), passes.next_token(text, "decode")
        assert sorted(exact.tokens) == sorted(noisy.tokens)
        assert sum(noisy.probabilities) == pytest.approx(1.0)
        assert list(noisy.probabilities) == sorted(noisy.probabilities, reverse=True)
        moved = [logprob_of(noisy, token) - logprob_of(exact, token) for token in sorted(exact.tokens)]
        off += [one - other for one, other in zip(moved[::2], moved[1::2], strict=False)]

    assert statistics.pstdev(off) == pytest.approx(0.1 * math.sqrt(2), rel=0.1)
    assert statistics.mean(off) == pytest.approx(0.0, abs=0.02)


def test_the_same_pass_again_is_the_same() -> None:
    """Another engine with that seed says the same; another seed, another arithmetic and a text that differs far back do not."""
    text = TEXTS[5]
    known = TargetPasses(TARGET, 0.1, 1).next_token(text, "decode")
    other = [
        TargetPasses(TARGET, 0.1, 2).next_token(text, "decode"),
        TargetPasses(TARGET, 0.1, 1).next_token(text, "verify"),
        TargetPasses(TARGET, 0.1, 1).next_token(text, "prefill"),
        TargetPasses(TARGET, 0.1, 1).next_token([97, *text], "decode"),
    ]

    assert TargetPasses(TARGET, 0.1, 1).next_token(text, "decode") == known
    assert TARGET.next_token([97, *text]) == TARGET.next_token(text)
    assert all(each.probabilities != known.probabilities for each in other)


def test_settings_apply_after_the_noise() -> None:
    """Greedy takes the best of the noisy ones, whatever the model's own best is."""
    passes = TargetPasses(TARGET, 2.0, 1)
    best = [passes.next_token(text, "verify", Shaping(0.0)).tokens[0] for text in TEXTS]

    assert best == [passes.next_token(text, "verify").tokens[0] for text in TEXTS]
    assert best != [TARGET.next_token(text).tokens[0] for text in TEXTS]


def test_an_engine_repeats_itself_and_an_honest_other_one_does_not_repeat_it() -> None:
    """With noise, plain decoding gives one answer again and again; verified drafts give another one to some prompt of four."""
    plain = [answer_of(small_engine(jitter_nats=0.5), generation(prompt))[0] for prompt in PROMPTS]

    assert [answer_of(small_engine(jitter_nats=0.5), generation(prompt))[0] for prompt in PROMPTS] == plain
    assert [answer_of(small_engine(jitter_nats=0.5, speculative=DRAFTING), generation(prompt))[0] for prompt in PROMPTS] != plain


def test_places_by_probability() -> None:
    """From 1; a token that cannot come is behind all others, at a log probability that JSON can say."""
    known = table_distribution({5: 0.5, 6: 0.3, 7: 0.2})

    assert [rank_of(known, token) for token in (5, 6, 7, 8)] == [1, 2, 3, 4]
    assert [logprob_of(known, token) for token in (5, 8)] == [math.log(0.5), IMPOSSIBLE_NATS]
