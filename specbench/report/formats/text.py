"""The report for a terminal or a CI log: 80 columns, verdict first. No colour and no other format lives here."""

import re
from collections.abc import Sequence
from textwrap import wrap

from rich.cells import cell_len

from specbench.credentials import printable
from specbench.explain import labels, notes, numbers, verdict
from specbench.explain.absences import NO_REASON
from specbench.explain.check_counts import cap_checks
from specbench.explain.notes import ACCEPTED, table_remarks
from specbench.explain.reader_questions import ReaderQuestion, reader_questions
from specbench.model import queries
from specbench.model.result import CellResult, Finding, Result
from specbench.report.view import report_view
from specbench.report.view.fairness import side_by_side, speculation
from specbench.report.view.rows import ratio

WIDTH = 80
COMMAND_WIDTH = 68
COLUMNS = {"Acceptance length": "accept"}  # what a word is called at the head of a column
SHORT = {"output_tps": "TPS"}
COMMAND_HEAD = re.compile(r"(?<!\S)::")  # at the head of a line GitHub would take it for a command


def text(result: Result) -> str:
    """The verdict, its reasons, a table of cells, and what else a decision needs; every line fits 80 columns."""
    blocks = [
        _paragraph(f"{result.verdict}: {verdict.headline(result)}."),
        _paragraph(notes.demonstration(result)),
        _run_line(result),
        _listed("Why", [reason.message for reason in result.reasons]),
        side_by_side(result),
        _cells(result),
        *(_listed(title, checks) for title, checks in cap_checks(result)),
        _slices(result),
        _run_wide(result),
        _answers(result),
        _listed("Notes", notes.notices(result)),
    ]
    blocks.append(_words([line for block in blocks for line in block]))
    return printable("\n\n".join("\n".join(block) for block in blocks if block) + "\n")


def _paragraph(content: str, indent: str = "", first: str | None = None) -> list[str]:
    whole = COMMAND_HEAD.sub(": :", numbers.plain(content))  # before the line is broken, as it is then a little longer
    whole = whole.replace(" %", "\u00a0%")  # no percent sign alone at the head of a line
    lines = wrap(whole, WIDTH, initial_indent=indent if first is None else first, subsequent_indent=indent)
    return [line.replace("\u00a0", " ") for line in lines]


def _listed(title: str, items: Sequence[str]) -> list[str]:
    return [title, *(line for item in items for line in _paragraph(item, "    ", "  - "))] if items else []


def _run_line(result: Result) -> list[str]:
    run, spec = result.run, result.endpoints.speculative
    partial = ", PARTIAL" if run.partial else ""
    design = f", {numbers.design(result.config.design)}" if result.config.design != "plain" else ""
    setup = f"{run.name} ({run.profile}, {numbers.one_of(result.config.pairs, 'pair')}{design}{partial}), run {run.id}"
    return _paragraph(f"{setup}: model {spec.model}, engine {spec.engine}; speculation: {speculation(spec) or labels.NOT_TOLD}")


def _cells(result: Result) -> list[str]:
    if not result.cells:
        return ["No cell was measured."]
    success = result.config.success_metric
    side = queries.side_metrics(result)
    closed = all(cell.axes.rate is None for cell in result.cells)
    head = [
        "streams" if closed else "load",
        labels.metric(success),
        *(SHORT.get(metric, labels.metric(metric)) for metric in side),
        "accept",
        "state",
    ]
    table = _aligned([head, *(_cell_row(cell, success, side) for cell in result.cells)])
    lines = ["Cells: speculative ÷ baseline; below 1 is better, for TPS above 1", table[0]]
    part = ""
    for cell, line in zip(result.cells, table[1:], strict=True):
        if numbers.slice_name(cell.axes) != part:
            part = numbers.slice_name(cell.axes)
            lines += _paragraph(part, "  ")
        lines.append(line)
    lines += ["  * the primary cell, which must show the benefit"] if queries.primary(result) else []
    lines += [line for remark in (ACCEPTED, *table_remarks(result)) for line in _paragraph(remark, "  ")]
    return lines + _absences(result, [success, *side])


def _cell_row(cell: CellResult, success: str, side: Sequence[str]) -> list[str]:
    main = queries.comparison(cell, success)
    span = f" ({numbers.dash(main.ci_low, main.ci_high)})" if main is not None and main.ci_low is not None else ""
    found = [queries.comparison(cell, metric) for metric in side]
    load = f"{cell.axes.rate:g}/s" if cell.axes.rate is not None else f"{cell.axes.concurrency}"
    return [
        f"{load}{' *' if queries.must_show(cell) else ''}",
        ratio(main) + span,
        *(ratio(one) for one in found),
        numbers.ratio(cell.acceptance.length),
        cell.state if cell.required else f"({cell.state})",
    ]


def _absences(result: Result, metrics: Sequence[str]) -> list[str]:
    """Why a figure of the table is not there, each reason once."""
    said: dict[str, list[str]] = {}
    for cell in result.cells:
        for found in (queries.comparison(cell, metric) for metric in metrics):
            if found is not None and found.ratio is None:
                said.setdefault(f"{labels.metric(found.metric)}: {found.reason or NO_REASON}", []).append(numbers.load(cell.axes))
        if cell.acceptance.length is None:
            said.setdefault(f"acceptance: {cell.acceptance.reason or NO_REASON}", []).append(numbers.load(cell.axes))
    return [
        line
        for reason, loads in said.items()
        for line in _paragraph(f"no figure at {', '.join(dict.fromkeys(loads))}, {reason}", "    ", "  ")
    ]


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """The rows as columns, the first one aligned left."""
    first, *others = (max(map(cell_len, column)) for column in zip(*rows, strict=True))
    return numbers.columns(rows, [first, *(-width for width in others)], gap="  ")


def _slices(result: Result) -> list[str]:
    return _listed("Slices", [f"{found.name}: {found.verdict}, {found.range}" for found in report_view.slices(result)])


def _run_wide(result: Result) -> list[str]:
    told = {reason.message for reason in result.reasons}
    shown = [found for found in result.run_findings if found.reason not in told and (found.required or found.state != "NODATA")]
    said = [_finding(found) for found in shown]
    said += [
        f"{check.id.replace('_', ' ')} fails: {check.message}"
        for check in queries.integrity(result)
        if check.ok is False and check.message not in told
    ]
    return _listed("Safety and integrity", list(dict.fromkeys(said)))


def _finding(found: Finding) -> str:
    return f"{labels.metric(found.metric)} {found.state}: {found.reason}"


def _answers(result: Result) -> list[str]:
    return ["Answers", *(line for found in reader_questions(result) for line in _answer(found))]


def _answer(found: ReaderQuestion) -> list[str]:
    lines = _paragraph(f"{found.question} {found.short}. {found.text}", "    ", "  ")
    lines += [f"      {line}" for line in _command(found.command)] if found.command else []
    return lines + [line for point in found.points for line in _paragraph(point, "      ", "    - ")]


def _command(command: str) -> list[str]:
    """The command as a shell takes it, continued where an option would pass the margin."""
    first, *options = numbers.plain(command).split(" --")
    lines = [first]
    for option in options:
        if len(lines[-1]) + len(option) + 3 > COMMAND_WIDTH:
            lines[-1] += " \\"
            lines.append(f"  --{option}")
        else:
            lines[-1] += f" --{option}"
    return lines


def _words(content: Sequence[str]) -> list[str]:
    """What the report's own words mean: those of the glossary, and the states, that stand in it."""
    words = (*labels.GLOSSARY, *labels.STATES.items())
    text = " ".join(content)
    text += " ".join(meaning for term, meaning in words if _used(term, text))
    used = [(term, meaning) for term, meaning in words if _used(term, text)]
    return _listed("Words", [f"{term}: {meaning}" for term, meaning in used])


def _used(term: str, text: str) -> bool:
    """Whether one of the words stands in the text, one or many; words in capitals are themselves only in capitals."""
    flags = re.NOFLAG if term.isupper() else re.IGNORECASE
    words = "|".join(re.escape(COLUMNS.get(one, one)) for one in term.split(", "))
    return re.search(rf"(?<!\w)({words})s?(?!\w)", text, flags) is not None
