"""One round for one request: draft as its speculation says, verify, and say how much was drafted.

Pure: text, models and random numbers in, tokens out. Batching, counting and cost are elsewhere.
"""

import random
from collections.abc import Sequence

from specbench.engine.core.proposers import propose_by_heads, propose_by_lookup, propose_by_model, propose_tree
from specbench.engine.core.verify import Drafted, Round, size_of, verify_chain, verify_tree
from specbench.engine.models.distribution import Shaping, TokenDistribution
from specbench.engine.models.training import Models
from specbench.engine.options import Speculation


def next_tokens(
    models: Models, speculation: Speculation | None, text: Sequence[int], shaping: Shaping, rng: random.Random
) -> tuple[Round, int]:
    """What one pass of the target adds to the text, and how many tokens were drafted for it.

    Args:
        models: The target and the proposers.
        speculation: How to draft; None for plain decoding, one token a pass.
        text: The tokens so far.
        shaping: The request's sampling settings.
        rng: The request's random numbers.
    """

    def score(context: Sequence[int]) -> TokenDistribution:
        return models.target.next_token(context, shaping)

    if speculation is None:
        return verify_chain(text, (), score, rng), 0
    if speculation.tree is not None:
        tree = propose_tree(text, models.heads, speculation.tree)
        return verify_tree(text, tree, score, rng), size_of(tree)
    drafts = _drafts(models, speculation, text, shaping, rng)
    return verify_chain(text, drafts, score, rng), len(drafts)


def _drafts(
    models: Models, speculation: Speculation, text: Sequence[int], shaping: Shaping, rng: random.Random
) -> Sequence[Drafted]:
    draws = rng if speculation.draft_sampling == "sampled" else None
    count = speculation.num_speculative_tokens
    match speculation.method:
        case "draft_model":
            return propose_by_model(text, count, models.draft, shaping, draws)
        case "heads":
            return propose_by_heads(text, models.heads, shaping, draws)
        case "ngram":
            return propose_by_lookup(text, count, speculation.prompt_lookup_min, speculation.prompt_lookup_max)
