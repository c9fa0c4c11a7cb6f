"""Results of inference-perf: a folder with `summary_lifecycle_metrics.json` and, if asked for, one entry a request in
`per_request_lifecycle_metrics.json`. Read from its source, not from a recording.

It keeps when each chunk came and what the server counted, so that the time per token is that of the stream itself. Its own
`inter_token_latency` has a zero for each further token of a chunk.
"""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import Any

from specbench.explain import numbers
from specbench.imports.result_file import ResultFile, at, count, number, rows, scaled, tally, times
from specbench.model.data.imported import ImportedRequest, ImportedRun, NotCompared, TheirMetric

RECORDS, SUMMARY = "per_request_lifecycle_metrics.json", "summary_lifecycle_metrics.json"
METRICS = (
    TheirMetric("ttft", "time_to_first_token"),
    TheirMetric("tpot_classic", "time_per_output_token"),
    TheirMetric("e2e", "request_latency", "to_the_end_of_the_stream"),
    TheirMetric("output_tps_whole_run", "output_tokens_per_sec", "ramp_and_drain"),
)
GAPS = TheirMetric("chunk_gap", "gaps of chunk_times")
NOT_COMPARED = (
    NotCompared("inter_token_latency", "zeros_inside_a_chunk"),
    NotCompared("normalized_time_per_output_token", "holds_the_first_token"),
)
_LATENCIES = {"ttft": "time_to_first_token", "tpot_classic": "time_per_output_token", "e2e": "request_latency"}
_S = 1000.0


def recognises(file: ResultFile) -> bool:
    """Whether it is one of its files."""
    held = file.objects
    is_summary = len(held) == 1 and "successes" in held[0] and "failures" in held[0]
    return is_summary or (bool(held) and all({"start_time", "end_time", "request"} <= set(one) for one in held))


def siblings(path: Path) -> tuple[Path, ...]:
    """The other file of the run."""
    return tuple(path.with_name(name) for name in (RECORDS, SUMMARY) if path.name in (RECORDS, SUMMARY) and name != path.name)


def read(files: Sequence[ResultFile]) -> list[ImportedRun]:
    """The runs in those files, one a folder; files of single stages stand back behind the summary of all."""
    by_folder: dict[Path, list[ResultFile]] = {}
    for file in files:
        by_folder.setdefault(file.path.parent, []).append(file)
    return [_run(together) for together in by_folder.values()]


def _run(files: Sequence[ResultFile]) -> ImportedRun:
    lines = [(one, file) for file in files for one in file.objects if "request" in one]
    summaries = [(one, file) for file in files for one in file.objects if "successes" in one]
    summaries.sort(key=lambda found: (found[1].path.name != SUMMARY, found[1].path.name))
    whole: Mapping[str, Any] = summaries[0][0] if summaries else {}
    requests = tuple(_request(one) for one, _ in lines)
    good, bad = count(at(whole, "successes", "count")), count(at(whole, "failures", "count"))
    attempted, failed = tally(requests, *((None, None) if good is None else (good + (bad or 0), bad or 0)))
    used = dict.fromkeys([*(file for _, file in lines), *(file for _, file in summaries[:1])])
    has_chunks = any(one.gaps_ms for one in requests)
    return ImportedRun(
        tool="inference-perf",
        version=None,
        files=tuple(file.named for file in used),
        load=_load(whole),
        attempted=attempted,
        failed=failed,
        requests=requests,
        summary={} if requests else _summary(whole),
        values=times(output_tps_whole_run=number(at(whole, "successes", "throughput", "output_tokens_per_sec"))),
        metrics=(*METRICS, GAPS) if has_chunks else METRICS,
        not_compared=NOT_COMPARED if has_chunks else (*NOT_COMPARED, NotCompared("gaps between chunks", "not_kept")),
        # Its clock has no date: only the order within a run is told.
        pairing="prompt" if requests else None,
    )


def _request(held: Mapping[str, Any]) -> ImportedRequest:
    told = at(held, "info", "response_metrics") or at(held, "info") or {}
    chunks = _stamps(at(told, "chunk_times"))
    stamps = chunks or _stamps(at(told, "output_token_times"))
    start, end = number(held.get("start_time")), number(held.get("end_time"))
    served, counted = count(at(told, "server_usage", "completion_tokens")), count(at(told, "output_tokens"))
    tokens = counted if served is None else served
    ok = not held.get("error") and start is not None and bool(stamps or tokens)
    tpot = (stamps[-1] - stamps[0]) / (tokens - 1) if stamps and tokens is not None and tokens > 1 else None
    request = str(held.get("request")).encode("utf-8", "surrogatepass")
    given = [at(held, "info", *keys) for keys in (("request_metrics", "text", "input_tokens"), ("input_tokens",))]
    gaps = tuple((later - earlier) * _S for earlier, later in pairwise(chunks))
    return ImportedRequest(
        ok=ok,
        prompt=blake2b(request, digest_size=16).hexdigest(),
        input_tokens=next((found for one in given if (found := count(one)) is not None), None),
        output_tokens=tokens,
        times_ms=times(
            ttft=None if start is None or not stamps else (stamps[0] - start) * _S,
            tpot_classic=scaled(tpot, _S),
            e2e=None if start is None or end is None else (end - start) * _S,
        )
        if ok
        else {},
        gaps_ms={"chunk_gap": gaps} if ok and chunks else {},
    )


def _stamps(value: object) -> list[float]:
    return sorted(found for one in rows(value) if (found := number(one)) is not None)


def _summary(whole: Mapping[str, Any]) -> dict[str, float]:
    latency = at(whole, "successes", "latency")
    found: dict[str, float | None] = {}
    for ours, theirs in _LATENCIES.items():
        median = number(at(latency, theirs, "median"))
        found[f"{ours}_p50"] = scaled(at(latency, theirs, "p50") if median is None else median, _S)
        found[f"{ours}_p95"] = scaled(at(latency, theirs, "p95"), _S)
    return times(**found)


def _load(whole: Mapping[str, Any]) -> str:
    rate = number(at(whole, "load_summary", "requested_rate"))
    streams = count(at(whole, "load_summary", "concurrency"))
    if streams:
        return numbers.streams(streams)
    return "all stages" if rate is None else f"{rate:g} requests/s"
