"""Rows of a cell's tables as strings: metrics, findings, checks, counts, bins, quantiles. No layout, no judgement."""

from collections.abc import Sequence
from dataclasses import dataclass

from specbench.explain import labels, numbers
from specbench.explain.brief import table_words
from specbench.explain.findings import COUNTED, limit, seen_and_limit, unit_of
from specbench.model.result import AcceptanceSummary, ArmCounts, BinResult, Comparison, Finding, IntegrityCheck, PerArm
from specbench.model.scenario import Role
from specbench.model.shown import Distribution


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricRow:
    """One metric of both arms; `effect` is a colour class and holds only where the interval excludes 1."""

    label: str
    baseline: str
    speculative: str
    ratio: str
    interval: str
    effect: str
    samples: str
    method: str
    note: str
    definition: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingRow:
    """One guardrail as judged; `metric`, `kind` and `number` tell it apart from the others of its cell."""

    metric: str
    kind: Role
    number: int
    label: str
    role: str
    required: bool
    state: str
    glyph: str
    seen: str
    limit: str
    reason: str


@dataclass(frozen=True, slots=True)
class CheckRow:
    """One integrity check: its state in a word and what was seen against what is allowed."""

    label: str
    state: str
    glyph: str
    seen: str
    message: str


@dataclass(frozen=True, slots=True)
class Pair:
    """A named quantity of both arms."""

    label: str
    baseline: str
    speculative: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BinRow:
    """One bin and sampling of a mixed cell: the changes of `BIN_METRICS`, and the acceptance there."""

    bin: str
    sampling: str
    requests: str
    changes: tuple[str, ...]
    acceptance: str
    alpha: str


BIN_METRICS = ("tpot_p50", "itl_p50", "ttft_p50", "e2e_p50")


def metric_row(found: Comparison) -> MetricRow:
    """The comparison as a row; what cannot be had is 'n/a' with its reason as the note."""
    return MetricRow(
        label=labels.metric(found.metric),
        baseline=_value(found, found.value.baseline, found.unbounded.baseline),
        speculative=_value(found, found.value.speculative, found.unbounded.speculative),
        ratio=ratio(found),
        interval=numbers.interval(found.ci_low, found.ci_high),
        effect=effect(found),
        samples=f"{numbers.count(found.n.baseline)} / {numbers.count(found.n.speculative)}",
        method=f"{numbers.percent(found.ci_level)}: {found.method}",
        note=_note(found),
        definition=found.definition,
    )


def _value(found: Comparison, value: float | None, unbounded: bool) -> str:
    return "∞" if unbounded else numbers.quantity(value, unit_of(found.metric, found.unit))


def ratio(found: Comparison | None) -> str:
    """The ratio in words: '∞' where the speculative arm alone lies beyond every limit, 'n/a' where there is none."""
    if found is None:
        return numbers.ABSENT
    if found.ratio is None and found.unbounded.speculative and not found.unbounded.baseline:
        return "∞"
    return numbers.ratio(found.ratio)


def _note(found: Comparison) -> str:
    said = [found.reason] if found.reason else []
    said += ["few samples for this percentile"] if found.low_n else []
    said += ["no spread between pairs"] if found.constant else []
    return "; ".join(said)


def effect(found: Comparison) -> str:
    """'better' or 'worse' where the interval excludes no change, else ''."""
    if found.ci_low is None or found.ci_high is None or found.direction == "equal":
        return ""
    if found.ci_low <= 1 <= found.ci_high:
        return ""
    return "better" if (found.ci_high < 1) == (found.direction == "lower") else "worse"


def finding_row(found: Finding, compared: Comparison | None = None, number: int = 1) -> FindingRow:
    """The finding as a row, with what it was judged by: the ratio, or the speculative arm's value under an absolute limit."""
    return FindingRow(
        metric=found.metric,
        kind=found.role,
        number=number,
        label=labels.metric(found.metric),
        role=labels.ROLES[found.role] + ("" if found.required or found.role == "advisory" else ", not required"),
        required=found.required,
        state=found.state,
        glyph=labels.GLYPHS[found.state],
        seen=_seen(found, compared),
        limit=limit(found, compared.unit if compared is not None else ""),
        reason=found.reason,
    )


def _seen(found: Finding, compared: Comparison | None) -> str:
    """What was judged: the ratio, or under an absolute limit the figure over all blocks of the speculative arm."""
    if compared is not None and found.slo is not None and compared.alone.blocks:
        return _value(compared, compared.alone.value, compared.alone.unbounded)
    if compared is not None and (found.slo is not None or COUNTED in found.notes):
        return _value(compared, compared.value.speculative, compared.unbounded.speculative)
    return ratio(compared) if found.ratio is None else seen_and_limit(found)[0]


def check_row(found: IntegrityCheck) -> CheckRow:
    """The check as a row."""
    state, glyph = {True: ("holds", "✓"), False: ("fails", "✗"), None: ("not known", "?")}[found.ok]
    seen = "" if found.value is None else numbers.short(found.value)
    seen += f" (limit {numbers.short(found.limit)})" if found.limit is not None else ""
    return CheckRow(found.id.replace("_", " "), state, glyph, seen, found.message)


def count_rows(counts: PerArm[ArmCounts]) -> tuple[Pair, ...]:
    """How the requests of both arms ended and what they carried."""
    arms = counts.baseline, counts.speculative
    rows = [Pair(label, *(numbers.count(getattr(arm, name)) for arm in arms)) for name, label in labels.COUNTS.items()]
    for group, title in labels.COUNT_GROUPS.items():
        told: list[dict[str, int]] = [getattr(arm, group) for arm in arms]
        rows += [
            Pair(f"{title}: {name.replace('_', ' ')}", *(numbers.count(one.get(name, 0)) for one in told))
            for name in sorted({*told[0], *told[1]})
        ]
    return tuple(rows)


def bin_row(bin_result: BinResult) -> BinRow:
    """One bin as a row: the changes of `BIN_METRICS`, then its acceptance."""
    ratios = {comparison.metric: comparison.ratio for comparison in bin_result.metrics}
    return BinRow(
        bin=bin_result.bin,
        sampling=bin_result.sampling,
        requests=f"{numbers.count(bin_result.requests.baseline)} / {numbers.count(bin_result.requests.speculative)}",
        changes=tuple(table_words.change(None if (ratio := ratios.get(name)) is None else ratio - 1) for name in BIN_METRICS),
        acceptance=acceptance_length(bin_result.acceptance),
        alpha=numbers.ratio(bin_result.acceptance.alpha) if bin_result.acceptance else numbers.ABSENT,
    )


def acceptance_length(found: AcceptanceSummary | None) -> str:
    """The acceptance length with its interval, 'n/a' where there is none."""
    if found is None or found.length is None:
        return numbers.ABSENT
    span = numbers.interval(found.length_low, found.length_high)
    return f"{numbers.ratio(found.length)} ({span})" if span else numbers.ratio(found.length)


SHOWN = (0.01, 0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999)


@dataclass(frozen=True, slots=True)
class QuantileTable:
    """The same quantiles of one metric for both arms."""

    label: str
    unit: str
    rows: tuple[Pair, ...]


def quantile_tables(found: Sequence[Distribution]) -> tuple[QuantileTable, ...]:
    """One table per metric, with those of the shown quantiles that either arm has."""
    return tuple(_table([one for one in found if one.metric == metric]) for metric in dict.fromkeys(one.metric for one in found))


def _table(found: Sequence[Distribution]) -> QuantileTable:
    arms = {one.arm: by_probability(one) for one in found}
    base, spec = arms.get("baseline", {}), arms.get("speculative", {})
    at = [share for share in SHOWN if share in base or share in spec]
    lines = tuple(Pair(f"p{share * 100:g}", numbers.number(base.get(share)), numbers.number(spec.get(share))) for share in at)
    return QuantileTable(labels.metric(found[0].metric), found[0].unit, lines)


def by_probability(found: Distribution) -> dict[float, float]:
    """Values by probability, rounded so that a computed 0.95 meets a written one."""
    return {round(share, 6): value for share, value in zip(found.probabilities, found.values, strict=True)}
