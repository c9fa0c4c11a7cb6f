"""The simulated arms: an honest one samples as the baseline does, and each fault is one."""

import numpy as np
import pytest

from specbench.calibrate.answering_worlds.decoding_arms import GAMMA, PROMPT, VerifierFault, decoded, prompts_of, speculated
from specbench.calibrate.answering_worlds.token_models import (
    GREEDY,
    SAMPLED,
    Decoding,
    TokenModels,
    TokenSampling,
    context_of,
    models_of,
    shaped,
)


def _seeded(seed: int = 1) -> tuple[TokenModels, np.random.Generator]:
    random = np.random.default_rng(seed)
    return models_of(random), random


def test_without_noise_an_honest_greedy_arm_says_what_the_baseline_says() -> None:
    """Every draft that is accepted is the best token, and so is what replaces the others."""
    models, random = _seeded()
    prompts = prompts_of(64, random)

    answers = [run(models, prompts, Decoding(48, GREEDY, 0.0), random) for run in (decoded, speculated)]

    assert (answers[0] == answers[1]).all()


@pytest.mark.parametrize(
    "fault",
    [VerifierFault(lost_token=0.2), VerifierFault(draft_bonus=True), VerifierFault(relaxed=0.3), VerifierFault(late=True)],
)
def test_a_fault_changes_greedy_answers(fault: VerifierFault) -> None:
    """Without noise nothing else does."""
    models, random = _seeded()
    prompts = prompts_of(64, random)

    honest, faulty = (speculated(models, prompts, Decoding(48, GREEDY, 0.0), random, one) for one in (VerifierFault(), fault))

    assert (honest != faulty).any()


@pytest.mark.parametrize(
    ("fault", "same"),
    [
        (VerifierFault(), True),
        (VerifierFault(no_bonus=True), True),
        (VerifierFault(lenient=0.2), False),
        (VerifierFault(no_residual=True), False),
        (VerifierFault(equality=True), False),
        (VerifierFault(temperature=1.5), False),
    ],
)
def test_the_first_tokens_of_many_answers_follow_the_target(fault: VerifierFault, same: bool) -> None:
    """8,000 answers to one prompt: their second token has the target's distribution, within what such a sample scatters by."""
    models, random = _seeded(3)
    prompts = np.tile(prompts_of(1, random), (8_000, 1))

    first = speculated(models, prompts, Decoding(1, SAMPLED, 0.0), random, fault)[:, 0]

    expected = 8_000 * shaped(models.target[context_of(prompts[0, 1:])], SAMPLED)
    seen = np.bincount(first, minlength=len(expected))
    kept = expected > 0
    distance = float((((seen - expected)[kept]) ** 2 / expected[kept]).sum())
    assert bool(distance < 3 * kept.sum() and not seen[~kept].any()) is same


def test_a_loop_of_rounds_fills_every_answer() -> None:
    """Texts that accept much and texts that accept little end at the same length."""
    models, random = _seeded()

    assert speculated(models, prompts_of(16, random), Decoding(40, SAMPLED, 0.1), random).shape == (16, 40)
    assert PROMPT == GAMMA + 1


def test_top_p_keeps_the_tokens_up_to_the_one_that_reaches_it() -> None:
    """0.5, 0.3 and 0.2 at 0.75: the first two, anew at one; applied twice, 0.625 alone is below 0.75, so both stay."""
    logits = np.log(np.array([[0.2, 0.5, 0.3]], dtype=np.float32))

    assert shaped(logits, TokenSampling(1.0, 0.75))[0] == pytest.approx([0.0, 0.625, 0.375], abs=1e-6)
    assert shaped(logits, TokenSampling(1.0, 0.49))[0] == pytest.approx([0.0, 1.0, 0.0], abs=1e-6)
    assert shaped(logits, TokenSampling(1.0, 1.0))[0] == pytest.approx([0.2, 0.5, 0.3], abs=1e-6)
