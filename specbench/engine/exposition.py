"""`/metrics` under vLLM's names, so that what reads a real engine reads this one.

Counters and gauges are taken from the engine when somebody asks; nothing here costs a step anything.
"""

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric

from specbench.engine.core import Engine
from specbench.engine.kv import BLOCK_TOKENS
from specbench.engine.truth import Truth

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
LABELS = ("model_name", "engine")


class Exposition:
    """The metrics page of one engine."""

    def __init__(self, engine: Engine, truth: Truth, model: str, created: float) -> None:
        self._engine = engine
        self._truth = truth
        self._model = model
        self._created = created
        self._registry = CollectorRegistry()
        self._registry.register(self)

    def page(self) -> bytes:
        """The page in text format 0.0.4."""
        return generate_latest(self._registry)

    def collect(self) -> Iterator[Metric]:
        """Every family, as prometheus-client asks for them."""
        yield from self._speculation()
        yield from self._load()
        yield from self._tokens()

    def _counter(self, name: str, about: str, value: float) -> CounterMetricFamily:
        family = CounterMetricFamily(f"vllm:{name}", about, labels=LABELS)
        family.add_metric((self._model, "0"), value, created=self._created)
        return family

    def _gauge(self, name: str, about: str, value: float) -> GaugeMetricFamily:
        family = GaugeMetricFamily(f"vllm:{name}", about, labels=LABELS)
        family.add_metric((self._model, "0"), value)
        return family

    def _speculation(self) -> Iterator[Metric]:
        # As vLLM: without speculation these series do not exist, which is not the same as being zero.
        if self._engine.speculation is None:
            return
        counts = self._engine.counts
        yield self._counter("spec_decode_num_drafts", "Verification rounds.", counts.rounds)
        yield self._counter("spec_decode_num_draft_tokens", "Drafted tokens.", counts.drafted)
        yield self._counter("spec_decode_num_accepted_tokens", "Drafted tokens that were accepted.", counts.accepted)
        family = CounterMetricFamily(
            "vllm:spec_decode_num_accepted_tokens_per_pos",
            "Rounds that accepted the drafted token at a position.",
            labels=(*LABELS, "position"),
        )
        for position, accepted in enumerate(counts.per_position):
            family.add_metric((self._model, "0", str(position)), accepted, created=self._created)
        yield family

    def _load(self) -> Iterator[Metric]:
        batch = self._engine.batch
        yield self._gauge("num_requests_running", "Requests in the batch.", len(batch.running))
        yield self._gauge("num_requests_waiting", "Requests that wait for room in the batch.", len(batch.waiting))
        yield self._gauge("kv_cache_usage_perc", "Share of the cache's blocks in use, 0 to 1.", batch.pool.usage)
        yield self._counter("num_preemptions", "Running requests that gave way to others.", batch.preemptions)
        info = GaugeMetricFamily(
            "vllm:cache_config_info", "Configuration of the cache.", labels=(*LABELS, "block_size", "num_gpu_blocks")
        )
        info.add_metric((self._model, "0", str(BLOCK_TOKENS), str(batch.pool.blocks)), 1)
        yield info

    def _tokens(self) -> Iterator[Metric]:
        counts, batch = self._engine.counts, self._engine.batch
        yield self._counter("prompt_tokens", "Prompt tokens of requests that got their first token.", counts.prompt_tokens)
        yield self._counter("generation_tokens", "Tokens of answers.", counts.emitted)
        yield self._counter("prefix_cache_queries", "Prompt tokens looked up in the prefix cache.", batch.prefix_queries)
        yield self._counter("prefix_cache_hits", "Prompt tokens found in the prefix cache.", batch.prefix_hits)
        family = CounterMetricFamily("vllm:request_success", "Ended requests.", labels=(*LABELS, "finished_reason"))
        for reason, ended in self._truth.finished.items():
            family.add_metric((self._model, "0", reason), ended, created=self._created)
        yield family
