"""So many requests through the load generator as one block, and what came of each. Which requests they are is their caller's."""

from collections.abc import Callable, Iterable, Iterator

from specbench.errors import InternalError
from specbench.load.messages import BlockSpec, BlockSummary, RequestJob
from specbench.load.parent import LoadGenerator
from specbench.model.captures import Capture
from specbench.telemetry.endpoint import ServedEndpoint


def requests_block(block: str, served: ServedEndpoint, path: str, count: int, max_s: float, streams: int = 1) -> BlockSpec:
    """A block that lasts until so many requests have ended, at most `max_s` seconds: all of it is the steady window."""
    return BlockSpec(
        block=block,
        url=served.url,
        path=path,
        headers=dict(served.headers),
        concurrency=streams,
        min_requests=count,
        min_s=0.0,
        max_s=max_s,
        ramp_s=0.0,
        drain_s=1.0,
    )


def works_of(bodies: Iterable[bytes]) -> Iterator[RequestJob]:
    """Each of these bodies as a request, sent as soon as a stream is free."""
    return (RequestJob(index=index, body=body) for index, body in enumerate(bodies))


def drive(child: LoadGenerator, order: BlockSpec, works: Iterator[RequestJob], take: Callable[[Capture], None]) -> BlockSummary:
    """The end of the block, once `take` has been given every answer as it ended.

    Raises:
        ScenarioError: the system does not let one process carry so many streams.
        InternalError: the load generator was lost.
    """
    for message in child.run_block(order, works):
        if isinstance(message, BlockSummary):
            return message
        take(message)
    raise InternalError(f"block {order.block} ended without its end")
