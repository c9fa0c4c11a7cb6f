"""What is asked of a case follows from what is true of it."""

import pytest

from specbench.calibrate.campaigns import CAMPAIGNS, WORLD_CASES
from specbench.calibrate.targets import TargetRow
from specbench.calibrate.whole_runs import Outcome
from specbench.calibrate.world_rows import GROUPS, rows_of, world_rows
from specbench.calibrate.worlds.evidence import WorldRun
from specbench.calibrate.worlds.world_case import Truth, WorldCase, outcome_of


def a_case(truth: Truth, **fields: object) -> WorldCase:
    """A case of which this is true."""
    return WorldCase(name="some", what="some", run=WorldRun(), truth=truth, **fields)  # type: ignore[arg-type]  # as given


def ended(*verdicts: str, cap: int | None = None) -> list[Outcome]:
    """Outcomes of runs, of which those that are CAPPED all have this cap."""
    return [{"verdict": verdict, "cap": cap if verdict == "CAPPED" else None} for verdict in verdicts]


def states(rows: list[TargetRow]) -> dict[str, str]:
    """The state of each row by what it counts."""
    return {row.claim.removeprefix("some: "): row.state for row in rows}


def test_equal_arms_may_seldom_be_rolled_back_or_enabled() -> None:
    """One in twenty is met, two are missed; the rest of the verdicts are shown."""
    outcomes = ended("ROLLBACK", *["HOLD"] * 17, "PROMOTE", "CAPPED", cap=1)
    rows = rows_of("group", a_case("equal"), outcomes)

    assert states(rows) == {"PROMOTE or CAPPED": "missed", "ROLLBACK": "met", "verdicts": "shown"}
    assert rows[-1].found == "PROMOTE 1, CAPPED 1, HOLD 17, ROLLBACK 1"


def test_harm_may_seldom_be_enabled_and_its_rollback_is_shown() -> None:
    """A cap below the load at which the harm begins is right."""
    outcomes = ended("CAPPED", "CAPPED", "HOLD", "ROLLBACK", cap=1)

    assert states(rows_of("group", a_case("harm"), outcomes))["PROMOTE or CAPPED"] == "missed"
    assert states(rows_of("group", a_case("harm", harm_from=8), outcomes)) == {
        "PROMOTE or CAPPED at 8": "met",
        "verdicts": "shown",
    }


@pytest.mark.parametrize(
    ("case", "asked"),
    [
        (a_case("tolerated"), ["ROLLBACK"]),
        (a_case("win", rolled_back=0.01), ["ROLLBACK"]),
        (a_case("win", promoted=0.8), ["PROMOTE", "ROLLBACK"]),
        (a_case("equal", invalid=0.02), ["PROMOTE or CAPPED", "ROLLBACK", "INVALID"]),
        (a_case("open"), []),
    ],
)
def test_no_more_is_asked_than_is_true(case: WorldCase, asked: list[str]) -> None:
    """What was not run is neither met nor missed."""
    assert states(rows_of("group", case, [])) == {**dict.fromkeys(asked, "not run"), "verdicts": "not run"}


def test_every_case_has_a_campaign_of_300_runs_and_a_row() -> None:
    """The twelve worlds and the study of outliers; no two cases share what they say."""
    counts = {campaign.name: campaign.count for campaign in CAMPAIGNS}
    rows = world_rows({campaign.name: [] for campaign in CAMPAIGNS})

    assert {counts[case.name] for case in WORLD_CASES} == {300}
    assert len({case.what for case in WORLD_CASES}) == len(WORLD_CASES)
    assert {row.id for row in rows} == set(GROUPS)
    assert len(GROUPS) == 13


def test_a_run_of_a_case_is_judged_and_its_reasons_are_kept() -> None:
    """A clear win of answers of few requests, at one load, with looks on the way."""
    case = a_case("open", looks=True)
    outcome = outcome_of(case, 0)

    assert outcome["verdict"] == "HOLD"
    assert "no_benefit" in outcome["codes"]
    assert outcome["pairs"] == 10
