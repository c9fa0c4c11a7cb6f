"""The form of answers: each mark counted prompt by prompt, all of them one family."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specbench.analysis.answers.answers_form import answers_form, failed_form, mark_counts, possible_marks
from specbench.model.answers.answer_form import MARKS, ValidRule
from specbench.model.result import FindingState, PerArm
from specbench.model.scenario import Scenario
from tests.support.answers import marked
from tests.support.evidence import a_scenario
from tests.support.goldens import same_text

EVERY = frozenset(MARKS)
ONE = ("looping",)


@pytest.mark.parametrize(
    ("prompts", "only_speculative", "only_baseline", "state"),
    [
        (150, 0, 0, "PASS"),
        (149, 0, 0, "PASS"),
        (148, 0, 0, "INCONCLUSIVE"),
        (300, 1, 0, "PASS"),
        (300, 2, 0, "INCONCLUSIVE"),
        (300, 8, 0, "INCONCLUSIVE"),  # 2 to the minus eighth is not below .0025
        (300, 9, 0, "FAIL"),
        (300, 14, 0, "FAIL"),
        (300, 0, 14, "PASS"),  # the baseline's own faults say nothing against the other arm
        (300, 14, 14, "PASS"),  # as common in either arm
        (2000, 10, 0, "PASS"),  # sure, and half a point
        (2000, 20, 0, "FAIL"),  # one point
    ],
)
def test_one_mark(prompts: int, only_speculative: int, only_baseline: int, state: FindingState) -> None:
    """McNemar's exact test, at least one point for a FAIL, and below two points for a pass."""
    found = answers_form(marked(0, only_speculative, only_baseline, prompts=prompts), ONE)

    assert (found.state, found.required, found.role, found.cell) == (state, True, "safety", None)


def test_all_marks_are_one_family() -> None:
    """Nine of one mark alone are proof where it is the only one that can occur, and not among nine."""
    answers = marked(0, 9, mark="bad_json")

    assert answers_form(answers, ("bad_json",)).state == "FAIL"
    assert answers_form(answers, EVERY).state == "INCONCLUSIVE"
    assert answers_form(marked(0, 14, mark="bad_json"), EVERY).state == "FAIL"


def test_a_mark_that_cannot_occur_in_the_workload_is_left_out() -> None:
    """Without tools no answer is judged by a tool call, whatever its record says."""
    answers = marked(0, 40, mark="bad_tool_call")

    assert answers_form(answers, EVERY - {"bad_tool_call"}).state == "PASS"
    assert [one.mark for one in mark_counts(answers, ("looping", "foreign"))] == ["looping", "foreign"]


def test_a_limit_that_cuts_answers_of_the_baseline_too_is_asked_no_pass() -> None:
    """Half of the sampled answers of either arm reach the token limit, not always for the same prompts: by chance. Far more with
    speculation is a fault all the same."""
    assert answers_form(marked(40, 50, 50, mark="unfinished"), ("unfinished",)).state == "PASS"
    assert answers_form(marked(40, 90, 20, mark="unfinished"), ("unfinished",)).state == "FAIL"


def test_the_limit_is_the_baselines_own_share_and_ten_points_at_most() -> None:
    """A mark that nearly every answer of the baseline has would else allow any excess."""
    rare, often = answers_form(marked(15, mark="foreign"), ("foreign",)), answers_form(marked(250, mark="foreign"), ("foreign",))

    assert (rare.state, rare.margin) == ("PASS", 0.05)
    assert (often.state, often.margin) == ("PASS", 0.1)
    assert answers_form(marked(200, 48, 25, mark="foreign"), ("foreign",)).state == "INCONCLUSIVE"


def test_the_sentences_name_marks_and_counts() -> None:
    """Failed, open and passed."""
    broken = [replace(pair, speculative=pair.speculative | {"unfinished"}) for pair in marked(0, 14, mark="bad_tool_call")]
    runs = [marked(0, 14, mark="bad_tool_call"), broken, marked(0, 3, mark="foreign"), marked(2), marked(0, prompts=40)]

    found = [answers_form(run, EVERY) for run in runs]

    assert [one.notes for one in found] == [("bad_tool_call",), ("bad_tool_call", "unfinished"), (), (), ()]
    same_text("answers-form", *(one.reason for one in found))


def test_no_prompt_that_both_arms_answered_is_no_data() -> None:
    """Nothing to compare, and not required."""
    found = answers_form([], EVERY)

    assert (found.state, found.required) == ("NODATA", False)


def test_marks_in_excess_are_proof_even_where_answers_were_not_compared() -> None:
    """A run of an older version, whose records tell of loops alone; without an excess no pass is asked."""
    clean = failed_form(marked(0), EVERY, "run made by X")

    assert failed_form(marked(0, 14), EVERY, "run made by X").state == "FAIL"
    assert (clean.state, clean.required) == ("NODATA", False)
    same_text("answers-form-older", clean.reason)


def _with(**fields: Any) -> Scenario:
    scenario = a_scenario()
    return replace(scenario, workload=replace(scenario.workload, **{"length": "forced", **fields}))


def _valid(form: ValidRule) -> Scenario:
    scenario = _with()
    return replace(
        scenario, workload=replace(scenario.workload, bins=tuple(replace(one, valid=form) for one in scenario.workload.bins))
    )


ALWAYS = {"looping", "foreign", "special_token"}


@pytest.mark.parametrize(
    ("scenario", "more"),
    [
        (_with(), set[str]()),
        (_with(length="natural"), {"unfinished"}),
        (_with(extra_body={"stop": ["\n\n"]}), {"past_stop"}),
        (_with(extra_body={"response_format": {"type": "json_object"}}), {"bad_json"}),
        (_with(extra_body={"tools": [{}]}), {"bad_tool_call"}),
        (_with(extra_body={"tools": [{}], "tool_choice": "auto"}), {"bad_tool_call"}),
        (_with(extra_body={"tools": [{}], "tool_choice": "required"}), {"bad_tool_call", "no_tool_call"}),
        (_valid(ValidRule(kind="json")), {"bad_json"}),
        (_valid(ValidRule(kind="regex", regex="^[0-9]+$")), {"invalid"}),
    ],
)
def test_which_marks_can_occur_follows_from_the_requests(scenario: Scenario, more: set[str]) -> None:
    """A loop, a foreign script and a special token can stand in any answer."""
    assert possible_marks(scenario) == ALWAYS | more


def test_a_stop_of_one_arm_counts_too() -> None:
    """Fields of an arm reach its requests as those of the workload do."""
    scenario = _with()
    arms = {name: replace(getattr(scenario, name), extra_body={"stop": "END"}) for name in ("baseline", "speculative")}

    assert possible_marks(replace(scenario, **arms)) == ALWAYS | {"past_stop"}


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=200), st.integers(1, 60))
def test_one_more_mark_with_speculation_never_helps(answers: list[tuple[bool, bool]], more: int) -> None:
    """The state moves from PASS towards FAIL, never back, as clean answers of the speculative arm get the mark."""
    order = {"FAIL": 0, "INCONCLUSIVE": 1, "PASS": 2}
    has, none = frozenset({"looping"}), frozenset[str]()
    pairs = [PerArm(has if before else none, has if after else none) for before, after in answers]
    plain, worse = (answers_form([*pairs, *[PerArm(none, one)] * more], ONE).state for one in (none, has))

    assert order[worse] <= order[plain]
