"""Continuous batching: which requests take part in the next step, with how many tokens, and who gives way when the cache is full.

As vLLM's V1 scheduler: running requests first, then waiting ones in order of arrival, one token budget for all, long prompts in
chunks, and the latest arrival preempted first. No tokens are drawn here, and nothing knows the time.
"""

import random
from collections import deque
from dataclasses import dataclass, field

from specbench.engine.core.kv import BLOCK_TOKENS, BlockPool, blocks_for, extend_keys
from specbench.engine.core.output_text import OutputText
from specbench.engine.core.requests import Generation


@dataclass(slots=True, eq=False)
class Sequence:
    """One request inside the engine: its text so far, what of it is in the cache, and what speculation did for it.

    `computed` tokens of `tokens` have their keys and values in `blocks`; `accepted_by_round` has one entry per verification.
    """

    id: str
    request: Generation
    tokens: list[int]
    answer: OutputText
    rng: random.Random
    speculate: bool
    started: bool = False
    computed: int = 0
    cached: int = 0
    blocks: list[int] = field(default_factory=list)
    block_keys: list[int] = field(default_factory=list)
    preemptions: int = 0
    drafted_by_round: list[int] = field(default_factory=list)
    accepted_by_round: list[int] = field(default_factory=list)

    @property
    def prompt_length(self) -> int:
        """Tokens of the prompt."""
        return len(self.request.prompt)


@dataclass(frozen=True, slots=True)
class StepShare:
    """One request's part of a step: `tokens` of its text go through the model; `completes` says that a new token follows."""

    sequence: Sequence
    tokens: int
    completes: bool
    decodes: bool


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """Bounds of a step: tokens through the model, requests in the batch, and drafted tokens to keep room for."""

    step_tokens: int
    running: int
    lookahead: int


@dataclass(slots=True)
class Batch:
    """All requests inside the engine, running in order of admission and waiting in order of arrival."""

    pool: BlockPool
    limits: BatchLimits
    running: list[Sequence] = field(default_factory=list)
    waiting: deque[Sequence] = field(default_factory=deque)
    preemptions: int = 0
    prefix_queries: int = 0
    prefix_hits: int = 0


def schedule(batch: Batch) -> list[StepShare]:
    """The next step's shares; requests are admitted or preempted, and blocks taken, on the way."""
    budget = batch.limits.step_tokens
    shares: list[StepShare] = []
    preempted = False
    for sequence in list(batch.running):
        if sequence not in batch.running or budget <= 0:
            continue
        share = _share(batch, sequence, budget)
        while not _room(batch, sequence, share):
            preempted = True
            victim = batch.running[-1]
            preempt(batch, victim)
            shares = [other for other in shares if other.sequence is not victim]
            if victim is sequence:
                break
        else:
            shares.append(share)
            budget -= _cost(batch, share)
    while batch.waiting and not preempted and budget > 0 and len(batch.running) < batch.limits.running:
        sequence = batch.waiting[0]
        _reuse_prefix(batch, sequence)
        share = _share(batch, sequence, budget)
        # Its whole text must fit, not only the first chunk: else requests would be admitted to throw each other out.
        whole = blocks_for(len(sequence.tokens)) - len(sequence.blocks)
        if whole > batch.pool.free or not _room(batch, sequence, share):
            release(batch, sequence)
            break
        batch.running.append(batch.waiting.popleft())
        if not sequence.preemptions:
            # A preempted request finds its own blocks again; that says nothing about prompts that share a beginning.
            sequence.cached = sequence.computed
            batch.prefix_queries += sequence.prompt_length
            batch.prefix_hits += sequence.cached
        shares.append(share)
        budget -= _cost(batch, share)
    return shares


def preempt(batch: Batch, sequence: Sequence) -> None:
    """Sends a running request back to the front of the queue, its cache given up: its text is computed again later."""
    batch.running.remove(sequence)
    release(batch, sequence)
    sequence.preemptions += 1
    batch.preemptions += 1
    batch.waiting.appendleft(sequence)


def release(batch: Batch, sequence: Sequence) -> None:
    """Gives all of the request's blocks back."""
    batch.pool.give_back(sequence.blocks)
    sequence.blocks = []
    sequence.computed = 0


def leave(batch: Batch, sequence: Sequence) -> None:
    """Takes the request out of the engine, wherever it is."""
    for group in (batch.running, batch.waiting):
        if sequence in group:
            group.remove(sequence)
    release(batch, sequence)


def remember_blocks(batch: Batch, sequence: Sequence, before: int) -> None:
    """Makes blocks that were filled since `before` computed tokens available to other requests with the same beginning."""
    first, last = before // BLOCK_TOKENS, sequence.computed // BLOCK_TOKENS
    if last > first:
        keys = extend_keys(sequence.block_keys, sequence.tokens)
        for i in range(first, last):
            batch.pool.filled(sequence.blocks[i], keys[i])


def _share(batch: Batch, sequence: Sequence, budget: int) -> StepShare:
    pending = len(sequence.tokens) - sequence.computed
    tokens = min(pending, budget)
    decodes = pending == 1 and len(sequence.tokens) > sequence.prompt_length
    return StepShare(sequence, tokens, tokens == pending, decodes)


def _lookahead(batch: Batch, share: StepShare) -> int:
    return batch.limits.lookahead if share.decodes and share.sequence.speculate else 0


def _cost(batch: Batch, share: StepShare) -> int:
    return share.tokens + _lookahead(batch, share)


def _room(batch: Batch, sequence: Sequence, share: StepShare) -> bool:
    needed = blocks_for(sequence.computed + _cost(batch, share)) - len(sequence.blocks)
    taken = batch.pool.take(max(needed, 0))
    if taken is None:
        return False
    sequence.blocks.extend(taken)
    return True


def _reuse_prefix(batch: Batch, sequence: Sequence) -> None:
    # The last token is computed even when all are known: its logits are what the answer begins with.
    keys = extend_keys(sequence.block_keys, sequence.tokens)
    sequence.blocks = batch.pool.shared(keys[: (len(sequence.tokens) - 1) // BLOCK_TOKENS])
    sequence.computed = len(sequence.blocks) * BLOCK_TOKENS
