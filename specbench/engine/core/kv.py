"""The bounded key-value cache: blocks of tokens, shared between equal prefixes, least recently used ones given up first.

Bookkeeping only: which request gets blocks, and what happens when there are none, is the scheduler's business.
"""

from collections import OrderedDict
from collections.abc import Sequence

BLOCK_TOKENS = 16


def extend_keys(keys: list[int], tokens: Sequence[int]) -> list[int]:
    """`keys` completed for the text's full blocks; two are equal where the whole texts up to the blocks' ends are."""
    for start in range(len(keys) * BLOCK_TOKENS, len(tokens) - BLOCK_TOKENS + 1, BLOCK_TOKENS):
        keys.append(hash((keys[-1] if keys else 0, *tokens[start : start + BLOCK_TOKENS])))
    return keys


def blocks_for(tokens: int) -> int:
    """How many blocks hold that many tokens."""
    return -(-tokens // BLOCK_TOKENS)


class BlockPool:
    """A fixed number of blocks, each in use by some requests, or free; a free block keeps its content until it is taken."""

    def __init__(self, blocks: int, sharing: bool) -> None:
        self.blocks = blocks
        self.sharing = sharing
        self._users = [0] * blocks
        self._key_of: dict[int, int] = {}
        self._with_key: dict[int, int] = {}
        # Free blocks, the one to be taken next first.
        self._free: OrderedDict[int, None] = OrderedDict.fromkeys(range(blocks))

    @property
    def free(self) -> int:
        """Blocks that no request uses, those with content worth keeping included."""
        return len(self._free)

    @property
    def usage(self) -> float:
        """Share of the blocks that requests use, 0 to 1."""
        return 1.0 - len(self._free) / self.blocks

    def take(self, count: int) -> list[int] | None:
        """That many blocks for one request; None, and nothing taken, where fewer are free."""
        if count > len(self._free):
            return None
        taken = []
        for _ in range(count):
            block, _nothing = self._free.popitem(last=False)
            key = self._key_of.pop(block, None)
            if key is not None:
                del self._with_key[key]
            self._users[block] = 1
            taken.append(block)
        return taken

    def give_back(self, blocks: Sequence[int]) -> None:
        """Ends one use of each block; a text's last blocks are given up before its first, which others may share."""
        for block in reversed(blocks):
            self._users[block] -= 1
            if not self._users[block]:
                self._free[block] = None

    def shared(self, keys: Sequence[int]) -> list[int]:
        """Takes the longest run of blocks, from the first, whose content has those keys; empty where sharing is off."""
        found: list[int] = []
        for key in keys if self.sharing else ():
            block = self._with_key.get(key)
            if block is None:
                break
            found.append(block)
        for block in found:
            self._users[block] += 1
            self._free.pop(block, None)
        return found

    def filled(self, block: int, key: int) -> None:
        """Notes that the block now holds the text of that key; the first block with a key keeps it."""
        if self.sharing and key not in self._with_key and block not in self._key_of:
            self._with_key[key] = block
            self._key_of[block] = key
