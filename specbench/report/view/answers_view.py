"""The answers of both arms as a page shows them: counts by load, marks, and the widest differences side by side.

Strings alone; no layout and no judgement.
"""

from dataclasses import dataclass

from specbench.explain.answers.answers_in_verdict import load_title, mark_title
from specbench.explain.numbers import count, percent
from specbench.model.answers.shown_answers import GreedyCounts, ShownExample
from specbench.model.result import Result
from specbench.report.view.rows import Pair


@dataclass(frozen=True, slots=True)
class GreedyRow:
    """How the greedy answers of one load, or of all of them, compare; the last two fields are how many are clear in each arm."""

    load: str
    compared: str
    equal: str
    near_ties: str
    unknown: str
    clear_baseline: str
    clear_speculative: str


@dataclass(frozen=True, slots=True)
class ExampleView:
    """Two answers around their first difference, and how probable the baseline finds each one's token there ('' if not known)."""

    place: str
    baseline: str
    speculative: str
    baseline_probability: str
    speculative_probability: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswersView:
    """Everything about the answers; `limit` is the margin from which on a difference is clear."""

    limit: str
    rows: tuple[GreedyRow, ...]
    marks: tuple[Pair, ...]
    examples: tuple[ExampleView, ...]


def answers_view(result: Result) -> AnswersView | None:
    """What was compared; None where nothing was, as in results of older versions."""
    shown = result.answers
    if shown is None:
        return None
    rows = [_row(load_title(one.concurrency, one.cell), one.counts) for one in shown.by_load]
    if shown.greedy is not None and len(rows) > 1:
        rows.append(_row("all", shown.greedy))
    return AnswersView(
        limit="" if shown.clear_nats is None else f"{shown.clear_nats:.2g} nat",
        rows=tuple(rows),
        marks=tuple(
            Pair(
                mark_title(one.mark), f"{one.only_baseline:,} of {one.answers:,}", f"{one.only_speculative:,} of {one.answers:,}"
            )
            for one in shown.marks
            if one.only_baseline or one.only_speculative
        ),
        examples=tuple(map(_example, shown.examples)),
    )


def _row(load: str, counts: GreedyCounts) -> GreedyRow:
    numbers = (counts.compared, counts.equal, counts.near_ties, counts.unknown, counts.clear_baseline, counts.clear)
    return GreedyRow(load, *map(count, numbers))


def _example(one: ShownExample) -> ExampleView:
    place = f"{one.cell}, prompt {one.index}" if one.cell is not None else f"prompt {one.index}"
    chances = (one.baseline_probability, one.speculative_probability)
    return ExampleView(place, one.baseline, one.speculative, *("" if chance is None else percent(chance) for chance in chances))
