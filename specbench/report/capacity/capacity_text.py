"""What a search for capacity found, as text for a terminal of 80 columns."""

from collections.abc import Sequence
from pathlib import Path

from specbench.explain.capacity_sentences import OTHERS
from specbench.model.capacity.capacity_values import CapacityResult
from specbench.report.capacity.capacity_file import CAPACITY
from specbench.report.capacity.capacity_page import PAGE
from specbench.report.capacity.capacity_rows import ArmsRow, capacity_rows, limit_rows, other_limit_rows
from specbench.report.terminal.screen import Screen

LABEL, COLUMN = 32, 22


def capacity_text(result: CapacityResult, folder: Path, screen: Screen) -> str:
    """The answer, both arms side by side, each limit, other limits, and what the figures rest on."""
    answer, *rest = result.sentences
    lines = [screen.paint(line, "bold") for line in screen.paragraph(answer)]
    lines += ["", *_table(capacity_rows(result), screen)]
    if len(result.plan.limits) > 1:
        lines += ["", *_table(limit_rows(result), screen)]
    if others := other_limit_rows(result):
        lines += ["", *screen.paragraph(OTHERS), *_table(others, screen)]
    lines.append("")
    for sentence in rest:
        lines += screen.paragraph(sentence, indent="  ", first="- ")
    lines += ["", *screen.paragraph(f"{folder / PAGE} has the same as a page, {CAPACITY} beside it as JSON.")]
    return "\n".join(lines)


def _table(rows: Sequence[ArmsRow], screen: Screen) -> list[str]:
    head = _line(screen, "", "baseline", "speculative")
    return [screen.paint(head, "dim"), *(_line(screen, row.label, row.baseline, row.speculative) for row in rows)]


def _line(screen: Screen, label: str, *values: str) -> str:
    label_width = min(LABEL, max(screen.columns - 2 * COLUMN, 12))
    widths = (label_width, *(COLUMN for _ in values))
    cells = zip((label, *values), widths, strict=True)
    return " ".join(screen.clipped(one, width).ljust(width) for one, width in cells).rstrip()
