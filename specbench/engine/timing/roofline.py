"""How long one pass of a stated model, and one engine step, takes on a stated accelerator, by the roofline (docs/roofline.md).

Arithmetic only: nothing here sleeps, draws or knows a request.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from specbench.engine.options import Speculation

GIGA = 1e9
TERA = 1e12


@dataclass(frozen=True, slots=True)
class Accelerator:
    """Published peaks, and the share of each that a published measurement on the same accelerator reached."""

    name: str
    memory_bytes: float
    bytes_per_s: float
    flops_per_s: float
    bandwidth_efficiency: float
    compute_efficiency: float


@dataclass(frozen=True, slots=True)
class Transformer:
    """What a decoder-only model reads and computes per pass; embeddings are looked up, not multiplied, and count for nothing.

    `body_parameters` are the weights of all layers, `head_parameters` those of the projection to the vocabulary.
    """

    name: str
    body_parameters: float
    body_bytes_each: float
    head_parameters: float
    head_bytes_each: float
    layers: int
    query_width: int
    kv_width: int
    embedding_bytes: float

    @property
    def weight_bytes(self) -> float:
        """Memory that the weights take."""
        return self.body_parameters * self.body_bytes_each + self.head_parameters * self.head_bytes_each + self.embedding_bytes

    @property
    def kv_bytes_per_token(self) -> float:
        """Memory that one token's keys and values take, at two bytes a number."""
        return 2 * self.layers * self.kv_width * 2


@dataclass(frozen=True, slots=True)
class Work:
    """What one pass has to do for the whole batch.

    `tokens` go through the layers, `logits` of them through the head too; `kv_read` tokens of cache are read by attention,
    which compares `pairs` of a query token with a context token.
    """

    tokens: int
    logits: int
    kv_read: int
    pairs: int


def work_s(accelerator: Accelerator, model: Transformer, work: Work) -> float:
    """Seconds of kernels in one pass: per part, the larger of moving its bytes and doing its arithmetic.

    Layers, attention and head run one after the other, so that each has a roofline of its own: cache reads stay visible even
    where the layers are bound by arithmetic. Source: Williams et al. 2009; per operator as Yuan et al. 2024, arXiv 2402.16363.
    """
    bandwidth = accelerator.bytes_per_s * accelerator.bandwidth_efficiency
    compute = accelerator.flops_per_s * accelerator.compute_efficiency

    def part(moved: float, computed: float) -> float:
        return max(moved / bandwidth, computed / compute)

    layers = part(model.body_parameters * model.body_bytes_each, 2 * model.body_parameters * work.tokens)
    head = part(model.head_parameters * model.head_bytes_each, 2 * model.head_parameters * work.logits) if work.logits else 0.0
    attention = part(model.kv_bytes_per_token * work.kv_read, 4 * model.layers * model.query_width * work.pairs)
    return layers + head + attention


def kv_capacity_tokens(
    accelerator: Accelerator, models: tuple[Transformer, ...], memory_share: float, reserved_bytes: float
) -> int:
    """Tokens whose keys and values fit beside the weights of all those models.

    (memory · share - weights - reserved) / bytes of cache per token, over all models: a draft model takes room twice.
    """
    room = accelerator.memory_bytes * memory_share - sum(model.weight_bytes for model in models) - reserved_bytes
    return max(int(room / sum(model.kv_bytes_per_token for model in models)), 0)


def heads_on(target: Transformer, count: int) -> Transformer:
    """`count` Medusa heads on that target: a width x width block each, and the target's own head applied to every one.

    The head's weights are read once for all of them but kept once only, in the target. Source: Cai et al. 2024, arXiv 2401.10774,
    section 2.1; sharing the head as vLLM's `original_lm_head`.
    """
    width = target.query_width
    return Transformer(
        name=f"{count} Medusa heads on {target.name}",
        body_parameters=count * width * width,
        body_bytes_each=2,
        head_parameters=target.head_parameters,
        head_bytes_each=target.head_bytes_each,
        layers=0,
        query_width=0,
        kv_width=0,
        embedding_bytes=-target.head_parameters * target.head_bytes_each,
    )


# NVIDIA GA102 whitepaper v2.1, appendix A: 936 GB/s, 71 TFLOPS (dense FP16 tensor with FP32 accumulate), 24 GB.
# Reached on it by llama.cpp with LLaMA 2 7B (Dai, GPU-Benchmarks-on-LLM-Inference, snapshot of December 2023): 51.85 tokens/s
# from 16-bit weights move 73 % of the peak; reading a prompt at 2601.81 tokens/s from 4-bit weights computes 48 % of it. Both
# are whole tokens, the host's part of a step included.
RTX_3090 = Accelerator(
    name="NVIDIA GeForce RTX 3090",
    memory_bytes=24 * 1024**3,
    bytes_per_s=936 * GIGA,
    flops_per_s=71 * TERA,
    bandwidth_efficiency=0.73,
    compute_efficiency=0.48,
)

# Model card and config.json of Qwen2.5-14B-Instruct-GPTQ-Int4: 13.1 G parameters without embeddings, groups of 128 with
# a 16-bit scale and a 4-bit zero each (4.16 bits a weight), head and embeddings 152,064 x 5,120 at 16 bits, 48 layers,
# 40 heads of 128 on queries, 8 on keys and values.
QWEN25_14B_INT4 = Transformer(
    name="Qwen2.5-14B-Instruct-GPTQ-Int4",
    body_parameters=13.1 * GIGA,
    body_bytes_each=(4 + 20 / 128) / 8,
    head_parameters=152_064 * 5_120,
    head_bytes_each=2,
    layers=48,
    query_width=40 * 128,
    kv_width=8 * 128,
    embedding_bytes=152_064 * 5_120 * 2,
)

# Model card and config.json of Qwen2.5-0.5B-Instruct: 0.36 G parameters without embeddings, all at 16 bits, head tied to the
# embeddings 151,936 x 896, 24 layers, 14 heads of 64 on queries, 2 on keys and values.
QWEN25_05B = Transformer(
    name="Qwen2.5-0.5B-Instruct",
    body_parameters=0.36 * GIGA,
    body_bytes_each=2,
    head_parameters=151_936 * 896,
    head_bytes_each=2,
    layers=24,
    query_width=14 * 64,
    kv_width=2 * 64,
    embedding_bytes=0,
)


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
