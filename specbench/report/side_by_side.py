"""Both arms side by side in 80 columns, for a run that was refused as its arms differ: what differs, and what that means."""

from collections.abc import Sequence
from textwrap import wrap

from specbench.explain.numbers import plain
from specbench.model.judged import Result
from specbench.report.fairness import FairnessRow, fairness

NAME, VALUE = 20, 26  # columns of the terminal, with two spaces before each
_HEADINGS = {
    "differs": "must be equal, and is not:",
    "accepted": "differs, and was accepted by name (accept_differences):",
    "may differ": "comes with the change under test, or is weighed by the verdict; shown only:",
}


def side_by_side(result: Result) -> list[str]:
    """The lines of the table, those that must be equal and are not first; none where it does not or load was sent."""
    rows = fairness(result.endpoints, result.config.accept_differences)
    if result.cells or not any(row.state == "differs" for row in rows):
        return []
    lines = ["The arms side by side", _line(("", "baseline", "speculative"))]
    for state, heading in _HEADINGS.items():
        shown = [row for row in rows if row.state == state and (state != "may differ" or row.baseline != row.speculative)]
        lines += [f"  {heading}", *(line for row in shown for line in _lines(row))] if shown else []
    lines += _named(
        "not told by at least one arm and not declared, so not compared:", [r for r in rows if r.state == "not known"]
    )
    return lines + _named("equal:", [row for row in rows if row.state == "equal"])


def _lines(row: FairnessRow) -> list[str]:
    """A row of the table; what is too long goes on below, as two long values may differ at their ends."""
    columns = [wrap(row.label, NAME), wrap(plain(row.baseline), VALUE), wrap(plain(row.speculative), VALUE)]
    height = max(map(len, columns))
    filled = [[*column, *[""] * (height - len(column))] for column in columns]
    return [_line(parts) for parts in zip(*filled, strict=True)]


def _line(parts: Sequence[str]) -> str:
    name, baseline, speculative = parts
    return f"    {name:{NAME}}  {baseline:{VALUE}}  {speculative}".rstrip()


def _named(heading: str, rows: Sequence[FairnessRow]) -> list[str]:
    if not rows:
        return []
    return [f"  {heading}", *wrap(", ".join(row.label for row in rows), 80, initial_indent="    ", subsequent_indent="    ")]
