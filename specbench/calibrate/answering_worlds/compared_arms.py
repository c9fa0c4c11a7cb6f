"""What a run would keep of simulated answers: both arms compared, and the baseline asked about them. No rule is applied here."""

from typing import Any

import numpy as np

from specbench.calibrate.answering_worlds.decoding_arms import PROMPT
from specbench.calibrate.answering_worlds.token_models import (
    ORDER,
    Logits,
    Random,
    TokenModels,
    Tokens,
    TokenSampling,
    context_of,
    noisy,
    of_tokens,
    shaped,
)
from specbench.model.answers.compared_answers import ComparedAnswers, TokenScores
from specbench.model.result import PerArm


def greedy_answers(
    models: TokenModels, prompts: Tokens, arms: PerArm[Tokens], noise: float, random: Random, *, whole: bool
) -> tuple[ComparedAnswers, ...]:
    """The greedy answers; `whole`: the engine scores given text, else it is asked at first differences alone."""
    margins = [_margins(models, prompts, answers, noise, random) for answers in (arms.baseline, arms.speculative)]
    unlike = arms.baseline != arms.speculative
    differs, first = unlike.any(axis=1), unlike.argmax(axis=1)
    rows = np.arange(len(prompts))
    # Up to a first difference the text is one, and so is what the baseline thinks of it.
    question = noisy(models.target[_contexts(prompts, arms.baseline)[rows, first]], noise, random)
    best = question.max(axis=-1)
    gaps = [best - of_tokens(question, answers[rows, first]) for answers in (arms.baseline, arms.speculative)]
    widest = [found.max(axis=1) for found in margins]
    length = arms.baseline.shape[1]
    return tuple(
        ComparedAnswers(
            **_place(row, "greedy", 0.0),
            equal=not differs[row],
            tokens=PerArm(length, length),
            first_difference=int(first[row]) if differs[row] else None,
            gap_nats=PerArm(float(gaps[0][row]), float(gaps[1][row])) if differs[row] else None,
            widest_gap_nats=PerArm(float(widest[0][row]), float(widest[1][row])) if whole else None,
        )
        for row in rows.tolist()
    )


def sampled_answers(
    models: TokenModels, prompts: Tokens, arms: PerArm[Tokens], shaping: TokenSampling, noise: float, random: Random
) -> tuple[ComparedAnswers, ...]:
    """The sampled answers with the scores of both arms."""
    before, after = (_scores(models, prompts, one, shaping, noise, random) for one in (arms.baseline, arms.speculative))
    length = arms.baseline.shape[1]
    return tuple(
        ComparedAnswers(
            **_place(row, "sampled", shaping.temperature),
            equal=False,
            tokens=PerArm(length, length),
            first_difference=0,
            scores=PerArm(one, other),
        )
        for row, (one, other) in enumerate(zip(before, after, strict=True))
    )


def _place(row: int, sampling: str, temperature: float) -> dict[str, Any]:
    return {
        "cell": "c4",
        "pair": 0,
        "index": row,
        "bin": "all",
        "sampling": sampling,
        "temperature": temperature,
        "concurrency": 4,
        "by": "token_ids",
    }


def _contexts(prompts: Tokens, answers: Tokens) -> Tokens:
    """The row of the model's table at each position of the answers."""
    text = np.concatenate([prompts, answers], axis=1)
    return context_of(text[:, np.arange(answers.shape[1])[:, None] + np.arange(PROMPT - ORDER, PROMPT)])


def _margins(models: TokenModels, prompts: Tokens, answers: Tokens, noise: float, random: Random) -> Logits:
    """By how much the baseline, scoring the text, prefers its best token to the one that stands there."""
    logits = noisy(models.target[_contexts(prompts, answers)], noise, random)
    found: Logits = logits.max(axis=-1) - of_tokens(logits, answers)
    return found


def _scores(
    models: TokenModels, prompts: Tokens, answers: Tokens, shaping: TokenSampling, noise: float, random: Random
) -> list[TokenScores]:
    p = shaped(noisy(models.target[_contexts(prompts, answers)], noise, random), shaping)
    logs = np.log(np.maximum(p, np.float32(1e-30)))
    mine = of_tokens(p, answers)
    kept = mine > 0
    surprise = np.where(kept, of_tokens(logs, answers) - (p * logs).sum(axis=-1), np.float32(0.0))
    rank = (answers == p.argmax(axis=-1)) - p.max(axis=-1)
    means = [part.mean(axis=1, dtype=np.float64) for part in (surprise, rank, ~kept)]
    return [
        TokenScores(tokens=answers.shape[1], surprise_nats=float(u), rank=float(r), outside=float(o))
        for u, r, o in zip(*means, strict=True)
    ]
