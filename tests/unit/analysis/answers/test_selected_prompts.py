"""Prompts are chosen evenly over cells and pairs, by the seed alone, and a run may forget the others as it goes."""

from collections import Counter

import pytest

from specbench.analysis.answers.selected_prompts import PromptPlace, selected_prompts


def places(sizes: dict[tuple[str, int], int], sampling: str = "greedy") -> list[PromptPlace]:
    """So many prompts of each cell and pair."""
    return [PromptPlace(sampling, cell, pair, i) for (cell, pair), size in sizes.items() for i in range(size)]


def counts(chosen: frozenset[PromptPlace]) -> dict[tuple[str, int], int]:
    """How many of each cell and pair."""
    return dict(Counter((place.cell, place.pair) for place in chosen))


@pytest.mark.parametrize(
    ("sizes", "most", "expected"),
    [
        ({("a", 0): 50, ("a", 1): 50, ("b", 0): 50, ("b", 1): 50}, 40, [10, 10, 10, 10]),
        ({("a", 0): 50, ("b", 0): 50}, 41, [20, 21]),
        ({("a", 0): 3, ("b", 0): 50, ("c", 0): 50}, 23, [3, 10, 10]),
        ({("a", 0): 3, ("b", 0): 4}, 64, [3, 4]),
        ({("a", 0): 1_000}, 64, [64]),
        ({}, 64, []),
    ],
    ids=str,
)
def test_as_many_from_each(sizes: dict[tuple[str, int], int], most: int, expected: list[int]) -> None:
    """What one has too few of is taken from the others."""
    assert sorted(counts(selected_prompts(places(sizes), most, 7)).values()) == expected


def test_each_sampling_has_its_own_number() -> None:
    """Greedy prompts take no place of sampled ones."""
    both = [*places({("a", 0): 50}), *places({("a", 0): 10}, "sampled")]

    assert Counter(place.sampling for place in selected_prompts(both, 20, 7)) == {"greedy": 20, "sampled": 10}


def test_the_seed_decides_and_the_order_does_not() -> None:
    """The same ones whatever order they come in; others with another seed."""
    all_of_them = places({("a", 0): 60, ("b", 0): 60})
    chosen = selected_prompts(all_of_them, 20, 7)

    assert selected_prompts(all_of_them[::-1], 20, 7) == chosen
    assert selected_prompts(all_of_them, 20, 8) != chosen
    assert {place.prompt for place in chosen} != set(range(20)), "not the first ones that were sent"


@pytest.mark.parametrize("seed", range(20))
def test_what_was_forgotten_is_not_missed(seed: int) -> None:
    """Selecting after each pair from what was kept and what is new gives what all of them together give."""
    sizes = {("a", 0): 9, ("b", 0): 30, ("c", 0): 2, ("a", 1): 9, ("b", 1): 30, ("c", 1): 3}
    kept: frozenset[PromptPlace] = frozenset()
    for pair, size in sizes.items():
        kept = selected_prompts([*kept, *places({pair: size})], 41, seed)

    assert kept == selected_prompts(places(sizes), 41, seed)
