"""Blocks are shared by equal prefixes and given up least recently used first."""

from hypothesis import given
from hypothesis import strategies as st

from specbench.engine.core.kv import BLOCK_TOKENS, BlockPool, blocks_for, extend_keys

TEXT = list(range(3 * BLOCK_TOKENS))


def filled_pool() -> tuple[BlockPool, list[int]]:
    """A pool of four blocks in which a text of three has been computed and given back, and the text's keys."""
    pool = BlockPool(4, True)
    blocks = pool.take(3) or []
    keys = extend_keys([], TEXT)
    for block, key in zip(blocks, keys, strict=True):
        pool.filled(block, key)
    pool.give_back(blocks)
    return pool, keys


def test_a_pool_gives_what_it_has() -> None:
    """All or nothing, and usage is the share in use."""
    pool = BlockPool(4, True)

    assert len(pool.take(3) or []) == 3
    assert pool.take(2) is None
    assert (pool.free, pool.usage) == (1, 0.75)


def test_an_equal_beginning_is_found_again() -> None:
    """Blocks given back keep their content until they are taken; the run of found blocks begins at the text's start."""
    pool, keys = filled_pool()
    changed = extend_keys([], [*TEXT[:BLOCK_TOKENS], 999, *TEXT[BLOCK_TOKENS + 1 :]])

    assert len(pool.shared(changed)) == 1
    assert len(pool.shared(keys)) == 3
    assert pool.free == 1


def test_two_requests_share_a_block() -> None:
    """A shared block is free only when both have given it back."""
    pool, keys = filled_pool()
    one, two = pool.shared(keys), pool.shared(keys)
    pool.give_back(one)

    assert one == two
    assert pool.free == 1
    pool.give_back(two)
    assert pool.free == 4


def test_the_end_of_a_text_is_given_up_first() -> None:
    """Of a given-back text its last block is taken before its first; a block without content goes before both."""
    pool, keys = filled_pool()
    pool.take(2)

    assert len(pool.shared(keys)) == 2


def test_without_sharing_nothing_is_found() -> None:
    """Prefix caching off: every prompt is computed."""
    pool = BlockPool(4, False)
    blocks = pool.take(1) or []
    keys = extend_keys([], TEXT)
    pool.filled(blocks[0], keys[0])

    assert pool.shared(keys) == []


def test_keys_grow_with_the_text() -> None:
    """Keys of a longer text begin with those of the shorter; a block that is not full has none."""
    keys = extend_keys([], TEXT[: 2 * BLOCK_TOKENS + 5])
    before = list(keys)

    assert len(before) == 2
    assert extend_keys(keys, TEXT)[:2] == before
    assert len(keys) == 3
    assert [blocks_for(n) for n in (0, 1, 16, 17)] == [0, 1, 1, 2]


@given(st.lists(st.tuples(st.sampled_from(["take", "back", "share"]), st.integers(0, 3)), max_size=60))
def test_blocks_are_never_lost(moves: list[tuple[str, int]]) -> None:
    """Whatever requests do, free and used blocks add up to all of them."""
    pool = BlockPool(8, True)
    held: list[list[int]] = []
    keys = extend_keys([], TEXT)
    for move, n in moves:
        if move == "take":
            blocks = pool.take(n)
            if blocks:
                held.append(blocks)
                for block, key in zip(blocks, keys, strict=False):
                    pool.filled(block, key)
        elif move == "share":
            held.append(pool.shared(keys[:n]))
        elif held:
            pool.give_back(held.pop(n % len(held)))

        assert pool.free + len({block for blocks in held for block in blocks}) == 8
