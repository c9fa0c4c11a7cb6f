"""The virtual accelerator costs what its published figures say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specbench.engine.timing.roofline import (
    GIGA,
    QWEN25_05B,
    QWEN25_14B_INT4,
    RTX_3090,
    TERA,
    Accelerator,
    Transformer,
    Work,
    heads_on,
    kv_capacity_tokens,
    work_s,
)
from tests.support.roofline import ridge_tokens

ROUND = Accelerator("round figures", 10e9, 100 * GIGA, 1 * TERA, 0.5, 0.5)
SMALL = Transformer("small", 1e9, 0.5, 1e8, 2, layers=10, query_width=1000, kv_width=100, embedding_bytes=0)


def llama_2_7b(body_bytes_each: float) -> Transformer:
    """LLaMA 2 7B: 32 layers of width 4096, 32,000 tokens; the model of the published measurement."""
    return Transformer("LLaMA 2 7B", 6.476e9, body_bytes_each, 32_000 * 4096, 2, 32, 4096, 4096, 0)


@pytest.mark.parametrize(
    ("work", "expected"),
    [
        (Work(1, 1, 0, 0), 0.5e9 / 50e9 + 0.2e9 / 50e9),  # reading the weights
        (Work(100, 0, 0, 0), 2 * 1e9 * 100 / 0.5e12),  # arithmetic of the layers, no head
        (Work(100, 100, 0, 0), 0.4 + 2 * 1e8 * 100 / 0.5e12),
        (Work(1, 0, 1000, 1000), 0.01 + 2 * 10 * 100 * 2 * 1000 / 50e9),  # reading the cache
        (Work(1, 0, 10, 100_000_000), 0.01 + 4 * 10 * 1000 * 1e8 / 0.5e12),  # comparing with it
    ],
)
def test_each_part_takes_the_longer_of_moving_and_computing(work: Work, expected: float) -> None:
    """By hand, on round figures: 50 GB/s and half a TFLOPS are reached."""
    assert work_s(ROUND, SMALL, work) == pytest.approx(expected)


def test_the_efficiencies_give_the_measurement_back() -> None:
    """The published figures that the efficiencies come from: 51.85 tokens/s at 16 bits, a prompt at 2601.81 tokens/s."""
    decoding = work_s(RTX_3090, llama_2_7b(2), Work(1, 1, 0, 0))
    reading = work_s(RTX_3090, llama_2_7b(4.5 / 8), Work(512, 0, 512, 512 * 513 // 2))

    assert 1 / decoding == pytest.approx(51.85, rel=0.01)
    assert 512 / reading == pytest.approx(2601.81, rel=0.03)


def test_weights_take_the_memory_that_the_files_take() -> None:
    """The 14B model at 4 bits is a file of 9.99 GB, the 0.5B model one of 0.99 GB."""
    assert QWEN25_14B_INT4.weight_bytes == pytest.approx(9.99e9, rel=0.02)
    assert QWEN25_05B.weight_bytes == pytest.approx(0.99e9, rel=0.02)


def test_verifying_is_free_up_to_the_ridge() -> None:
    """The layers take as long for 12 tokens as for one, and twice as long for twice the ridge."""
    ridge = ridge_tokens(RTX_3090, QWEN25_14B_INT4)
    one, below, above = (work_s(RTX_3090, QWEN25_14B_INT4, Work(n, 0, 0, 0)) for n in (1, int(ridge), 2 * round(ridge)))

    assert 12 < ridge < 14
    assert below == one
    assert above == pytest.approx(2 * one, rel=0.01)


def test_a_draft_model_takes_room_from_the_cache() -> None:
    """Its weights and its own cache both do."""
    alone = kv_capacity_tokens(RTX_3090, (QWEN25_14B_INT4,), 0.9, 1.5e9)
    shared = kv_capacity_tokens(RTX_3090, (QWEN25_14B_INT4, QWEN25_05B), 0.9, 1.5e9)

    assert alone == int((24 * 1024**3 * 0.9 - QWEN25_14B_INT4.weight_bytes - 1.5e9) / 196_608)
    assert shared < alone
    assert kv_capacity_tokens(RTX_3090, (QWEN25_14B_INT4,), 0.1, 1.5e9) == 0


def test_heads_weigh_their_blocks_alone() -> None:
    """Heads that share the target's projection add a square of its width each, at two bytes."""
    assert heads_on(QWEN25_14B_INT4, 4).weight_bytes == pytest.approx(4 * 5120 * 5120 * 2)


works = st.builds(Work, st.integers(1, 5000), st.integers(0, 500), st.integers(0, 10**6), st.integers(0, 10**8))


@given(works, works)
def test_more_work_never_takes_less_time(one: Work, two: Work) -> None:
    """Time grows with every part of the work."""
    both = Work(one.tokens + two.tokens, one.logits + two.logits, one.kv_read + two.kv_read, one.pairs + two.pairs)

    assert work_s(RTX_3090, QWEN25_14B_INT4, both) >= work_s(RTX_3090, QWEN25_14B_INT4, one)
