"""The table of both arms, load by load, as lines of a screen; stacked where the screen is too narrow for columns."""

from collections.abc import Sequence
from dataclasses import dataclass

from specbench.explain.brief import table_words
from specbench.report.terminal.screen import Screen, padded, widths
from specbench.report.view.comparison_rows import MOST_ROWS, PAIRED, ComparisonRow, LoadTable

_EFFECTS = {"better": "good", "worse": "bad", "": "dim"}
_MARKS = {"✓": "good", "✗": "bad", "?": "wait", "–": "wait"}
_OUTCOMES = {"pass": "good", "FAIL": "bad", "INVALID": "void", "open": "wait", "no data": "wait"}


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the table under a title: rows, and lines below them; `outcome` colours the title's end."""

    title: str
    outcome: str
    rows: tuple[ComparisonRow, ...] = ()
    below: tuple[str, ...] = ()
    remark: str = ""

    @property
    def heading(self) -> str:
        """The title with its outcome, as one text."""
        return f"{self.title}: {self.outcome}{f' ({self.remark})' if self.remark else ''}"


def section(table: LoadTable, most: int = MOST_ROWS) -> Section:
    """A load in full, with at most so many rows: what must be seen, then what also passed, and acceptance."""
    passed = [row.label for row in table.passed(most)]
    more = table.left_out(most)
    left = f"{more} more: --verbose" if more else ""
    also = f"also passed: {', '.join(passed)}" if passed else ""
    below = [" · ".join(filter(None, (also, f"and {left}" if left else "")))] if also or left else []
    remark = "must show the gain" if table.must_show else ""
    return Section(table.title, table.outcome, table.shown(most), (*below, table.acceptance), remark)


def full_section(table: LoadTable) -> Section:
    """A load with every row there is."""
    remark = "must show the gain" if table.must_show else ""
    absent: dict[str, list[str]] = {}
    for row in table.rows:
        if row.change is None and row.note:
            absent.setdefault(row.note, []).append(row.label)
    below = (table.acceptance, *(table_words.no_change(names, reason) for reason, names in absent.items()))
    return Section(table.title, table.outcome, table.rows, below, remark)


def brief_section(table: LoadTable) -> Section:
    """A load in one line."""
    return Section(table.title, table.outcome)


def table_lines(sections: Sequence[Section], screen: Screen, level: str = "95 %") -> list[str]:
    """The sections as lines; the head of the columns once, above them all, with the level of the bounds."""
    head = ("", "baseline", "spec.", "change", f"{level} bounds", "limit", "")
    rows = [row for part in sections for row in part.rows]
    if not rows:
        return [line for part in sections for line in _heading(part, screen)]
    cells = {id(row): [screen.fit(text) for text in _texts(row)] for row in rows}
    full = [texts for texts in (cells[id(row)] for row in rows) if texts[4]]
    columns = widths([[screen.fit(text) for text in head], *full, *[[*texts[:4], "", "", ""] for texts in cells.values()]])
    room = screen.columns - 2 - sum(columns)
    gap = min(room // 6, 2)
    if gap < 1:
        return [*(line for part in sections for line in _stacked(part, screen)), *_legend(rows, screen)]
    lines = [_line(head, columns, gap, screen).rstrip()]
    for part in sections:
        lines += [*_heading(part, screen), *(_row_line(row, cells[id(row)], columns, gap, screen) for row in part.rows)]
        lines += [line for text in part.below for line in screen.paragraph(text, "    ", "  ")]
    return [*lines, *_legend(rows, screen)]


def _legend(rows: Sequence[ComparisonRow], screen: Screen) -> list[str]:
    """What the marks mean, where there are any."""
    said = [table_words.LEGEND] if any(row.mark for row in rows) else []
    said += [table_words.BY_PROMPT] if any(row.metric == PAIRED and row.change is not None for row in rows) else []
    return [screen.paint(line, "dim") for text in said for line in screen.paragraph(text)]


def _texts(row: ComparisonRow) -> tuple[str, ...]:
    pairs = f" {row.pairs_needed} pairs" if row.pairs_needed is not None and row.decides else ""
    return (row.title, row.before, row.after, row.changed, row.bounds, row.limit_text, f"{row.mark}{pairs}")


def _heading(part: Section, screen: Screen) -> list[str]:
    """The title with its outcome, on one line where it fits."""
    lines = screen.paragraph(part.heading, "  ", "")
    end = f": {screen.fit(part.outcome)}"
    if len(lines) > 1 or end not in lines[0]:
        return lines
    title, _, rest = lines[0].rpartition(end)
    return [f"{title}: {screen.paint(end.removeprefix(': '), _OUTCOMES.get(part.outcome, 'wait'))}{rest}"]


def _line(texts: Sequence[str], columns: Sequence[int], gap: int, screen: Screen) -> str:
    signed = [columns[0], *(-width for width in columns[1:6]), columns[6]]
    return "  " + (" " * gap).join(padded(screen.fit(text), width) for text, width in zip(texts, signed, strict=True))


def _row_line(row: ComparisonRow, texts: Sequence[str], columns: Sequence[int], gap: int, screen: Screen) -> str:
    if not row.bounds and row.note and row.change is None:
        return _without_figure(row, texts, columns, gap, screen)
    signed = [columns[0], *(-width for width in columns[1:6]), columns[6]]
    fields = [padded(text, width) for text, width in zip(texts, signed, strict=True)]
    fields[3] = screen.paint(fields[3], _EFFECTS[row.effect])
    fields[6] = screen.paint(texts[6], *_mark_styles(row))
    return ("  " + (" " * gap).join(fields)).rstrip()


def _without_figure(row: ComparisonRow, texts: Sequence[str], columns: Sequence[int], gap: int, screen: Screen) -> str:
    """The values that there are, and why there is no change, as far as it fits before limit and mark."""
    values = [padded(texts[0], columns[0]), padded(texts[1], -columns[1]), padded(texts[2], -columns[2])]
    end = (" " * gap).join([padded(texts[5], -columns[5]), screen.paint(texts[6], *_mark_styles(row))]).rstrip()
    room = columns[3] + gap + columns[4]
    why = screen.clipped(row.note if texts[3] != "∞" else texts[3], room)
    return ("  " + (" " * gap).join([*values, padded(why, room), end])).rstrip()


def _mark_styles(row: ComparisonRow) -> tuple[str, ...]:
    sign = row.mark.strip("()")
    return (_MARKS.get(sign, ""),) if row.decides else ("dim",)


def _stacked(part: Section, screen: Screen) -> list[str]:
    """The section for a narrow screen: each row as a few short lines."""
    lines = _heading(part, screen)
    for row in part.rows:
        texts = _texts(row)
        lines += screen.paragraph(f"{row.title} {texts[6]}".strip(), "    ", "  ")
        change = row.changed if row.change is not None else row.note or row.changed
        lines += screen.paragraph(f"{row.before} → {row.after}, {change}", "      ", "    ")
        judged = ", ".join(filter(None, (row.bounds, f"limit {row.limit_text}" if row.limit_text else "")))
        lines += screen.paragraph(judged, "      ", "    ") if judged else []
    return lines + [line for text in part.below for line in screen.paragraph(text, "    ", "  ")]
