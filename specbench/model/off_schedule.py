"""At which load an engine drafts how much, or nothing, as a scenario declares it. Pure; the scenario's parser asks too."""

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


def depth_at(speculative: Mapping[str, Any] | None, running: float) -> int | None:
    """Tokens that the declared table lets an engine with so many running requests draft; None without a table.

    Gaps, and what lies beyond the last row, take the tokens before them; below the first row it is the most.
    """
    rows = (speculative or {}).get(TABLE)
    if not rows:
        return None
    reached = [tokens for lowest, _, tokens in rows if running >= lowest]
    return reached[-1] if reached else most_drafted(speculative)


def most_drafted(speculative: Mapping[str, Any] | None) -> int | None:
    """The declared depth, at which an engine drafts that drops its table; None where none is declared."""
    depth = (speculative or {}).get("num_speculative_tokens")
    return depth if isinstance(depth, int) and not isinstance(depth, bool) else None


def embedded_fault(speculative: Mapping[str, Any]) -> str | None:
    """What the embedded engine cannot take of a schedule; None where it can take it."""
    others = [key for key in schedule_of(speculative) if key != TABLE]
    if others:
        return f"the embedded engine takes a table by batch size alone ({TABLE}): leave out {', '.join(others)}"
    rows, most = speculative.get(TABLE) or [], most_drafted(speculative)
    if rows and rows[0][0] != 1:
        return f"{TABLE}: the first row must begin at 1, not {rows[0][0]}"
    deepest = max((tokens for _, _, tokens in rows), default=0)
    if most is not None and deepest > most:
        return f"{TABLE}: {deepest} tokens are more than num_speculative_tokens ({most})"
    return None


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
