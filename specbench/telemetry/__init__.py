"""What engines tell: one file and one row of `ENGINES` per engine, how each streams and what its counters mean.

Nothing is judged here; sockets are opened by `scrape.py` and `endpoint.py` alone.
"""

from specbench.telemetry.embedded import EMBEDDED
from specbench.telemetry.engine import Engine, telemetry_of
from specbench.telemetry.llamacpp import LLAMACPP
from specbench.telemetry.lmdeploy import LMDEPLOY
from specbench.telemetry.openai import OPENAI
from specbench.telemetry.sglang import SGLANG
from specbench.telemetry.tgi import TGI
from specbench.telemetry.trtllm import TRTLLM
from specbench.telemetry.vllm import VLLM

# In the order in which an endpoint is recognised: the first that knows itself in the answers; `openai` is what is left.
ENGINES: dict[str, Engine] = {engine.name: engine for engine in (EMBEDDED, VLLM, SGLANG, LLAMACPP, TGI, TRTLLM, LMDEPLOY, OPENAI)}

__all__ = ["ENGINES", "Engine", "telemetry_of"]
