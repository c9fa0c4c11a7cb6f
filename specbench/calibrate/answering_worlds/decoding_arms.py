"""Answers of both arms: the baseline decodes token by token, the speculative arm drafts and verifies, right or with a fault."""

from dataclasses import dataclass

import numpy as np

from specbench.calibrate.answering_worlds.token_models import (
    ORDER,
    WORDS,
    Decoding,
    Logits,
    Random,
    TokenModels,
    Tokens,
    TokenSampling,
    context_of,
    drawn,
    noisy,
    of_tokens,
    shaped,
)

GAMMA = 4
PROMPT = ORDER + 1  # tokens: a fault may lose the last one


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifierFault:
    """What is wrong with a verifier; nothing by default.

    `lost_token`: the share of rounds that see the text without its last token. `lenient`: drafts are accepted with so much more
    probability. `relaxed`: any draft with at least this share of the best token's probability is accepted. `no_residual`: a
    rejected draft is replaced from p. `equality`: a draft is accepted where it equals a second draw. `draft_bonus`: the bonus
    token is the draft's own. `no_bonus`: it is left out. `late`: every position sees the logits of the one before it.
    """

    lost_token: float = 0.0
    lenient: float = 0.0
    relaxed: float | None = None
    no_residual: bool = False
    equality: bool = False
    draft_bonus: bool = False
    no_bonus: bool = False
    late: bool = False
    temperature: float = 1.0
    twice: bool = False


RIGHT = VerifierFault()


def prompts_of(count: int, random: Random) -> Tokens:
    """The last tokens of so many prompts."""
    return random.integers(0, WORDS, (count, PROMPT))


def decoded(models: TokenModels, prompts: Tokens, asked: Decoding, random: Random, lost_token: float = 0.0) -> Tokens:
    """The baseline's answers (prompts, length); with `lost_token` that share of its steps lacks the text's last token."""
    length = asked.length
    text = np.concatenate([prompts, np.zeros((len(prompts), length), dtype=np.int64)], axis=1)
    for at in range(PROMPT, PROMPT + length):
        seen = text[:, at - ORDER : at]
        if lost_token:
            lost = random.random((len(text), 1)) < lost_token
            seen = np.where(lost, text[:, at - ORDER - 1 : at - 1], seen)
        logits = noisy(models.target[context_of(seen)], asked.noise, random)
        text[:, at] = _next(logits, asked.sampling, random)
    return text[:, PROMPT:]


def speculated(models: TokenModels, prompts: Tokens, asked: Decoding, random: Random, fault: VerifierFault = RIGHT) -> Tokens:
    """The speculative arm's answers (prompts, length), all prompts round by round."""
    length = asked.length
    text = np.concatenate([prompts, np.zeros((len(prompts), length + GAMMA + 1), dtype=np.int64)], axis=1)
    at = np.full(len(text), PROMPT)
    while (active := np.flatnonzero(at < PROMPT + length)).size:
        before = text[active[:, None], at[active, None] + np.arange(-PROMPT, 0)]
        found, count = _round(models, before, asked, random, fault)
        for place in range(GAMMA + 1):
            rows = active[place < count]
            text[rows, at[rows] + place] = found[place < count, place]
        at[active] += count
    return text[:, PROMPT : PROMPT + length]


def _round(models: TokenModels, before: Tokens, asked: Decoding, random: Random, fault: VerifierFault) -> tuple[Tokens, Tokens]:
    """One round of every text: the tokens (texts, γ + 1) and how many of them count."""
    shaping = asked.sampling
    texts = before
    offers = []
    for _ in range(GAMMA + 1):  # the last one is what a wrong bonus comes from
        logits = models.draft[context_of(texts[:, -ORDER:])]
        offers.append(logits)
        texts = np.concatenate([texts, _next(logits, shaping, random)[:, None]], axis=1)
    drafts, own_bonus = texts[:, PROMPT : PROMPT + GAMMA], texts[:, -1]
    logits = noisy(models.target[context_of(_seen(before, drafts, random, fault))], asked.noise, random)
    if shaping.temperature == 0:
        accepted, instead = _greedy(logits, drafts, fault)
    else:
        accepted, instead = _sampled(logits, np.stack(offers, axis=1), drafts, shaping, random, fault)
    kept = np.cumprod(accepted, axis=1).sum(axis=1)
    whole = kept == GAMMA
    last = np.take_along_axis(instead, kept[:, None], axis=1)[:, 0]
    last = np.where(whole, own_bonus, last) if fault.draft_bonus else last
    tokens = np.concatenate([drafts, instead[:, -1:]], axis=1)
    np.put_along_axis(tokens, kept[:, None], last[:, None], axis=1)
    return tokens, kept + (~whole if fault.no_bonus else 1)


def _seen(before: Tokens, drafts: Tokens, random: Random, fault: VerifierFault) -> Tokens:
    """The four tokens that each position of a round sees (texts, γ + 1, 4)."""
    whole = np.concatenate([before, drafts], axis=1)
    places = np.arange(GAMMA + 1)[:, None] + np.arange(ORDER)
    right = whole[:, places + (0 if fault.late else 1)]
    if not fault.lost_token:
        return right
    without = np.concatenate([before[:, :ORDER], drafts], axis=1)[:, places]
    return np.where(random.random((len(before), 1, 1)) < fault.lost_token, without, right)


def _greedy(logits: Logits, drafts: Tokens, fault: VerifierFault) -> tuple[Tokens, Tokens]:
    """Which drafts are accepted, and the token instead of each, the bonus token last."""
    best = logits.argmax(axis=-1)
    accepted = drafts == best[:, :GAMMA]
    if fault.relaxed is not None:
        margin = logits[:, :GAMMA].max(axis=-1) - of_tokens(logits[:, :GAMMA], drafts)
        accepted |= margin <= -np.log(fault.relaxed)
    return accepted.astype(np.int64), best


def _sampled(
    logits: Logits, offers: Logits, drafts: Tokens, shaping: TokenSampling, random: Random, fault: VerifierFault
) -> tuple[Tokens, Tokens]:
    """The same for sampled tokens: a draft is accepted with min(1, p ÷ q), and replaced from the residual max(p − q, 0)."""
    p = shaped(logits, TokenSampling(shaping.temperature * fault.temperature, shaping.top_p, fault.twice))
    q = shaped(offers[:, :GAMMA], shaping)
    mine, theirs = of_tokens(p[:, :GAMMA], drafts), of_tokens(q, drafts)
    chance = mine if fault.equality else mine / np.maximum(theirs, np.float32(1e-9)) + np.float32(fault.lenient)
    if fault.relaxed is not None:
        chance = np.where(mine >= fault.relaxed * p[:, :GAMMA].max(axis=-1), np.float32(1.0), chance)
    accepted = random.random(chance.shape, dtype=np.float32) < chance
    residual = np.maximum(p[:, :GAMMA] - q, np.float32(0.0))
    empty = residual.sum(axis=-1, keepdims=True) <= 1e-6
    instead = p.copy()
    if not fault.no_residual:
        instead[:, :GAMMA] = np.where(empty, p[:, :GAMMA], residual)
    return accepted.astype(np.int64), drawn(instead, random)


def _next(logits: Logits, shaping: TokenSampling, random: Random) -> Tokens:
    if shaping.temperature == 0:
        best: Tokens = logits.argmax(axis=-1)
        return best
    return drawn(shaped(logits, shaping), random)
