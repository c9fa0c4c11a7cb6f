"""Batching follows vLLM's order: running before waiting, one budget, the latest gives way."""

import random

from specbench.engine.core.kv import BlockPool
from specbench.engine.core.output_text import OutputText
from specbench.engine.core.scheduler import Batch, BatchLimits, Sequence, leave, remember_blocks, schedule
from tests.support.engines import generation, small_models


def batch(blocks: int = 100, step_tokens: int = 64, running: int = 8, lookahead: int = 0) -> Batch:
    """An empty batch with prefix caching."""
    return Batch(BlockPool(blocks, True), BatchLimits(step_tokens, running, lookahead))


def waiting(batch: Batch, name: str, prompt: int, speculate: bool = False, first: int = 0) -> Sequence:
    """A request whose prompt is that many tokens from `first` on, queued."""
    request = generation(tuple(range(first, first + prompt)))
    answer = OutputText(small_models().vocabulary, request.limits)
    sequence = Sequence(name, request, list(request.prompt), answer, random.Random(0), speculate)
    batch.waiting.append(sequence)
    return sequence


def run(batch: Batch) -> list[tuple[str, int, bool]]:
    """One step: who took part with how many tokens and whether a token was made, each made token being 7."""
    shares = schedule(batch)
    for share in shares:
        sequence, before = share.sequence, share.sequence.computed
        sequence.computed += share.tokens
        if share.completes:
            sequence.tokens.append(7)
        remember_blocks(batch, sequence, before)
    return [(share.sequence.id, share.tokens, share.completes) for share in shares]


def test_a_long_prompt_comes_in_chunks() -> None:
    """150 tokens with 64 a step: two chunks that make nothing, a third that makes the first token, then decoding."""
    work = batch()
    waiting(work, "a", 150)

    assert [run(work) for _ in range(4)] == [[("a", 64, False)], [("a", 64, False)], [("a", 22, True)], [("a", 1, True)]]


def test_running_requests_come_first() -> None:
    """A decoding request takes its token from the budget before a waiting prompt takes the rest."""
    work = batch()
    waiting(work, "a", 10)
    run(work)
    waiting(work, "b", 100, first=500)

    assert run(work) == [("a", 1, True), ("b", 63, False)]
    assert run(work) == [("a", 1, True), ("b", 37, True)]


def test_the_batch_is_bounded() -> None:
    """No more requests run than allowed; the others wait in order."""
    work = batch(running=2)
    for i, name in enumerate("abc"):
        waiting(work, name, 10, first=100 * i)

    assert [name for name, *_ in run(work)] == ["a", "b"]
    assert [sequence.id for sequence in work.waiting] == ["c"]


def test_drafts_take_budget_and_room() -> None:
    """A request that speculates reserves its drafts; the budget left for a prompt is smaller by them."""
    work = batch(lookahead=4)
    waiting(work, "a", 10, speculate=True)
    run(work)
    waiting(work, "b", 100, first=500)

    assert run(work) == [("a", 1, True), ("b", 59, False)]


def test_the_latest_request_gives_way() -> None:
    """Two requests fill the cache; when the first needs another block, the second goes back to the front of the queue."""
    work = batch(blocks=4)
    first, second = waiting(work, "a", 32), waiting(work, "b", 30, first=500)
    waiting(work, "c", 5, first=900)
    run(work)

    assert [name for name, *_ in run(work)] == ["a"]
    assert [sequence.id for sequence in work.waiting] == ["b", "c"]
    assert (second.preemptions, second.blocks, second.computed) == (1, [], 0)
    assert (first.preemptions, work.preemptions) == (0, 1)


def test_a_prompt_waits_until_all_of_it_fits() -> None:
    """A chunk of it would fit, but not the whole: admitted now, it would be thrown out before it made a token."""
    work = batch(blocks=6, step_tokens=32)
    waiting(work, "a", 30)
    waiting(work, "b", 90, first=500)

    assert [run(work) for _ in range(2)] == [[("a", 30, True)], [("a", 1, True)]]
    assert [sequence.id for sequence in work.waiting] == ["b"]


def test_a_preempted_request_computes_its_text_again() -> None:
    """Once there is room it runs over prompt and answer so far, and then goes on; its own full blocks may still be there."""
    work = batch(blocks=4)
    first, second = waiting(work, "a", 32), waiting(work, "b", 30, first=500)
    run(work)
    run(work)
    leave(work, first)
    text = len(second.tokens)

    ((name, tokens, completes),) = run(work)
    assert (name, completes) == ("b", True)
    assert tokens + second.computed - tokens == text
    assert tokens in (text, text - 16)
    assert len(second.tokens) == text + 1


def test_a_request_alone_can_always_go_on() -> None:
    """With nobody else to preempt, a request that outgrows the cache preempts itself rather than stand still for ever."""
    work = batch(blocks=2)
    only = waiting(work, "a", 32)
    run(work)

    assert run(work) == []
    assert only.preemptions == 1


def test_a_shared_beginning_is_computed_once() -> None:
    """The second prompt with the same 32 tokens computes only what follows, and the counters say so once."""
    work = batch()
    waiting(work, "a", 40)
    run(work)
    second = waiting(work, "b", 40)

    assert run(work)[1] == ("b", 8, True)
    assert second.cached == 32
    assert (work.prefix_queries, work.prefix_hits) == (80, 32)


def test_a_prompt_in_the_cache_still_computes_its_end() -> None:
    """All 32 tokens are known, but the last block is computed again: the answer begins with its logits."""
    work = batch()
    waiting(work, "a", 32)
    run(work)
    waiting(work, "b", 32)

    assert run(work)[1] == ("b", 16, True)


def test_leaving_frees_everything() -> None:
    """Running or waiting, whoever leaves holds no block."""
    work = batch(running=1)
    sequences = [waiting(work, "a", 20), waiting(work, "b", 20, first=300)]
    run(work)
    for sequence in sequences:
        leave(work, sequence)

    assert (work.pool.free, work.running, list(work.waiting)) == (100, [], [])
