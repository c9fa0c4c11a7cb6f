"""The report as Markdown: a CI job's summary, and a pull-request comment that fits its limit. No other format lives here.

GitHub cuts a step summary at 1 MiB and a comment at 65,536 characters; both are kept, long tables lose their last rows first.
"""

from collections.abc import Sequence

from specbench.explain import labels, notes, numbers, verdict
from specbench.explain.check_counts import cap_checks, place_words
from specbench.explain.findings import limit
from specbench.explain.notes import ACCEPTED, table_remarks
from specbench.explain.reader_questions import ReaderQuestion, reader_questions
from specbench.model import queries
from specbench.model.result import CellResult, Finding, Result
from specbench.report.view.comparison_rows import ComparisonRow, LoadTable
from specbench.report.view.rows import ratio

SUMMARY_LIMIT = 1_000_000  # bytes; 1 MiB is refused as a whole, so a little below
COMMENT_LIMIT = 65_000  # characters of at most 4 bytes each are counted as bytes, which is on the safe side
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "@\u200b"} | {mark: "\\" + mark for mark in "\\`*_[]|~#"})


def markdown(result: Result) -> str:
    """The summary of a CI job, below GitHub's limit of 1 MiB."""
    return _report(result, SUMMARY_LIMIT)


def comment(result: Result) -> str:
    """The same as a pull-request comment, headed by a hidden mark by which the next run finds and replaces it."""
    mark = f"<!-- specbench {''.join(one for one in result.run.name if one.isalnum() or one in '-_.')} -->\n"
    return mark + _report(result, COMMENT_LIMIT - len(mark))


def literal(text: str) -> str:
    """The text so that Markdown shows it as it is: no markup, no HTML, no mention of anybody, no line break."""
    return numbers.plain(text).translate(_ENTITIES)


def numbers_table(tables: Sequence[LoadTable]) -> str:
    """Every row of the short tables of all loads as one Markdown table."""
    lines = [_row(["load", "metric", "baseline", "spec.", "change (95 % bounds)", "limit", ""]), "|---|---|---:|---:|---:|---|---|"]
    lines += [row_line(table, row) for table in tables for row in table.rows if row.always_shown or row.decides]
    return "\n".join(lines) + "\n"


def row_line(table: LoadTable, row: ComparisonRow) -> str:
    """One row of such a table."""
    changed = f"{row.changed} ({row.bounds.replace(' %', '')})" if row.bounds else row.changed
    return _row([literal(one) for one in (table.title, row.title, row.before)] + [f"**{literal(row.after)}**"] + [literal(one) for one in (changed, row.limit_text, row.mark)])


def _report(result: Result, room: int) -> str:
    sections = [
        [f"## specbench: {result.verdict}", "", f"**{literal(verdict.headline(result))}**", *_demonstration(result)],
        [f"- {literal(found.message)}" for found in result.reasons],
        [f"> {literal(notice)}  " for notice in notes.notices(result)],
        [
            "| | | |",
            "|---|---|---|",
            *(_answer(one) for one in reader_questions(result)),
        ],
        _cells(result),
        _cap_checks(result),
        _open_findings(result),
        [
            "<details><summary>Words</summary>",
            "",
            *(f"- **{term}**: {literal(meaning)}" for term, meaning in labels.GLOSSARY),
            "",
            "</details>",
        ],
        [f"<sub>{literal(f'{result.run.name}, run {result.run.id}, profile {result.run.profile}')}</sub>"],
    ]
    return _fitted([section for section in sections if section], room)


def _demonstration(result: Result) -> list[str]:
    said = notes.demonstration(result)
    return ["", f"**{literal(said)}**"] if said else []


def _cap_checks(result: Result) -> list[str]:
    return [
        line
        for title, checks in cap_checks(result)
        for line in (f"{literal(title)}", "", *(f"- {literal(one)}" for one in checks), "")
    ][:-1]


def _answer(found: ReaderQuestion) -> str:
    command = f"<br><code>{literal(found.command)}</code>" if found.command else ""
    points = "".join(f"<br>• {literal(point)}" for point in found.points)
    return f"| {found.question} | **{literal(found.short)}** | {literal(found.text)}{command}{points} |"


def _fitted(sections: Sequence[Sequence[str]], room: int) -> str:
    """The sections in order, each with as many of its lines as leave room for what must follow."""
    cut = "… and {} more; the HTML report has them all."
    used = 0
    made: list[str] = []
    for section in sections:
        kept: list[str] = []
        for position, line in enumerate([*section, ""]):
            size = len(line.encode()) + 1
            if used + size > room - 400:  # room for a cut mark and the last line
                kept += ["", cut.format(len(section) - position), ""] if kept else []
                break
            kept.append(line)
            used += size
        made += kept
    return "\n".join(made).rstrip() + "\n"


def _cells(result: Result) -> list[str]:
    if not result.cells:
        return ["No cell was measured."]
    success = result.config.success_metric
    shown = [success, *queries.side_metrics(result)]
    head = ["cell", *(labels.metric(metric) for metric in shown), "accept", "state"]
    rows = [
        _row(
            [
                _name(cell),
                *(_ratio(cell, metric) for metric in shown),
                _accepted(cell),
                f"{labels.GLYPHS[cell.state]} {cell.state}",
            ]
        )
        for cell in result.cells
    ]
    legend = " ".join(("Speculative ÷ baseline; below 1 is better, for TPS above 1.", ACCEPTED, *table_remarks(result)))
    return [legend, "", _row(head), _row(["---"] * len(head)), *rows]


def _row(fields: Sequence[str]) -> str:
    return f"| {' | '.join(fields)} |"


def _name(cell: CellResult) -> str:
    part = numbers.slice_name(cell.axes)
    return literal(f"{numbers.load(cell.axes)}{f' · {part}' if part else ''}{' (primary)' if queries.must_show(cell) else ''}")


def _ratio(cell: CellResult, metric: str) -> str:
    found = queries.comparison(cell, metric)
    why = literal(found.reason) if found is not None and found.reason else ""
    beside = why or (numbers.dash(found.ci_low, found.ci_high) if found is not None else "")
    return f"{ratio(found)} ({beside})" if beside else ratio(found)


def _accepted(cell: CellResult) -> str:
    found = cell.acceptance
    return numbers.ratio(found.length) if found.length is not None else f"{numbers.ABSENT} ({literal(found.reason or '')})"


def _open_findings(result: Result) -> list[str]:
    """Every required finding that did not pass, as a table; nothing where all did."""
    places = {cell.id: (cell, _name(cell) + place_words(result, cell)) for cell in result.cells}
    found = [one for one in queries.findings(result) if one.required and one.state != "PASS"]
    if not found:
        return []
    head = [_row(["where", "guardrail", "state", "allowed", "why"]), _row(["---"] * 5)]
    return ["Not passed:", "", *head, *(_finding(one, places.get(one.cell or "")) for one in found)]


def _finding(found: Finding, place: tuple[CellResult, str] | None) -> str:
    where, unit = ("the run", "") if place is None else (place[1], queries.unit(place[0], found.metric))
    state = f"{labels.GLYPHS[found.state]} {found.state}"
    return _row([where, labels.metric(found.metric), state, literal(limit(found, unit)), literal(found.reason)])
