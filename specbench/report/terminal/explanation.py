"""The long form of a run in words: every reason in full, the questions that a reader brings, the checks, the notes.

Also the arithmetic of one finding, and what a word means. Figures in a table are `formats/text.py`'s, the entries the glossary's.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from specbench.errors import DataError
from specbench.explain import notes, numbers
from specbench.explain.brief import headline, next_step, table_words
from specbench.explain.check_counts import cap_checks
from specbench.explain.glossary.entry import Entry
from specbench.explain.glossary.lookup import nearest
from specbench.explain.notes import table_remarks
from specbench.explain.reader_questions import ReaderQuestion, reader_questions
from specbench.model import queries
from specbench.model.result import CellResult, Finding, Result
from specbench.report.formats.text import verdict_lines
from specbench.report.terminal.screen import Screen
from specbench.report.view import report_view
from specbench.report.view.comparison_rows import ComparisonRow, cell_rows
from specbench.report.view.fairness import side_by_side
from specbench.report.view.load_tables import load_tables

WORDS = "What a word or a code means: specbench explain WORD. One finding: specbench explain RUN LOAD METRIC."


def explanation(result: Result, screen: Screen) -> str:
    """The verdict, its reasons in full, the questions with their answers, checks, and notes."""
    blocks = [
        verdict_lines(result, screen),
        screen.paragraph(" ".join(filter(None, (next_step.demonstration(result), next_step.action(result))))),
        _listed("Why", [reason.message for reason in result.reasons], screen),
        side_by_side(result),
        *(_listed(title, checks, screen) for title, checks in cap_checks(result)),
        _listed("Slices", [f"{part.name}: {part.verdict}, {part.range}" for part in report_view.slices(result)], screen),
        _listed("Safety and integrity", _run_wide(result), screen),
        _answers(result, screen),
        _listed("Notes", (*notes.notices(result), *table_remarks(result)), screen),
        screen.paragraph(WORDS),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def as_document(result: Result) -> dict[str, Any]:
    """The explanation of a run as values for JSON."""
    return {
        "verdict": result.verdict,
        "found": headline.found(result),
        "action": next_step.action(result),
        "next": next_step.next_command(result),
        "reasons": [asdict(one) for one in result.reasons],
        "answers": [asdict(one) for one in reader_questions(result)],
        "notes": list(notes.notices(result)),
    }


def _listed(title: str, items: Sequence[str], screen: Screen) -> list[str]:
    return [title, *(line for item in items for line in screen.paragraph(item, "    ", "  - "))] if items else []


def _run_wide(result: Result) -> list[str]:
    known = {reason.message for reason in result.reasons}
    shown = [found for found in result.run_findings if found.reason not in known and (found.required or found.state != "NODATA")]
    lines = [f"{table_words.row_label(found.metric)} {found.state}: {found.reason}" for found in shown]
    lines += [
        f"{check.id.replace('_', ' ')} fails: {check.message}"
        for check in queries.integrity(result)
        if check.ok is False and check.message not in known
    ]
    return list(dict.fromkeys(lines))


def _answers(result: Result, screen: Screen) -> list[str]:
    return ["Answers", *(line for found in reader_questions(result) for line in _answer(found, screen))]


def _answer(found: ReaderQuestion, screen: Screen) -> list[str]:
    lines = screen.paragraph(f"{found.question} {found.short}. {found.text}", "    ", "  ")
    lines += [f"      {line}" for line in screen.command(found.command, 6)] if found.command else []
    return lines + [line for point in found.points for line in screen.paragraph(point, "      ", "    - ")]


@dataclass(frozen=True, slots=True)
class _Step:
    label: str
    text: str


def finding_text(result: Result, load: str, metric: str, screen: Screen) -> str:
    """The arithmetic of what was judged of this metric at this load: values, ratio, bounds, limit, p, and what it comes to.

    Raises:
        DataError: the run has no such load, or no such metric there.
    """
    cell = _cell(result, load)
    rows = cell_rows(cell, result.config.success_metric, result.config.alpha)
    named = _named(metric, rows)
    if not named:
        known = ", ".join(dict.fromkeys(row.metric for row in rows))
        hint = nearest(metric, [row.metric for row in rows])
        raise DataError(f"{metric}: {f'did you mean {hint}?' if hint else f'not measured there; known are {known}'}")
    title = next(table.title for table in load_tables(result) if table.id == cell.id)
    blocks = [[screen.fit(f"{title}, {named[0].title}")], *(_arithmetic(row, result, cell, screen) for row in named)]
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _cell(result: Result, load: str) -> CellResult:
    """The load by its id ('c16'), its number ('16', '2.5/s') or its words ('16 streams')."""
    tables = {table.id: table for table in load_tables(result)}
    for cell in result.cells:
        rate = cell.axes.rate
        number = f"{cell.axes.concurrency}" if rate is None else f"{rate:g}/s"
        if load.strip().casefold() in (cell.id.casefold(), number, tables[cell.id].load, tables[cell.id].title.casefold()):
            return cell
    known = ", ".join(cell.id for cell in result.cells) or "none: nothing was measured"
    raise DataError(f"{load}: no such load in this run; known are {known}")


def _named(metric: str, rows: Sequence[ComparisonRow]) -> list[ComparisonRow]:
    word = metric.strip().casefold()
    named = [row for row in rows if word in (row.metric, row.label.casefold(), row.title.casefold())]
    return named or [row for row in rows if row.metric.startswith(f"{word}_p")]


def _arithmetic(row: ComparisonRow, result: Result, cell: CellResult, screen: Screen) -> list[str]:
    found, compared = row.finding, row.comparison
    steps = [_Step("baseline", row.before), _Step("speculative", row.after)]
    if compared is not None:
        steps += [
            _Step("samples", f"{compared.n.baseline:,} and {compared.n.speculative:,}"),
            _Step("pairs", f"{compared.n_blocks} of {cell.pairs_planned}"),
            _Step("ratio", numbers.ratio(compared.ratio)),
            _Step("method", compared.method),
        ]
        if compared.se_log is not None and compared.df is not None:
            steps.append(_Step("log ratio", f"standard error {compared.se_log:.3g}, t with {compared.df:.3g} degrees of freedom"))
    alpha = numbers.percent(1 - result.config.alpha)
    steps += [_Step("change", row.changed), _Step(f"{alpha} bounds", row.bounds or row.note or "none")]
    if compared is not None and compared.ci_low is not None:
        steps.append(_Step(f"{numbers.percent(compared.ci_level)} interval", _interval(compared.ci_low, compared.ci_high)))
    if found is not None:
        steps += _judged(row, found)
    width = max(len(step.label) for step in steps) + 2
    lines = [
        line for step in steps for line in screen.paragraph(step.text, " " * (width + 2), f"  {step.label:<{width}}") if step.text
    ]
    return [*lines, *screen.paragraph(found.reason if found is not None else row.note, "  ", "  ")]


def _interval(low: float, high: float | None) -> str:
    return table_words.interval(low - 1, None if high is None else high - 1)


def _judged(row: ComparisonRow, found: Finding) -> list[_Step]:
    role = "reported only" if not row.decides else "the gain" if found.role == "success" else f"decides ({found.role})"
    bound = "" if row.limit is None else f", here {table_words.change(row.limit)}"
    steps = [_Step("role", role), _Step("limit", f"{row.limit_text}{bound}"), _Step("state", f"{row.mark} {found.state}")]
    if found.p_harm is not None:
        steps.append(_Step("p of harm", f"{found.p_harm:.3g}"))
    if found.p_harm_adjusted is not None:
        steps.append(_Step("p after Holm", f"{found.p_harm_adjusted:.3g}"))
    if found.supported_margin is not None and found.state != "PASS":
        steps.append(_Step("limit that passes", numbers.percent(found.supported_margin)))
    if found.detectable is not None:
        steps.append(_Step("detectable", numbers.percent(found.detectable)))
    if row.pairs_needed is not None:
        steps.append(_Step("pairs needed", f"{row.pairs_needed}"))
    if found.notes:
        steps.append(_Step("notes", ", ".join(found.notes)))
    return steps


def reasons_of(result: Result, word: str, screen: Screen) -> str:
    """What this run says under that code, check or metric: its reasons, checks and findings; '' where it says nothing."""
    key = word.strip().casefold().replace(" ", "_").replace("-", "_")
    reasons = [reason.message for reason in result.reasons if key in (reason.code, reason.metric)]
    checks = [check.message for check in queries.integrity(result) if check.id == key]
    found = [f"{one.state}: {one.reason}" for one in queries.findings(result) if one.metric == key]
    return "".join(f"{line}\n" for line in _listed("In this run", list(dict.fromkeys((*reasons, *checks, *found))), screen))


def entry_text(entries: Sequence[Entry], screen: Screen) -> str:
    """Each entry: its name with its kind and title, what it means, what to do; '' without entries."""
    return "\n".join("".join(f"{line}\n" for line in _entry_lines(entry, screen)) for entry in entries)


def _entry_lines(entry: Entry, screen: Screen) -> list[str]:
    title = f": {entry.title}" if entry.title.casefold() != entry.name.replace("_", " ").casefold() else ""
    lines = screen.paragraph(f"{entry.name} ({entry.kind}){title}", "    ", "")
    lines[0] = lines[0].replace(entry.name, screen.paint(entry.name, "bold"), 1)
    lines += screen.paragraph(entry.text, "  ")
    return lines + (screen.paragraph(f"Fix: {entry.fix}", "  ") if entry.fix else [])
