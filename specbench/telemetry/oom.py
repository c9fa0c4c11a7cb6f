"""How often an engine's memory ran out, and whether it crashed, in the words of its errors and its log.

Words of engines only; whether that decides anything is judged elsewhere.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from specbench.model.records import Telemetry

UNSEEN_LOG = "not_told: the engine's log is not seen, and no answer says that its memory ran out"

# Out of memory, as engines, CUDA, ROCm, Metal, Vulkan and the kernel put it, not as people do: "out of memory" alone stands in
# questions as well. SGLang: "Out of memory even after retracting all other requests"; vLLM at start: "No available memory for the
# cache blocks"; llama.cpp: "failed to find free space in the KV cache" is pressure, not a death, and "Context size has been
# exceeded" is one request's fault: neither is listed.
_OOM = re.compile(
    r"(?:CUDA|HIP|XPU|MPS backend|(?:CUDA|HIP) error:|(?:cuda|hip)Malloc\w* failed:|(?:Decode|Prefill)) out of memory"
    r"|torch\.(?:cuda\.)?OutOfMemoryError|CUDA_ERROR_OUT_OF_MEMORY|(?:cuda|hip)Error(?:MemoryAllocation|OutOfMemory)"
    r"|(?:cuda|hip)\w+\([^()'\"]*\):? out of memory|CUDA runtime error in [^'\"]{1,200}: out of memory"
    r"|CUBLAS_STATUS_ALLOC_FAILED|ErrorOutOf(?:Device|Host)?Memory"
    r"|failed to allocate (?:[\w.]+ ){0,3}buffers?\b|std::bad_alloc"
    r"|out of memory even after retracting|no available memory for the cache blocks|not enough GPU memory"
    r"|DefaultCPUAllocator: (?:can't allocate|not enough) memory"
    r"|out of memory: killed process|oom-kill:|invoked oom-killer",
    re.IGNORECASE,
)
# A crash, as engines and runtimes put it. SGLang ends itself by SIGKILL after one, and vLLM's server exits with 0 or 1 once its
# core is dead, so that how the process ended does not tell. A traceback alone is none: servers print them for clients that left.
_CRASH = re.compile(
    r"hit an exception|received sigquit from a child|EngineDeadError|EngineCore (?:encountered|failed|died)"
    r"|engine core .{0,40}died"
    r"|fatal (?:python )?error|segmentation fault|core dumped|terminate called|GGML_ASSERT|panicked at|AssertionError"
    r"|(?:CUDA|HIP|NCCL|RCCL) error|illegal memory access|device-side assert",
    re.IGNORECASE,
)
# Where an engine that logs requests and answers begins to repeat one: vLLM's "prompt: '...'", SGLang's "text='...'", JSON bodies.
_REPEATED = re.compile(
    r"""\b(?:prompt|inputs?|text|output|content|messages)\w*["']?\s*[:=]\s*(?:u?["'\[{]|$)|GenerateReqInput\(|\brequest: \{""",
    re.IGNORECASE,
)


def oom_events(texts: Iterable[str]) -> int:
    """How many distinct error texts or log lines tell of exhausted memory.

    One exhausted allocation fails every request in flight with the same words, and a traceback says them again behind other
    words, so texts that end alike are one event. What a log repeats of a prompt or an answer is nobody's error, and left out.
    """
    own = (_REPEATED.split(text, maxsplit=1)[0] for text in texts)
    return len({_OOM.split(text)[-1].strip() for text in own if _OOM.search(text)})


def shows_crash(printed: Iterable[str]) -> bool:
    """Whether a line of an engine's log tells that it crashed; what the line repeats of a prompt or an answer is left out."""
    return any(_CRASH.search(_REPEATED.split(line, maxsplit=1)[0]) for line in printed)


def with_oom_events(told: Telemetry, printed: Iterable[str] | None, answered: Sequence[str]) -> Telemetry:
    """What the engine told over a block, with how often its memory ran out.

    The log of an engine that specbench started tells of every time, none included. Without it an answer may tell, but answers
    that do not mention memory are no proof that there was enough.

    Args:
        told: What its metrics told.
        printed: The lines of its log over the block, None where nobody sees its log.
        answered: Why requests of the block failed, as the answers said it.
    """
    events = oom_events(() if printed is None else printed) or oom_events(answered)
    others = {name: why for name, why in told.absent.items() if name != "oom_events"}
    if printed is None and not events:
        return replace(told, oom_events=None, absent=dict(sorted((others | {"oom_events": UNSEEN_LOG}).items())))
    return replace(told, oom_events=events, absent=others)
