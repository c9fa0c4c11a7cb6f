"""So many requests as one block: what is asked of the generator, and that its end is told."""

from collections.abc import Iterator
from typing import Any

import pytest

from specbench.errors import InternalError
from specbench.load.session import drive, requests_block, works_of
from specbench.model.captures import Capture
from specbench.telemetry.endpoint import ServedEndpoint

SERVED = ServedEndpoint("http://h", {"x": "1"}, "m")


class _Silent:
    def run_block(self, order: Any, works: Iterator[Any]) -> Iterator[Any]:
        yield from ()


def test_all_of_the_block_is_the_steady_window() -> None:
    """No ramp, no least time: it ends with its requests."""
    order = requests_block("b", SERVED, "/p", 3, 60.0, streams=2)

    assert (order.url, order.path, order.headers, order.concurrency) == ("http://h", "/p", {"x": "1"}, 2)
    assert (order.min_requests, order.min_s, order.max_s, order.ramp_s) == (3, 0.0, 60.0, 0.0)
    assert [(work.index, work.body, work.arrival_ns) for work in works_of([b"a", b"c"])] == [(0, b"a", None), (1, b"c", None)]


def test_a_block_without_its_end_is_an_internal_error() -> None:
    """Whatever was taken before."""
    taken: list[Capture] = []
    with pytest.raises(InternalError, match="block b ended without its end"):
        drive(_Silent(), requests_block("b", SERVED, "/p", 1, 1.0), works_of([b""]), taken.append)  # type: ignore[arg-type]
    assert taken == []
