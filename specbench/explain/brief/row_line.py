"""One row of a table as one short line, for build logs and annotations: 'TTFT p50 65.2 → 170 ms, +161 %, limit +20 ms'."""

from specbench.explain.brief.first_sentences import RowTexts, bare_limit, unit_of
from specbench.explain.numbers import one_of


def row_line(row: RowTexts, reason: str, role: str | None) -> str:
    """The row in a line; where it has no change, the reason of its finding."""
    if row.changed in ("–", "") or "–" in (row.before, row.after):
        return reason
    aim = f", {'goal' if role == 'success' else 'limit'} {bare_limit(row)}" if row.limit else ""
    unit = "" if "/s" in row.label else unit_of(row.metric)
    return f"{row.label} {row.before} → {row.after}{unit}, {row.changed}{aim}"


def open_line(line: str, pairs: int | None) -> str:
    """The line of an open row, with the pairs that would settle it."""
    return f"{line}, open" + (f": about {pairs} pairs settle it" if pairs is not None else "")


def beyond_cap(line: str) -> str:
    """The line of a row at a load above the cap."""
    return f"beyond the cap: {line}"


def more_failed(count: int) -> str:
    """How many more findings failed than were shown."""
    return f"{one_of(count, 'more finding')} failed; see the report"
