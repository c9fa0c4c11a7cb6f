"""The report as Markdown: a CI job's summary, and a pull-request comment that fits its limit. No other format lives here.

GitHub cuts a step summary at 1 MiB and a comment at 65,536 characters; both are kept, long tables lose their last rows first.
"""

from collections.abc import Iterable, Sequence

from specbench.explain import numbers
from specbench.explain.brief import headline, next_step, table_words
from specbench.explain.brief.table_words import NONE
from specbench.explain.notes import notices
from specbench.model.result import Result
from specbench.report.view.comparison_rows import ComparisonRow
from specbench.report.view.deciding_rows import deciding_rows
from specbench.report.view.first_screen import first_screen
from specbench.report.view.load_tables import LoadTable, load_tables

SUMMARY_LIMIT = 1_000_000  # bytes; 1 MiB is refused as a whole, so a little below
COMMENT_LIMIT = 65_000  # characters of at most 4 bytes each are counted as bytes, which is on the safe side
FIRST_REASONS = 3  # that stand unfolded where there is no table
SUMMARY_ROWS = 24  # of all loads that a summary shows unfolded
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "@\u200b"} | {mark: "\\" + mark for mark in "\\`*_[]|~#"})
_HEAD = "| load | metric | baseline | spec. | change ({} bounds) | limit | |\n|---|---|---:|---:|---:|---|---|"


def markdown(result: Result) -> str:
    """The summary of a CI job, below GitHub's limit of 1 MiB: at most 40 lines unfolded."""
    tables = load_tables(result)
    shown = [(table, row) for table in tables for row in table.rows if _is_common(row)]
    return _fitted(
        _sections(result, tables, shown if len(shown) <= SUMMARY_ROWS else deciding_rows(result, tables)), SUMMARY_LIMIT
    )


def comment(result: Result) -> str:
    """The same as a pull-request comment: at most 15 lines unfolded, after a hidden mark by which the next run replaces it."""
    mark = f"<!-- specbench {''.join(one for one in result.run.name if one.isalnum() or one in '-_.')} -->\n"
    tables = load_tables(result)
    return mark + _fitted(_sections(result, tables, deciding_rows(result, tables)), COMMENT_LIMIT - len(mark))


def literal(text: str) -> str:
    """The text so that Markdown shows it as it is: no markup, no HTML, no mention of anybody, no line break."""
    return numbers.plain(text).translate(_ENTITIES)


def numbers_table(tables: Sequence[LoadTable], alpha: float) -> str:
    """The rows that every report shows, of all loads, as one Markdown table."""
    return "\n".join(_table(((table, row) for table in tables for row in table.rows if _is_common(row)), alpha)) + "\n"


def _is_common(row: ComparisonRow) -> bool:
    return row.always_shown or row.decides


def _table(found: Iterable[tuple[LoadTable, ComparisonRow]], alpha: float) -> list[str]:
    known = [(table, row) for table, row in found if row.before != NONE or row.after != NONE or row.decides]
    return [*_HEAD.format(numbers.percent(1 - alpha)).split("\n"), *(_line(table, row) for table, row in known)]


def _line(table: LoadTable, row: ComparisonRow) -> str:
    changed = f"{row.changed} ({row.bounds.replace(' %', '')})" if row.bounds else row.changed
    needs = table_words.needs(row.pairs_needed, row.decides)
    fields = (table.title, row.title, row.before, row.after, changed, row.limit_beside, f"{row.mark}{needs}")
    load, metric, before, after, *rest = map(literal, fields)
    return f"| {' | '.join([load, metric, before, f'**{after}**', *rest])} |"


def _sections(result: Result, tables: Sequence[LoadTable], shown: Sequence[tuple[LoadTable, ComparisonRow]]) -> list[list[str]]:
    first = first_screen(result, tables)
    own = f" On your servers: <code>{literal(first.own_command)}</code>." if first.own_command else ""
    demonstration = f"{literal(first.demonstration)}{own}<br>" if first.demonstration else ""
    partial = f"{literal(next_step.PARTIAL)} " if result.run.partial else ""
    every, alpha = [(table, row) for table in tables for row in table.rows], result.config.alpha
    needs = any(table_words.needs(row.pairs_needed, row.decides) for _, row in shown)
    marks = table_words.legend({row.mark for _, row in shown}, result.config.pairs, needs)
    legend = [f"{marks}."] if marks else []
    reasons = [f"- {literal(one.message)}" for one in result.reasons]
    title = f"### {result.verdict} · {literal(result.run.name)}: {literal(headline.found(result))}"
    sections = [
        [title],
        [f"> {partial}{demonstration}{literal(first.advice)}"],
        _table(shown, alpha) if shown else reasons[:FIRST_REASONS],
        [literal(" ".join([*legend, *first.sure]))],
        [f"Next: <code>{literal(first.command)}</code>"] if first.command else [],
        _folded(f"Reasons ({len(reasons)})", reasons),
        _folded("All loads and metrics", _table(every, alpha) if every else []),
        _folded("Notes", [f"- {literal(notice)}" for notice in notices(result)]),
        [f"<sub>{literal(f'run {result.run.id}, profile {result.run.profile}; the HTML report has every figure')}</sub>"],
    ]
    return [section for section in sections if section]


def _folded(title: str, lines: Sequence[str]) -> list[str]:
    return [f"<details><summary>{title}</summary>", "", *lines, "", "</details>"] if lines else []


def _fitted(sections: Sequence[Sequence[str]], room: int) -> str:
    """The sections in order, each with as many of its lines as leave room for what must follow."""
    cut = "… and {} more; the HTML report has them all."
    used = 0
    made: list[str] = []
    for section in sections:
        kept: list[str] = []
        folded = section[-1] == "</details>"
        for position, line in enumerate([*section, ""]):
            size = len(line.encode()) + 1
            if used + size > room - 400:  # room for a cut mark, its fold and the last line
                if kept:
                    kept += ["", cut.format(len(section) - position), *(["", "</details>"] if folded else []), ""]
                break
            kept.append(line)
            used += size
        made += kept
    return "\n".join(made).rstrip() + "\n"
