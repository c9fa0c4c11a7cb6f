"""One cell as a reader sees it: `CellView` and how it comes from a `CellResult`. No layout and no other cell is known here."""

from dataclasses import dataclass

from specbench.analysis.theory import predicted_ratio
from specbench.explain import labels, numbers
from specbench.explain.absences import NO_REASON
from specbench.explain.notes import two_factors
from specbench.model import queries
from specbench.model.result import AcceptanceSummary, CellResult, Comparison, Factors
from specbench.model.shown import BlockSample, Distribution, Timeline
from specbench.report.view import rows
from specbench.report.view.engine_truth import TruthRow, truth_rows
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


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorView:
    """Why TPOT moved: what a step costs, what it brings, and what that predicts beside what was measured."""

    step_baseline: str
    step_speculative: str
    step_ratio: str
    tokens_baseline: str
    tokens_speculative: str
    predicted: str
    measured: str
    residual: str
    break_even: str
    sentence: str


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
    pairs: str
    metrics: tuple[rows.MetricRow, ...]
    untold: tuple[CellFact, ...]
    findings: tuple[rows.FindingRow, ...]
    checks: tuple[rows.CheckRow, ...]
    counts: tuple[rows.Pair, ...]
    bins: tuple[rows.BinRow, ...]
    acceptance: tuple[CellFact, ...]
    positions: tuple[Position, ...]
    factors: FactorView
    theory: tuple[CellFact, ...]
    truth: tuple[TruthRow, ...]
    distributions: tuple[Distribution, ...]
    quantiles: tuple[QuantileTable, ...]
    timelines: tuple[Timeline, ...]
    timeline_pair: str
    block_series: tuple[BlockSample, ...]


def cell_view(cell: CellResult, index: int) -> CellView:
    """The cell for a reader; `index` makes its anchor."""
    load, part = numbers.load(cell.axes), numbers.slice_name(cell.axes)
    compared = {found.metric: found for found in cell.metrics}
    order = tuple(labels.ROLES)
    mean = cell.axes.running_mean
    running = rows.Pair("running at the server, on average", numbers.number(mean.baseline), numbers.number(mean.speculative))
    return CellView(
        id=cell.id,
        anchor=f"cell-{index + 1}",
        label=f"{load} · {part}" if part else load,
        state=cell.state,
        glyph=labels.GLYPHS[cell.state],
        required=cell.required,
        primary=queries.must_show(cell),
        pairs=f"{cell.pairs_used} of {cell.pairs_planned} pairs",
        metrics=tuple(rows.metric_row(found) for found in cell.metrics if _told(found)),
        untold=_untold(cell),
        findings=tuple(
            rows.finding_row(found, compared.get(found.metric), number)
            for found, number in sorted(queries.numbered(cell.findings), key=lambda one: order.index(one[0].role))
        ),
        checks=tuple(rows.check_row(found) for found in cell.integrity),
        counts=(*rows.count_rows(cell.counts), *rows.answer_rows(cell.answers), running),
        bins=tuple(rows.bin_row(found) for found in cell.bins),
        acceptance=_acceptance(cell.acceptance),
        positions=_positions(cell.acceptance),
        factors=factor_view(cell.factors),
        theory=tuple(
            CellFact(name.replace("_", " "), numbers.short(value)) for name, value in cell.theory.items() if value is not None
        ),
        truth=truth_rows(cell),
        distributions=cell.distributions,
        quantiles=quantile_tables(cell.distributions),
        timelines=cell.timelines,
        timeline_pair=f"pair {cell.timelines[0].pair + 1} of {cell.pairs_planned}" if cell.timelines else "",
        block_series=cell.block_series,
    )


def _told(found: Comparison) -> bool:
    """Whether either arm has a figure, be it beyond all limits."""
    arms = (found.value.baseline, found.value.speculative)
    return any(value is not None for value in arms) or found.unbounded.baseline or found.unbounded.speculative


def _untold(cell: CellResult) -> tuple[CellFact, ...]:
    """The metrics that neither arm has a figure of, by reason."""
    by_reason: dict[str, list[str]] = {}
    for found in cell.metrics:
        if not _told(found):
            by_reason.setdefault(found.reason or NO_REASON, []).append(labels.metric(found.metric))
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

    predicted TPOT ratio = step-time ratio ÷ (tokens per step, speculative ÷ baseline) = measured ÷ (1 + residual)
    """
    predicted = predicted_ratio(found)
    gain = found.step_ratio / predicted if found.step_ratio is not None and predicted else None
    sentence = ""
    if found.step_ratio is not None and gain is not None:
        sentence = two_factors(found.step_ratio, gain, predicted)
    return FactorView(
        step_baseline=numbers.number(found.step_ms.baseline),
        step_speculative=numbers.number(found.step_ms.speculative),
        step_ratio=numbers.ratio(found.step_ratio),
        tokens_baseline=numbers.ratio(found.tokens_per_step.baseline),
        tokens_speculative=numbers.ratio(found.tokens_per_step.speculative),
        predicted=numbers.ratio(predicted),
        measured=numbers.ratio(found.tpot_ratio),
        residual=numbers.percent(found.residual),
        break_even=numbers.ratio(found.break_even),
        sentence=sentence,
    )
