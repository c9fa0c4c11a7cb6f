"""Runs of another tool, made of few numbers; and a vLLM result file as its client writes it."""

from collections.abc import Sequence
from typing import Any

from specbench.analysis.imported.imported_verdict import BETWEEN_RUNS, ArmNames, compare_imported
from specbench.model.data.imported import ImportedFile, ImportedRequest, ImportedRun, TheirMetric
from specbench.model.data.imported_result import ImportedComparison

METRICS = (TheirMetric("ttft", "TTFT"), TheirMetric("tpot_classic", "TPOT"), TheirMetric("e2e", "E2EL"))


def a_run(tpot_ms: float = 20.0, ttft_ms: float = 100.0, *, good: int = 24, bad: int = 0, **fields: Any) -> ImportedRun:
    """A run whose requests spread by a few percent around these times."""
    requests = [
        ImportedRequest(
            ok=at < good,
            prompt=f"p{at}",
            input_tokens=100 + at,
            output_tokens=64,
            times_ms={
                "ttft": ttft_ms * (1 + at % 5 / 100),
                "tpot_classic": tpot_ms * (1 + at % 7 / 100),
                "e2e": ttft_ms + tpot_ms * 63,
            },
        )
        for at in range(good + bad)
    ]
    held: dict[str, Any] = {
        "tool": "vllm",
        "version": None,
        "files": (ImportedFile("a.json", "0" * 64),),
        "load": "4 streams",
        "attempted": good + bad,
        "failed": bad,
        "requests": tuple(requests),
        "metrics": METRICS,
        "model": "m",
        "pairing": "prompt",
    }
    return ImportedRun(**(held | fields))


def judged(
    baseline: Sequence[ImportedRun], speculative: Sequence[ImportedRun], between: float = BETWEEN_RUNS
) -> ImportedComparison:
    """The comparison of these runs."""
    return compare_imported(baseline, speculative, ArmNames("A", "B", "vllm", "vLLM bench serve"), between)


def vllm_result(**fields: Any) -> dict[str, Any]:
    """What `vllm bench serve --save-detailed` writes of four requests of 11 tokens."""
    held: dict[str, Any] = {
        "date": "20261130-044723",
        "endpoint_type": "openai-chat",
        "backend": "openai-chat",
        "model_id": "m",
        "num_prompts": 4,
        "request_rate": "inf",
        "max_concurrency": 2,
        "completed": 4,
        "failed": 0,
        "output_throughput": 100.0,
        "total_token_throughput": 200.0,
        "input_lens": [10, 20, 30, 40],
        "output_lens": [11, 11, 11, 11],
        "ttfts": [0.1, 0.1, 0.1, 0.1],
        "itls": [[0.02] * 10] * 4,
        "errors": ["", "", "", ""],
        "median_ttft_ms": 100.0,
        "median_tpot_ms": 20.0,
        "median_itl_ms": 20.0,
    }
    return held | fields
