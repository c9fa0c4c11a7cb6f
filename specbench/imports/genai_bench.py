"""Results of genai-bench: a folder with one JSON file for each scenario and concurrency. Read from its source; no
recording was at hand.

Its times are in `_time_unit`, seconds or milliseconds. No text and no order is kept, so requests of two runs are never paired.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from specbench.errors import DataError
from specbench.explain import numbers
from specbench.imports.result_file import ResultFile, at, count, number, rows, scaled, tally, text_of, times
from specbench.model.data.imported import ImportedRequest, ImportedRun, NotCompared, TheirMetric

METRICS = (
    TheirMetric("ttft", "ttft"),
    TheirMetric("tpot_classic", "tpot", "to_the_end_of_the_stream"),
    TheirMetric("e2e", "e2e_latency"),
    TheirMetric("output_tps_whole_run", "mean_output_throughput_tokens_per_s", "ramp_and_drain"),
)
NOT_COMPARED = (
    NotCompared("output_inference_speed", "inverse_of_tpot"),
    NotCompared("gaps between chunks", "not_kept"),
)
_NAMES = {"ttft": "ttft", "tpot_classic": "tpot", "e2e": "e2e_latency"}


def recognises(file: ResultFile) -> bool:
    """Whether it is such a file."""
    held = file.objects[0] if len(file.objects) == 1 else {}
    return "aggregated_metrics" in held and "individual_request_metrics" in held


def read(files: Sequence[ResultFile]) -> list[ImportedRun]:
    """The runs in those files."""
    return [_run(file.objects[0], file) for file in files]


def _factor(held: Mapping[str, Any], path: Path) -> float:
    unit = held.get("_time_unit", "s")  # older versions wrote seconds, and no unit
    if unit not in ("s", "ms"):
        raise DataError(f"{path}: _time_unit {unit!r} is neither s nor ms; compare files of a version that says one of them")
    return 1000.0 if unit == "s" else 1.0


def _run(held: Mapping[str, Any], file: ResultFile) -> ImportedRun:
    factor = _factor(held, file.path)
    whole = at(held, "aggregated_metrics") or {}
    requests = tuple(_request(one, factor) for one in rows(held.get("individual_request_metrics")) if isinstance(one, dict))
    attempted, failed = tally(requests, count(at(whole, "num_requests")), count(at(whole, "num_error_requests")))
    nothing = attempted is not None and attempted == failed
    kind = text_of(at(whole, "iteration_type")) or "num_concurrency"
    level = number(at(whole, kind)) if number(at(whole, kind)) is not None else number(at(whole, "num_concurrency"))
    return ImportedRun(
        tool="genai-bench",
        version=None,
        files=(file.named,),
        load=f"{text_of(at(whole, 'scenario')) or 'no scenario'}, {_load(kind, 0 if level is None else level)}",
        attempted=attempted,
        failed=failed,
        requests=requests,
        summary={} if nothing else _summary(at(whole, "stats"), factor),
        values=times(output_tps_whole_run=None if nothing else number(at(whole, "mean_output_throughput_tokens_per_s"))),
        metrics=METRICS,
        not_compared=NOT_COMPARED,
    )


def _load(kind: str, level: float) -> str:
    if kind == "num_concurrency":
        return numbers.streams(level)
    return f"{level:g} {'texts a batch' if kind == 'batch_size' else kind}"


def _request(held: Mapping[str, Any], factor: float) -> ImportedRequest:
    ok = held.get("error_code") is None and bool(count(held.get("num_output_tokens")))
    return ImportedRequest(
        ok=ok,
        input_tokens=count(held.get("num_input_tokens")),
        output_tokens=count(held.get("num_output_tokens")),
        times_ms=times(**{ours: scaled(held.get(theirs), factor) for ours, theirs in _NAMES.items()}) if ok else {},
    )


def _summary(stats: object, factor: float) -> dict[str, float]:
    return times(
        **{
            f"{ours}_p{point}": scaled(at(stats, theirs, f"p{point}"), factor)
            for ours, theirs in _NAMES.items()
            for point in (50, 95)
        }
    )
