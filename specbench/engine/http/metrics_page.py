"""`/metrics` under vLLM's names, so that what reads a real engine reads this one.

Everything is taken from the engine when somebody asks; nothing here costs a step anything.
"""

from collections.abc import Iterator, Mapping

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from specbench.engine.core.kv import BLOCK_TOKENS
from specbench.engine.http.endpoint import HttpEndpoint
from specbench.engine.http.histograms import cumulative

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
LABELS = ("model_name", "engine")
ENGINE = "0"


class MetricsPage:
    """The metrics page of one engine; `created` is the moment of its start in seconds since 1970."""

    def __init__(self, endpoint: HttpEndpoint, created: float) -> None:
        self._engine = endpoint.engine
        self._truth = endpoint.truth
        self._histograms = endpoint.observations.by_name
        self._model = endpoint.terms.model
        self._created = created
        self._registry = CollectorRegistry()
        self._registry.register(self)
        # Brings the start of the process, by which a reader tells a restart.
        ProcessCollector(registry=self._registry)

    def page(self) -> bytes:
        """The page in text format 0.0.4."""
        return generate_latest(self._registry)

    def collect(self) -> Iterator[Metric]:
        """Every family, as prometheus-client asks for them."""
        yield from self._speculation()
        yield from self._load()
        yield from self._tokens()
        yield from self._observed()

    def _counter(self, name: str, about: str, value: float) -> Metric:
        family = CounterMetricFamily(f"vllm:{name}", about, labels=LABELS)
        family.add_metric((self._model, ENGINE), value, created=self._created)
        return family

    def _counters(self, name: str, about: str, label: str, values: Mapping[str, float]) -> Metric:
        family = CounterMetricFamily(f"vllm:{name}", about, labels=(*LABELS, label))
        for each, value in values.items():
            family.add_metric((self._model, ENGINE, each), value, created=self._created)
        return family

    def _gauge(self, name: str, about: str, value: float, **labels: str) -> Metric:
        family = GaugeMetricFamily(f"vllm:{name}", about, labels=(*LABELS, *labels))
        family.add_metric((self._model, ENGINE, *labels.values()), value)
        return family

    def _speculation(self) -> Iterator[Metric]:
        # As vLLM: without speculation these series do not exist, which is not the same as being zero.
        if self._engine.speculation is None:
            return
        counts = self._engine.counts
        by_position = {str(position): accepted for position, accepted in enumerate(counts.per_position)}
        yield self._counter("spec_decode_num_drafts", "Verification rounds.", counts.rounds)
        yield self._counter("spec_decode_num_draft_tokens", "Drafted tokens.", counts.drafted)
        yield self._counter("spec_decode_num_accepted_tokens", "Drafted tokens that were accepted.", counts.accepted)
        about = "Rounds that accepted the drafted token at a position."
        yield self._counters("spec_decode_num_accepted_tokens_per_pos", about, "position", by_position)

    def _load(self) -> Iterator[Metric]:
        batch = self._engine.batch
        waiting = len(batch.waiting)
        yield self._gauge("num_requests_running", "Requests in the batch.", len(batch.running))
        yield self._gauge("num_requests_waiting", "Requests that wait for room in the batch.", waiting)
        yield self._gauge("num_requests_waiting_by_reason", "Waiting requests by reason.", waiting, reason="capacity")
        yield self._gauge("kv_cache_usage_perc", "Share of the cache's blocks in use, 0 to 1.", batch.pool.usage)
        yield self._counter("num_preemptions", "Running requests that gave way to others.", batch.preemptions)
        shape = {"block_size": str(BLOCK_TOKENS), "num_gpu_blocks": str(batch.pool.blocks)}
        caching = {"enable_prefix_caching": str(batch.pool.sharing)}
        yield self._gauge("cache_config_info", "Configuration of the cache.", 1, **shape, **caching)

    def _tokens(self) -> Iterator[Metric]:
        counts, batch = self._engine.counts, self._engine.batch
        computed = counts.prompt_tokens - counts.cached_tokens
        sources = {"local_compute": computed, "local_cache_hit": counts.cached_tokens, "external_kv_transfer": 0}
        yield self._counter("prompt_tokens", "Prompt tokens of requests that got their first token.", counts.prompt_tokens)
        yield self._counters("prompt_tokens_by_source", "Prompt tokens by where they came from.", "source", sources)
        yield self._counter("prompt_tokens_cached", "Prompt tokens found in the cache.", counts.cached_tokens)
        yield self._counter("generation_tokens", "Tokens of answers.", counts.emitted)
        yield self._counter("prefix_cache_queries", "Prompt tokens looked up in the prefix cache.", batch.prefix_queries)
        yield self._counter("prefix_cache_hits", "Prompt tokens found in the prefix cache.", batch.prefix_hits)
        yield self._counters("request_success", "Ended requests.", "finished_reason", self._truth.finished)

    def _observed(self) -> Iterator[Metric]:
        for name, histogram in self._histograms.items():
            family = HistogramMetricFamily(f"vllm:{name}", histogram.about, labels=LABELS)
            family.add_metric((self._model, ENGINE), buckets=cumulative(histogram), sum_value=histogram.total)
            yield family
