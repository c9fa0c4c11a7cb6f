"""The table of metrics is whole, consistent, and cheap to import."""

import subprocess
import sys

import pytest

from specbench.analysis.arrays.samples import Samples
from specbench.analysis.metrics.registry import SOURCES
from specbench.model.metrics import METRICS
from tests.support.records import a_record, one_block

NAMED_BY_GUARDRAILS = (
    *("tpot_p50", "tpot_p95", "pace_p50", "pace_p95", "ttft_p50", "ttft_p95", "e2e_p50", "e2e_p95", "itl_p50", "itl_p95"),
    *("chunk_gap_p50", "chunk_gap_p95", "chunk_gap_p99", "stall_p95", "output_tps", "completed_rps", "error_rate"),
    *("output_length", "acceptance_length", "alpha", "tokens_per_step", "step_time", "kv_peak", "preemptions", "queue_time"),
    *("memory", "oom", "restarts"),
)


def test_every_metric_that_a_guardrail_may_name_is_in_the_table() -> None:
    """Unknown metric names are refused before a run, so the known ones must all be here."""
    assert set(NAMED_BY_GUARDRAILS) <= set(METRICS)


def test_every_metric_has_a_function_and_every_function_a_metric() -> None:
    """The table of what metrics are and the table of how they are computed name the same quantities."""
    assert {metric.quantity for metric in METRICS.values()} == set(SOURCES)


@pytest.mark.parametrize("name", METRICS)
def test_a_row_says_what_its_source_gives(name: str) -> None:
    """Rows with a percentile, or of prompts, have samples and a unit of time; the others a ratio of sums; a p95 is pooled."""
    metric = METRICS[name]
    data = SOURCES[metric.quantity](one_block(a_record([float(i) for i in range(1, 12)])))

    assert metric.id == name
    assert isinstance(data, Samples) is (metric.quantile is not None or metric.method == "prompts")
    assert isinstance(data, Samples) is (metric.kind in ("request", "token"))
    assert (metric.method == "pooled") is (metric.kind == "request" and (metric.quantile or 0) > 0.5)
    if metric.quantile is not None:
        assert metric.unit == "ms"
        assert name.endswith(f"_p{round(100 * metric.quantile)}")


def test_counts_and_lengths_may_repeat_exactly_but_times_and_rates_may_not() -> None:
    """A spread of exactly 0 is suspect in what a clock measured only."""
    assert {name for name, metric in METRICS.items() if not metric.is_measured} == {
        *("error_rate", "stalled_answers", "output_length", "acceptance_length", "alpha", "tokens_per_step", "batch_size"),
        *("kv_peak", "memory", "preemptions", "oom", "restarts"),
    }


def test_the_table_is_imported_without_scipy() -> None:
    """`gate` and `probe` read metrics without paying for scipy's import."""
    code = "import sys, specbench.analysis.comparison.compare, specbench.analysis.metrics.registry; print('scipy' in sys.modules)"

    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()

    assert answer == "False"
