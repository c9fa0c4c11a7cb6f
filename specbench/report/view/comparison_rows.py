"""One row of the comparison of both arms, from which terminal, page, comment and JUnit take what they print. Pure.

`cell_rows(cell, ...)` gives those of one load, a table in `load_tables.py`; `run_rows(result)` those of what is counted over the
whole run. A row, a `ComparisonRow`, has numbers for charts and sorting, and the texts that every format prints:

    metric       its id: 'tpot_p50'; 'ttft_paired' for the TTFT over the same prompts, whose values are both arms' p50
    title        'TPOT p50, ms'                   label   'TPOT p50'
    baseline, speculative                         numbers in the metric's own unit, None where there is none
    before, after                                 the same as texts: '12.3', '5.61', '–', '∞'
    change, low, high                             fractions: −0.54, −0.61, −0.47; `low` and `high` are the bounds that were judged
    changed, bounds                               '−54 %', '−61 .. −47 %'
    limit, limit_text                             the last change allowed, as a fraction; as asked for, '≤ +20 ms'
    state, role, decides                          of its finding, None without one; `decides`: the verdict rests on it
    mark                                          '✓', '✗', '?', '–' judged; '(✓)', ... only reported; '' without a limit
    pairs_needed                                  the pairs that would settle an open one, None where none would
    limit_beside                                  the same with the change that a floor comes to: '≤ +20 ms (+36 %)'
    effect                                        'better' or 'worse' where the bounds exclude no change, else ''
    note                                          why there is no change; ''
    core                                          a row that is always shown
    finding, comparison                           what it was made of, for reasons and details
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from specbench.explain.brief import table_words
from specbench.explain.findings import unit_of
from specbench.model import queries
from specbench.model.metrics import METRICS
from specbench.model.result import BinResult, CellResult, Comparison, Finding, FindingState, PerArm, Result
from specbench.model.scenario import ARMS, Role
from specbench.report.view.judged_bounds import judged_bounds

PAIRED = "ttft_paired"
IN_A_PART = "harm_in_a_bin"  # the note of a finding that is of a part of mixed traffic
ALWAYS = ("tpot_p50", "itl_p50", "itl_p95", "output_tps")
_ORDER = (
    *("tpot_p50", "tpot_p95", "tpot_p99", "itl_p50", "itl_p95", PAIRED, "ttft_p50", "ttft_p95", "pace_p50", "pace_p95"),
    *("e2e_p50", "e2e_p95", "output_tps", "completed_rps", "error_rate", "acceptance_length", "alpha"),
)


class Figure(NamedTuple):
    """One arm's value; `unbounded` where it lies beyond every number."""

    value: float | None = None
    unbounded: bool = False


NO_FIGURES = PerArm(Figure(), Figure())


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonRow:
    """One metric of both arms at one load, or over the run; the fields are those of the module's head."""

    metric: str
    title: str
    label: str
    baseline: float | None
    speculative: float | None
    before: str
    after: str
    change: float | None
    low: float | None
    high: float | None
    changed: str
    bounds: str
    limit: float | None
    limit_text: str
    limit_beside: str
    state: FindingState | None
    role: Role | None
    decides: bool
    mark: str
    pairs_needed: int | None
    effect: str
    note: str
    core: bool
    finding: Finding | None
    comparison: Comparison | None

    @property
    def tone(self) -> str:
        """What colours the row: its mark where it decides, 'good', 'bad' or 'wait'; '' for what only passed or is not judged."""
        if not self.decides or self.state is None:
            return ""
        return {"PASS": "good" if self.effect == "better" else "", "FAIL": "bad"}.get(self.state, "wait")

    @property
    def always_shown(self) -> bool:
        """Whether no short table may leave it out: it is always there, it failed, or the verdict waits for it."""
        return self.core or self.state == "FAIL" or (self.decides and self.state != "PASS")


def cell_rows(cell: CellResult, success_metric: str, alpha: float) -> tuple[ComparisonRow, ...]:
    """Every metric of the cell, one row for each of its findings, in the order of every table."""
    compared = {found.metric: found for found in cell.metrics}
    whole = [finding for finding in cell.findings if IN_A_PART not in finding.notes]
    judged = {finding.metric for finding in whole}
    first = _first_token(compared, judged)
    core = {success_metric, *ALWAYS, first, "acceptance_length"}
    rows: list[ComparisonRow] = []
    for metric in sorted({*compared, *(finding.metric for finding in cell.findings)}, key=_place):
        if metric == "ttft_p50" and first == PAIRED and metric not in judged:
            continue  # its values stand in the row of the pairs
        comparison = compared.get(metric)
        findings: Sequence[Finding | None] = _weighty(f for f in whole if f.metric == metric) or [None]
        for index, finding in enumerate(findings):
            rows.append(
                comparison_row(
                    metric,
                    comparison,
                    finding,
                    figures=_judged_alone(_figures(cell, metric, compared), comparison, finding),
                    alpha=alpha,
                    core=metric in core and index == 0,
                    optional=not cell.required,
                )
            )
        rows += [_part_row(cell, one, alpha) for one in cell.findings if one.metric == metric and one not in whole]
    return tuple(map(_by_prompt, rows) if any(row.metric == "ttft_p50" for row in rows) else rows)


def _by_prompt(row: ComparisonRow) -> ComparisonRow:
    """The row, that of the TTFT over the same prompts under a name of its own, as the values of both are the same p50."""
    plain, named = table_words.row_label(PAIRED), table_words.PROMPT_BY_PROMPT
    return (
        replace(row, title=row.title.replace(plain, named), label=row.label.replace(plain, named))
        if row.metric == PAIRED
        else row
    )


def _part_row(cell: CellResult, finding: Finding, alpha: float) -> ComparisonRow:
    """The row of a finding on a part of a cell's mixed traffic, with that part's figures as far as they are known."""
    part = next((one for one in cell.bins if finding in one.findings), None)
    compared = {} if part is None else {one.metric: one for one in part.metrics}
    figures = _both(compared.get("ttft_p50" if finding.metric == PAIRED else finding.metric))
    row = comparison_row(
        finding.metric, compared.get(finding.metric), finding, figures=figures, alpha=alpha, optional=not cell.required
    )
    name = f"{row.label}, {'a bin' if part is None else _name_of(part, cell.bins)}"
    change = _less_one(finding.ratio)
    return replace(row, title=name, label=name, change=change, changed=table_words.change(change))


def _name_of(part: BinResult, among: Sequence[BinResult]) -> str:
    """The bin, with its sampling where another part is of the same bin."""
    return f"{part.bin}/{part.sampling}" if sum(one.bin == part.bin for one in among) > 1 else part.bin


def _first_token(compared: dict[str, Comparison], judged: set[str]) -> str:
    """The row of the time to the first token that is always shown: as it was judged, prompt by prompt rather than otherwise."""
    return next(
        (metric for metric in (PAIRED, "ttft_p50", "ttft_p95") if metric in judged), PAIRED if PAIRED in compared else "ttft_p50"
    )


def _figures(cell: CellResult, metric: str, compared: dict[str, Comparison]) -> PerArm[Figure]:
    """Both arms' figures for the row: of pairs their p50, of acceptance the cell's own summary."""
    source = compared.get("ttft_p50" if metric == PAIRED else metric)
    found = _both(source)
    summary = {"acceptance_length": cell.acceptance.length, "alpha": cell.acceptance.alpha}.get(metric)
    return found if summary is None else PerArm(found.baseline, Figure(summary))


def _judged_alone(found: PerArm[Figure], comparison: Comparison | None, finding: Finding | None) -> PerArm[Figure]:
    """Under an absolute limit the speculative arm's figure over all of its blocks, by which it was judged."""
    if comparison is None or finding is None or finding.slo is None or not comparison.alone.blocks:
        return found
    return PerArm(found.baseline, Figure(comparison.alone.value, comparison.alone.unbounded))


def _both(source: Comparison | None) -> PerArm[Figure]:
    """Both arms' figures of a comparison."""
    if source is None:
        return NO_FIGURES
    return PerArm(*(Figure(source.value.of(arm), source.unbounded.of(arm)) for arm in ARMS))


def comparison_row(
    metric: str,
    comparison: Comparison | None,
    finding: Finding | None,
    *,
    figures: PerArm[Figure],
    alpha: float,
    core: bool = False,
    optional: bool = False,
) -> ComparisonRow:
    """The row of this metric; with `optional` nothing at its load decides."""
    known = METRICS.get(metric)
    unit = unit_of(metric, known.unit if known is not None else comparison.unit if comparison is not None else "")
    before, after = figures.baseline, figures.speculative
    ratio = None if comparison is None else comparison.ratio
    ends = None if comparison is None else judged_bounds(comparison, finding, alpha)
    low, high = (None, None) if ends is None else (_less_one(ends[0]), _less_one(ends[1]))
    relative = finding is not None and finding.slo is None and finding.ratio is not None
    decides = finding is not None and finding.required and not optional
    endless = comparison is not None and comparison.unbounded.speculative and not comparison.unbounded.baseline
    return ComparisonRow(
        metric=metric,
        title=table_words.row_title(metric),
        label=table_words.row_label(metric),
        baseline=before.value,
        speculative=after.value,
        before=table_words.value(before.value, unit, before.unbounded),
        after=table_words.value(after.value, unit, after.unbounded),
        change=_less_one(ratio),
        low=low,
        high=high,
        changed="∞" if ratio is None and endless else table_words.change(_less_one(ratio)),
        bounds=table_words.interval(low, high) if ends is not None else "",
        limit=_less_one(finding.bound) if finding is not None and relative else None,
        limit_text="" if finding is None else table_words.limit(finding, unit),
        limit_beside="" if finding is None else table_words.limit_beside(finding, unit),
        state=None if finding is None else finding.state,
        role=None if finding is None else finding.role,
        decides=decides,
        mark=table_words.mark(finding, decides),
        pairs_needed=finding.pairs_needed if finding is not None and finding.is_open else None,
        effect=_effect(comparison, low, high),
        note=_note(comparison, finding),
        core=core,
        finding=finding,
        comparison=comparison,
    )


def run_rows(result: Result) -> tuple[ComparisonRow, ...]:
    """What is counted over the whole run, such as failed requests: a row for each finding, without bounds of a ratio.

    The change of the share of failed requests is in points.
    """
    shares = PerArm(*(Figure(queries.share_failed(result, arm)) for arm in ARMS))
    before, after = shares.baseline.value, shares.speculative.value
    points = None if before is None or after is None else after - before
    rows = []
    for found in result.run_findings:
        failed = found.metric == "error_rate"
        row = comparison_row(found.metric, None, found, figures=shares if failed else NO_FIGURES, alpha=result.config.alpha)
        rows.append(replace(row, change=points, changed=table_words.points(points)) if failed else row)
    return tuple(rows)


def _less_one(ratio: float | None) -> float | None:
    return None if ratio is None else ratio - 1


def _effect(comparison: Comparison | None, low: float | None, high: float | None) -> str:
    if comparison is None or comparison.direction == "equal":
        return ""
    lower = comparison.direction == "lower"
    if high is not None and high < 0:
        return "better" if lower else "worse"
    if low is not None and low > 0:
        return "worse" if lower else "better"
    return ""


def _note(comparison: Comparison | None, finding: Finding | None) -> str:
    if comparison is not None and comparison.ratio is None and comparison.reason:
        return comparison.reason
    return finding.reason if comparison is None and finding is not None else ""


def _place(metric: str) -> tuple[int, int, str]:
    known = list(METRICS)
    first = _ORDER.index(metric) if metric in _ORDER else len(_ORDER)
    return first, known.index(metric) if metric in known else len(known), metric


def _weighty(findings: Iterator[Finding]) -> list[Finding]:
    """The findings of one metric, the gain first, then what decides."""
    return sorted(findings, key=lambda found: (found.role != "success", not found.required))
