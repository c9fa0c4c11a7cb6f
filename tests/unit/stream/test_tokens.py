"""Tokens per event come from the best source that a stream carries, and sum to what was counted."""

from hypothesis import given
from hypothesis import strategies as st

from specbench.stream.parse_stream import ParsedStream
from specbench.stream.tokens import attribute, spread
from tests.support.captures import BY_BURST, BY_EVENT


def _answer(events: int, total: int | None, finish: str = "length", **told: list[int | None]) -> ParsedStream:
    nothing: list[int | None] = [None] * events
    return ParsedStream(
        ends=list(range(events)),
        ids=told.get("ids", nothing),
        usage=told.get("usage", nothing),
        counts=told.get("counts", nothing),
        usage_total=total,
        finish_reason=finish,
    )


def test_an_event_without_its_count_rules_a_source_out() -> None:
    """One content event without ids, and the ids are not the source of any."""
    answer = _answer(3, 6, ids=[1, None, 3], usage=[1, 3, 6])

    assert attribute(answer, BY_EVENT, 1).source == "running_usage"


def test_ids_that_come_with_the_last_event_of_a_split_output_count_for_its_first() -> None:
    """Only where all ids together are the server's total; an end without ids brought nothing."""
    answer = _answer(5, 6, ids=[1, None, 3, 2, None])

    assert attribute(answer, BY_EVENT, 1).source == "token_ids"
    assert attribute(answer, BY_EVENT, 1).tokens == (1, 3, 0, 2, 0)
    assert attribute(_answer(5, 7, ids=[1, None, 3, 2, None]), BY_EVENT, 1).source == "final_usage_spread"
    assert attribute(_answer(2, None, ids=[1, None]), BY_EVENT, 1).source == "events"


def test_the_engines_total_confirms_one_token_per_event() -> None:
    """Where an event is a token by the engine's rule and its total agrees, that is its count."""
    assert (attribute(_answer(5, 5), BY_BURST, 1).source, attribute(_answer(5, 5), BY_BURST, 1).tokens) == (
        "engine_counts",
        (1,) * 5,
    )


def test_the_end_token_is_counted_and_not_shown() -> None:
    """A natural end adds one token to the total; a limit does not."""
    assert attribute(_answer(5, 6, "stop"), BY_BURST, 1).source == "engine_counts"
    assert attribute(_answer(5, 6, "length"), BY_BURST, 1).source == "events"
    assert attribute(_answer(5, 6, "length"), BY_BURST, 1).flags == ("tokens_unreconciled",)


def test_counts_that_do_not_add_up_are_flagged() -> None:
    """Ids of five tokens where the engine counted nine."""
    answer = _answer(2, 9, ids=[2, 3])

    assert attribute(answer, BY_EVENT, 1).flags == ("tokens_unreconciled",)


def test_fewer_tokens_than_events_are_spread_over_all() -> None:
    """Two outputs split into three events each: some bring none."""
    attributed = attribute(_answer(6, 2), BY_EVENT, 1)

    assert (attributed.source, sum(attributed.tokens)) == ("final_usage_spread", 2)


@given(st.integers(0, 5000), st.integers(1, 500))
def test_a_spread_is_even_and_whole(total: int, places: int) -> None:
    """It sums to the total, and no two places differ by more than one."""
    parts = spread(total, places)

    assert sum(parts) == total
    assert max(parts) - min(parts) <= 1


@given(st.integers(1, 60), st.integers(1, 5), st.integers(0, 300))
def test_a_final_count_is_spread_whole(events: int, first: int, extra: int) -> None:
    """The events at the first stamp get one token each, all others the rest."""
    together = min(first, events)
    tokens = attribute(_answer(events, events + extra), BY_EVENT, together).tokens

    assert sum(tokens) == events + extra
    if together < events:
        assert tokens[:together] == (1,) * together


def test_running_usage_that_adds_up_beats_ids_that_do_not() -> None:
    """Four ids of eight tokens are not all: usage of 1, 4 and 8 is 1, 3 and 4 tokens."""
    answer = _answer(3, 8, ids=[1, 1, 2], usage=[1, 4, 8])

    assert (attribute(answer, BY_EVENT, 1).source, attribute(answer, BY_EVENT, 1).tokens) == ("running_usage", (1, 3, 4))


def test_ids_stand_where_usage_is_no_better() -> None:
    """It does not add up either, is not told in each event, or is no source by the engine's rule."""
    ids: list[int | None] = [1, 1, 2]
    worse, silent = _answer(3, 8, ids=ids, usage=[1, 4, 6]), _answer(3, 8, ids=ids, usage=[1, None, 8])
    other = attribute(_answer(3, 8, ids=ids, usage=[1, 4, 8]), BY_BURST, 1)

    assert [attribute(answer, BY_EVENT, 1).tokens for answer in (worse, silent)] == [(1, 1, 2)] * 2
    assert (other.source, other.tokens, other.flags) == ("token_ids", (1, 1, 2), ("tokens_unreconciled",))
