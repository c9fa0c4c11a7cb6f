"""The table of both arms, load by load, as lines of a screen; stacked where the screen is too narrow for columns."""

from collections.abc import Sequence
from dataclasses import dataclass

from specbench.explain.brief import table_words
from specbench.report.terminal.screen import Screen, padded, widths
from specbench.report.view.comparison_rows import PAIRED, ComparisonRow
from specbench.report.view.load_tables import MOST_ROWS, LoadTable

_GAPS = (5, 3, 2, 0, 1, 4)  # between columns, each by its turn in which it takes a second blank
_FORMS = ((True, True), (True, False), (False, False))  # the limit with the change it comes to, the need in full
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
    more = [row.label for row in table.left_out(most) if row.label not in passed]
    also = f"also passed: {', '.join(passed)}" if passed else ""
    below = [line] if (line := " · ".join(filter(None, (also, table_words.not_shown(more) if more else "")))) else []
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


def table_lines(sections: Sequence[Section], screen: Screen, level: str, pairs: int) -> list[str]:
    """The sections as lines; the head of the columns once, above them all, with the level of the bounds.

    Where it fits, a limit names the change that it comes to, and an open check its need in full. `pairs` are the run's a load.
    """
    head = ("", "baseline", "spec.", "change", f"{level} bounds", "limit", "")
    rows = [row for part in sections for row in part.rows]
    if not rows:
        return [line for part in sections for line in _heading(part, screen)]
    for form in _FORMS:
        cells = {id(row): [screen.fit(text) for text in _texts(row, *form)] for row in rows}
        full = [texts for texts in (cells[id(row)] for row in rows) if texts[4]]
        others = [[*texts[:4], "", texts[5], ""] for texts in cells.values()]
        columns = widths([[screen.fit(text) for text in head], *full, *others])
        spare = screen.columns - 2 - sum(columns) - len(_GAPS)
        if spare >= 0:
            break
    else:
        return [*(line for part in sections for line in _stacked(part, screen)), *_legend(rows, screen, pairs)]
    gaps = [2 if place < spare else 1 for place in _GAPS]
    lines = [_line(head, columns, gaps, screen).rstrip()]
    for part in sections:
        lines += [*_heading(part, screen), *(_row_line(row, cells[id(row)], columns, gaps, screen) for row in part.rows)]
        lines += [line for text in part.below for line in screen.paragraph(text, "    ", "  ")]
    return [*lines, *_legend(rows, screen, pairs)]


def _legend(rows: Sequence[ComparisonRow], screen: Screen, pairs: int) -> list[str]:
    """What the marks mean, where there are any."""
    counted = any(table_words.needs(row.pairs_needed, row.decides) for row in rows)
    said = [line] if (line := table_words.legend({row.mark for row in rows}, pairs, counted)) else []
    by_prompt = dict.fromkeys(row.label for row in rows if row.metric == PAIRED and row.change is not None)
    said += [table_words.BY_PROMPT.format(label) for label in by_prompt]
    return [screen.paint(line, "dim") for text in said for line in screen.paragraph(text)]


def _texts(row: ComparisonRow, beside: bool, whole: bool) -> tuple[str, ...]:
    limit = row.limit_beside if beside else row.limit_text
    needs = table_words.needs(row.pairs_needed, row.decides, brief=not whole)
    return (row.title, row.before, row.after, row.changed, row.bounds, limit, f"{row.mark}{needs}")


def _heading(part: Section, screen: Screen) -> list[str]:
    """The title with its outcome, on one line where it fits."""
    lines = screen.paragraph(part.heading, "  ", "")
    end = f": {screen.fit(part.outcome)}"
    if len(lines) > 1 or end not in lines[0]:
        return lines
    title, _, rest = lines[0].rpartition(end)
    return [f"{title}: {screen.paint(end.removeprefix(': '), _OUTCOMES.get(part.outcome, 'wait'))}{rest}"]


def _line(texts: Sequence[str], columns: Sequence[int], gaps: Sequence[int], screen: Screen) -> str:
    signed = [columns[0], *(-width for width in columns[1:5]), *columns[5:]]
    return "  " + _spaced([padded(screen.fit(text), width) for text, width in zip(texts, signed, strict=True)], gaps)


def _spaced(fields: Sequence[str], gaps: Sequence[int]) -> str:
    """The fields on one line, so many blanks after each but the last."""
    return "".join(f"{field}{' ' * gap}" for field, gap in zip(fields, [*gaps, 0], strict=True))


def _row_line(row: ComparisonRow, texts: Sequence[str], columns: Sequence[int], gaps: Sequence[int], screen: Screen) -> str:
    if not row.bounds and row.note and row.change is None:
        return _without_figure(row, texts, columns, gaps, screen)
    signed = [columns[0], *(-width for width in columns[1:5]), *columns[5:]]
    fields = [padded(text, width) for text, width in zip(texts, signed, strict=True)]
    fields[3] = screen.paint(fields[3], row.tone or "dim")
    fields[6] = screen.paint(texts[6], *_mark_styles(row))
    return f"  {_spaced(fields, gaps)}".rstrip()


def _without_figure(row: ComparisonRow, texts: Sequence[str], columns: Sequence[int], gaps: Sequence[int], screen: Screen) -> str:
    """The values that there are, and why there is no change, as far as it fits before limit and mark."""
    values = [padded(texts[0], columns[0]), padded(texts[1], -columns[1]), padded(texts[2], -columns[2])]
    end = [padded(texts[5], columns[5]), screen.paint(texts[6], *_mark_styles(row))]
    room = columns[3] + gaps[3] + columns[4]
    why = screen.clipped(row.note if texts[3] != "∞" else texts[3], room)
    return f"  {_spaced([*values, padded(why, room), *end], [*gaps[:3], *gaps[4:]])}".rstrip()


def _mark_styles(row: ComparisonRow) -> tuple[str, ...]:
    sign = row.mark.strip("()")
    return (_MARKS.get(sign, ""),) if row.decides else ("dim",)


def _stacked(part: Section, screen: Screen) -> list[str]:
    """The section for a narrow screen: each row as a few short lines."""
    lines = _heading(part, screen)
    for row in part.rows:
        texts = _texts(row, beside=True, whole=True)
        lines += screen.paragraph(f"{row.title} {texts[6]}".strip(), "    ", "  ")
        change = row.changed if row.change is not None else row.note or row.changed
        lines += screen.paragraph(f"{row.before} → {row.after}, {change}", "      ", "    ")
        judged = ", ".join(filter(None, (row.bounds, f"limit {texts[5]}" if texts[5] else "")))
        lines += screen.paragraph(judged, "      ", "    ") if judged else []
    return lines + [line for text in part.below for line in screen.paragraph(text, "    ", "  ")]
