"""An engine that switches speculation off at high load is judged there if the scenario declares it, and named if nobody does."""

from typing import Any

import pytest

from specbench.analysis.judge import judge
from specbench.errors import ScenarioError
from specbench.model.off_schedule import depth_at, embedded_fault, is_off, schedule_fault
from specbench.model.result import Result
from specbench.scenario.launch_commands import launch_command
from specbench.scenario.parse import Overrides, parse_scenario
from tests.support.evidence import Effect, a_scenario, an_arm, evidence
from tests.support.goldens import same_text

DRAFTS = {"method": "ngram", "num_speculative_tokens": 4}
ON = Effect(tpot=0.6)
OFF = Effect(tpot=0.99, tokens_per_step=1, drafts=False)
TABLE = "num_speculative_tokens_per_batch_size"
URLS = ("http://127.0.0.1:8001", "http://127.0.0.1:8002")


def _judged(speculative: dict[str, Any] | None, *, at_4: Effect = ON, at_16: Effect = OFF) -> Result:
    """A run at 4 and 16 streams of two urls, the speculative one so declared."""
    asked = a_scenario([4, 16], baseline=an_arm(URLS[0]), speculative=an_arm(URLS[1], speculative))
    return judge(evidence({"c4": at_4, "c16": at_16}, asked, requests=48), "0")


@pytest.mark.parametrize(
    "schedule",
    [{"off_from": 16}, {"off_from": 5}, {TABLE: [[1, 8, 4], [9, 64, 0]]}, {"disable_by_batch_size": 15}, {"max_concurrency": 8}],
)
def test_a_declared_schedule_lets_the_cell_be_judged(schedule: dict[str, Any]) -> None:
    """N-23: nothing is drafted at 16 streams, as was said; the note says so beside the verdict."""
    result = _judged(DRAFTS | schedule)

    assert result.verdict == "PROMOTE", result.reasons
    same_text("off as declared", *[note for note in result.notes if "by the schedule" in note])


@pytest.mark.parametrize("schedule", [{}, {"off_from": 17}, {TABLE: [[1, 64, 4]]}, {TABLE: [[1, 8, 4], [9, 64, 1]]}])
def test_a_method_without_a_schedule_that_reaches_there_is_no_judgement(schedule: dict[str, Any]) -> None:
    """As before: it was to draft in all blocks."""
    result = _judged(DRAFTS | schedule)

    assert result.verdict == "INVALID"
    assert "speculation_speculative" in {reason.code for reason in result.reasons}


def test_an_engine_that_is_off_below_its_schedule_too_is_no_judgement() -> None:
    """`off_from: 16` excuses 16, not 4."""
    assert _judged(DRAFTS | {"off_from": 16}, at_4=OFF).verdict == "INVALID"


def test_an_engine_that_goes_on_drafting_where_it_may_stop_is_judged_as_well() -> None:
    """Fewer requests than streams may be running at times; the note counts the blocks."""
    result = _judged(DRAFTS | {"off_from": 16}, at_16=Effect(tpot=0.7))

    assert result.verdict == "PROMOTE"
    assert any("drafted in 10 of 10 blocks" in note for note in result.notes)


def test_where_nothing_is_declared_the_note_says_that_nothing_was_drafted() -> None:
    """Judged as it is, and no word of a schedule where the arm drafts everywhere."""
    named = _judged(None)
    assert named.verdict == "PROMOTE"
    same_text("off, and not declared", *[note for note in named.notes if "drafted in" in note])
    assert not any("drafted in" in note for note in _judged(None, at_16=Effect(tpot=0.7)).notes)


@pytest.mark.parametrize(
    ("schedule", "on", "off"),
    [
        ({"off_from": 16}, 15.9, 16),
        ({"max_concurrency": 16}, 16, 17),
        ({TABLE: [[1, 8, 4], [9, 32, 0]]}, 8, 9),
        ({TABLE: [[1, 8, 4], [9, 32, 0]]}, 1, 10_000),
        ({TABLE: [[1, 8, 0], [9, 32, 2]]}, 33, 8),
    ],
)
def test_a_schedule_says_from_where_on(schedule: dict[str, Any], on: float, off: float) -> None:
    """The last row of a table goes on."""
    assert (is_off(schedule, on), is_off(schedule, off), is_off(None, off), is_off(DRAFTS, off)) == (False, True, False, False)


@pytest.mark.parametrize(
    "schedule",
    [
        {"off_from": 0},
        {"off_from": -1},
        {"off_from": "16"},
        {"off_from": True},
        {"off_from": 1.5},
        {"off_from": None},
        {"max_concurrency": 0},
        {TABLE: []},
        {TABLE: {}},
        {TABLE: [[1, 8]]},
        {TABLE: [[8, 1, 4]]},
        {TABLE: [[1, 8, -1]]},
        {TABLE: [[1, 8, 4], [8, 16, 2]]},
        {TABLE: [[0, 8, 4]]},
        {TABLE: "1-8:4"},
    ],
)
def test_a_schedule_that_means_nothing_is_refused(schedule: dict[str, Any]) -> None:
    """With the key, where the scenario is read."""
    assert str(schedule_fault(schedule)).startswith(next(iter(schedule)))


def test_a_scenario_is_held_to_it() -> None:
    """A wrong key's place is named, and the embedded engine has no schedule but vLLM's table."""
    text = (
        "name: s\narms:\n  baseline: {url: 'http://a'}\n  speculative: {%s speculative: {method: ngram, off_from: %s}}\n"
        "workload: {source: {corpus: python}, bins: [{name: a, input_tokens: [8, 16], output_tokens: [8, 16]}]}\n"
    )
    assert parse_scenario(text % ("url: 'http://b',", "16"), "s.yaml", Overrides()).speculative.speculative == {
        "method": "ngram",
        "off_from": 16,
    }
    with pytest.raises(ScenarioError, match=r"s\.yaml:4: arms\.speculative\.speculative: off_from must be a number"):
        parse_scenario(text % ("url: 'http://b',", "soon"), "s.yaml", Overrides())
    with pytest.raises(ScenarioError, match=r"alone.*leave out off_from"):
        parse_scenario(text % ("engine: embedded,", "16"), "s.yaml", Overrides())


@pytest.mark.parametrize(
    ("table", "running", "depth"),
    [
        ([[1, 4, 3], [5, 8, 1], [9, 16, 0]], 4, 3),
        ([[1, 4, 3], [5, 8, 1], [9, 16, 0]], 5, 1),
        ([[1, 4, 3], [9, 16, 1]], 6, 3),
        ([[1, 4, 3], [9, 16, 1]], 400, 1),
        ([[3, 8, 1]], 2, 4),
        (None, 2, None),
    ],
)
def test_a_table_says_the_depth_of_each_batch(table: list[list[int]] | None, running: int, depth: int | None) -> None:
    """Gaps, and what lies beyond the last row, take the tokens before them; below the first row it is the declared depth."""
    assert depth_at(DRAFTS | ({TABLE: table} if table else {}), running) == depth


@pytest.mark.parametrize(
    ("table", "fault"),
    [
        ([[1, 4, 4], [5, 8, 0]], None),
        ([[2, 4, 4]], "the first row must begin at 1, not 2"),
        ([[1, 4, 5]], "5 tokens are more than num_speculative_tokens (4)"),
    ],
)
def test_the_embedded_engine_takes_what_vllm_takes(table: list[list[int]], fault: str | None) -> None:
    """The first row begins at 1, and no row drafts more than the most."""
    assert embedded_fault(DRAFTS | {TABLE: table}) == (None if fault is None else f"{TABLE}: {fault}")


def test_an_engine_is_not_told_our_word_for_it() -> None:
    """vLLM refuses keys that it does not know; its own table it gets."""
    words = " ".join(launch_command("vllm", None, "m", "m", DRAFTS | {"off_from": 16, TABLE: [[1, 8, 4], [9, 64, 0]]}))

    assert "off_from" not in words
    assert f'"{TABLE}":[[1,8,4],[9,64,0]]' in words
