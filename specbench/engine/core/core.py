"""The engine without a clock: requests in, one step at a time out, each with the tokens it made and the time it is to take.

Deterministic given the requests, their order and the seed; waiting for that time to pass and talking to clients is not its part.
"""

import math
import random
from collections.abc import Sequence as Tokens
from dataclasses import dataclass, field, replace

from specbench.engine.core.decoding import Verifier, next_tokens
from specbench.engine.core.kv import BLOCK_TOKENS, BlockPool
from specbench.engine.core.output_text import OutputText, TextDelta
from specbench.engine.core.requests import Generation
from specbench.engine.core.scheduler import Batch, BatchLimits, Sequence, StepShare, leave, remember_blocks, schedule
from specbench.engine.core.target_passes import Arithmetic, TargetPasses, logprob_of, rank_of
from specbench.engine.core.verify import Round
from specbench.engine.models.training import Models
from specbench.engine.options import EngineOptions, Speculation, VerifierFaults, lookahead_of
from specbench.engine.timing.roofline import Machine, Part, step_s


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """One token of a text with the log of its probability under the target as it is, and the most probable ones there.

    `rank`: its place among all tokens by probability, from 1.
    """

    token: int
    logprob: float
    top: tuple[tuple[int, float], ...]
    rank: int


@dataclass(frozen=True, slots=True)
class Output:
    """What one step made for one request."""

    sequence: Sequence
    growth: TextDelta
    logprobs: tuple[TokenLogprob, ...] | None
    first: bool


@dataclass(frozen=True, slots=True)
class Step:
    """One engine step: outputs in batch order, seconds that it is to take, tokens that went through the target.

    `started` are the requests that took part in a step for the first time.
    """

    started: tuple[Sequence, ...]
    outputs: tuple[Output, ...]
    seconds: float
    tokens: int


@dataclass(slots=True)
class EngineCounts:
    """Sums since the start.

    A decode is a request that got tokens from a step after its first ones, drafted or not; a round is one that had drafts.
    `accepted` counts before an answer's end cuts it, as vLLM does; `emitted` after.
    """

    steps: int = 0
    decodes: int = 0
    rounds: int = 0
    drafted: int = 0
    accepted: int = 0
    per_position: list[int] = field(default_factory=list)
    emitted: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    computed_tokens: int = 0


class Engine:
    """Continuous batching with or without speculation over the language models of `training.py`."""

    def __init__(self, models: Models, machine: Machine, options: EngineOptions, kv_tokens: int) -> None:
        self.models = models
        self.machine = machine
        self.speculation = options.speculative
        lookahead = lookahead_of(options.speculative)
        self.batch = Batch(
            pool=BlockPool(kv_tokens // BLOCK_TOKENS, options.prefix_caching),
            limits=BatchLimits(options.max_num_batched_tokens, options.max_num_seqs, lookahead),
        )
        self.counts = EngineCounts(per_position=[0] * (self.speculation.num_speculative_tokens if self.speculation else 0))
        self._ignores_table = bool(options.faults.get("ignore_schedule"))
        self._drafting = self.speculation
        self.target = TargetPasses(models.target, options.jitter_nats, options.seed)
        self._faults: VerifierFaults | None = options.faults.get("verifier")
        self._seed = options.seed
        self._submitted = 0

    @property
    def busy(self) -> bool:
        """Whether any request is inside."""
        return bool(self.batch.running or self.batch.waiting)

    def submit(self, name: str, request: Generation) -> Sequence:
        """Queues the request; it takes part from the next step on."""
        self._submitted += 1
        # Without a seed of its own a request still has one: a whole run can be had again from the engine's seed.
        seed = request.seed if request.seed is not None else f"{self._seed}/{self._submitted}"
        sequence = Sequence(
            id=name,
            request=request,
            tokens=list(request.prompt),
            answer=OutputText(self.models.vocabulary, request.limits),
            rng=random.Random(seed),
            speculate=self.speculation is not None and request.speculative,
        )
        self.batch.waiting.append(sequence)
        return sequence

    def abort(self, sequence: Sequence) -> None:
        """Forgets the request; its blocks are free at once."""
        leave(self.batch, sequence)

    def step(self) -> Step | None:
        """The next step; None where no request can take part."""
        shares = schedule(self.batch)
        if not shares:
            return None
        self._drafting = self._speculation_of(len(shares))
        started = tuple(share.sequence for share in shares if not share.sequence.started)
        outputs: list[Output] = []
        parts: list[Part] = []
        for share in shares:
            share.sequence.started = True
            part, output = self._advance(share, len(shares))
            parts.append(part)
            if output is not None:
                outputs.append(output)
        tokens = sum(part.tokens for part in parts)
        self.counts.steps += 1
        self.counts.computed_tokens += tokens
        return Step(started, tuple(outputs), step_s(self.machine, parts), tokens)

    def prompt_logprobs(self, prompt: Tokens[int], top: int) -> list[TokenLogprob]:
        """Every token of the prompt after its first, as reading the prompt scores it."""
        return [self._scored(prompt[:i], prompt[i], top, "prefill") for i in range(1, len(prompt))]

    def _speculation_of(self, requests: int) -> Speculation | None:
        """How a step of so many requests drafts, prompts among them; None where it drafts nothing."""
        table = self.speculation and self.speculation.num_speculative_tokens_per_batch_size
        if self.speculation is None or table is None or self._ignores_table:
            return self.speculation
        depth = self.speculation.depth_at(requests)
        return replace(self.speculation, num_speculative_tokens=depth) if depth else None

    def _advance(self, share: StepShare, requests: int) -> tuple[Part, Output | None]:
        sequence = share.sequence
        before = sequence.computed
        output: Output | None = None
        drafted = 0
        sequence.computed += share.tokens
        if share.completes:
            made, drafted = self._next_tokens(share, requests)
            arithmetic: Arithmetic = "verify" if drafted else "decode" if share.decodes else "prefill"
            output = self._commit(sequence, made, arithmetic)
            # Accepted drafts have been through the model too; the last token made has not yet.
            sequence.computed = len(sequence.tokens) - 1
        remember_blocks(self.batch, sequence, before)
        if output is not None and output.growth.finish is not None:
            leave(self.batch, sequence)
        logits = 1 + drafted if share.completes else 0
        return Part(share.tokens + drafted, before, logits, drafted, sequence.speculate), output

    def _next_tokens(self, share: StepShare, requests: int) -> tuple[Round, int]:
        sequence = share.sequence
        speculation = self._drafting if share.decodes and sequence.speculate else None
        verifier = Verifier(
            target=self.target,
            arithmetic="decode" if share.decodes else "prefill",
            faults=None if self._faults is None or requests < self._faults.from_batch else self._faults,
        )
        made, drafted = next_tokens(self.models, speculation, sequence.tokens, sequence.request.shaping, sequence.rng, verifier)
        if drafted:
            sequence.drafted_by_round.append(drafted)
            sequence.accepted_by_round.append(made.accepted)
            self.counts.rounds += 1
            self.counts.drafted += drafted
            self.counts.accepted += made.accepted
            for position in range(made.accepted):
                self.counts.per_position[position] += 1
        return made, drafted

    def _commit(self, sequence: Sequence, made: Round, arithmetic: Arithmetic) -> Output:
        first = sequence.answer.count == 0
        growth = sequence.answer.grow(made.tokens)
        logprobs = None
        if sequence.request.logprobs is not None:
            text, top = sequence.tokens, sequence.request.logprobs
            logprobs = tuple(
                self._scored([*text, *growth.tokens[:i]], token, top, arithmetic) for i, token in enumerate(growth.tokens)
            )
        sequence.tokens.extend(growth.tokens)
        self.counts.emitted += len(growth.tokens)
        if first:
            self.counts.prompt_tokens += sequence.prompt_length
            self.counts.cached_tokens += sequence.cached
        else:
            self.counts.decodes += 1
        return Output(sequence, growth, logprobs, first)

    def _scored(self, text: Tokens[int], token: int, top: int, arithmetic: Arithmetic) -> TokenLogprob:
        p = self.target.next_token(text, arithmetic)
        best = tuple((each, math.log(share)) for each, share in zip(p.tokens[:top], p.probabilities[:top], strict=True))
        return TokenLogprob(token, logprob_of(p, token), best, rank_of(p, token))
