"""Exhausted memory and dead engines are recognised in the words of engines, and a mishap of one request is neither."""

import pytest

from specbench.model.seen import Telemetry
from specbench.telemetry.death import UNSEEN_LOG, Death, death_in, oom_events, with_oom_events


@pytest.mark.parametrize(
    ("text", "death"),
    [
        ("CUDA out of memory. Tried to allocate 2.00 GiB", "oom"),
        ("torch.OutOfMemoryError: CUDA error", "oom"),
        ("No available memory for the cache blocks. Try increasing gpu_memory_utilization", "oom"),
        ("Out of memory even after retracting all other requests", "oom"),
        ("Failed to load model - not enough GPU memory", "oom"),
        ("ggml_cuda: cudaMalloc failed: out of memory", "oom"),
        ("error: Insufficient Memory (00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)", "oom"),
        ("CUDA out of memory occurred when warming up sampler", "oom"),
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


def test_a_traceback_that_repeats_an_exhausted_allocation_is_one_event() -> None:
    """An engine core prints it, then its parent does behind other words."""
    lines = [
        "(EngineCore pid=7) ERROR [core.py:9] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
        "RuntimeError: worker failed with CUDA out of memory. Tried to allocate 2.00 GiB.",
    ]

    assert oom_events(lines) == 1


OOM_ANSWER = "500: CUDA out of memory. Tried to allocate 2.00 GiB"
TOLD = Telemetry(generated_tokens=10, absent={"oom_events": "not_told: vLLM does not tell it", "draft_s": "not_told: x"})


@pytest.mark.parametrize(
    ("printed", "answered", "events"),
    [
        ((), (), 0),
        (("INFO: 200 OK", "KV cache pool is full. Retract requests."), ("timeout",), 0),
        (("CUDA out of memory. Tried to allocate 2.00 GiB",), (OOM_ANSWER,), 1),
        ((), (OOM_ANSWER,), 1),
        (None, (OOM_ANSWER, "500: engine is gone"), 1),
        (None, (), None),
        (None, ("500: engine is gone",), None),
    ],
)
def test_a_log_tells_of_none_as_well_and_answers_only_of_some(
    printed: tuple[str, ...] | None, answered: tuple[str, ...], events: int | None
) -> None:
    """A log that is seen and silent is zero; answers that are silent are no zero."""
    told = with_oom_events(TOLD, printed, answered)

    assert told.oom_events == events
    assert told.absent.get("oom_events") == (UNSEEN_LOG if events is None else None)
    assert (told.generated_tokens, told.absent["draft_s"]) == (10, "not_told: x")
