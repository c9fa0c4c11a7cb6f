"""What every format of a comparison shows: a headline, sentences, tables with their titles, and what is left to say."""

from dataclasses import dataclass
from math import isfinite

from specbench.explain import labels, numbers
from specbench.explain.imported import imported_sentences
from specbench.explain.imported.imported_names import DIFFERENCES, REASONS, WHY_NOT, in_words
from specbench.explain.imported.run_difference_sentences import change
from specbench.imports.known_tools import label_of
from specbench.model.imported_result import ImportedCell, ImportedComparison, ImportedMetric, RunComparison, RunMetric

_NONE = "\N{EN DASH}"
_NEARLY = "\N{ALMOST EQUAL TO}"  # before their name of a metric that is not quite ours


@dataclass(frozen=True, slots=True)
class ComparedTable:
    """A table: what stands above it, its columns, and its rows."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class ComparedPage:
    """A comparison as it is read, from the most important to the least."""

    headline: str
    sentences: tuple[str, ...]
    tables: tuple[ComparedTable, ...]
    closing: tuple[str, ...]


def page_of(found: ImportedComparison | RunComparison) -> ComparedPage:
    """The comparison for people."""
    page = _of_runs(found) if isinstance(found, RunComparison) else _of_imports(found)
    # Names in the files are others' texts: no line break of theirs begins a line of ours.
    plain = [tuple(map(numbers.plain, lines)) for lines in (page.sentences, page.closing)]
    return ComparedPage(numbers.plain(page.headline), plain[0], page.tables, plain[1])


def _of_imports(found: ImportedComparison) -> ComparedPage:
    tool = label_of(found.tool)
    versions = dict.fromkeys(filter(None, (found.tool_version.baseline, found.tool_version.speculative)))
    named = " ".join([tool, *versions])
    indication = f" ({found.indication})" if found.verdict == "HOLD" else ""
    not_compared = [f"{one.theirs}: {in_words(WHY_NOT, one.reason)}." for one in found.not_compared]
    return ComparedPage(
        headline=f"{found.verdict}{indication}: results of {named}",
        sentences=tuple(one.message for one in found.reasons),
        tables=tuple(_cell(one) for one in found.cells),
        closing=(
            *found.notes,
            *_nearly(found),
            *(f"Not compared: {one}" for one in not_compared),
            f"Integrity: {found.integrity}.",
        ),
    )


def _nearly(found: ImportedComparison) -> list[str]:
    """In what a metric of theirs differs from ours of that row."""
    said = {one.theirs: in_words(DIFFERENCES, one.difference) for cell in found.cells for one in cell.metrics if one.difference}
    return [f"{_NEARLY} {theirs}: {difference}." for theirs, difference in said.items()]


def _cell(cell: ImportedCell) -> ComparedTable:
    runs = f"{numbers.one_of(cell.runs.baseline, 'run')} and {numbers.one_of(cell.runs.speculative, 'run')}"
    before, after = (cell.failed.baseline, cell.attempted.baseline), (cell.failed.speculative, cell.attempted.speculative)
    failed = "" if None in (*before, *after) else f"; failed {before[0]} of {before[1]}, {after[0]} of {after[1]}"
    return ComparedTable(
        f"{cell.load}: {runs}{failed}",
        ("metric", "theirs", "A", "B", "change", "95 %", ""),
        tuple(_row(one) for one in cell.metrics),
    )


def _row(one: ImportedMetric) -> tuple[str, ...]:
    return (
        imported_sentences.metric_label(one.ours),
        f"{_NEARLY} {one.theirs}" if one.difference else one.theirs,
        _value(one.baseline, one.unit),
        _value(one.speculative, one.unit),
        change(one.ratio) or _NONE,
        _span(one.low, one.high),
        one.indication or in_words(REASONS, one.reason),
    )


def _value(value: float | None, unit: str) -> str:
    return _NONE if value is None or not isfinite(value) else numbers.quantity(value, unit)


def _span(low: float | None, high: float | None) -> str:
    return _NONE if low is None or high is None else f"{change(low)} to {change(high)}"


def _of_runs(found: RunComparison) -> ComparedPage:
    required = [one for one in found.metrics if one.required]
    further = [one for one in found.metrics if not one.required and one.word in ("better", "worse")]
    return ComparedPage(
        headline=f"{found.word}: {found.after} beside {found.before}",
        sentences=tuple(one.message for one in found.reasons),
        tables=tuple(_runs_table(title, rows) for title, rows in (("decides", required), ("further changes", further)) if rows),
        closing=tuple(f"Not the same: {one}" for one in found.differences),
    )


def _runs_table(title: str, rows: list[RunMetric]) -> ComparedTable:
    return ComparedTable(
        title,
        ("load", "metric", "before", "after", "difference", "95 %", ""),
        tuple(
            (
                one.cell,
                labels.metric(one.metric),
                change(one.before) or _NONE,
                change(one.after) or _NONE,
                change(one.ratio) or _NONE,
                _span(one.low, one.high),
                one.word,
            )
            for one in rows
        ),
    )
