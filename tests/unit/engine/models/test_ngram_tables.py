"""Successors are counted exactly."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from specbench.engine.models.ngram_model import SuccessorTable, count_successors, packed


def of(tokens: list[int], length: int, distance: int = 1, keep: int = 48) -> dict[tuple[int, ...], dict[int, int]]:
    """The table as plain dictionaries."""
    return spelled(count_successors(np.array(tokens, dtype=np.uint64), length, distance, keep))


def spelled(table: SuccessorTable) -> dict[tuple[int, ...], dict[int, int]]:
    """Each context's tokens with its successors, in the table's order."""
    told = {}
    for i, context in enumerate(table.contexts.tolist()):
        span = slice(table.starts[i], table.starts[i + 1])
        key = tuple((context >> (16 * place)) & 0xFFFF for place in reversed(range(table.length)))
        told[key] = dict(zip(table.tokens[span].tolist(), table.counts[span].tolist(), strict=True))
    return told


def test_each_context_has_its_successors() -> None:
    """Counts of the next token, the most frequent first."""
    assert of([1, 2, 1, 3, 1, 3], 1) == {(1,): {3: 2, 2: 1}, (2,): {1: 1}, (3,): {1: 1}}
    assert list(of([1, 2, 1, 3, 1, 3], 1)[(1,)]) == [3, 2]


def test_a_longer_context_is_told_apart() -> None:
    """Two tokens of context."""
    assert of([1, 2, 3, 1, 2, 4], 2) == {(1, 2): {3: 1, 4: 1}, (2, 3): {1: 1}, (3, 1): {2: 1}}


def test_a_distance_looks_past_the_next_token() -> None:
    """At distance 2 the token between context and successor is not looked at."""
    assert of([1, 2, 3, 4, 5], 1, distance=2) == {(1,): {3: 1}, (2,): {4: 1}, (3,): {5: 1}}
    assert of([1, 2, 3, 4, 5], 2, distance=3) == {(1, 2): {5: 1}}


def test_rare_successors_are_dropped() -> None:
    """Only the most frequent are kept, the lower token where counts tie."""
    assert of([9, 5, 9, 4, 9, 7, 9, 7], 1, keep=2)[(9,)] == {7: 2, 4: 1}


def test_four_tokens_fit_into_one_number() -> None:
    """Windows of four tokens of 16 bits are exact."""
    tokens = np.array([65535, 0, 1, 65535, 2], dtype=np.uint64)

    assert packed(tokens, 4).tolist() == [0xFFFF_0000_0001_FFFF, 0x0000_0001_FFFF_0002]


@given(st.lists(st.integers(0, 5), min_size=4, max_size=60), st.integers(1, 3), st.integers(1, 2))
def test_counts_equal_plain_counting(tokens: list[int], length: int, distance: int) -> None:
    """The arrays hold what a dictionary would."""
    if len(tokens) < length + distance:
        tokens = tokens + [0] * (length + distance)
    plain: dict[tuple[int, ...], dict[int, int]] = {}
    for start in range(len(tokens) - length - distance + 1):
        follower = tokens[start + length + distance - 1]
        row = plain.setdefault(tuple(tokens[start : start + length]), {})
        row[follower] = row.get(follower, 0) + 1

    assert of(tokens, length, distance) == plain
