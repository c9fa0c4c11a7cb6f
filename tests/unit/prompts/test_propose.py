"""Proposed bins part short from long where the data part themselves, and cover them."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from specbench.model.scenario import Bin
from specbench.prompts.propose import STATED_OUTPUT, cuts_of, groups_of, proposed_bins, weighted


def groups_over(count: int) -> tuple[object, ...]:
    """One group of so many requests."""
    return groups_of(np.full(count, -1, dtype=np.int64), (), 6)


def test_two_humps_are_two_bands_and_one_hump_is_parted_by_its_width() -> None:
    """Prompts of about 30 and about 2,000 tokens, none between."""
    rng = np.random.default_rng(1)
    tokens = np.rint(np.concatenate([rng.lognormal(3.4, 0.1, 3000), rng.lognormal(7.6, 0.1, 1000)]))
    bins = proposed_bins(tokens, np.full(4000, np.nan), groups_over(4000), 2)  # type: ignore[arg-type]

    assert len(bins) == 2
    assert bins[0].input_tokens[1] < 1000 < 1500 > bins[1].input_tokens[0] > 40
    assert {band.output_tokens for band in bins} == {STATED_OUTPUT}


def test_a_cut_is_where_the_classes_vary_least() -> None:
    """Two heaps are cut between them; equal values are not cut at all."""
    heaps = np.concatenate([np.linspace(0, 1, 50), np.linspace(9, 10, 50)])

    assert len(cuts_of(heaps, 2)) == 1
    assert 1 <= cuts_of(heaps, 2)[0] <= 9
    assert cuts_of(np.full(10, 3.0), 3) == []


def test_labels_have_bins_of_their_own_and_rare_ones_share_one() -> None:
    """Of 100 requests 60 are code, 37 chat, and three labels have one each."""
    label = np.array([0] * 60 + [1] * 37 + [2, 3, 4])
    groups = groups_of(label, ("code", "chat", "a/b", "c", "d"), 6)

    assert [(group.name, group.labels, int(group.rows.sum())) for group in groups] == [
        ("code", ("code",), 60),
        ("chat", ("chat",), 37),
        ("other", ("a/b", "c", "d"), 3),
    ]
    assert [group.name for group in groups_of(label, ("code", "chat", "a/b", "c", "d"), 2)] == ["code", "other"]


def test_weights_are_shares_and_an_empty_bin_is_left_out() -> None:
    """Of 300 requests."""
    bins = [Bin(name=name, input_tokens=(1, 2), output_tokens=(1, 2), weight=1.0) for name in "abc"]

    assert [(band.name, band.weight) for band in weighted(bins, [200, 100, 0])] == [("a", 0.67), ("b", 0.33)]


@settings(max_examples=40, deadline=None)
@given(
    st.integers(200, 3000),
    st.lists(st.tuples(st.floats(1, 9), st.floats(0.05, 1.5)), min_size=1, max_size=4),
    st.booleans(),
    st.integers(1, 6),
    st.integers(0, 1000),
)
def test_the_bins_of_any_lengths_hold_all_but_a_few_of_them(
    count: int, humps: list[tuple[float, float]], answers: bool, most: int, seed: int
) -> None:
    """At most 2.5 % outside, no request in two bins, and no more bins than were asked for."""
    rng = np.random.default_rng(seed)
    hump = rng.integers(len(humps), size=count)
    before = np.maximum(np.rint(rng.lognormal(np.array(humps)[hump, 0], np.array(humps)[hump, 1])), 1.0)
    after = np.maximum(np.rint(rng.lognormal(4, 1, count)), 1.0) if answers else np.full(count, np.nan)
    bins = proposed_bins(before, after, groups_over(count), most)  # type: ignore[arg-type]
    holders = np.zeros(count, dtype=int)
    for band in bins:
        inside = (before >= band.input_tokens[0]) & (before <= band.input_tokens[1])
        holders += inside & (np.isnan(after) | ((after >= band.output_tokens[0]) & (after <= band.output_tokens[1])))

    assert holders.max() == 1
    assert (holders == 0).mean() <= 0.025
    assert 1 <= len(bins) <= most
    assert len({band.name for band in bins}) == len(bins)
