"""A Result as a page shows it: `ReportView`, strings and numbers to draw. No layout lives here, and no template computes.

Every output for people is made from this value or from the rows that it is made of.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from shlex import quote

from specbench.analysis.theory import limiting_factors
from specbench.explain import costs, labels, notes, numbers
from specbench.explain.brief import table_words
from specbench.explain.glossary.term_entries import STATES, VERDICTS, WORDS
from specbench.explain.notes import limiting_factor
from specbench.explain.reader_questions import confirmation, whole_verdicts
from specbench.explain.rules.load_ranges import range_words
from specbench.model import queries
from specbench.model.result import Result
from specbench.report.view import rows
from specbench.report.view.answers_view import AnswersView, answers_view
from specbench.report.view.cells import CellFact, CellView, cell_view
from specbench.report.view.comparison_rows import ComparisonRow, run_rows
from specbench.report.view.curves import Curve, curves
from specbench.report.view.engine_truth import overruns
from specbench.report.view.fairness import speculation
from specbench.report.view.first_screen import FirstScreen, first_screen
from specbench.report.view.load_groups import LoadGroup, load_groups
from specbench.report.view.load_tables import LoadTable, load_tables
from specbench.report.view.trust import TrustView, trust_view


@dataclass(frozen=True, slots=True)
class ReasonView:
    """One sentence of the verdict and the anchor of the cell that it is about ('' for none)."""

    message: str
    anchor: str
    place: str


@dataclass(frozen=True, slots=True)
class LimitingFactorView:
    """One thing that held speculation back, with the anchor of its cell."""

    title: str
    evidence: str
    anchor: str
    place: str


@dataclass(frozen=True, slots=True)
class SliceView:
    """The verdict of one slice."""

    name: str
    verdict: str
    tone: str
    range: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportView:
    """Everything that a report shows, in its order."""

    title: str
    about: tuple[str, ...]
    legend: str
    first: FirstScreen
    partial: str
    exit_code: int
    tool: str
    reasons: tuple[ReasonView, ...]
    groups: tuple[LoadGroup, ...]
    anchors: dict[str, str]
    slices: tuple[SliceView, ...]
    prices: tuple[rows.Pair, ...]
    theory: tuple[Curve, ...]
    obstacles: tuple[LimitingFactorView, ...]
    cells: tuple[CellView, ...]
    run_rows: tuple[ComparisonRow, ...]
    answers: AnswersView | None
    trust: TrustView
    overruns: tuple[CellFact, ...]
    calibrated: str
    notices: tuple[str, ...]
    facts: tuple[CellFact, ...]
    reproduce: tuple[str, ...]
    glossary: tuple[tuple[str, str], ...]


def view_of(result: Result) -> ReportView:
    """The result as a reader sees it."""
    tables = load_tables(result)
    cells = tuple(cell_view(cell, table, index) for index, (cell, table) in enumerate(zip(result.cells, tables, strict=True)))
    by_id = {cell.id: cell for cell in cells}
    return ReportView(
        title=result.run.name,
        about=_about(result),
        legend=_legend(result, tables),
        first=first_screen(result, tables),
        partial=notes.PARTIAL if result.run.partial else "",
        exit_code=result.exit_code,
        tool=f"{result.tool_name} {result.tool_version}",
        reasons=_reasons(result, by_id),
        groups=load_groups(result, tables),
        anchors={cell.id: cell.anchor for cell in cells},
        slices=slices(result),
        prices=_prices(result),
        theory=tuple(curve for curve in curves(result) if any(point.theory is not None for point in curve.points)),
        obstacles=tuple(
            LimitingFactorView(*limiting_factor(one.code, one.figures), by_id[one.cell].anchor, by_id[one.cell].label)
            for one in limiting_factors(result)
        ),
        cells=cells,
        run_rows=run_rows(result),
        answers=answers_view(result),
        trust=trust_view(result, {cell.id: cell.label for cell in cells}),
        overruns=tuple(
            CellFact(view.label, late) for view, cell in zip(cells, result.cells, strict=True) if (late := overruns(cell))
        ),
        calibrated=whole_verdicts(result.verdict) if result.verdict != "INVALID" else "",
        notices=notes.notices(result),
        facts=_facts(result),
        reproduce=_reproduce(result),
        glossary=tuple((entry.title, entry.text) for entry in (*WORDS, *STATES, *VERDICTS)),
    )


def _about(result: Result) -> tuple[str, ...]:
    """Which run this is, in short parts: profile, pairs, design, when."""
    run = result.run
    design = numbers.design(result.config.design)
    parts = (run.profile, f"{numbers.one_of(result.config.pairs, 'pair')} a load", design, _moment(run.started))
    return tuple(part for part in parts if part)


def _legend(result: Result, tables: Sequence[LoadTable]) -> str:
    """What the marks of the tables mean."""
    marks = {row.mark for table in tables for row in table.rows}
    return table_words.legend(marks, result.config.pairs, counted=False)


def _moment(text: str) -> str:
    try:
        return f"{datetime.fromisoformat(text):%Y-%m-%d %H:%M} UTC"
    except ValueError:
        return text


def _facts(result: Result) -> tuple[CellFact, ...]:
    spec = result.endpoints.speculative
    marks = ", ".join(f"{key}={value}" for key, value in sorted(result.run.labels.items()))
    pairs = numbers.one_of(result.config.pairs, "pair")
    shown = (
        ("Model", spec.model),
        ("Design", numbers.design(result.config.design)),
        ("Speculation", speculation(spec) or labels.NOT_REPORTED),
        ("Engine", f"{spec.engine} {spec.engine_version or ''}".strip()),
        ("Profile", f"{result.run.profile}: {pairs} a cell, schedule {result.config.schedule}"),
        ("Run", result.run.id),
        ("Started", result.run.started),
        ("Finished", result.run.finished or "did not finish"),
        ("Scenario", _hashes(result)),
        ("Labels", marks),
    )
    return tuple(CellFact(label, text) for label, text in shown if text)


def _hashes(result: Result) -> str:
    """The sha256 of the scenario's file and of the scenario as it was run, by which two runs are told apart."""
    resolved = result.config.resolved_sha256
    return f"sha256 of the file {result.config.sha256[:12]}" + (f", as it was run {resolved[:12]}" if resolved else "")


def _reasons(result: Result, cells: dict[str, CellView]) -> tuple[ReasonView, ...]:
    return tuple(
        ReasonView(
            message=reason.message,
            anchor=cells[reason.cell].anchor if reason.cell in cells else "",
            place=cells[reason.cell].label if reason.cell in cells else reason.cell or "",
        )
        for reason in result.reasons
    )


def slices(result: Result) -> tuple[SliceView, ...]:
    """The slices that have a verdict of their own."""
    return tuple(
        SliceView(
            name=numbers.slice_words(found),
            verdict=found.verdict,
            tone=labels.VERDICTS[found.verdict].tone,
            range=range_words(queries.ranges(found)),
            reasons=tuple(reason.message for reason in found.reasons),
        )
        for found in result.slices
    )


def _prices(result: Result) -> tuple[rows.Pair, ...]:
    """Cost per million output tokens of each cell, where the run's labels hold a price."""
    if None in costs.prices(result.run.labels).values():
        return ()
    found = [costs.cell_cost(cell, result.run.labels) for cell in result.cells]
    return tuple(rows.Pair(one.load, numbers.number(one.baseline), numbers.number(one.speculative)) for one in found)


def _reproduce(result: Result) -> tuple[str, ...]:
    scenario = quote(result.run.scenario or f"{result.run.name}.yaml")
    confirm = confirmation(result)
    design = "" if result.config.design == "plain" else f" --{result.config.design}"
    flags = "".join(f" {quote(word)}" for word in result.run.flags)
    return (
        f"specbench run {scenario}{design} --profile {quote(result.run.profile)}{flags} --set seed={result.run.seed}",
        "specbench analyze RUN   # this run's folder: its facts judged again",
        "specbench gate RUN",
        *((f"{confirm}   # confirms the cap",) if confirm else ()),
    )
