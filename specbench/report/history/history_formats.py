"""A history of runs as text, as JSON, and as CSV: a row for each run and series, or the form that apache-otava imports."""

import csv
import io
from collections.abc import Callable

import msgspec

from specbench.explain import numbers
from specbench.explain.brief.table_words import NONE
from specbench.explain.history import history_sentences as sentences
from specbench.model.history.run_history import HistoryPoint, HistorySeries, RunHistory
from specbench.report.formats.tables import as_cell
from specbench.report.terminal.screen import Screen, padded, widths

HEAD = ("started (UTC)", "verdict", "baseline", "spec.", "value", "95 % bounds", "alpha")
COLUMNS = (
    *("run", "started", "scenario", "demonstration", "design", "cell", "metric", "unit", "value", "low", "high"),
    *("baseline", "speculative", "alpha", "verdict", "why_not_used", "change", "p", "facts_changed", "facts"),
)
MOST_ROWS = 30  # of a series on the screen, the newest


def history_text(history: RunHistory, screen: Screen) -> str:
    """For a terminal: what changed, then each series run by run, then the runs that none uses."""
    lines = screen.paragraph(sentences.headline(history))
    for change, facts in changes_with_facts(history):
        lines += screen.paragraph(change, "  ", "")
        for fact in facts:
            lines += screen.paragraph(fact, "      ", "    ")
    if not any(series.changes for series in history.series) and history.tested:
        lines += screen.paragraph(sentences.NO_CHANGE)
    if caveat := sentences.caveat(history):
        lines += screen.paragraph(caveat)
    for series in history.series:
        lines += ["", *_series_lines(series, screen)]
    unused = [sentences.unused_run(run) for run in history.runs if run.why_not is not None]
    lines += ["", "not used"] if unused else []
    for line in unused:
        lines += screen.paragraph(line, "    ", "  ")
    return "\n".join(lines)


def changes_with_facts(history: RunHistory) -> list[tuple[str, list[str]]]:
    """Each change in a sentence, with the facts that changed there."""
    every = [(series, change) for series in history.series for change in series.changes]
    return [(sentences.changed(series, change), sentences.changed_facts(change)) for series, change in every]


def _series_lines(series: HistorySeries, screen: Screen) -> list[str]:
    lines = screen.paragraph(sentences.series_name(series))
    if why := sentences.not_tested(series):
        lines += screen.paragraph(why, "  ", "  ")
    shown = series.points[-MOST_ROWS:]
    rows = [tuple(screen.fit(text) for text in _texts(one)) for one in shown]
    columns = widths([list(HEAD), *[list(row) for row in rows]])
    begins = {one.run for one in series.changes}
    lines.append("  " + _line(HEAD, columns))
    for point, row in zip(shown, rows, strict=True):
        if point.run in begins:
            lines.append("  " + "-" * min(sum(columns) + 2 * len(columns) - 2, screen.columns - 2))
        lines += [f"  {_line(row, columns)}"]
        if why_not := sentences.left_out(point):
            lines += screen.paragraph(why_not, "      ", "    ")
    if len(series.points) > MOST_ROWS:
        lines += screen.paragraph(f"and {len(series.points) - MOST_ROWS} older: --format csv", "  ", "  ")
    return lines


def _texts(one: HistoryPoint) -> tuple[str, ...]:
    bounds = numbers.interval(one.low, one.high)
    figures = [NONE if value is None else numbers.number(value) for value in (one.baseline, one.speculative)]
    value = NONE if one.value is None else numbers.ratio(one.value)
    alpha = NONE if one.alpha is None else numbers.ratio(one.alpha)
    return one.started[:16].replace("T", " ") or "unknown", one.verdict, *figures, value, bounds or NONE, alpha


def _line(row: tuple[str, ...], columns: list[int]) -> str:
    return "  ".join(padded(text, width) for text, width in zip(row, columns, strict=True)).rstrip()


def history_json(history: RunHistory) -> str:
    """For programs: all runs with their facts, all series with their changes."""
    return msgspec.json.format(msgspec.json.encode(history), indent=2).decode()


def history_csv(history: RunHistory) -> str:
    """A row for each run and series; absent values are empty, facts are JSON."""
    facts = {run.run: run.facts or {} for run in history.runs}
    rows = [row for series in history.series for row in _csv_rows(series, facts)]
    return _csv([COLUMNS, *rows])


def _csv_rows(series: HistorySeries, facts: dict[str, dict[str, str]]) -> list[tuple[object, ...]]:
    changes = {one.run: one for one in series.changes}
    rows: list[tuple[object, ...]] = []
    for one in series.points:
        change = changes.get(one.run)
        place = (one.run, one.started, series.scenario, series.demonstration, series.design, series.cell, series.metric)
        values = (series.unit, one.value, one.low, one.high, one.baseline, one.speculative, one.alpha, one.verdict, one.why_not)
        found: tuple[object, ...] = (None, None, None)
        if change is not None:
            found = change.after / change.before - 1, change.p, sentences.fact_words(change.facts)
        rows.append((*place, *values, *found, msgspec.json.encode(facts.get(one.run, {})).decode()))
    return rows


def history_otava(history: RunHistory) -> str:
    """The CSV that apache-otava imports: a row for each run that has a value in every series, a column for each series.

    It reads numbers in every field of a metric, so series that fewer than half of the runs have are left out first.
    """
    values = {id(series): {one.run: one.value for one in series.used} for series in history.series}
    most = max((len(one) for one in values.values()), default=0)
    kept = [series for series in history.series if 2 * len(values[id(series)]) > most]
    runs = [run for run in history.runs if kept and all(run.run in values[id(series)] for series in kept)]
    names = [".".join(filter(None, (one.scenario, _mark(one), one.cell, one.metric))) for one in kept]
    return _csv([("time", "run", *names), *((run.started, run.run, *(values[id(one)][run.run] for one in kept)) for run in runs)])


def _mark(series: HistorySeries) -> str:
    design = "" if series.design == "plain" else series.design
    return ".".join(filter(None, ("demonstration" if series.demonstration else "", design)))


def _csv(rows: list[tuple[object, ...]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([as_cell(one) if isinstance(one, str) else one for one in row] for row in rows)
    return out.getvalue().rstrip("\n")


FORMATS_OF_HISTORIES: dict[str, Callable[[RunHistory], str]] = {
    "text": lambda history: history_text(history, Screen()),
    "json": history_json,
    "csv": history_csv,
    "otava": history_otava,
}
