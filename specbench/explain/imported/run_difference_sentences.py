"""The sentences of two runs of ours beside each other."""

from collections.abc import Sequence

from specbench.explain import labels, numbers
from specbench.model.data.imported_result import RunMetric

_LONGEST = 60


def differs(name: str, before: str | None, after: str | None) -> str:
    """A thing that the two runs do not share."""
    return f"{name}: {_shown(before)}, then {_shown(after)}"


def _shown(value: str | None) -> str:
    if value is None:
        return "not known"
    plain = numbers.plain(value)
    return plain if len(plain) <= _LONGEST else f"{plain[:_LONGEST]}\N{HORIZONTAL ELLIPSIS}"


def invalid_run(names: Sequence[str]) -> str:
    """A run that shows nothing."""
    return f"INVALID, so that nothing can be compared: {numbers.listed(list(names))}."


def nothing_shared(names: tuple[str, str]) -> str:
    """No cell in both."""
    return f"No valid load of {names[0]} is in {names[1]}: run the same scenario twice."


def rolled_back(name: str) -> str:
    """The second run's verdict says it."""
    return f"The verdict of {name} is ROLLBACK, that of the first run is not."


def run_metric(one: RunMetric) -> str:
    """What one metric shows from the first run to the second."""
    where = f"{labels.metric(one.metric)} at {one.cell}"
    if one.ratio is None:
        return f"{where}: {one.word}; it has no interval."
    span = "" if one.low is None or one.high is None else f", {change(one.low)} to {change(one.high)}"
    return f"{where}: {one.word}; speculative \N{DIVISION SIGN} baseline changed by {change(one.ratio)}{span}."


def further(more: int, word: str) -> str:
    """How many others are in the table alone."""
    return f"{more} more: {word}, see the table."


def change(ratio: float | None) -> str:
    """A ratio as a change in percent, '' for none."""
    if ratio is None:
        return ""
    return f"{(ratio - 1) * 100:+.1f} %".replace("-", "\N{MINUS SIGN}")
