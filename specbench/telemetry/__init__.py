"""What engines tell: one file and one row of `ENGINES` per engine, how each streams and what its counters mean.

Nothing is judged here; sockets are opened by `scrape.py` and `endpoint.py` alone.
"""

from specbench.telemetry.embedded import EMBEDDED
from specbench.telemetry.engine import Engine, telemetry_of
from specbench.telemetry.llamacpp import LLAMACPP
from specbench.telemetry.openai import OPENAI
from specbench.telemetry.vllm import VLLM

ENGINES: dict[str, Engine] = {engine.name: engine for engine in (EMBEDDED, VLLM, LLAMACPP, OPENAI)}

__all__ = ["ENGINES", "Engine", "telemetry_of"]
