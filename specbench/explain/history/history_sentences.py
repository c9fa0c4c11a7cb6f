"""What a history of runs says: how many runs and series, each change with the facts that changed there, and what is left out."""

from collections.abc import Sequence

from specbench.explain import labels, numbers
from specbench.explain.imported.run_difference_sentences import change as change_words
from specbench.model.history.run_history import (
    FEWEST_RUNS,
    LEAST_CHANGE,
    MOST_P,
    FactChange,
    HistoryChange,
    HistoryPoint,
    HistoryRun,
    HistorySeries,
    RunHistory,
)
from specbench.model.scenario import ARMS

WHY_NOT = {
    "partial": "did not reach its end",
    "invalid_run": "is INVALID",
    "invalid_load": "this load is INVALID",
    "copy": "is a copy of another one",
    "no_value": "has no finite value here",
    "unreadable": "cannot be read",
}
NO_CHANGE = "No change of level was found."
NO_FACT = "no fact on record changed there; drivers, clocks, neighbours and traffic are not recorded"
WITHIN = "the error that these runs state explains such a step"
_MOST_FACTS = 6
_LONGEST = 40


def headline(history: RunHistory) -> str:
    """How many runs there are, from when to when, and what was found in them."""
    days = [one.started[:10] for one in history.runs if one.started]
    span = f", {' to '.join(dict.fromkeys((days[0], days[-1])))}" if days else ""
    changed = sum(bool(one.changes) for one in history.series)
    tested = f"{numbers.one_of(history.tested, 'series', 'series')} tested, {changed} with a change"
    return f"{numbers.one_of(len(history.runs), 'run')} in {history.folder}{span}: {tested}"


def caveat(history: RunHistory) -> str:
    """What a change found means, and how many are expected where nothing changed; '' where nothing was tested."""
    if not history.tested:
        return ""
    expected = numbers.short(history.tested * MOST_P)
    return (
        f"A change is a step of {numbers.percent(LEAST_CHANGE)} or more with p < {MOST_P:g} (permutation test)."
        f" Of {history.tested} series without a change, about {expected} would be named by chance."
        " 8 or 9 runs cannot reach that p: a step amid the runs needs 10, one near an end 12."
    )


def series_name(series: HistorySeries) -> str:
    """Which scenario, load and metric; and what sets the runs apart from plain ones."""
    ratio = "" if series.metric in ("alpha", "acceptance_length") else " as a ratio to the baseline"
    marks = [word for word in ("demonstration" if series.demonstration else "", numbers.design(series.design)) if word]
    beside = f" ({', '.join(marks)})" if marks else ""
    return f"{series.scenario}{beside}, {series.load}: {labels.metric(series.metric)}{ratio}"


def changed(series: HistorySeries, change: HistoryChange) -> str:
    """One change: from which run on, and by how much."""
    step = change_words(change.after / change.before)
    levels = f"{numbers.ratio(change.before)} \N{RIGHTWARDS ARROW} {numbers.ratio(change.after)} ({step})"
    where = f"from run {change.number} of {len(series.used)} on, {change.run}, {change.started[:16].replace('T', ' ')}"
    doubt = f"; {WITHIN}" if change.within_error else ""
    return f"{series_name(series)}: {levels} {where}; p {numbers.figure(change.p)}{doubt}"


def changed_facts(change: HistoryChange) -> list[str]:
    """The facts that changed there and held before and after, those at the change first; one line where there is none."""
    held = [one for one in change.facts if one.held]
    lines: list[str] = []
    done: set[tuple[str, str | None, str | None, int]] = set()
    for one in held:
        name, arm = _without_arm(one.fact)
        key = (name, one.before, one.after, one.runs_away)
        if key in done:
            continue
        done.add(key)
        arms = [_without_arm(other.fact)[1] for other in held if _key(other) == key]
        who = "" if not arm else " of both arms" if len(arms) == len(ARMS) else f" of the {arm} arm"
        lines.append(f"{name}{who}: {_shown(one.before)} \N{RIGHTWARDS ARROW} {_shown(one.after)}{_away(one.runs_away)}")
    if len(lines) > _MOST_FACTS:
        return [*lines[:_MOST_FACTS], f"{len(lines) - _MOST_FACTS} more: --format json"]
    return lines or [NO_FACT]


def _key(one: FactChange) -> tuple[str, str | None, str | None, int]:
    return _without_arm(one.fact)[0], one.before, one.after, one.runs_away


def _without_arm(fact: str) -> tuple[str, str]:
    arm, _, name = fact.partition(" ")
    return (name, arm) if arm in ARMS else (fact, "")


def _away(runs: int) -> str:
    return "" if runs == 0 else " (one run later)" if runs > 0 else " (one run earlier)"


def _shown(value: str | None) -> str:
    if value is None:
        return "not known"
    plain = numbers.plain(value)
    return plain if len(plain) <= _LONGEST else f"{plain[:_LONGEST]}\N{HORIZONTAL ELLIPSIS}"


def not_tested(series: HistorySeries) -> str:
    """Why no change was looked for; '' where it was."""
    if series.why_not_tested is None:
        return ""
    return f"not tested: {len(series.used)} of the {FEWEST_RUNS} runs that it takes"


def left_out(point: HistoryPoint) -> str:
    """Why this run is in the table and not in the test; '' where it is."""
    return "" if point.why_not is None else f"not used, {WHY_NOT[point.why_not]}"


def unused_run(run: HistoryRun) -> str:
    """A run that no series uses, with the reason."""
    why = WHY_NOT.get(run.why_not or "", "")
    return f"{run.run}: {why}{f' ({numbers.plain(run.problem)})' if run.problem else ''}"


def fact_words(facts: Sequence[FactChange]) -> str:
    """Names and values for a field of a table: those that held."""
    return "; ".join(f"{one.fact}: {_shown(one.before)} to {_shown(one.after)}" for one in facts if one.held)
