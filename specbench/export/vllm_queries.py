"""PromQL over vLLM's counters, of one arm. No quantile is interpolated: a limit is a share of requests above an edge.

Ratios of rates only: what rate() extrapolates cancels in them, and without traffic they have no value rather than 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from specbench.errors import ScenarioError
from specbench.export.selectors import LabelSelector
from specbench.model.live.cited_run import TestedLoad
from specbench.model.live.watch_result import LiveLimit
from specbench.units import MS_PER_S

TOKEN_S = (0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80)
FIRST_TOKEN_S = (0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560)
REQUEST_S = (0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680)
HISTOGRAMS = {
    "tpot": ("request_time_per_output_token_seconds", TOKEN_S),
    "ttft": ("time_to_first_token_seconds", FIRST_TOKEN_S),
    "e2e": ("e2e_request_latency_seconds", REQUEST_S),
}
"""vLLM's histogram of a time, and its edges in seconds."""

UNEVEN = 0.05  # as drafts of another depth than the declared one make alpha wrong
BEYOND = 1.05  # above this multiple of the highest tested batch the step cost is not known


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyLimit:
    """A limit on a quantile, as what counters can tell: at most `share` of requests lie above the edge `edge_s`."""

    quantity: str
    percentile: int
    edge_s: float

    @property
    def share(self) -> float:
        """The share of requests that may lie above the edge."""
        return round(1 - self.percentile / 100, 4)


def latency_limit(limit: LiveLimit, edges_s: Sequence[float] | None) -> LatencyLimit:
    """The limit at its edge; one between edges cannot be decided and is refused."""
    quantity, _, percentile = limit.metric.partition("_p")
    known = sorted(edges_s or HISTOGRAMS[quantity][1])
    at = limit.value / MS_PER_S
    found = next((edge for edge in known if abs(edge - at) < 1e-9), None)
    if found is None:
        near = [f"{edge * MS_PER_S:g}ms" for edge in (*_below(known, at), *_above(known, at))]
        raise ScenarioError(
            f"--limit {limit.metric}={limit.value:g}ms: is no edge of {HISTOGRAMS[quantity][0]}, so that counters cannot tell; "
            f"take {' or '.join(near)}, or give --custom-histogram-buckets as the engine has it"
        )
    return LatencyLimit(quantity=quantity, percentile=int(percentile), edge_s=found)


def _below(edges: Sequence[float], at: float) -> list[float]:
    return [edge for edge in edges if edge < at][-1:]


def _above(edges: Sequence[float], at: float) -> list[float]:
    return [edge for edge in edges if edge > at][:1]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmQueries:
    """The queries of one arm: which series are its own, and the window of its rates."""

    selector: LabelSelector
    window: str = "5m"

    def series(self, name: str, *more: str) -> str:
        """The series of this name in this arm."""
        return f"vllm:{name}{{{','.join((self.selector.text, *more))}}}"

    def rate(self, name: str, *more: str) -> str:
        """A counter's rate by model, over all replicas."""
        return f"sum by (model_name) (rate({self.series(name, *more)}[{self.window}]))"

    def drafts(self) -> str:
        """Verification rounds a second."""
        return self.rate("spec_decode_num_drafts_total")

    def answered(self, quantity: str = "e2e") -> str:
        """Requests a second that the histogram of this time counted."""
        return self.rate(f"{HISTOGRAMS[quantity][0]}_count")

    def depth(self) -> str:
        """Drafted tokens per round."""
        return f"{self.rate('spec_decode_num_draft_tokens_total')} / {self.drafts()}"

    def alpha(self, depth: int) -> str:
        """Accepted ÷ (accepted + rounds that ended in a rejection), while drafts have this depth."""
        accepted = self.rate("spec_decode_num_accepted_tokens_total")
        whole = self.rate("spec_decode_num_accepted_tokens_per_pos_total", f'position="{depth - 1}"')
        even = f"abs({self.depth()} - {depth}) < {depth * UNEVEN:g}"
        return f"{accepted} / ({accepted} + {self.drafts()} - {whole}) and {even}"

    def other_depth(self, depth: int) -> str:
        """Drafted tokens per round, where it is not this depth."""
        return f"({self.depth()} < {depth * (1 - UNEVEN):g} or {self.depth()} > {depth * (1 + UNEVEN):g})"

    def acceptance_length(self) -> str:
        """1 + accepted ÷ rounds."""
        return f"1 + {self.rate('spec_decode_num_accepted_tokens_total')} / {self.drafts()}"

    def by_position(self) -> str:
        """The share of rounds that accepted the drafted token at each position."""
        by = f"rate({self.series('spec_decode_num_accepted_tokens_per_pos_total')}[{self.window}])"
        return f"sum by (model_name, position) ({by}) / on (model_name) group_left () {self.drafts()}"

    def tokens_per_step(self) -> str:
        """Tokens after the first one ÷ decode steps of a request."""
        first = self.rate("time_to_first_token_seconds_count")
        return f"({self.rate('generation_tokens_total')} - {first}) / {self.rate('inter_token_latency_seconds_count')}"

    def batch_size(self) -> str:
        """Requests per engine step."""
        steps, first = self.rate("inter_token_latency_seconds_count"), self.rate("time_to_first_token_seconds_count")
        return f"({steps} + {first}) / {self.rate('iteration_tokens_total_count')}"

    def mean(self, quantity: str) -> str:
        """The mean of a time in seconds; of TPOT, decode time ÷ decoded tokens."""
        if quantity == "tpot":
            tokens, answers = (self.rate(f"request_generation_tokens_{part}") for part in ("sum", "count"))
            return f"{self.rate('request_decode_time_seconds_sum')} / ({tokens} - {answers})"
        name = HISTOGRAMS[quantity][0]
        return f"{self.rate(f'{name}_sum')} / {self.rate(f'{name}_count')}"

    def share_over(self, limit: LatencyLimit) -> str:
        """The share of requests above the limit's edge."""
        return f"1 - {self.under(limit)} / {self.answered(limit.quantity)}"

    def under(self, limit: LatencyLimit) -> str:
        """Requests a second up to the limit's edge; no value where the engine has no such edge."""
        return self.rate(f"{HISTOGRAMS[limit.quantity][0]}_bucket", _le(limit.edge_s))

    def arrivals_per_replica(self) -> str:
        """Requests a second and replica that got a first token."""
        name = "time_to_first_token_seconds_count"
        return f"{self.rate(name)} / count by (model_name) ({self.series(name)})"

    def kv_usage(self) -> str:
        """The largest share of a KV cache in use within the window."""
        return f"max by (model_name) (max_over_time({self.series('kv_cache_usage_perc')}[{self.window}]))"

    def preemptions(self) -> str:
        """Requests a second that gave way to others."""
        return self.rate("num_preemptions_total")


def break_even(loads: Sequence[TestedLoad], batch: str) -> str:
    """The run's step-time ratio at this batch: linear between its loads, that of the lowest below them, no value above them."""
    terms = [f"{loads[0].step_ratio:.4g}"]
    for low, high in pairwise(loads):
        slope = (high.step_ratio - low.step_ratio) / (high.batch - low.batch)
        terms.append(f"{slope:.4g} * clamp({batch} - {low.batch:g}, 0, {high.batch - low.batch:g})")
    if len(terms) == 1:
        terms.append(f"0 * {batch}")
    return f"({' + '.join(terms)}) and {batch} <= {loads[-1].batch * BEYOND:g}"


def _le(edge_s: float) -> str:
    # Clients write 1.0 where Prometheus 3 writes 1, so a whole edge is matched in both forms.
    return f'le=~"{edge_s:g}|{edge_s:.1f}"' if float(edge_s).is_integer() else f'le="{edge_s:g}"'
