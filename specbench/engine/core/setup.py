"""Puts one engine together from its options: the accelerator with its models, the language models, the room for the cache.

The only place where the parts of the engine meet their published figures; nothing runs here.
"""

from specbench.engine.core.core import Engine
from specbench.engine.models.cache import trained_for
from specbench.engine.models.training import Models, Recipe, models_of
from specbench.engine.options import ROOM_TOKENS, EngineOptions, Speculation
from specbench.engine.timing.roofline import (
    QWEN25_05B,
    QWEN25_14B_INT4,
    RTX_3090,
    Machine,
    Transformer,
    heads_on,
    kv_capacity_tokens,
)
from specbench.errors import ScenarioError

# vLLM's default for --gpu-memory-utilization in the release whose interface this engine follows.
MEMORY_SHARE = 0.9
# Room for the activations of the largest step, its logits and the runtime itself.
RESERVED_BYTES = 1.5e9


def recipe_of(options: EngineOptions) -> Recipe:
    """What to train for those options."""
    heads = options.speculative.num_speculative_tokens if options.speculative and options.speculative.method == "heads" else 0
    return Recipe(corpus=options.corpus, heads=heads)


def machine_of(speculation: Speculation | None) -> Machine:
    """The accelerator with the target and, where the method has one, the proposer's weights on it."""
    draft: Transformer | None = None
    if speculation is not None and speculation.method == "draft_model":
        draft = QWEN25_05B
    if speculation is not None and speculation.method == "heads":
        draft = heads_on(QWEN25_14B_INT4, speculation.num_speculative_tokens)
    return Machine(RTX_3090, QWEN25_14B_INT4, draft, speculation)


def kv_tokens_of(options: EngineOptions, machine: Machine) -> int:
    """Tokens that the cache holds: as asked, else what the accelerator's memory leaves; a draft model makes it smaller.

    Raises:
        ScenarioError: The memory leaves no room for one request of `max_model_len`.
    """
    if options.kv_capacity_tokens is not None:
        return options.kv_capacity_tokens
    models = (machine.target, *([machine.draft] if machine.draft is not None else []))
    tokens = kv_capacity_tokens(machine.accelerator, models, MEMORY_SHARE, RESERVED_BYTES)
    if tokens < options.max_model_len + ROOM_TOKENS:
        raise ScenarioError(
            f"max_model_len: {options.max_model_len} tokens do not fit into a cache of {tokens}; give a smaller one"
        )
    return tokens


def engine_of(options: EngineOptions) -> Engine:
    """The engine, trained or loaded, ready to take requests."""
    recipe = recipe_of(options)
    models: Models = models_of(recipe, trained_for(recipe))
    machine = machine_of(options.speculative)
    return Engine(models, machine, options, kv_tokens_of(options, machine))
