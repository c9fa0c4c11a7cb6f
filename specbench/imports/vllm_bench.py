"""Results of `vllm bench serve`, and of `vllm bench sweep serve`, whose folders hold many of them.

One JSON object a run; with `--append-result` several, one a line, in one .json file. Without `--save-detailed` there are no
values of single requests. A percentile that was not asked for is not in the file; where nothing succeeded every statistic is 0.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from specbench.explain import numbers
from specbench.imports.result_file import ResultFile, count, number, rows, scaled, tally, text_of, times
from specbench.model.data.imported import ImportedRequest, ImportedRun, NotCompared, TheirMetric

METRICS = (
    TheirMetric("ttft", "TTFT", "first_chunk_with_choices"),
    TheirMetric("tpot_classic", "TPOT"),
    TheirMetric("chunk_gap", "ITL", "empty_chunks_count"),
    TheirMetric("e2e", "E2EL"),
    TheirMetric("output_tps_whole_run", "output_throughput", "ramp_and_drain"),
    TheirMetric("acceptance_length", "spec_decode_acceptance_length"),
    TheirMetric("acceptance_rate", "spec_decode_acceptance_rate"),
)
NOT_COMPARED = (
    NotCompared("max_output_tokens_per_s", "counts_chunks"),
    NotCompared("ITL as itl and pace", "tokens_of_a_chunk_unknown"),
)
_SUMMARY = {"ttft": "ttft", "tpot_classic": "tpot", "chunk_gap": "itl", "e2e": "e2el"}
_POINTS = {50: ("p50", "median"), 95: ("p95",)}
_S = 1000.0


def recognises(file: ResultFile) -> bool:
    """Whether it is such a file: its keys are those of this client."""
    return bool(file.objects) and all(
        "num_prompts" in one and "total_token_throughput" in one and ("backend" in one or "endpoint_type" in one)
        for one in file.objects
    )


def read(files: Sequence[ResultFile]) -> list[ImportedRun]:
    """The runs in those files; a sweep's summary stands back where the runs themselves are there."""
    singles = [file for file in files if file.path.name != "summary.json"]
    beside = {file.path.parent for file in singles}
    kept = [file for file in files if file in singles or file.path.parent not in beside]
    return [_run(one, file) for file in kept for one in file.objects]


def _run(held: Mapping[str, Any], file: ResultFile) -> ImportedRun:
    requests = _requests(held)
    attempted, completed = count(held.get("num_prompts")), count(held.get("completed"))
    failed = count(held.get("failed"))  # older versions have none
    if failed is None and attempted is not None and completed is not None:
        failed = max(0, attempted - completed)
    attempted, failed = tally(requests, attempted, failed)
    nothing = attempted is not None and attempted == failed
    drafted = count(held.get("spec_decode_draft_tokens"))
    return ImportedRun(
        tool="vllm",
        version=None,
        files=(file.named,),
        load=load_of(held),
        attempted=attempted,
        failed=failed,
        requests=requests,
        summary={} if nothing else summary_of(held, _SUMMARY),
        values=times(
            output_tps_whole_run=None if nothing else number(held.get("output_throughput")),
            acceptance_length=number(held.get("spec_decode_acceptance_length")) if drafted else None,
            acceptance_rate=scaled(held.get("spec_decode_acceptance_rate"), 0.01) if drafted else None,
        ),
        metrics=METRICS,
        not_compared=NOT_COMPARED,
        model=text_of(held.get("model_id")),
        route=text_of(held.get("endpoint_type")) or text_of(held.get("backend")),
        started_s=_started(held.get("date")),
        speculated=True if drafted else None,
        pairing="order" if requests else None,
    )


def _requests(held: Mapping[str, Any]) -> tuple[ImportedRequest, ...]:
    """Request by request, in the order of the prompts; empty where the file has no details."""
    first, chunks = rows(held.get("ttfts")), rows(held.get("itls"))
    lengths, asked = rows(held.get("output_lens")), rows(held.get("input_lens"))
    if not first or not len(first) == len(chunks) == len(lengths) == len(asked):
        return ()
    errors, whole = rows(held.get("errors")), rows(held.get("latencies"))
    found = []
    for index, (ttft, gaps, tokens) in enumerate(zip(first, chunks, lengths, strict=True)):
        seconds = [value for gap in rows(gaps) if (value := number(gap)) is not None]
        start, answer = number(ttft), count(tokens)
        error = errors[index] if index < len(errors) else ""
        e2e = number(whole[index]) if index < len(whole) else None
        if e2e is None and start is not None:
            e2e = start + sum(seconds)
        # A stream that died before its first token was once counted as a success of no length that took no time.
        ok = not error and start is not None and bool(answer)
        tpot = None if e2e is None or start is None or not answer or answer < 2 else (e2e - start) / (answer - 1)
        found.append(
            ImportedRequest(
                ok=ok,
                prompt=str(index),
                input_tokens=count(asked[index]),
                output_tokens=answer,
                times_ms=times(ttft=scaled(start, _S), tpot_classic=scaled(tpot, _S), e2e=scaled(e2e, _S)) if ok else {},
                gaps_ms={"chunk_gap": tuple(gap * _S for gap in seconds if gap >= 0)} if ok else {},
            )
        )
    return tuple(found)


def summary_of(held: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, float]:
    """The percentiles that the file has, as `<quantity>_p<point>`; names are its own, as in `p95_ttft_ms`."""
    return times(
        **{
            f"{ours}_p{point}": next(
                (value for prefix in prefixes if (value := number(held.get(f"{prefix}_{theirs}_ms"))) is not None), None
            )
            for ours, theirs in names.items()
            for point, prefixes in _POINTS.items()
        }
    )


def load_of(held: Mapping[str, Any]) -> str:
    """The load in words: streams, requests per second, the times of a trace."""
    streams, rate = count(held.get("max_concurrency")), held.get("request_rate")
    parts = [] if streams is None else [numbers.streams(streams)]
    if number(rate) is not None:
        parts.append(f"{number(rate):g} requests/s")
    elif rate == "trace":
        parts.append("a trace's times")
    return ", ".join(parts) or "all at once"


def _started(date: object) -> float | None:
    """Seconds since an unnamed epoch: only their order among runs of one machine matters."""
    try:
        return datetime.strptime(str(date), "%Y%m%d-%H%M%S").timestamp()  # noqa: DTZ007  # the file names no zone
    except (ValueError, OverflowError):
        return None
