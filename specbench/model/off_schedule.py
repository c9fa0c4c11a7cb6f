"""At which load an engine switches its own speculation off, as a scenario declares it. Pure; the scenario's parser asks too."""

from collections.abc import Mapping
from typing import Any

OFF_FROM = "off_from"
TABLE = "num_speculative_tokens_per_batch_size"
# Keys of engines' own that switch speculation off above so many running requests.
ABOVE = ("disable_by_batch_size", "max_concurrency")


def is_off(speculative: Mapping[str, Any] | None, running: float) -> bool:
    """Whether the declared schedule lets an engine with so many running requests draft nothing.

    `off_from: 16` means from 16 on. In the table, rows of [lowest, highest, tokens], 0 tokens mean off, and the last row goes on.
    """
    if speculative is None:
        return False
    if OFF_FROM in speculative and running >= speculative[OFF_FROM]:
        return True
    if any(key in speculative and running > speculative[key] for key in ABOVE):
        return True
    reached = [tokens for lowest, _, tokens in speculative.get(TABLE) or () if running >= lowest]
    return bool(reached) and reached[-1] == 0


def schedule_of(speculative: Mapping[str, Any] | None) -> dict[str, Any]:
    """What of it declares a schedule by which speculation is switched off."""
    return {key: value for key, value in (speculative or {}).items() if key in (OFF_FROM, TABLE, *ABOVE)}


def schedule_fault(speculative: Mapping[str, Any]) -> str | None:
    """What is wrong with the declared schedule, with its key; None where nothing is."""
    for key in (OFF_FROM, *ABOVE):
        if key in speculative and not _is_count(speculative[key], 1):
            return f"{key} must be a number of running requests, 1 or more, not {speculative[key]!r}"
    table = speculative.get(TABLE, [])
    if TABLE in speculative and not table:
        return f"{TABLE} must not be empty"
    shape = f"{TABLE} must be rows of [lowest, highest, tokens], such as [[1, 8, 4], [9, 64, 0]]"
    if not isinstance(table, list) or not all(isinstance(row, list) and len(row) == 3 for row in table):
        return shape
    before = 0
    for lowest, highest, tokens in table:
        if not (_is_count(lowest, 1) and _is_count(highest, 1) and _is_count(tokens, 0)):
            return shape
        if lowest > highest or lowest <= before:
            return f"{TABLE}: rows must rise and not overlap, and [{lowest}, {highest}, {tokens}] does not"
        before = highest
    return None


def _is_count(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least
