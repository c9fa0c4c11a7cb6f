"""One round for one request: draft as its speculation says, verify, and say how much was drafted.

Pure: text, models and random numbers in, tokens out. Batching, counting and cost are elsewhere.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from specbench.engine.core.faulty_verify import (
    WrongRules,
    faulty_shaping,
    verify_chain_wrongly,
    verify_tree_wrongly,
    wrong_place,
)
from specbench.engine.core.target_passes import Arithmetic, TargetPasses
from specbench.engine.core.verify import Drafted, Node, Round, Score, size_of, verify_chain, verify_tree
from specbench.engine.models.distribution import Shaping, TokenDistribution, draw
from specbench.engine.models.ngram_model import LanguageModel
from specbench.engine.models.training import Models
from specbench.engine.options import Speculation, VerifierFaults


def propose_by_model(
    context: Sequence[int], count: int, draft: LanguageModel, shaping: Shaping, rng: random.Random | None
) -> list[Drafted]:
    """`count` tokens, one after the other, from the draft model: drawn under the request's own settings, or its best guess.

    Args:
        context: The text so far.
        count: How many tokens to draft.
        draft: The smaller model.
        shaping: The request's sampling settings, which the draft follows too.
        rng: Where draws come from; None for best guesses, whose q is one-hot.
    """
    text = list(context)
    drafts: list[Drafted] = []
    for _ in range(count):
        if rng is None:
            drafted = Drafted(draft.next_token(text).tokens[0], None)
        else:
            q = draft.next_token(text, shaping)
            drafted = Drafted(draw(q, rng.random()), q)
        drafts.append(drafted)
        text.append(drafted.token)
    return drafts


def propose_by_lookup(context: Sequence[int], count: int, shortest: int, longest: int) -> list[Drafted]:
    """What followed the last time that the text ended like this; nothing where it never did.

    The longest earlier match of the last `shortest` to `longest` tokens counts, the latest of equally long ones.
    """
    text = list(context)
    last = len(text) - 1
    best, length = -1, shortest - 1
    at = -1
    while last >= 0:
        try:
            at = text.index(text[last], at + 1, last)
        except ValueError:
            break
        matched = 1
        while matched < longest and matched <= at and text[at - matched] == text[last - matched]:
            matched += 1
        if matched >= max(length, shortest):
            best, length = at, matched
    return [Drafted(token, None) for token in text[best + 1 : best + 1 + count]] if best >= 0 else []


def propose_by_heads(
    context: Sequence[int], heads: Sequence[LanguageModel], shaping: Shaping, rng: random.Random | None
) -> list[Drafted]:
    """One token per head, all from the same state: the text up to the last token but one, as that state made the last token.

    A head does not see what the heads before it drafted, which is why acceptance falls faster with depth than a draft model's.
    Source: Cai et al. 2024, arXiv 2401.10774, section 2.1.
    """
    state = list(context[:-1])
    drafts: list[Drafted] = []
    for head in heads:
        if rng is None:
            drafts.append(Drafted(head.next_token(state).tokens[0], None))
        else:
            q = head.next_token(state, shaping)
            drafts.append(Drafted(draw(q, rng.random()), q))
    return drafts


def propose_tree(context: Sequence[int], heads: Sequence[LanguageModel], widths: Sequence[int]) -> tuple[Node, ...]:
    """Every path over the `widths[k]` best guesses of head k; source as `propose_by_heads`, section 2.1.2."""
    state = list(context[:-1])
    below: tuple[Node, ...] = ()
    for head, width in reversed(list(zip(heads, widths, strict=True))):
        below = tuple(Node(token, below) for token in head.next_token(state).tokens[:width])
    return below


@dataclass(frozen=True, slots=True, kw_only=True)
class Verifier:
    """How the target passes over a text: its arithmetic where nothing is drafted, and the rules that it breaks."""

    target: TargetPasses
    arithmetic: Arithmetic = "decode"
    faults: VerifierFaults | None = None


def next_tokens(
    models: Models,
    speculation: Speculation | None,
    text: Sequence[int],
    shaping: Shaping,
    rng: random.Random,
    verifier: Verifier | None = None,
) -> tuple[Round, int]:
    """What one pass of the target adds to the text, and how many tokens were drafted for it.

    Args:
        models: The target and the proposers.
        speculation: How to draft; None for plain decoding, one token a pass.
        text: The tokens so far.
        shaping: The request's sampling settings.
        rng: The request's random numbers.
        verifier: How the target passes over the text; exactly and by the rules where none is given.
    """
    verifier = verifier or Verifier(target=TargetPasses(models.target))
    tree: Sequence[Node] = ()
    drafts: Sequence[Drafted] = ()
    if speculation is not None and speculation.tree is not None:
        tree = propose_tree(text, models.heads, speculation.tree)
    elif speculation is not None:
        drafts = _drafts(models, speculation, text, shaping, rng)
    judging = _Judging(verifier, drafted=bool(tree or drafts), shaping=shaping)
    score = judging.score(text, rng)
    if tree:
        return judging.tree(text, tree, score, rng), size_of(tree)
    return judging.chain(text, drafts, score, rng, models.draft), len(drafts)


class _Judging:
    """One pass: by the rules, or by those that the verifier breaks; most of them only where something was drafted."""

    def __init__(self, verifier: Verifier, *, drafted: bool, shaping: Shaping) -> None:
        faults = verifier.faults
        self._target = verifier.target
        self._arithmetic: Arithmetic = "verify" if drafted else verifier.arithmetic
        self._asked = shaping
        self._shaping = shaping if faults is None or not drafted else faulty_shaping(shaping, faults)
        self._lost_token = 0.0 if faults is None or verifier.arithmetic == "prefill" else faults.lost_token
        self._faults = faults if drafted else None

    def score(self, text: Sequence[int], rng: random.Random) -> Score:
        """The target's distributions in this pass."""

        def right(context: Sequence[int]) -> TokenDistribution:
            return self._target.next_token(context, self._arithmetic, self._shaping)

        loses = self._lost_token > 0.0 and rng.random() < self._lost_token
        late = self._faults is not None and self._faults.late
        return wrong_place(right, len(text), loses=loses, late=late) if loses or late else right

    def tree(self, text: Sequence[int], tree: Sequence[Node], score: Score, rng: random.Random) -> Round:
        if self._faults is None or not self._faults.lenient:
            return verify_tree(text, tree, score, rng)
        return verify_tree_wrongly(text, tree, score, rng, self._faults.lenient)

    def chain(
        self, text: Sequence[int], drafts: Sequence[Drafted], score: Score, rng: random.Random, draft: LanguageModel
    ) -> Round:
        if self._faults is None:
            return verify_chain(text, drafts, score, rng)
        whole = None if self._asked.temperature == 0 else self._shaping  # of a greedy request the shaped one is a single token
        rules = WrongRules(
            faults=self._faults,
            bonus=lambda context: draft.next_token(context, self._asked),
            relaxed_to=lambda context: self._target.next_token(context, self._arithmetic, whole),
        )
        return verify_chain_wrongly(text, drafts, score, rng, rules)


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
