"""Runs as series: what changed, which facts changed there, and which runs are no part of it."""

from dataclasses import replace

import pytest

from specbench.analysis.history.history_facts import facts_changed
from specbench.analysis.history.history_series import RunResult, run_history
from specbench.model.history.run_history import HistorySeries, RunHistory
from specbench.model.result import PerArm, Result
from tests.support.histories import Change, run_number, slower, unchanged, upgraded


def history(count: int = 12, change: Change = unchanged, metrics: tuple[str, ...] = ()) -> RunHistory:
    """That of so many runs, one a day."""
    return run_history("runs", [read(run_number(number, change)) for number in range(1, count + 1)], metrics)


def read(result: Result) -> RunResult:
    """The run under its own id."""
    return RunResult(result.run.id, result.run.started, result)


def one(found: RunHistory, cell: str = "c1", metric: str = "tpot_p50") -> HistorySeries:
    """That series."""
    (series,) = [one for one in found.series if (one.cell, one.metric) == (cell, metric)]
    return series


def test_an_upgrade_at_the_seventh_of_twelve_runs_is_named_with_its_fact() -> None:
    """At every load, with both levels."""
    found = history(change=upgraded)

    for cell in ("c1", "c4", "c16"):
        (change,) = one(found, cell).changes
        assert (change.run, change.number) == ("run-7", 7)
        assert change.after / change.before == pytest.approx(1.12, abs=0.005)
        assert change.p < 0.01
        assert not change.within_error
        assert [(fact.fact, fact.before, fact.after, fact.runs_away, fact.held) for fact in change.facts] == [
            ("baseline engine_version", "0.1.0", "0.2.0", 0, True),
            ("speculative engine_version", "0.1.0", "0.2.0", 0, True),
        ]
    assert [series.metric for series in found.series if series.changes] == ["tpot_p50"] * 3


def test_twelve_equal_runs_have_no_change() -> None:
    """In no metric at no load."""
    found = history(metrics=("all",))

    assert found.tested > 20
    assert [series for series in found.series if series.changes] == []


def test_of_fewer_than_eight_runs_nothing_is_tested() -> None:
    """And the series says so."""
    assert one(history(7, upgraded)).why_not_tested == "too_few_runs"
    assert one(history(8, upgraded)).why_not_tested is None


@pytest.mark.parametrize(
    ("spoiled", "reason"),
    [
        pytest.param(lambda one: replace(one, run=replace(one.run, partial=True)), "partial", id="partial"),
        pytest.param(lambda one: replace(one, verdict="INVALID"), "invalid_run", id="invalid"),
        pytest.param(
            lambda one: replace(one, cells=tuple(replace(cell, state="INVALID") for cell in one.cells)),
            "invalid_load",
            id="invalid load",
        ),
        pytest.param(lambda one: replace(one, run=replace(run_number(2).run, name=one.run.name)), "copy", id="copied folder"),
        pytest.param(
            lambda one: replace(
                one,
                cells=tuple(
                    replace(cell, metrics=tuple(replace(m, unbounded=PerArm(False, True)) for m in cell.metrics))
                    for cell in one.cells
                ),
            ),
            "no_value",
            id="beyond every number",
        ),
    ],
)
def test_a_run_that_is_no_measurement_is_shown_and_not_used(spoiled: Change, reason: str) -> None:
    """Its value, ten times the others', moves no level."""
    runs = [read(run_number(number)) for number in range(1, 13)]
    bad = spoiled(slower(run_number(5), 10.0))  # type: ignore[call-arg]
    runs[4] = RunResult("run-5", "2025-03-05T10:00:00Z", bad)
    series = one(run_history("runs", runs))

    assert [(point.run, point.why_not) for point in series.points if point.why_not] == [("run-5", reason)]
    assert len(series.used) == 11
    assert series.changes == ()


def test_a_run_that_cannot_be_read_is_listed() -> None:
    """With what is wrong."""
    found = run_history("runs", [RunResult("broken", "", None, "damaged"), read(run_number(1))])

    assert (found.runs[0].run, found.runs[0].why_not, found.runs[0].problem) == ("broken", "unreadable", "damaged")
    assert found.runs[1].why_not is None
    assert [point.run for point in one(found).points] == ["run-1"]


def test_demonstrations_and_checks_of_the_places_are_series_of_their_own() -> None:
    """A ratio of an A/A is no step of the others."""
    runs = [run_number(number) for number in range(1, 5)]
    runs[1] = replace(runs[1], config=replace(runs[1].config, built_in=not runs[1].config.built_in))
    runs[2] = replace(runs[2], config=replace(runs[2].config, design="aa"))
    found = run_history("runs", [read(run) for run in runs])

    assert sorted(len(series.points) for series in found.series if (series.cell, series.metric) == ("c1", "tpot_p50")) == [
        1,
        1,
        2,
    ]


def test_a_step_that_the_runs_own_errors_explain_is_marked() -> None:
    """Where each states an error of 12 %, twelve runs leave a step of 12 % in doubt."""

    def unsure(result: Result, number: int) -> Result:
        moved = upgraded(result, number)
        return replace(
            moved,
            cells=tuple(replace(cell, metrics=tuple(replace(m, se_log=0.12) for m in cell.metrics)) for cell in moved.cells),
        )

    assert [change.within_error for change in one(history(change=unsure)).changes] == [True]


def test_a_fact_that_is_another_one_in_every_run_is_told_apart_from_one_that_held() -> None:
    """Held ones first; the next run's change is named as such."""
    facts = [
        {"port": str(number), "driver": "1" if number < 3 else "2", "clock": "a" if number < 4 else "b"} for number in range(6)
    ]
    found = facts_changed(facts, at=3, previous=0, following=6)

    assert [(one.fact, one.runs_away, one.held) for one in found] == [("driver", 0, True), ("clock", 1, True), ("port", 0, False)]


def test_a_number_written_in_another_way_is_no_change() -> None:
    """As 0.9 and 0.90."""
    assert facts_changed([{"share": "0.9"}] * 3 + [{"share": "0.90"}] * 3, at=3, previous=0, following=6) == ()
