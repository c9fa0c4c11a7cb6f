"""Messages that arrive once and in order, whatever a connection drops."""

import random

from hypothesis import given
from hypothesis import strategies as st

from specbench.load.fleet.numbered import AGAIN_NS, KEEP_ALIVE_NS, KNOWN_NS, PACKET_BYTES, Inbox, Link, Outbox
from specbench.load.fleet.wire import Go, Numbered, decode_from_master, decode_packet, encode


def test_a_message_is_sent_at_once_and_not_again_before_its_time() -> None:
    """A second is long enough for an acknowledgement."""
    outbox = Outbox()
    outbox.put(b"one")

    assert list(outbox.due(0)) == [(1, b"one")]
    assert list(outbox.due(AGAIN_NS - 1)) == []
    assert list(outbox.due(AGAIN_NS)) == [(1, b"one")]


def test_what_was_acknowledged_is_forgotten() -> None:
    """An acknowledgement is of all up to its number."""
    outbox = Outbox()
    for payload in (b"one", b"two", b"three"):
        outbox.put(payload)

    outbox.acknowledged(2)

    assert list(outbox.due(0)) == [(3, b"three")]
    assert not outbox.empty


def test_a_copy_gives_nothing() -> None:
    """A message that was sent twice is heard once."""
    inbox = Inbox()

    assert list(inbox.take(1, b"one")) == [b"one"]
    assert list(inbox.take(1, b"one")) == []


def test_what_comes_early_waits_for_what_is_missing() -> None:
    """Order is the sender's."""
    inbox = Inbox()

    assert list(inbox.take(2, b"two")) == []
    assert inbox.arrived == 0
    assert list(inbox.take(1, b"one")) == [b"one", b"two"]
    assert inbox.arrived == 2


@given(st.integers(0, 10_000), st.integers(1, 30))
def test_nothing_is_lost_or_doubled_over_a_bad_connection(seed: int, count: int) -> None:
    """Half of all packets are dropped, some come twice, neighbours change places: all arrive, once, in order."""
    chance = random.Random(seed)
    outbox, inbox = Outbox(), Inbox()
    said = [bytes([number]) for number in range(count)]
    for payload in said:
        outbox.put(payload)
    heard: list[bytes] = []
    now_ns = 0
    while not outbox.empty:
        packets = [packet for packet in outbox.due(now_ns) for _ in range(chance.choice((0, 1, 2)))]
        chance.shuffle(packets)
        for number, payload in packets:
            heard += inbox.take(number, payload)
        if chance.random() < 0.5:
            outbox.acknowledged(inbox.arrived)
        now_ns += AGAIN_NS

    assert heard == said


def test_two_ends_of_a_link_understand_each_other() -> None:
    """What one says the other hears, and the first then knows."""
    wire: list[bytes] = []
    one, other = Link(wire.append), Link(wire.append)

    one.say(Go(serial=1, at_ns=5, offset_ns=-3), 1)
    packet = decode_packet(wire.pop())
    assert isinstance(packet, Numbered)
    heard = [decode_from_master(payload) for payload in other.hear(packet)]
    other.pump(KNOWN_NS)
    answer = decode_packet(wire.pop())
    assert isinstance(answer, Numbered)
    one.hear(answer)

    assert heard == [Go(serial=1, at_ns=5, offset_ns=-3)]


def test_what_may_wait_travels_with_what_follows() -> None:
    """Two messages of a worker that nobody waits for cost its master one packet."""
    wire: list[bytes] = []
    one, other = Link(wire.append), Link(wire.append)
    messages = (Go(serial=1, at_ns=5, offset_ns=-3), Go(serial=2, at_ns=6, offset_ns=-3))

    for message in messages:
        one.add(encode(message))
    assert wire == []
    one.pump(1)
    (packed,) = wire
    packet = decode_packet(packed)
    assert isinstance(packet, Numbered)

    assert tuple(decode_from_master(payload) for payload in other.hear(packet)) == messages


def test_a_packet_is_not_without_bounds() -> None:
    """What was kept over a long silence goes out in packets of a mebibyte, and all of it arrives."""
    wire: list[bytes] = []
    one, other = Link(wire.append), Link(wire.append)
    said = [bytes([number]) * (PACKET_BYTES // 2) for number in range(5)]

    for payload in said:
        one.add(payload)
    one.pump(1)
    packets = [decode_packet(packed) for packed in wire]

    assert [heard for packet in packets if isinstance(packet, Numbered) for heard in other.hear(packet)] == said
    assert len(packets) == 3


def test_a_link_says_that_it_is_there() -> None:
    """Without news a packet goes out now and then, so that the other side does not take it for dead."""
    wire: list[bytes] = []
    link = Link(wire.append)

    link.pump(KEEP_ALIVE_NS)
    link.pump(KEEP_ALIVE_NS + 1)
    link.pump(2 * KEEP_ALIVE_NS)

    assert len(wire) == 2
