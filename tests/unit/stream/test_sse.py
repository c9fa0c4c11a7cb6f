"""Server-sent events are read as the WHATWG text says, and never depend on how the bytes were cut."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specbench.stream.sse import Event, events_of

LINE_ENDS = ("\n", "\r\n", "\r")


@pytest.mark.parametrize("end", LINE_ENDS)
def test_lf_crlf_and_cr_all_end_a_line(end: str) -> None:
    """The same two events come out whatever ends the lines."""
    body = end.join(["data: one", "", "data: two", "", ""]).encode()

    assert [event.data for event in events_of(body)] == [b"one", b"two"]
    assert all(event.terminated for event in events_of(body))


def test_an_event_ends_with_the_first_byte_of_its_blank_line() -> None:
    """The offset is what decides an event's time: past the blank line's LF, or past its CR, which already ends the line."""
    assert [event.end for event in events_of(b"data: x\n\ndata: y\n\n")] == [9, 18]
    assert [event.end for event in events_of(b"data: x\r\n\r\ndata: y\r\n\r\n")] == [10, 21]


def test_comments_and_fields_without_data_make_no_event() -> None:
    """S-01: no event is dispatched for a comment, whatever id, name or retry time came before."""
    body = b":\n\nid: 7\n\n: keep-alive\n\nevent: ping\nid: 8\n\nretry: 10\n\ndata: x\n\n"

    assert events_of(body) == [Event(b"x", b"", len(body), True)]


def test_one_space_after_the_colon_belongs_to_the_field() -> None:
    """S-06: without a space the value is the same, a second space is part of it."""
    assert [event.data for event in events_of(b"data:x\n\ndata: x\n\ndata:  x\n\n")] == [b"x", b"x", b" x"]


def test_several_data_lines_are_joined_by_a_line_feed() -> None:
    """An event's data can be spread over lines; a bare `data` is an empty one."""
    assert [event.data for event in events_of(b"data: a\ndata\ndata: b\n\n")] == [b"a\n\nb"]


def test_only_lf_and_cr_end_a_line() -> None:
    """S-05: line separators of Unicode, VT and FF are text."""
    text = "a\u2028b\u2029c\u0085d\x0be\x0cf"

    assert [event.data.decode() for event in events_of(f"data: {text}\n\n".encode())] == [text]


def test_names_are_kept_and_end_with_their_event() -> None:
    """An event's name is its own; the next one has none."""
    body = b"event: error\ndata: x\n\ndata: y\n\n"

    assert [(event.name, event.data) for event in events_of(body)] == [(b"error", b"x"), (b"", b"y")]


def test_a_byte_order_mark_is_not_part_of_the_first_line() -> None:
    """One leading BOM is dropped, as the text asks."""
    assert [event.data for event in events_of(b"\xef\xbb\xbfdata: x\n\n")] == [b"x"]


@pytest.mark.parametrize("tail", [b"", b"\n", b"\r\n"])
def test_the_last_event_counts_without_its_blank_line(tail: bytes) -> None:
    """S-07: what the end of the body cuts off is given, and marked."""
    assert [(event.data, event.terminated) for event in events_of(b"data: x\n\ndata: y" + tail)] == [(b"x", True), (b"y", False)]


fields = st.sampled_from(["data: a", "data:b", "data", "", "", ": note", "id: 1", "event: e", "data: {}", "dat", "x: y"])


@given(st.lists(st.tuples(fields, st.sampled_from(LINE_ENDS)), max_size=30))
def test_events_of_one_body_are_those_of_its_parts(lines: list[tuple[str, str]]) -> None:
    """Whatever follows a blank line does not change the events before it, nor their offsets."""
    body = "".join(line + end for line, end in lines).encode()
    whole = events_of(body)
    finished = [event for event in whole if event.terminated]

    for event in finished:
        assert [early for early in events_of(body[: event.end]) if early.terminated] == [
            early for early in finished if early.end <= event.end
        ]


def test_data_lines_are_read_in_proportion_to_their_number() -> None:
    """A server that ends its events with one line end has its whole body in one: four times the lines, four times the time."""
    body = (b"data: " + b"x" * 200 + b"\n") * 20_000

    assert _least_s(body) < 10 * _least_s(body[: len(body) // 4])


def _least_s(body: bytes) -> float:
    times = []
    for _ in range(5):
        began = time.process_time()
        events_of(body)
        times.append(time.process_time() - began)
    return min(times)
