"""Events of many requests in one array, and the engine steps that they make up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specbench.errors import InternalError
from tests.support.records import a_record, one_block


def test_events_of_one_step_share_a_step_number() -> None:
    """A burst of three events is one step where the record says so; elsewhere every event is its own step."""
    burst = a_record([10.0, 10.5, 11.0, 20.0], step_events=(3, 1))
    plain = a_record([5.0, 6.0])

    columns = one_block(burst, plain)

    assert columns.events.step.tolist() == [0, 0, 0, 1, 2, 3]
    assert columns.steps.gap_ns.tolist() == [9_000_000, 1_000_000]  # from the last event of the burst


def test_a_step_without_tokens_passes_its_time_on() -> None:
    """Text that brought no token costs the next token its time: step gaps still sum to last minus first."""
    columns = one_block(a_record([10.0, 20.0, 35.0], [1, 0, 2]))

    assert columns.steps.gap_ns.tolist() == [25_000_000]
    assert columns.steps.tokens.tolist() == [2]


@pytest.mark.parametrize(
    ("fields", "what"), [({"step_events": (1,)}, "steps do not add up"), ({"tokens": [1]}, "token counts do not fit")]
)
def test_columns_of_unequal_length_are_refused(fields: dict[str, list[int]], what: str) -> None:
    """A record whose event columns disagree is refused by name."""
    with pytest.raises(InternalError, match=what):
        one_block(a_record([1.0, 2.0], **fields))  # type: ignore[arg-type]


def test_steps_do_not_cross_requests() -> None:
    """The first step of a request has none before it, whatever came before in the array."""
    columns = one_block(a_record([1.0, 3.0]), a_record([7.0]), a_record([8.0, 12.0]))

    assert columns.steps.gap_ns.tolist() == [2_000_000, 4_000_000]
    assert columns.steps.request.tolist() == [0, 2]


def test_a_step_is_censored_where_either_end_is() -> None:
    """Both the gap that ends in a censored event and the one that starts there have an unsure length."""
    columns = one_block(a_record([1.0, 2.0, 2.0, 4.0, 5.0], censored=(1,)))

    assert columns.steps.censored.tolist() == [True, True, False, False]
    assert columns.steps.began_censored.tolist() == [False, True, False, False]
    assert columns.steps.began_ns.tolist() == [1_000_000, 2_000_000, 2_000_000, 4_000_000]


@given(bursts=st.lists(st.lists(st.integers(0, 1_000_000), min_size=1, max_size=5), min_size=1, max_size=10))
def test_grouping_events_into_steps_loses_no_token_and_no_time(bursts: list[list[int]]) -> None:
    """Tokens after the first step and the time from the first step's end to the last event are those of the steps."""
    gaps = [gap for burst in bursts for gap in burst]
    moments = [sum(gaps[: i + 1]) / 1e6 for i in range(len(gaps))]

    columns = one_block(a_record(moments, step_events=tuple(len(burst) for burst in bursts)))

    assert columns.steps.tokens.sum() == len(gaps) - len(bursts[0])
    assert columns.steps.gap_ns.sum() == sum(gaps) - sum(bursts[0])
