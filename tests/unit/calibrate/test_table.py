"""The table says what was run and what was not, and never passes what was not."""

from specbench.calibrate.campaigns import CAMPAIGNS
from specbench.calibrate.table import table_of
from specbench.calibrate.targets import Outcomes

NOTHING: Outcomes = {campaign.name: [] for campaign in CAMPAIGNS}


def test_a_table_of_nothing_passes_nothing() -> None:
    """Every row is there, and none is met."""
    table = table_of(NOTHING)

    assert "| **met** |" not in table
    assert "| **missed** |" not in table
    assert "**0 of 0 targets that were run are met.**" in table
    assert "| T8 | the same: `answers_greedy` passes | at least 95 % | 0 |  | not run |" in table
    assert all(f"| {target} |" in table for target in ("T1", "T2", "T4", "T5", "T6", "T7", "T9", "T10", "cap", "ITL"))


def test_fewer_runs_than_planned_are_said_to_be_fewer() -> None:
    """Two of all the planned ones; those over sockets are another matter."""
    planned = sum(campaign.count for campaign in CAMPAIGNS if not campaign.real)
    some = {**NOTHING, "determinism": [{"same_bytes": True}] * 2}

    assert f"**Fewer runs than planned:** 2 of {planned:,} simulated ones." in table_of(some)


def test_what_is_missed_is_said_first() -> None:
    """Coverage of 95 % for a median and of 99 % for a p95: one target is met, and the other is named above all tables."""
    covered = [
        {"itl_p95": n < 95, "tpot_p50": n < 95, "tpot_p95": n < 99, "pace_p95": True, "output_tps": True} for n in range(100)
    ]
    table = table_of({**NOTHING, "covers-drift-2000": covered})

    assert "**2 of 3 targets that were run are met.** Missed:\n\n- T3, drift, 2000 steps a block: tpot_p95: 99 %" in table
    assert table.index("Missed:") < table.index("## Whole runs")
    assert (
        "| drift | 2,000 | 100 | 95 % (88.7 % to 98.4 %) **met** | 99 % (94.6 % to 100 %); wider than needed **missed** |"
        in table
    )


def test_a_target_that_is_missed_for_a_known_reason_says_it() -> None:
    """Of true wins without a fault, one run in a hundred may be called invalid by a test at that level."""
    found: Outcomes = {**NOTHING, "fault-none": [{"verdict": "PROMOTE" if n else "HOLD", "wanted": "PROMOTE"} for n in range(20)]}
    first = table_of(found).split("## Whole runs")[0]

    assert "- T7, fault “none”: PROMOTE: 19 of 20" in first
    assert "calls one sound run in a hundred INVALID" in first
