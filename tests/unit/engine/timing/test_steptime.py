"""A step costs its target pass and its proposer's work."""

import pytest

from specbench.engine.core.setup import machine_of
from specbench.engine.options import Speculation
from specbench.engine.timing.roofline import QWEN25_05B, QWEN25_14B_INT4, RTX_3090, Part, Work, step_s, work_s

PLAIN = machine_of(None)
DRAFTING = machine_of(Speculation(num_speculative_tokens=4))
HEADS = machine_of(Speculation(method="heads", num_speculative_tokens=4))
LOOKUP = machine_of(Speculation(method="ngram", num_speculative_tokens=4, draft_sampling="greedy"))


def decode(context: int = 200, drafts: int = 0, proposes: bool = False) -> Part:
    """One decoding request."""
    return Part(1 + drafts, context, 1 + drafts, drafts, proposes)


def test_decoding_is_one_pass() -> None:
    """Four requests at 200 tokens: four tokens, four logits, 804 tokens of cache."""
    assert step_s(PLAIN, [decode()] * 4) == work_s(RTX_3090, QWEN25_14B_INT4, Work(4, 4, 804, 804))


def test_a_chunk_of_a_prompt_needs_no_logits_but_all_pairs() -> None:
    """100 tokens after 50: each is compared with all before it and itself."""
    expected = work_s(RTX_3090, QWEN25_14B_INT4, Work(100, 0, 150, 100 * 50 + 5050))

    assert step_s(PLAIN, [Part(100, 50, 0, 0, False)]) == expected


def test_each_drafted_token_is_a_pass_of_the_draft_model() -> None:
    """Four tokens drafted for two requests: verification, and four passes over a text that grows by one."""
    target = work_s(RTX_3090, QWEN25_14B_INT4, Work(10, 10, 410, 2 * (5 * 200 + 15)))
    drafting = sum(work_s(RTX_3090, QWEN25_05B, Work(2, 2, 2 * (201 + i), 2 * (201 + i))) for i in range(4))

    assert step_s(DRAFTING, [decode(200, 4, True)] * 2) == pytest.approx(target + drafting)


def test_the_draft_model_reads_prompts_too() -> None:
    """A prompt goes through both models, in the first draft pass where there are several."""
    prompt = Part(300, 0, 1, 0, True)

    alone = step_s(DRAFTING, [prompt]) - step_s(PLAIN, [prompt])
    assert alone == pytest.approx(work_s(RTX_3090, QWEN25_05B, Work(300, 0, 300, 300 * 301 // 2)))
    assert step_s(DRAFTING, [prompt, decode(200, 4, True)]) > step_s(DRAFTING, [decode(200, 4, True)])


def test_a_request_that_does_not_speculate_costs_no_drafting() -> None:
    """Speculation off for all requests of a step: the step of a plain engine."""
    assert step_s(DRAFTING, [decode()] * 4) == step_s(PLAIN, [decode()] * 4)


def test_heads_cost_one_small_pass_and_lookup_none() -> None:
    """Heads are cheaper than four passes of a draft model, and looking up costs only the verification."""
    parts = [decode(200, 4, True)]
    verification = step_s(PLAIN, [Part(5, 200, 5, 0, False)])

    assert step_s(LOOKUP, parts) == verification
    assert verification < step_s(HEADS, parts) < step_s(DRAFTING, parts)
    assert step_s(HEADS, [Part(300, 0, 1, 0, True)]) == step_s(PLAIN, [Part(300, 0, 1, 0, True)])


def test_speculation_wins_alone_and_loses_in_a_crowd() -> None:
    """At 3.3 tokens a round, four drafts pay off for one request and cost more than they bring for sixteen."""
    ratios = {n: step_s(DRAFTING, [decode(200, 4, True)] * n) / step_s(PLAIN, [decode()] * n) / 3.3 for n in (1, 4, 16)}

    assert ratios[1] < 0.5
    assert ratios[4] < 0.7
    assert ratios[16] > 1.3
