"""Runs of simulated answers end as they should, and the table asks of them what T8 asks."""

from dataclasses import replace

import pytest

from specbench.calibrate.answering_worlds.answer_cases import (
    ANSWER_CASES,
    CONTRADICTING,
    FORMS,
    GREEDY_FAULTS,
    HONEST,
    SAMPLED_FAULTS,
    outcome_of_answers,
    outcome_of_form,
)
from specbench.calibrate.answering_worlds.answer_rows import answer_rows
from specbench.calibrate.campaigns import CAMPAIGNS

NAMED = {case.name: case for case in ANSWER_CASES}


def test_a_number_makes_one_outcome() -> None:
    """Any part of the table can be made anywhere."""
    case = replace(NAMED["answers_asked-0.1"], noise=0.1)

    assert outcome_of_answers(case, 3) == outcome_of_answers(case, 3)


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("answers_honest-0.1", "PROMOTE"),
        ("answers_asked-0.15", "PROMOTE"),
        ("answers_greedy-lost-0.1", "ROLLBACK"),
        ("answers_sampled-temperature", "ROLLBACK"),
        ("answers_sampled-no-bonus", "PROMOTE"),
        ("answers_contradicting", "INVALID"),
    ],
)
def test_one_run_of_a_case(name: str, verdict: str) -> None:
    """Everything else passes, so the verdict is that of the answers."""
    assert outcome_of_answers(NAMED[name], 0)["verdict"] == verdict


def test_a_broken_tool_call_is_found_by_its_mark() -> None:
    """One in twenty of 400, and none in the baseline."""
    assert outcome_of_form(FORMS["answers_form-broken"][1], 0)["verdict"] == "ROLLBACK"


def test_every_case_is_a_campaign_and_every_campaign_of_answers_has_a_row() -> None:
    """No case is left out; without an outcome a row says that it was not run."""
    names = {campaign.name for campaign in CAMPAIGNS if campaign.name.startswith("answers_")}
    rows = answer_rows({name: [] for name in names})

    assert names == {*NAMED, *FORMS}
    assert {row.state for row in rows} == {"not run"}
    assert all(any(case.what in row.claim for row in rows) for case in (*GREEDY_FAULTS, *SAMPLED_FAULTS, CONTRADICTING))


def test_false_alarms_miss_the_target() -> None:
    """Two of a hundred honest runs rolled back is more than one in a hundred."""
    states = {"answers_greedy": "PASS", "answers_sampled": "PASS"}
    found = {name: [{"verdict": "PROMOTE", "states": states}] * 250 for name in (*NAMED, *FORMS)}
    wrong = [{"verdict": "ROLLBACK", "states": states | {"answers_greedy": "FAIL"}}] * 20

    assert answer_rows(found)[0].state == "met"
    assert answer_rows(found | {HONEST[0].name: [*wrong, *found[HONEST[0].name]]})[0].state == "missed"
