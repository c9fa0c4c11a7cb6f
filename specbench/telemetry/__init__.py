"""What engines tell: one file and one row of `ENGINES` per engine, how each streams and what its counters mean.

Nothing is judged here; sockets are opened by `scrape.py` and `endpoint.py` alone.
"""

from specbench.telemetry.engine import EngineSupport, telemetry_of
from specbench.telemetry.engines.embedded import EMBEDDED
from specbench.telemetry.engines.llamacpp import LLAMACPP
from specbench.telemetry.engines.lmdeploy import LMDEPLOY
from specbench.telemetry.engines.openai import OPENAI
from specbench.telemetry.engines.sglang import SGLANG
from specbench.telemetry.engines.tgi import TGI
from specbench.telemetry.engines.trtllm import TRTLLM
from specbench.telemetry.engines.vllm import VLLM

# In the order in which an endpoint is recognised: the first that knows itself in the answers; `openai` is what is left.
ENGINES: dict[str, EngineSupport] = {
    engine.name: engine for engine in (EMBEDDED, VLLM, SGLANG, LLAMACPP, TGI, TRTLLM, LMDEPLOY, OPENAI)
}

__all__ = ["ENGINES", "EngineSupport", "telemetry_of"]
