"""What one engine step costs on the virtual accelerator: the target's pass over the batch and the proposer's own work.

Arithmetic only; the accelerator's figures and the roofline are in `roofline.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from specbench.engine.options import Speculation
from specbench.engine.roofline import Accelerator, Transformer, Work, work_s


@dataclass(frozen=True, slots=True)
class Part:
    """One request's part of a step: `tokens` go through the target after `context` earlier ones, `logits` of them to its head.

    `drafts` says how many tokens were drafted for it; `proposes` whether it has a proposer at all.
    """

    tokens: int
    context: int
    logits: int
    drafts: int
    proposes: bool


@dataclass(frozen=True, slots=True)
class Machine:
    """The accelerator with the models on it; `draft` is the draft model or the heads, None where drafting costs nothing."""

    accelerator: Accelerator
    target: Transformer
    draft: Transformer | None
    speculation: Speculation | None


def step_s(machine: Machine, parts: Sequence[Part]) -> float:
    """Seconds of the step: the target's pass over the whole batch, then whatever the proposer does."""
    seconds = work_s(machine.accelerator, machine.target, _work(parts))
    proposing = [part for part in parts if part.proposes]
    if machine.draft is None or machine.speculation is None or not proposing:
        return seconds
    if machine.speculation.method == "heads":
        return seconds + _heads_s(machine.accelerator, machine.draft, proposing)
    return seconds + _draft_model_s(machine.accelerator, machine.draft, proposing)


def _work(parts: Sequence[Part]) -> Work:
    return Work(
        tokens=sum(part.tokens for part in parts),
        logits=sum(part.logits for part in parts),
        kv_read=sum(part.context + part.tokens for part in parts),
        # Each token is compared with all before it and with itself.
        pairs=sum(part.tokens * part.context + part.tokens * (part.tokens + 1) // 2 for part in parts),
    )


def _draft_model_s(accelerator: Accelerator, draft: Transformer, parts: Sequence[Part]) -> float:
    """One pass per drafted token; the first also takes in the prompts' chunks, which the draft model has to read as well."""
    seconds = 0.0
    for depth in range(max(1, max(part.drafts for part in parts))):
        reading = [Part(part.tokens, part.context, 0, 0, True) for part in parts if not part.drafts] if depth == 0 else []
        drafting = [Part(1, part.context + depth, 1, 0, True) for part in parts if part.drafts > depth]
        seconds += work_s(accelerator, draft, _work([*reading, *drafting]))
    return seconds


def _heads_s(accelerator: Accelerator, head: Transformer, parts: Sequence[Part]) -> float:
    """All heads on one state of each decoding request, in the same pass as the target; prompts need none."""
    states = [part.drafts for part in parts if part.drafts]
    return work_s(accelerator, head, Work(len(states), sum(states), 0, 0)) if states else 0.0
