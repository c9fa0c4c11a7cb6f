"""One block through a fleet, and what is kept of requests that were lost with their worker."""

from collections.abc import Callable, Iterator

from specbench.errors import InternalError
from specbench.load.fleet.fleet import Fleet
from specbench.load.fleet.wire import DecodedAnswer, FleetBlock, LostRequest
from specbench.load.messages import BlockSummary, RequestJob
from specbench.model.captures import Capture

LOST = "under way at a worker that was lost"


def drive_fleet(
    fleet: Fleet,
    block: FleetBlock,
    works: Iterator[RequestJob],
    take: Callable[[DecodedAnswer | LostRequest], None],
    lane: int = 0,
) -> BlockSummary:
    """The end of the block, once `take` has been given every answer as its worker decoded it.

    Raises:
        ScenarioError: the system does not let one process carry so many streams.
        InternalError: the master was lost.
    """
    for message in fleet.run_block(block, works, lane):
        if isinstance(message, BlockSummary):
            return message
        take(message)
    raise InternalError(f"block {block.spec.block} ended without its end")


def lost_capture(lost: LostRequest, block: str) -> Capture:
    """The request as one of which nothing is known but that it was begun."""
    return Capture(
        block=block,
        index=lost.index,
        stream=lost.stream,
        scheduled_ns=lost.scheduled_ns,
        sent_ns=lost.sent_ns,
        connect_ns=None,
        reused=False,
        retries=0,
        status=None,
        headers={},
        stamps=b"",
        reads=b"",
        firsts=b"",
        sizes=b"",
        body=b"",
        end_ns=lost.sent_ns,
        stamp_source="kernel",
        problem="worker_lost",
        problem_text=LOST,
        clock_step=False,
        failed=True,
    )
