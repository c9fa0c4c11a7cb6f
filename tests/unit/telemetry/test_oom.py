"""Exhausted memory is recognised in the words of engines, and a mishap of one request is none."""

import pytest

from specbench.model.records import Telemetry
from specbench.telemetry.oom import UNSEEN_LOG, oom_events, shows_crash, with_oom_events


@pytest.mark.parametrize(
    ("text", "events"),
    [
        ("CUDA out of memory. Tried to allocate 2.00 GiB", 1),
        ("torch.OutOfMemoryError: CUDA error", 1),
        ("No available memory for the cache blocks. Try increasing gpu_memory_utilization", 1),
        ("Out of memory even after retracting all other requests", 1),
        ("Failed to load model - not enough GPU memory", 1),
        ("ggml_cuda: cudaMalloc failed: out of memory", 1),
        ("error: Insufficient Memory (00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)", 1),
        ("CUDA out of memory occurred when warming up sampler", 1),
        ("Memory cgroup out of memory: Killed process 123", 1),
        ("CUDA error: out of memory", 1),
        ("HIP out of memory. Tried to allocate 2.00 GiB", 1),
        ("torch.cuda.OutOfMemoryError: allocation on device 0", 1),
        ("ggml_gallocr_reserve_n: failed to allocate CUDA0 buffer of size 1048576", 1),
        ("llama_kv_cache_init: failed to allocate buffer for kv cache", 1),
        ("failed to allocate compute pp buffers", 1),
        ("vk::Device::allocateMemory: ErrorOutOfDeviceMemory", 1),
        ('DriverError(CUDA_ERROR_OUT_OF_MEMORY, "out of memory")', 1),
        ("[TensorRT-LLM][ERROR] CUDA runtime error in ::cudaMallocAsync(ptr, n): out of memory", 1),
        ("Decode out of memory. Try to lower your batch size.", 1),
        ("terminate called after throwing an instance of 'std::bad_alloc'", 1),
        ("python invoked oom-killer: gfp_mask=0xcc0", 1),
        ("How do I find out why my program runs out of memory?", 0),
        ("Insufficient memory in my laptop, what now", 0),
        ("why does the oom killer exist", 0),
        ("EngineCore encountered an issue. See stack trace (above) for the root cause.", 0),
        ("EngineCore encountered a fatal error.", 0),
        ("Context size has been exceeded.", 0),
        ("failed to find free space in the KV cache, retrying with smaller batch size", 0),
        ("KV cache pool is full. Retract requests.", 0),
        ("This model's maximum context length is 2048 tokens", 0),
        ("Internal server error", 0),
        ("", 0),
    ],
)
def test_words_of_engines(text: str, events: int) -> None:
    """Pressure is no death, and a prompt too long is its sender's fault."""
    assert oom_events([text]) == events


@pytest.mark.parametrize(
    "line",
    [
        "INFO Received request chatcmpl-1: prompt: 'Explain: RuntimeError: CUDA out of memory.', params: SamplingParams()",
        "INFO Generated response c-1 (streaming complete): output: 'torch.OutOfMemoryError means that', finish_reason: stop",
        "Receive: obj=GenerateReqInput(rid='1', text='why std::bad_alloc?', sampling_params={})",
        'srv  log_server_r: request:  {"messages":[{"role":"user","content":"cudaMalloc failed: out of memory, why?"}]}',
        """session=1, adapter_name=None, input_tokens=9, prompt='CUDA out of memory'""",
    ],
)
def test_a_prompt_about_memory_that_a_log_repeats_is_no_event(line: str) -> None:
    """Code and questions about errors are what models are asked; an error before a repeated prompt still counts."""
    assert oom_events([line]) == 0
    assert oom_events([f"ERROR torch.OutOfMemoryError: CUDA out of memory. {line}"]) == 1


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
TOLD = Telemetry(generated_tokens=10, absent={"oom_events": "not_told: vLLM does not report it", "draft_s": "not_told: x"})


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


@pytest.mark.parametrize(
    "line",
    [
        "[2026-11-30 08:00:00] Scheduler hit an exception: Traceback (most recent call last):",
        "[2026-11-30 08:00:00] Received sigquit from a child process. It usually means the child failed.",
        "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the root cause.",
        "Fatal Python error: Segmentation fault",
        "RuntimeError: CUDA error: an illegal memory access was encountered",
        "/src/ggml/src/ggml.c:1234: GGML_ASSERT(a->ne[0] == b->ne[0]) failed",
        "thread 'main' panicked at src/main.rs:10",
    ],
)
def test_a_crash_is_told_by_the_log(line: str) -> None:
    """SGLang ends itself by SIGKILL after one, so that the signal alone does not tell."""
    assert shows_crash(["INFO: started", line])


@pytest.mark.parametrize(
    "line",
    [
        "Traceback (most recent call last):",
        "asyncio.exceptions.CancelledError",
        "INFO: Shutting down",
        'INFO: Received request cmpl-1: prompt: "Why do I get a segmentation fault in C?", params: ...',
        "INFO: 127.0.0.1:1234 - POST /v1/chat/completions 200 OK",
    ],
)
def test_what_an_engine_prints_when_it_is_ended_is_no_crash(line: str) -> None:
    """Nor what a prompt asks about."""
    assert not shows_crash([line])
