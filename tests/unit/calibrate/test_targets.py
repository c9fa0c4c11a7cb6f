"""Every target counts what it says, and nothing that was not run is met."""

from specbench.calibrate.campaigns import CAMPAIGNS
from specbench.calibrate.single_comparisons import NEED_GRID
from specbench.calibrate.targets import (
    Outcomes,
    coverage_rows,
    engine_rows,
    looking_rows,
    other_rows,
    verdict_rows,
)
from specbench.calibrate.whole_runs import Outcome
from specbench.explain.reader_questions import CALIBRATED

NOTHING: Outcomes = {campaign.name: [] for campaign in CAMPAIGNS}


def a_run(verdict: str, **fields: object) -> Outcome:
    """The outcome of a whole run."""
    return {"verdict": verdict, "cap": None, "states": {}, "without_detectable": 0, "clean": True, **fields}


def test_a_false_rollback_counts_against_t1_and_a_cap_too_high_against_the_cap() -> None:
    """100 A/A runs with 6 rolled back; 10 capped runs of which one is promoted to the top."""
    found = {
        **NOTHING,
        "matrix-aa": [a_run("ROLLBACK")] * 6 + [a_run("HOLD")] * 94,
        "cap-clear": [a_run("CAPPED", cap=8)] * 9 + [a_run("PROMOTE", cap=16)],
    }
    rows = {(row.id, row.claim): row for row in verdict_rows(found)}

    rolled_back, promoted = (CALIBRATED[verdict].rows[0] for verdict in ("ROLLBACK", "PROMOTE"))
    too_high = CALIBRATED["CAPPED"].rows[0]
    assert rows["T1", rolled_back].found.startswith("6 of 100: 6 %")
    assert rows["T1", rolled_back].state == "missed"
    assert rows["T2", promoted].state == "met"
    assert rows["cap", too_high.replace("enabled at 16", "CAPPED at 8")].state == "met"
    assert rows["cap", too_high].found.startswith("1 of 10")


def test_guardrails_are_counted_over_the_cells_of_clean_runs() -> None:
    """Two clean runs of 12 cells with one INCONCLUSIVE, and one on a drifting machine that is left out."""
    clean = [
        a_run("HOLD", states={"tpot_p95": {"PASS": 12}}),
        a_run("HOLD", states={"tpot_p95": {"PASS": 11, "INCONCLUSIVE": 1}}),
    ]
    shaken = a_run("HOLD", clean=False, states={"tpot_p95": {"INCONCLUSIVE": 12}})
    rows = {row.claim: row for row in verdict_rows({**NOTHING, "matrix-aa": [*clean, shaken]})}

    assert rows["clean A/A: tpot_p95 passes in a cell"].found.startswith("23 of 24")


def test_coverage_must_lie_on_both_sides_of_its_target() -> None:
    """95 of 100 is met, 99 of 100 is missed on the safe side; metrics without a target are shown."""
    outcomes = [
        {"itl_p95": n < 95, "tpot_p50": n < 99, "tpot_p95": n < 90, "pace_p95": True, "output_tps": True} for n in range(100)
    ]
    rows = {row.claim: row.state for row in coverage_rows({**NOTHING, "covers-drift-2000": outcomes})}

    assert rows["drift, 2000 steps a block: itl_p95"] == "met"
    assert rows["drift, 2000 steps a block: tpot_p50"] == "missed"
    assert rows["drift, 2000 steps a block: tpot_p95"] == "missed"
    assert rows["drift, 2000 steps a block: pace_p95"] == "shown"
    assert rows["shared-64, 2000 steps a block: itl_p95"] == "not run"


def test_looks_count_the_stop_by_the_second() -> None:
    """A stop at the third look is too late; what looking saves is a share of the pairs."""
    twice = [{"verdict": "ROLLBACK", "pairs": 4, "looks": 1}] * 9 + [{"verdict": "ROLLBACK", "pairs": 8, "looks": 3}]
    rows = {row.claim: row for row in looking_rows({**NOTHING, "until-twice": twice})}

    assert rows["steps twice as long: stopped by the second look"].found.startswith("9 of 10")
    assert rows["steps twice as long: saved by looking"].found == "56 % of the pairs"


def test_pairs_needed_are_held_against_the_number_at_which_four_of_five_pass() -> None:
    """Eight of ten pass from the second grid point on, 16: a pilot that says 18 is near, one that says 30 is not. It is shown."""
    late, early = list(NEED_GRID)[1:], list(NEED_GRID)
    outcomes = [{"told": 18, "passes": late}] * 6 + [{"told": 30, "passes": early}] * 2 + [{"told": None, "passes": []}] * 2
    rows = {
        name: next(row for row in other_rows({**NOTHING, "need": found}) if row.id == "T9")
        for name, found in (("some", outcomes), ("none", []), ("nothing told", outcomes[-2:]))
    }

    assert rows["some"].found.startswith("6 of 8")
    assert "realised 16, median told 18" in rows["some"].found
    assert {name: row.state for name, row in rows.items()} == {"some": "shown", "none": "not run", "nothing told": "shown"}


def over_sockets(verdict: str, again: bool = False) -> Outcome:
    """The outcome of a run over sockets, or of the second one in its place."""
    return {**a_run(verdict), "again": again}


def test_over_sockets_no_false_verdict_is_allowed() -> None:
    """One wrong PROMOTE in 20 is missed there, and 18 of 20 right ones are enough."""
    found = {
        **NOTHING,
        "sockets-aa": [over_sockets("PROMOTE"), *[over_sockets("HOLD")] * 19],
        "sockets-slower": [over_sockets("HOLD", again=True)] * 2 + [over_sockets("ROLLBACK")] * 18,
    }
    judged = engine_rows(found, "sockets")
    rows = {row.claim: row.state for row in judged}

    assert [state for claim, state in rows.items() if claim.startswith("A/A ends in")] == ["met", "missed"]
    assert rows["steps 20 % longer: ROLLBACK"] == "met"
    assert rows["steps 25 % shorter: PROMOTE"] == "not run"
    assert judged[-1].found.startswith("2 of 40: 5 %")
