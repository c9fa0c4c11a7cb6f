"""What the master knows of a worker's part of a block."""

from specbench.load.fleet.member import Member, Post
from specbench.load.fleet.numbered import Link
from specbench.load.messages import RequestJob


def test_a_session_is_dealt_as_one_and_missed_turn_by_turn() -> None:
    """So that a lost worker is never said to have lost fewer requests than none."""
    post = Post(Member("w", Link(lambda packet: None), lambda packet: None), (0,))
    then = (RequestJob(index=1, body=b""), RequestJob(index=2, body=b""))
    post.deal([RequestJob(index=0, body=b"", then=then), RequestJob(index=3, body=b"")])
    dealt = post.unreported
    post.ledger.report([0, 1, 2])

    assert (post.ledger.dealt.count, dealt, post.unreported) == (2, 4, 1)
