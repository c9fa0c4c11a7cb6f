"""The engine makes the same answers however it batches, chunks, caches and preempts, and tells what it did."""

import math
from typing import Any

import pytest

from specbench.engine.core.output_text import OutputLimits
from specbench.engine.models.distribution import Shaping, probability
from specbench.engine.models.vocabulary import EOS
from tests.support.engines import GREEDY, PROMPTS, answer_of, generation, outputs_of, small_engine, small_models

SPECULATIVE = {"method": "draft_model", "num_speculative_tokens": 4}


def answers(requests: int = 4, **options: Any) -> dict[str, tuple[int, ...]]:
    """The answers to several sampled requests that run together."""
    engine = small_engine(**options)
    for i in range(requests):
        engine.submit(str(i), generation(PROMPTS[i % 4], shaping=Shaping(0.8, 0.95), seed=i, limits=OutputLimits(40)))
    made = outputs_of(engine)
    return {name: tuple(token for output in outputs for token in output.growth.tokens) for name, outputs in made.items()}


@pytest.mark.parametrize("speculative", [None, SPECULATIVE], ids=["plain", "speculative"])
@pytest.mark.parametrize(
    "options", [{"max_num_batched_tokens": 16}, {"max_num_seqs": 1}, {"prefix_caching": False}, {"seed": 9}], ids=str
)
def test_serving_changes_no_answer(options: dict[str, Any], speculative: dict[str, Any] | None) -> None:
    """Chunks, batch size, prefix caching and the engine's own seed change no answer that has a seed of its own."""
    assert answers(speculative=speculative, **options) == answers(speculative=speculative)


@pytest.mark.parametrize(
    ("speculative", "shaping"), [(None, Shaping(0.8, 0.95)), (SPECULATIVE, GREEDY)], ids=["plain", "speculative"]
)
def test_preemption_changes_no_answer(speculative: dict[str, Any] | None, shaping: Shaping) -> None:
    """Twelve requests in a cache for four give way to each other, and say the same.

    Under speculation this holds for greedy answers only: a request that comes back draws one token where a round would have
    drawn several, which changes no distribution but the luck of the draw.
    """
    told = []
    for kv_tokens in (160, 20_000):
        engine = small_engine(kv_tokens=kv_tokens, speculative=speculative)
        for i in range(12):
            engine.submit(str(i), generation(PROMPTS[i % 4], shaping=shaping, seed=i, limits=OutputLimits(40)))
        made = outputs_of(engine)
        told.append({name: [token for output in outputs for token in output.growth.tokens] for name, outputs in made.items()})
        assert (engine.batch.preemptions > 0) == (kv_tokens == 160)
        assert engine.batch.pool.free == engine.batch.pool.blocks
        assert engine.counts.decodes == sum(len(outputs) - 1 for outputs in made.values())

    assert told[0] == told[1]


def test_without_a_seed_the_engines_seed_decides() -> None:
    """The whole run can be had again from the engine's seed, and another seed gives another."""
    request = generation(shaping=Shaping(1.0))

    assert answer_of(small_engine(seed=1), request)[0] == answer_of(small_engine(seed=1), request)[0]
    assert answer_of(small_engine(seed=1), request)[0] != answer_of(small_engine(seed=2), request)[0]


def test_one_output_per_request_and_step() -> None:
    """A step gives each request at most one output, of one to five tokens; the first has one."""
    engine = small_engine(speculative=SPECULATIVE)
    for i in range(4):
        engine.submit(str(i), generation(PROMPTS[i]))
    while engine.busy:
        step = engine.step()
        assert step is not None
        names = [output.sequence.id for output in step.outputs]
        assert len(set(names)) == len(names)
        assert all(len(output.growth.tokens) <= (1 if output.first else 5) for output in step.outputs)
        assert step.seconds > 0


def test_a_request_can_leave_speculation_out() -> None:
    """With speculation off for a request, it decodes token by token on a speculative engine."""
    engine = small_engine(speculative=SPECULATIVE)
    tokens, sequence = answer_of(engine, generation(speculative=False))

    assert (sequence.drafted_by_round, engine.counts.rounds) == ([], 0)
    assert engine.counts.decodes == len(tokens) - 1
    assert tokens == answer_of(small_engine(), generation())[0]


def test_started_requests_are_named_once() -> None:
    """A step names who takes part for the first time, with a chunk or with a whole prompt."""
    engine = small_engine(max_num_batched_tokens=16)
    engine.submit("a", generation(tuple(range(300, 340)), limits=OutputLimits(3)))
    started = []
    while engine.busy:
        step = engine.step()
        assert step is not None
        started.append([sequence.id for sequence in step.started])

    assert started == [["a"], [], [], [], []]


def test_longer_prompts_take_longer() -> None:
    """The first step of a prompt of 400 tokens takes longer than that of 40, and a cached prompt is quicker."""

    def first_step(prompt: int, again: bool = False) -> float:
        engine = small_engine()
        for _ in range(2 if again else 1):
            outputs_of(engine)
            engine.submit("a", generation(tuple(range(300, 300 + prompt)), limits=OutputLimits(1)))
        step = engine.step()
        assert step is not None
        return step.seconds

    assert first_step(400) > 5 * first_step(40)
    assert first_step(400, again=True) < first_step(400) / 5


def test_logprobs_are_the_targets() -> None:
    """Each token's log probability is the target's own, whatever the temperature, with the most probable ones beside it."""
    target = small_models().target
    engine = small_engine(speculative=SPECULATIVE)
    sequence = engine.submit("a", generation(shaping=Shaping(0.5), seed=3, logprobs=2))
    told = [each for output in outputs_of(engine)["a"] for each in output.logprobs or ()]
    text = list(sequence.request.prompt)

    assert [each.token for each in told] == sequence.tokens[len(text) :]
    for each in told:
        p = target.next_token(text)
        assert math.exp(each.logprob) == pytest.approx(probability(p, each.token))
        assert [token for token, _ in each.top] == p.tokens[:2].tolist()
        text.append(each.token)


def test_an_aborted_request_is_gone() -> None:
    """Its blocks are free, and the engine rests."""
    engine = small_engine()
    sequence = engine.submit("a", generation())
    engine.step()
    engine.abort(sequence)

    assert (engine.busy, engine.batch.pool.free) == (False, engine.batch.pool.blocks)
    assert engine.step() is None


def test_answers_end_by_themselves() -> None:
    """Sampled text comes to the end of its block some time, and then the answer ends with the end token."""
    engine = small_engine()
    for i in range(20):
        engine.submit(str(i), generation(PROMPTS[3], shaping=Shaping(1.0), limits=OutputLimits(300)))
    ends = [outputs[-1].growth for outputs in outputs_of(engine).values()]

    assert any(growth.finish == "stop" for growth in ends)
    assert all(growth.tokens[-1] == EOS for growth in ends if growth.finish == "stop")
