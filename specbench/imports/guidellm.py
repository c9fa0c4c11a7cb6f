"""Results of GuideLLM: one JSON report, with one benchmark for each strategy. Its clock is the day's, which may step.

Requests stand in the order in which they ended, so that their bodies pair them. What was still open at the end of a benchmark is
neither a success nor a failure.
"""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

from specbench.errors import DataError
from specbench.explain import numbers
from specbench.imports.result_file import ResultFile, at, count, number, rows, scaled, text_of, times, url_of
from specbench.model.data.imported import ImportedRequest, ImportedRun, NotCompared, TheirMetric

METRICS = (
    TheirMetric("ttft", "time_to_first_token_ms"),
    TheirMetric("tpot_classic", "inter_token_latency_ms"),
    TheirMetric("e2e", "request_latency"),
    TheirMetric("output_tps_whole_run", "output_tokens_per_second", "ramp_and_drain"),
    TheirMetric("acceptance_length", "speculative_decoding of each request"),
    TheirMetric("acceptance_rate", "speculative_decoding of each request"),
)
NOT_COMPARED = (
    NotCompared("time_per_output_token_ms", "holds_the_first_token"),
    NotCompared("output_tokens_per_iteration", "no_acceptance"),
    NotCompared("gaps between chunks", "not_kept"),
)
WEIGHTED = NotCompared("inter_token_latency_ms of the summary", "weighted_by_tokens")
_WANTED = ("time_to_first_token_ms", "inter_token_latency_ms", "request_latency")


def recognises(file: ResultFile) -> bool:
    """Whether it is such a report."""
    held = file.objects[0] if len(file.objects) == 1 else {}
    benchmarks = rows(held.get("benchmarks"))
    told = held.get("type_") == "generative_benchmarks_report" or at(held, "metadata", "guidellm_version") is not None
    return isinstance(held.get("benchmarks"), list) and (told or any(at(one, "metrics") is not None for one in benchmarks))


def read(files: Sequence[ResultFile]) -> list[ImportedRun]:
    """The benchmarks in those reports."""
    return [_run(benchmark, file) for file in files for benchmark in rows(file.objects[0].get("benchmarks"))]


def _run(held: Mapping[str, Any], file: ResultFile) -> ImportedRun:
    report = file.objects[0]
    good, bad = rows(at(held, "requests", "successful")), rows(at(held, "requests", "errored"))
    lists = isinstance(at(held, "requests", "successful"), list) and bool(good or bad)
    version = text_of(at(report, "metadata", "guidellm_version"))
    for name in _WANTED if good else ():
        if not any(name in one for one in good if isinstance(one, dict)):
            raise DataError(
                f"{file.path}: GuideLLM {version or 'of this version'} lacks {name}; compare files of another version"
            )
    requests = (*(_request(one, True) for one in good), *(_request(one, False) for one in bad)) if lists else ()
    totals = [count(at(held, "metrics", "request_totals", name)) for name in ("successful", "errored")]
    attempted, failed = len(requests) or None, len(bad)
    if not requests and totals[0] is not None:
        attempted, failed = totals[0] + (totals[1] or 0), totals[1] or 0
    backend = at(held, "config", "backend") or at(report, "config", "spec", "backend") or at(report, "args")
    streamed = at(backend, "stream")
    length, rate = _acceptance(good)
    return ImportedRun(
        tool="guidellm",
        version=version,
        files=(file.named,),
        load=_load(at(held, "config", "strategy")),
        attempted=attempted,
        failed=None if attempted is None else failed,
        requests=requests,
        summary={} if requests else _summary(held),
        values=times(
            output_tps_whole_run=number(at(held, "metrics", "output_tokens_per_second", "successful", "mean")),
            acceptance_length=length,
            acceptance_rate=rate,
        ),
        metrics=METRICS if requests else tuple(one for one in METRICS if one.quantity != "tpot_classic"),
        not_compared=NOT_COMPARED if requests else (*NOT_COMPARED, WEIGHTED),
        model=text_of(at(backend, "model")),
        url=url_of(at(backend, "target")),
        route=text_of(at(backend, "request_format")),
        dataset=_dataset(report),
        seed=None if (seed := at(report, "config", "spec", "seed", "value")) is None else str(seed),
        streamed=streamed if isinstance(streamed, bool) else None,
        started_s=number(held.get("start_time")) or number(at(held, "scheduler_state", "start_time")),
        speculated=True if length is not None else None,
        pairing="prompt" if requests else None,
        notes=("day_clock", "open_at_the_end") if rows(at(held, "requests", "incomplete")) else ("day_clock",),
    )


def _request(held: Mapping[str, Any], ok: bool) -> ImportedRequest:
    body = held.get("request_args")
    key = None if body is None else blake2b(str(body).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return ImportedRequest(
        ok=ok,
        prompt=key,
        input_tokens=count(held.get("prompt_tokens")) or count(at(held, "input_metrics", "total_tokens")),
        output_tokens=count(held.get("output_tokens")) or count(at(held, "output_metrics", "total_tokens")),
        times_ms=times(
            ttft=number(held.get("time_to_first_token_ms")),
            tpot_classic=number(held.get("inter_token_latency_ms")),
            e2e=scaled(held.get("request_latency"), 1000.0),
        )
        if ok
        else {},
    )


def _acceptance(good: Sequence[Any]) -> tuple[float | None, float | None]:
    """Length and rate from what the engine tells of each request, where it does."""
    told = [block for one in good if isinstance(block := at(one, "response_metrics", "speculative_decoding"), dict)]
    steps, drafted, accepted = (
        sum(count(one.get(name)) or 0 for one in told)
        for name in ("num_spec_steps", "num_draft_tokens", "num_accepted_draft_tokens")
    )
    return (1 + accepted / steps, accepted / drafted) if steps and drafted else (None, None)


def _summary(held: Mapping[str, Any]) -> dict[str, float]:
    scales = {"ttft": ("time_to_first_token_ms", 1.0), "e2e": ("request_latency", 1000.0)}
    return times(
        **{
            f"{ours}_p{point}": scaled(at(held, "metrics", theirs, "successful", "percentiles", f"p{point}"), factor)
            for ours, (theirs, factor) in scales.items()
            for point in (50, 95)
        }
    )


def _load(strategy: object) -> str:
    kind = text_of(at(strategy, "type_")) or "not told"
    streams, rate = count(at(strategy, "streams")), number(at(strategy, "rate"))
    parts = [kind] if streams is None else [numbers.streams(streams)]
    return ", ".join(parts if rate is None else [*parts, f"{rate:g} requests/s"])


def _dataset(report: Mapping[str, Any]) -> str | None:
    """The data's description, in which every length and its spread has a name."""
    found = next(iter(rows(at(report, "config", "spec", "data"))), None)
    told = {key: value for key, value in found.items() if value not in (None, [], {})} if isinstance(found, dict) else {}
    return " ".join(f"{key}={value}" for key, value in sorted(told.items())) or None
