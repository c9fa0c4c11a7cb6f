"""How what a fleet says is written."""

from specbench.load.fleet.ledger import BegunRequest
from specbench.load.fleet.wire import (
    DecodedAnswer,
    EndedRequest,
    Notice,
    decode_from_worker,
    encode,
    packed_lines,
    unpacked_lines,
)
from tests.support.records import a_record


def test_a_notice_arrives_as_it_was_sent() -> None:
    """With what began and what ended."""
    notice = Notice(
        serial=3,
        begun=(BegunRequest(1, 2, 3),),
        ended=(EndedRequest(stream=2, at_ns=9, failed=True),),
        freed=1,
        idle=False,
    )

    assert decode_from_worker(encode(notice)) == notice


def test_records_travel_squeezed() -> None:
    """A chunk takes less than ten bytes, and every record is what it was."""
    moments = [50 + 10.0031 * step for step in range(100)]
    answers = [DecodedAnswer(record=a_record(moments, index=index, sent_ms=7.3 * index)) for index in range(20)]

    lines = packed_lines(answers)

    assert list(unpacked_lines(lines)) == answers
    assert len(lines) < 10 * sum(len(answer.record.event_ns) for answer in answers)
