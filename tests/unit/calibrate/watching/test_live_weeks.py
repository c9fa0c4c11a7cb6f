"""Simulated weeks are the same at every call, and their rows say what is asked of them."""

from specbench.calibrate.watching.live_weeks import LONG_H, LOOKS, WATCH_RUNS, LiveWorld, drift, live_week, run_length, watch_harm
from specbench.calibrate.watching.watch_rows import watch_rows


def test_an_arm_that_is_20_percent_slower_is_seen_within_40_windows() -> None:
    """By the judge of `watch`, and the same number makes the same week."""
    found = watch_harm(0)

    assert found["state"] == "ROLLBACK"
    assert found["at"] <= 40
    assert watch_harm(0) == found


def test_equal_arms_keep_over_half_a_day() -> None:
    """With the first looks alone."""
    assert live_week(LiveWorld(), "claim", 144, 1) == {"state": "KEEP", "at": None}
    assert LOOKS[0] == 24
    assert LOOKS[-1] == 2016


def test_a_fall_is_seen_within_a_day() -> None:
    """Alpha falls by .15."""
    assert 0 < drift(0.15, 0)["hours"] <= 24


def test_rows_hold_shares_to_what_is_asked() -> None:
    """One week of two in ROLLBACK misses 5 %; what was not run is no miss."""
    none = watch_rows({name: [] for name in WATCH_RUNS})
    some = watch_rows(
        {name: [] for name in WATCH_RUNS} | {"watch-aa-0.3": [{"state": "KEEP", "at": None}, {"state": "ROLLBACK", "at": 24}]}
    )

    assert {row.state for row in none} == {"not run"}
    assert [row.state for row in some if row.runs] == ["missed"]


def test_the_run_length_is_the_mean_of_hours_until_an_alarm() -> None:
    """Runs that end without one count as ending there: 900 and 10 days are 455 on average, 10 days alone are too few."""
    long, short = {"hours": 21600, "alarmed": False}, {"hours": 240, "alarmed": True}
    rows = [
        next(row for row in watch_rows({name: [] for name in WATCH_RUNS} | {"watch-drift-run-length": found}) if row.runs)
        for found in ([long, short], [short])
    ]

    assert [(row.found, row.state) for row in rows] == [
        ("455 days, 1 of 2 alarmed", "met"),
        ("10 days, 1 of 1 alarmed", "missed"),
    ]


def test_nothing_alarms_within_two_and_a_half_years_of_the_first_seed() -> None:
    """A rhythm of the day and hours that remember each other are no drift."""
    assert run_length(0) == {"hours": LONG_H, "alarmed": False}
