"""Whether an engine ran out of memory or died, in the words of its errors and its log.

Words of engines only; whether a death decides anything is judged elsewhere.
"""

import re
from collections.abc import Iterable
from typing import Literal

Death = Literal["oom", "engine_dead"]

# Out of memory, as engines, CUDA, ROCm and the kernel put it. SGLang: "Out of memory even after retracting all other
# requests"; vLLM at start: "No available memory for the cache blocks"; llama.cpp: "failed to find free space in the KV cache"
# is pressure, not a death, and "Context size has been exceeded" is one request's fault: neither is listed.
_OOM = re.compile(
    r"out of memory|outofmemory|no available memory for the cache blocks|not enough gpu memory|oom-?kill|bad_alloc"
    r"|cudaerrormemoryallocation|hip error.*memory",
    re.IGNORECASE,
)
_DEAD = re.compile(
    r"enginecore encountered|enginedead|engine (core )?(is )?dead|engine process .*(died|exited)|scheduler hit an exception"
    r"|background loop has errored|fatal executor error|sigkill|segmentation fault",
    re.IGNORECASE,
)


def death_in(text: str) -> Death | None:
    """What an error text or a log line tells of: exhausted memory, an engine that died, or None, a mishap of one request."""
    if _OOM.search(text):
        return "oom"
    return "engine_dead" if _DEAD.search(text) else None


def oom_events(texts: Iterable[str]) -> int:
    """How many distinct error texts or log lines tell of exhausted memory.

    One exhausted allocation fails every request in flight with the same words, so equal texts are one event.
    """
    return len({text.strip() for text in texts if death_in(text) == "oom"})
