"""Small engines for tests: language models trained on a little text, requests, and answers read to their end."""

import random
from collections.abc import Mapping
from functools import cache
from typing import Any

from specbench.engine.core.core import Engine, Output
from specbench.engine.core.output_text import OutputLimits
from specbench.engine.core.requests import Generation
from specbench.engine.core.scheduler import Sequence
from specbench.engine.core.setup import machine_of
from specbench.engine.models.distribution import Shaping, TokenDistribution, distribution_of, draw
from specbench.engine.models.training import Models, Recipe, models_of, python_documents, train
from specbench.engine.models.vocabulary import encode
from specbench.engine.options import options_of

GREEDY = Shaping(temperature=0.0)
PROMPTS = ("    def write(self, data):\n        ", "import os\nimport ", "class Reader:\n    def __init__(self", "    return ")


@cache
def small_models() -> Models:
    """Models of 40,000 tokens of Python's library, with four heads: trained in a blink, rich enough to disagree."""
    recipe = Recipe(corpus="python", heads=4, training_tokens=40_000)
    return models_of(recipe, train(recipe, python_documents()))


def small_engine(kv_tokens: int = 20_000, **options: Any) -> Engine:
    """An engine over the small models."""
    chosen = options_of({"max_model_len": 1024, **options})
    return Engine(small_models(), machine_of(chosen.speculative), chosen, kv_tokens)


def generation(prompt: str | tuple[int, ...] = PROMPTS[0], **fields: Any) -> Generation:
    """A request for 24 tokens, greedy, not streamed, unless told otherwise."""
    tokens = tuple(encode(small_models().vocabulary, prompt)) if isinstance(prompt, str) else prompt
    chosen: Mapping[str, Any] = {
        "route": "completions",
        "limits": OutputLimits(24),
        "shaping": GREEDY,
        "seed": None,
        "speculative": True,
        "logprobs": None,
        "stream": False,
        "include_usage": False,
        "running_usage": False,
        "token_ids": False,
        **fields,
    }
    return Generation(prompt=tokens, **chosen)


def outputs_of(engine: Engine) -> dict[str, list[Output]]:
    """Steps the engine until it has nothing to do; what it made, by the request's name."""
    made: dict[str, list[Output]] = {}
    while engine.busy:
        step = engine.step()
        assert step is not None, "the engine is busy but cannot step"
        for output in step.outputs:
            made.setdefault(output.sequence.id, []).append(output)
    return made


def answer_of(engine: Engine, request: Generation, name: str = "a") -> tuple[tuple[int, ...], Sequence]:
    """The tokens of one answer, and what the engine knows of its request."""
    sequence = engine.submit(name, request)
    made = outputs_of(engine)[name]
    return tuple(token for output in made for token in output.growth.tokens), sequence


def drawn(distribution: TokenDistribution, rng: random.Random) -> int:
    """One token of that distribution."""
    return draw(distribution, rng.random())


def table_distribution(weights: Mapping[int, float]) -> TokenDistribution:
    """The distribution with those weights."""
    return distribution_of(weights.items())
