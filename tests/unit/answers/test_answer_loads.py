"""Missing answers are asked at the loads that the run would have had, most of them at the highest."""

from collections import Counter
from dataclasses import replace

import pytest

from specbench.answers.answer_loads import AnswerLoads, loads_after_run, loads_without_run, spread
from tests.support.scenarios import code


def test_without_a_run_all_its_required_loads_are_asked() -> None:
    """And the baseline is asked 8 questions at once, as it has just had 16 streams."""
    optional = replace(code().matrix, optional=(16.0,))

    assert loads_without_run(code()) == AnswerLoads((1, 4, 16), 8)
    assert loads_without_run(replace(code(), matrix=optional)) == AnswerLoads((1, 4), 4)


def test_after_a_run_the_highest_required_load_is_asked() -> None:
    """Questions come as the primary load does: one at a time, and never more than 8."""
    high = replace(code().matrix, primary=16)

    assert loads_after_run(code()) == AnswerLoads((16,), 1)
    assert loads_after_run(replace(code(), matrix=high)) == AnswerLoads((16,), 8)


def test_loads_that_are_rates_are_asked_at_eight_streams() -> None:
    """As a rate says nothing of how many answers come at once."""
    rates = replace(code().matrix, concurrency=(), rate=(2.0, 4.0), primary=2.0)

    assert loads_without_run(replace(code(), matrix=rates)) == AnswerLoads((8,), 8)
    assert loads_after_run(replace(code(), matrix=rates)) == AnswerLoads((8,), 2)


@pytest.mark.parametrize(
    ("count", "loads", "prompts"),
    [
        (256, (1, 4, 16), {1: 32, 4: 32, 16: 192}),
        (64, (1, 16), {1: 16, 16: 48}),
        (64, (8,), {8: 64}),
        (7, (1, 4, 16), {16: 7}),
        (0, (1, 4), {}),
    ],
)
def test_a_quarter_is_asked_at_the_lower_loads(count: int, loads: tuple[int, ...], prompts: dict[int, int]) -> None:
    """In equal parts; what is too few to share is asked at the highest."""
    assert Counter(spread(count, loads)) == prompts
