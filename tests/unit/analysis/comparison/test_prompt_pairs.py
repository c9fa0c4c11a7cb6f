"""TTFT prompt by prompt."""

import pytest

from specbench.analysis.comparison.prompt_pairs import ttft_paired


def test_prompts_of_unlike_length_cancel_out() -> None:
    """Each prompt takes twice its time, whatever that is; the pair is the unit."""
    before = {(pair, prompt): 10.0 * (prompt + 1) ** 3 + pair for pair in range(4) for prompt in range(5)}
    found = ttft_paired(before, {key: value * (2.0 + 0.1 * (key[0] % 2)) for key, value in before.items()})

    assert found.ratio == pytest.approx((2.0 * 2.1) ** 0.5)
    assert (found.n_blocks, found.n.baseline, found.df) == (4, 20, 3)
    assert found.value.baseline is not None
    assert found.value.speculative == pytest.approx(found.value.baseline * (2.0 * 2.1) ** 0.5)


def test_a_prompt_counts_only_where_both_arms_answered_it() -> None:
    """The faster arm gets further down the list; what it met there alone is left out."""
    found = ttft_paired({(0, 0): 100.0, (1, 0): 100.0}, {(0, 0): 150.0, (0, 1): 900.0, (1, 0): 150.0, (2, 0): 900.0})

    assert found.ratio == pytest.approx(1.5)
    assert found.n.speculative == 2
    assert found.constant


def test_without_a_common_prompt_there_is_no_ratio() -> None:
    """And a reason why."""
    found = ttft_paired({(0, 0): 100.0}, {(0, 1): 100.0})

    assert (found.ratio, found.n_blocks) == (None, 0)
    assert found.reason is not None
