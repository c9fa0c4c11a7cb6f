"""One cell as a reader sees it: `CellView` and how it comes from a `CellResult`. No layout and no other cell is known here."""

from dataclasses import dataclass

from specbench.analysis.theory import predicted_ratio
from specbench.explain import labels, notes, numbers
from specbench.explain.absences import NO_REASON
from specbench.explain.brief import table_words
from specbench.explain.brief.table_words import NONE
from specbench.model import queries
from specbench.model.result import AcceptanceSummary, CellResult, Comparison, Factors, OtherDepth
from specbench.model.shown import BlockSample, Distribution, Timeline
from specbench.report.view import rows
from specbench.report.view.comparison_rows import ComparisonRow
from specbench.report.view.engine_truth import TruthRow, truth_rows
from specbench.report.view.load_groups import IntervalBar, definition_of, interval_bar
from specbench.report.view.load_tables import LoadTable
from specbench.report.view.rows import QuantileTable, quantile_tables


@dataclass(frozen=True, slots=True)
class Position:
    """Acceptance at one position of the draft: among all rounds, and among rounds that came so far; `share` draws the bar."""

    position: int
    unconditional: str
    conditional: str
    share: float


@dataclass(frozen=True, slots=True)
class CellFact:
    """A named value, as text."""

    label: str
    text: str


@dataclass(frozen=True, slots=True)
class DepthRow:
    """What another depth is predicted to bring: tokens per step, and the change of TPOT against the baseline."""

    depth: str
    tokens: str
    change: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorView:
    """Why TPOT moved: what a step costs, what it brings, and what that predicts beside what was measured."""

    step_baseline: str
    step_speculative: str
    step_change: str
    tokens_baseline: str
    tokens_speculative: str
    predicted: str
    measured: str
    break_even: str


@dataclass(frozen=True, slots=True)
class MetricLine:
    """One row of the table of a load: the row, what the metric is, its interval as a bar, how it was made, what settles it."""

    row: ComparisonRow
    definition: str
    bar: IntervalBar | None
    how: str
    needs: str


@dataclass(frozen=True, slots=True)
class ReasonLine:
    """One finding in full: what it is of, its state, and its reason."""

    label: str
    role: str
    state: str
    glyph: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CellView:
    """Everything a page shows of one cell, as strings; `distributions` stay numbers, for drawing."""

    id: str
    anchor: str
    label: str
    state: str
    glyph: str
    required: bool
    primary: bool
    outcome: str
    pairs: str
    metrics: tuple[MetricLine, ...]
    untold: tuple[CellFact, ...]
    reasons: tuple[ReasonLine, ...]
    checks: tuple[rows.CheckRow, ...]
    counts: tuple[rows.Pair, ...]
    bins: tuple[rows.BinRow, ...]
    turns: tuple[rows.BinRow, ...]
    acceptance: tuple[CellFact, ...]
    positions: tuple[Position, ...]
    factors: FactorView
    theory: tuple[CellFact, ...]
    other_depths: tuple[DepthRow, ...]
    other_depths_note: str
    truth: tuple[TruthRow, ...]
    distributions: tuple[Distribution, ...]
    quantiles: tuple[QuantileTable, ...]
    timelines: tuple[Timeline, ...]
    timeline_pair: str
    block_series: tuple[BlockSample, ...]


def cell_view(cell: CellResult, table: LoadTable, index: int) -> CellView:
    """The cell for a reader, with the rows of its table; `index` makes its anchor."""
    mean = cell.axes.running_mean
    running = rows.Pair("running at the server, on average", numbers.number(mean.baseline), numbers.number(mean.speculative))
    return CellView(
        id=cell.id,
        anchor=f"load-{index + 1}",
        label=table.title,
        state=cell.state,
        glyph=labels.GLYPHS[cell.state],
        required=cell.required,
        primary=queries.must_show(cell),
        outcome=table.outcome,
        pairs=f"{cell.pairs_used} of {max(cell.pairs_planned, cell.pairs_used)} pairs",
        metrics=tuple(_line(row) for row in table.rows if _is_known(row)),
        untold=_untold(table),
        reasons=tuple(
            ReasonLine(row.label, labels.ROLES[row.role], row.state, labels.GLYPHS[row.state], row.finding.reason)
            for row in table.rows
            if row.finding is not None and row.role is not None and row.state is not None
        ),
        checks=tuple(rows.check_row(found) for found in cell.integrity),
        counts=(*rows.count_rows(cell.counts), *rows.answer_rows(cell.answers), running),
        bins=tuple(rows.bin_row(found) for found in cell.bins),
        turns=tuple(rows.bin_row(found) for found in cell.turns),
        acceptance=_acceptance(cell.acceptance),
        positions=_positions(cell.acceptance),
        factors=factor_view(cell.factors),
        theory=tuple(
            CellFact(name.replace("_", " "), numbers.short(value)) for name, value in cell.theory.items() if value is not None
        ),
        other_depths=tuple(_depth_row(found) for found in cell.other_depths),
        other_depths_note=notes.OTHER_DEPTHS,
        truth=truth_rows(cell),
        distributions=cell.distributions,
        quantiles=quantile_tables(cell.distributions),
        timelines=cell.timelines,
        timeline_pair=f"pair {cell.timelines[0].pair + 1} of {cell.pairs_planned}" if cell.timelines else "",
        block_series=cell.block_series,
    )


def _depth_row(found: OtherDepth) -> DepthRow:
    change = None if found.tpot_ratio is None else found.tpot_ratio - 1
    return DepthRow(str(found.depth), numbers.ratio(found.tokens_per_step), table_words.change(change))


def _line(row: ComparisonRow) -> MetricLine:
    found = row.comparison
    return MetricLine(
        row,
        definition_of(row),
        interval_bar(row),
        "" if found is None else _how(found),
        table_words.needs(row.pairs_needed, row.decides),
    )


def _how(found: Comparison) -> str:
    said = [found.method, f"{numbers.count(found.n.baseline)} and {numbers.count(found.n.speculative)} values"]
    said += ["few for this percentile"] if found.low_n else []
    said += ["no spread between pairs"] if found.constant else []
    return "; ".join(said)


def _is_known(row: ComparisonRow) -> bool:
    """Whether either arm has a figure, be it beyond all limits."""
    return not (row.before == row.after == NONE)


def _untold(table: LoadTable) -> tuple[CellFact, ...]:
    """The metrics that neither arm has a figure of, by reason."""
    by_reason: dict[str, list[str]] = {}
    for row in table.rows:
        if not _is_known(row):
            by_reason.setdefault(row.note or NO_REASON, []).append(row.label)
    return tuple(CellFact(", ".join(metrics), reason) for reason, metrics in by_reason.items())


def _acceptance(found: AcceptanceSummary) -> tuple[CellFact, ...]:
    if found.length is None and found.rate is None and found.alpha is None:
        return (CellFact("Acceptance", f"{numbers.ABSENT}: {found.reason or NO_REASON}"),)
    shown = (
        ("Acceptance length", rows.acceptance_length(found)),
        ("Acceptance rate", numbers.percent(found.rate)),
        ("Alpha", numbers.ratio(found.alpha)),
        ("Rounds that end in a rejection", numbers.percent(found.rejection_frequency)),
        ("Verification rounds", numbers.ABSENT if found.rounds is None else numbers.count(found.rounds)),
        ("Source", found.source.replace("_", " ")),
    )
    return tuple(CellFact(*pair) for pair in shown) + ((CellFact("Note", found.reason),) if found.reason else ())


def _positions(found: AcceptanceSummary) -> tuple[Position, ...]:
    conditional = found.conditional or ()
    return tuple(
        Position(
            index + 1, numbers.percent(share), numbers.percent(conditional[index] if index < len(conditional) else None), share
        )
        for index, share in enumerate(found.per_position or ())
    )


def factor_view(found: Factors) -> FactorView:
    """The two factors of a cell.

    predicted TPOT ratio = step-time ratio ÷ (tokens per step, speculative ÷ baseline)
    """
    predicted = predicted_ratio(found)
    return FactorView(
        step_baseline=numbers.number(found.step_ms.baseline),
        step_speculative=numbers.number(found.step_ms.speculative),
        step_change=NONE if found.step_ratio is None else f"×{numbers.ratio(found.step_ratio)}",
        tokens_baseline=numbers.ratio(found.tokens_per_step.baseline),
        tokens_speculative=numbers.ratio(found.tokens_per_step.speculative),
        predicted=table_words.change(None if predicted is None else predicted - 1),
        measured=table_words.change(None if found.tpot_ratio is None else found.tpot_ratio - 1),
        break_even=numbers.ratio(found.break_even),
    )
