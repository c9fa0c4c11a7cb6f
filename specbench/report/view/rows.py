"""Rows of a cell's lesser tables as strings: checks, counts, bins, quantiles. No layout, no judgement."""

from collections.abc import Sequence
from dataclasses import dataclass

from specbench.explain import labels, numbers
from specbench.explain.brief import table_words
from specbench.model.result import AcceptanceSummary, ArmCounts, BinResult, Comparison, IntegrityCheck, PerArm
from specbench.model.shown import AnswerTexts, Distribution


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
    """One bin and sampling of a mixed cell: the changes of `BIN_METRICS`, the acceptance there, and what its own limits say."""

    bin: str
    sampling: str
    requests: str
    changes: tuple[str, ...]
    acceptance: str
    alpha: str
    findings: tuple[tuple[str, str], ...]  # mark and reason


BIN_METRICS = ("tpot_p50", "itl_p50", "ttft_p50", "e2e_p50")


def ratio(found: Comparison | None) -> str:
    """The ratio in words: '∞' where the speculative arm alone lies beyond every limit, 'n/a' where there is none."""
    if found is None:
        return numbers.ABSENT
    if found.ratio is None and found.unbounded.speculative and not found.unbounded.baseline:
        return "∞"
    return numbers.ratio(found.ratio)


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


def answer_rows(found: AnswerTexts | None) -> tuple[Pair, ...]:
    """How the texts of both arms compare, as far as it is known."""
    if found is None:
        return ()
    same = f"{numbers.count(found.greedy_same)} of {numbers.count(found.greedy_compared)}" if found.greedy_compared else ""
    characters = found.characters_per_token_baseline, found.characters_per_token_speculative
    return (
        Pair(labels.CHARACTERS, *(numbers.ratio(value) for value in characters)),
        *((Pair(labels.SAME_TEXT, same, same),) if same else ()),
    )


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
        findings=tuple((labels.GLYPHS[one.state], one.reason) for one in bin_result.findings),
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
