"""Histograms hold what vLLM's hold."""

import pytest

from specbench.engine.core.output_text import OutputLimits
from specbench.engine.http.histograms import Histogram, Observations, RequestTimes, cumulative, one_two_five
from specbench.units import ns_of_s
from tests.support.engines import answer_of, generation, small_engine


def test_a_value_falls_under_its_edge() -> None:
    """A bucket includes its edge; the last one has everything above."""
    histogram = Histogram("waiting", (1.0, 2.0))
    for value in (0.5, 1.0, 1.5, 3.0):
        histogram.observe(value)

    assert cumulative(histogram) == [("1.0", 2), ("2.0", 3), ("+Inf", 4)]
    assert histogram.total == 6.0


def test_token_edges_follow_the_model() -> None:
    """1, 2, 5, 10 and so on, up to the longest text."""
    assert one_two_five(64) == (1, 2, 5, 10, 20, 50)
    assert one_two_five(1000)[-1] == 1000


def test_a_request_is_observed_as_it_went() -> None:
    """Arrival 0 s, scheduled 1 s, outputs at 2, 2.5 and 4 s, five tokens: every histogram of vLLM has its value."""
    seen = Observations(1024)
    moments = RequestTimes(arrival_ns=0, scheduled_ns=ns_of_s(1.0))
    _, sequence = answer_of(small_engine(), generation(tuple(range(300, 340)), limits=OutputLimits(5)))
    for due_s in (2.0, 2.5, 4.0):
        seen.output(moments, ns_of_s(due_s))
    seen.ended(sequence, moments)

    assert {name: histogram.total for name, histogram in seen.by_name.items()} == pytest.approx(
        {
            "time_to_first_token_seconds": 2.0,
            "inter_token_latency_seconds": 0.5 + 1.5,
            "request_time_per_output_token_seconds": 2.0 / 4,
            "e2e_request_latency_seconds": 4.0,
            "request_queue_time_seconds": 1.0,
            "request_inference_time_seconds": 3.0,
            "request_prefill_time_seconds": 1.0,
            "request_decode_time_seconds": 2.0,
            "iteration_tokens_total": 0.0,
            "request_prompt_tokens": 40,
            "request_generation_tokens": 5,
            "request_max_num_generation_tokens": 5,
            "request_params_max_tokens": 5,
            "request_prefill_kv_computed_tokens": 40,
            "request_params_n": 1,
            "request_num_preemptions": 0,
        }
    )
    assert sum(seen.by_name["inter_token_latency_seconds"].counts) == 2
