"""A table of depths that the engine dropped is found by how much a round drafts."""

from dataclasses import replace

import pytest

from specbench.analysis.cells import cells_of
from specbench.analysis.integrity.setting_in_effect import setting_in_effect
from specbench.model.records import RequestRecord, RunData, SpeculationCounts, Telemetry
from tests.support.evidence import Effect, a_scenario, evidence

MOST = {"method": "draft_model", "num_speculative_tokens": 4}
TABLE = {**MOST, "num_speculative_tokens_per_batch_size": [[1, 1, 4], [2, 4, 2], [5, 8, 1], [9, 16, 0]]}


def _counts(rounds: int, drafted: int) -> SpeculationCounts:
    return SpeculationCounts(rounds=rounds, drafted=drafted, accepted=0, per_position=None)


def _told(load: int, *, drafts: int, share: float = 1.0, by: str = "answers") -> tuple[bool | None, float | None] | None:
    """The check at this load, where every answer drafts so many tokens in this share of its steps; None where there is none."""
    whole = evidence({f"c{load}": Effect()}, a_scenario([load]), requests=12)

    def told(record: RequestRecord) -> RequestRecord:
        rounds = round(share * (len(record.event_tokens) - 1))
        counts = _counts(rounds, rounds * drafts) if by == "answers" else None
        return replace(record, acceptance=counts)

    page = Telemetry(acceptance=_counts(round(400 * share), round(400 * share) * drafts), generated_tokens=1000)
    data: RunData = replace(
        whole,
        records=tuple(map(told, whole.records)),
        blocks=tuple(replace(block, telemetry=page if by == "counters" else None) for block in whole.blocks),
    )
    checks = setting_in_effect(cells_of(data)[0], TABLE)
    return (checks[0].ok, checks[0].value) if checks else None


@pytest.mark.parametrize("by", ["answers", "counters"])
@pytest.mark.parametrize(
    ("load", "drafts", "ok"),
    [
        (4, 2, True),
        (4, 4, False),
        (8, 1, True),
        (8, 4, False),
        (5, 2, True),  # at b + 1 the batch crosses the border all the time
        (5, 4, False),
    ],
)
def test_a_round_drafts_what_the_table_says_and_not_the_most(load: int, drafts: int, ok: bool, by: str) -> None:
    """By the counts of answers, or by the engine's counters where answers have none."""
    assert _told(load, drafts=drafts, by=by) == (ok, drafts)


@pytest.mark.parametrize("by", ["answers", "counters"])
@pytest.mark.parametrize(("share", "ok"), [(0.0, True), (0.05, True), (1.0, False)])
def test_where_the_table_says_0_few_steps_may_draft(share: float, ok: bool, by: str) -> None:
    """Ramps have smaller batches, so some drafts are no fault; drafts throughout are."""
    told = _told(16, drafts=4, share=share, by=by)

    assert told is not None
    assert told[0] is ok


def test_where_the_table_says_the_most_nothing_can_be_told() -> None:
    """At one stream the table and its absence are the same."""
    assert _told(1, drafts=4) is None


def test_without_counts_the_check_is_open() -> None:
    """Neither answers nor counters: no failure, and no pass."""
    assert _told(8, drafts=1, by="nothing") == (None, None)
