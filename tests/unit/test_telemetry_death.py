"""Exhausted memory and dead engines are recognised in the words of engines, and a mishap of one request is neither."""

import pytest

from specbench.telemetry.death import Death, death_in, oom_events


@pytest.mark.parametrize(
    ("text", "death"),
    [
        ("CUDA out of memory. Tried to allocate 2.00 GiB", "oom"),
        ("torch.OutOfMemoryError: CUDA error", "oom"),
        ("No available memory for the cache blocks. Try increasing gpu_memory_utilization", "oom"),
        ("Out of memory even after retracting all other requests", "oom"),
        ("Failed to load model - not enough GPU memory", "oom"),
        ("Memory cgroup out of memory: Killed process 123", "oom"),
        ("EngineCore encountered an issue. See stack trace (above) for the root cause.", "engine_dead"),
        ("EngineCore encountered a fatal error.", "engine_dead"),
        ("Context size has been exceeded.", None),
        ("failed to find free space in the KV cache, retrying with smaller batch size", None),
        ("KV cache pool is full. Retract requests.", None),
        ("This model's maximum context length is 2048 tokens", None),
        ("Internal server error", None),
        ("", None),
    ],
)
def test_words_of_engines(text: str, death: Death | None) -> None:
    """Pressure is no death, and a prompt too long is its sender's fault."""
    assert death_in(text) == death


def test_one_exhausted_allocation_is_one_event() -> None:
    """It fails every request in flight with the same words."""
    assert (
        oom_events(
            ["CUDA out of memory. Tried 2 GiB", " CUDA out of memory. Tried 2 GiB", "timeout", "CUDA out of memory. Tried 4 GiB"]
        )
        == 2
    )
