"""A Result as a page shows it: `ReportView`, strings and numbers to draw. No layout lives here, and no template computes.

Every output for people is made from this value or from the rows that it is made of.
"""

from dataclasses import dataclass
from shlex import quote

from specbench.analysis.theory import limiting_factors
from specbench.explain import costs, labels, notes, numbers, verdict
from specbench.explain.load_ranges import range_words
from specbench.explain.notes import limiting_factor, table_remarks
from specbench.explain.reader_questions import ReaderQuestion, confirmation, reader_questions
from specbench.model import queries
from specbench.model.result import Result
from specbench.report.view import rows
from specbench.report.view.cells import CellFact, CellView, cell_view
from specbench.report.view.curves import Curve, LoadRow, curves, load_rows
from specbench.report.view.engine_truth import overruns
from specbench.report.view.fairness import FairnessRow, fairness, speculation
from specbench.report.view.heatmap import HeatMap, heat_map

FIRST_REASONS = 3  # what a tired reader takes in; the others wait behind one key


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
    verdict: str
    tone: str
    headline: str
    demonstration: str
    exit_code: int
    tool: str
    facts: tuple[CellFact, ...]
    notices: tuple[str, ...]
    reasons: tuple[ReasonView, ...]
    more_reasons: tuple[ReasonView, ...]
    more_title: str
    answers: tuple[ReaderQuestion, ...]
    slices: tuple[SliceView, ...]
    heat: HeatMap
    curves: tuple[tuple[Curve, ...], ...]
    load_table: tuple[LoadRow, ...]
    remarks: tuple[str, ...]
    obstacles: tuple[LimitingFactorView, ...]
    cells: tuple[CellView, ...]
    run_findings: tuple[rows.FindingRow, ...]
    checks: tuple[rows.CheckRow, ...]
    overruns: tuple[CellFact, ...]
    prices: tuple[rows.Pair, ...]
    fairness: tuple[FairnessRow, ...]
    reproduce: tuple[str, ...]
    glossary: tuple[tuple[str, str], ...]


def view_of(result: Result) -> ReportView:
    """The result as a reader sees it."""
    cells = tuple(cell_view(cell, index) for index, cell in enumerate(result.cells))
    by_id = {cell.id: cell for cell in cells}
    reasons = _reasons(result, by_id)
    name, drawn = labels.VERDICTS[result.verdict], curves(result)
    return ReportView(
        title=result.run.name,
        verdict=result.verdict,
        tone=name.tone,
        headline=verdict.headline(result),
        demonstration=notes.demonstration(result),
        exit_code=result.exit_code,
        tool=f"{result.tool_name} {result.tool_version}",
        facts=_facts(result),
        notices=notes.notices(result),
        reasons=reasons[:FIRST_REASONS],
        more_reasons=reasons[FIRST_REASONS:],
        more_title=numbers.one_of(len(reasons[FIRST_REASONS:]), "more reason"),
        answers=reader_questions(result),
        slices=slices(result),
        heat=heat_map(cells),
        curves=drawn,
        load_table=tuple(row for group in drawn for curve in group for row in load_rows(curve)),
        remarks=table_remarks(result),
        obstacles=tuple(
            LimitingFactorView(*limiting_factor(one.code, one.figures), by_id[one.cell].anchor, by_id[one.cell].label)
            for one in limiting_factors(result)
        ),
        cells=cells,
        run_findings=tuple(rows.finding_row(found, number=number) for found, number in queries.numbered(result.run_findings)),
        checks=tuple(rows.check_row(found) for found in result.integrity),
        overruns=tuple(
            CellFact(view.label, late) for view, cell in zip(cells, result.cells, strict=True) if (late := overruns(cell))
        ),
        prices=_prices(result),
        fairness=fairness(result.endpoints, result.config.accept_differences),
        reproduce=_reproduce(result),
        glossary=labels.GLOSSARY,
    )


def _facts(result: Result) -> tuple[CellFact, ...]:
    spec = result.endpoints.speculative
    marks = ", ".join(f"{key}={value}" for key, value in sorted(result.run.labels.items()))
    pairs = numbers.one_of(result.config.pairs, "pair")
    shown = (
        ("Model", spec.model),
        ("Design", numbers.design(result.config.design)),
        ("Speculation", speculation(spec) or labels.NOT_TOLD),
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
