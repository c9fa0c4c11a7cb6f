"""A dataset's own moments are replayed, stretch by stretch; what is no trace is refused with the numbers."""

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from specbench.errors import DataError
from specbench.model.data.datasets import DatasetReading
from specbench.model.scenario import BlockSize
from specbench.prompts.dataset.arrival_trace import ArrivalTrace, check_long_enough, read_trace, stretch_s
from tests.support.evidence import ONE_CELL

S = 1_000_000_000
EVEN = ArrivalTrace(Path("t.jsonl"), np.arange(0.0, 100.0, 0.5))
BLOCK = BlockSize(min_requests=12, min_s=4.0, max_s=20.0, ramp_s=1.0)


def a_file(path: Path, times: Sequence[object]) -> Path:
    """Prompts of AIPerf's shape, with times in milliseconds; None where a row has none."""
    rows = [
        {"text": f"question {n}", "session_id": str(n)} | ({} if at is None else {"timestamp": at}) for n, at in enumerate(times)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def read(path: Path) -> ArrivalTrace:
    """The file's trace."""
    return read_trace(path, DatasetReading(), 0, "chat")


def test_a_trace_is_the_rows_moments_since_the_first(tmp_path: Path) -> None:
    """Milliseconds in the file; four requests in three gaps of 500 ms are two a second."""
    trace = read(a_file(tmp_path / "t.jsonl", [10_000, 10_500, 11_000, 11_500]))

    assert trace.at_s.tolist() == [0.0, 0.5, 1.0, 1.5]
    assert (trace.mean_rate, trace.length_s) == (2.0, 2.0)


@pytest.mark.parametrize(
    ("pair", "speed", "due_s"),
    [
        (0, 1.0, [0.0, 0.5, 1.0]),
        (0, 2.0, [0.0, 0.25, 0.5]),
        (1, 1.0, [0.2, 0.7, 1.2]),
        (1, 2.0, [0.2, 0.45, 0.7]),
    ],
)
def test_each_pair_replays_its_own_stretch(pair: int, speed: float, due_s: list[float]) -> None:
    """Stretches of 4.8 s of the block, at speed 2 of 9.6 s of the trace."""
    found = [moment / S for moment in islice(EVEN.arrivals_ns(pair, 4.8, speed), 3)]

    assert found == pytest.approx(due_s)


def test_a_block_that_lasts_longer_goes_on_and_from_the_end_at_the_beginning() -> None:
    """The last pair of a trace that is just long enough runs out of nothing."""
    found = [moment / S for moment in islice(EVEN.arrivals_ns(19, 5.0, 1.0), 14)]

    assert found == pytest.approx([0.5 * n for n in range(14)])


@pytest.mark.parametrize(
    ("times", "said"),
    [
        ([None, None], "it has no moments to replay; a row needs a time"),
        (["03/01/2026 12:00", "03/01/2026 12:01"], "a date such as 2026-03-01T12:00:00Z"),
        ([1.77e18, 1.77e18 + 5e8, 1.77e18 + 1e9], "and lies in the future; are its times in another unit"),
        ([1000, None, 2000, 3000], "no moment in 1 of its 4 requests"),
        ([9000, 1000, 2000, 3000], "3 of its requests came before the one above them; sort it"),
        ([1000, 1000, 1000], "its 3 requests all came at once"),
        ([0, 10**9, 2 * 10**9], "at a mean rate of 1e-06 requests/s"),
        ([1.0, 1.001, 1.002], "at a mean rate of 1e"),
        ([4e12, 4e12 + 500, 4e12 + 1000], "at a mean rate of 2 requests/s, and lies in the future"),
    ],
)
def test_what_is_no_trace_is_refused(tmp_path: Path, times: list[object], said: str) -> None:
    """Without moments, out of order, or in another unit, whose mean rate is named."""
    with pytest.raises(DataError, match=r"t\.jsonl: ") as refused:
        read(a_file(tmp_path / "t.jsonl", times))

    assert said in str(refused.value)


def test_a_block_takes_as_much_of_a_trace_as_it_lasts() -> None:
    """Its ramp, and its least time, or the time of its least requests, up to its longest."""
    assert [stretch_s(BLOCK, rate) for rate in (10.0, 2.0, 0.1)] == [5.0, 7.0, 21.0]


def test_a_trace_too_short_for_its_pairs_is_refused_with_both_lengths() -> None:
    """Ten pairs of 7 s at its own rate of two a second, and of 5 s at twice that speed, which is 100 s of it."""
    matrix = replace(ONE_CELL.matrix, block=BLOCK, rate=(2.0, 4.0), pairs=10)
    check_long_enough(EVEN, matrix)
    with pytest.raises(DataError, match="lasts 100 s, and 15 pairs at x1 need 105 s"):
        check_long_enough(EVEN, replace(matrix, pairs=15))
    with pytest.raises(DataError, match="12 pairs at x2 need 120 s"):
        check_long_enough(EVEN, replace(matrix, pairs=12))


@pytest.mark.parametrize("key", ["text", "prompt"])
@pytest.mark.parametrize(
    "times", [[1000, 1500, 2000], ["2026-03-01T12:00:00Z", "2026-03-01T12:00:00.500Z", "2026-03-01T14:00:01+02:00"]]
)
def test_a_log_of_prompts_with_times_is_a_trace(key: str, times: list[object], tmp_path: Path) -> None:
    """In milliseconds or as dates of any zone, half a second apart, whatever the prompt's field is called."""
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps({key: f"question {n}", "timestamp": at}) + "\n" for n, at in enumerate(times)))

    assert read(path).at_s.tolist() == [0.0, 0.5, 1.0]


def test_a_trace_in_seconds_under_a_shape_in_milliseconds_is_told_of_its_unit(tmp_path: Path) -> None:
    """A hundred seconds are then a tenth, which is too short for any pair."""
    matrix = replace(ONE_CELL.matrix, block=BLOCK, rate=(1000.0,), pairs=1)
    with pytest.raises(DataError, match=r"it lasts 0\.1 s, .* in another unit"):
        check_long_enough(read(a_file(tmp_path / "t.jsonl", list(range(100)))), matrix)
