"""Results of AIPerf: `profile_export.jsonl` with one line a request, and `profile_export_aiperf.json` with the run and summaries.

Each alone is a result. The lines hold the warm-up's requests too; an answer that ended without text is an error without a code.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from specbench.errors import DataError
from specbench.explain import numbers
from specbench.imports.result_file import ResultFile, at, count, number, rows, text_of, times, url_of
from specbench.model.data.imported import ImportedRequest, ImportedRun, NotCompared, TheirMetric

RECORDS, SUMMARY = "profile_export.jsonl", "profile_export_aiperf.json"
# Ours, theirs, and whether an answer of one token lacks it.
_TIMES = {"ttft": "time_to_first_token", "tpot_classic": "inter_token_latency", "e2e": "request_latency"}
_GAPS = "inter_chunk_latency"
_MS = {"ms": 1.0, "us": 1e-3, "ns": 1e-6, "s": 1e3, "sec": 1e3, "seconds": 1e3}
NOT_COMPARED = (NotCompared("output_token_throughput_per_user", "inverse_of_tpot"),)


def recognises(file: ResultFile) -> bool:
    """Whether it is one of its two files."""
    held = file.objects
    return bool(held) and (_is_summary(held[0]) or all(at(one, "metadata", "benchmark_phase") is not None for one in held))


def siblings(path: Path) -> tuple[Path, ...]:
    """The other file of the run, whatever stands before the names of both."""
    for mine, other in ((RECORDS, SUMMARY), (SUMMARY, RECORDS)):
        if path.name.endswith(mine):
            return (path.with_name(path.name.removesuffix(mine) + other),)
    return ()


def read(files: Sequence[ResultFile]) -> list[ImportedRun]:
    """The runs in those files: each summary with the lines that lie beside it."""
    by_run: dict[tuple[Path, str], list[ResultFile]] = {}
    for file in files:
        begins = file.path.name.removesuffix(RECORDS).removesuffix(SUMMARY)
        by_run.setdefault((file.path.parent, begins), []).append(file)
    return [_run(together) for together in by_run.values()]


def _is_summary(held: Mapping[str, Any]) -> bool:
    return "aiperf_version" in held or ("schema_version" in held and "input_config" in held)


def _run(files: Sequence[ResultFile]) -> ImportedRun:
    summary: Mapping[str, Any] = next((one for file in files for one in file.objects if _is_summary(one)), {})
    lines = [one for file in files for one in file.objects if not _is_summary(one)]
    measured = [one for one in lines if at(one, "metadata", "benchmark_phase") != "warmup"]
    requests = tuple(_request(one) for one in measured)
    streamed = at(summary, "input_config", "endpoint", "streaming")
    if streamed is not False:
        _check(files[0].path, summary, measured)
    per_chunk = "--per-chunk-usage" in str(at(summary, "run_info", "cli_command"))
    attempted, failed = _counts(summary, requests)
    length, rate = _acceptance(summary, measured)
    return ImportedRun(
        tool="aiperf",
        version=text_of(summary.get("aiperf_version")),
        files=tuple(file.named for file in files),
        load=_load(summary),
        attempted=attempted,
        failed=failed,
        requests=requests,
        summary=_percentiles(summary),
        values=times(
            output_tps_whole_run=number(at(summary, "output_token_throughput", "avg")),
            acceptance_length=length,
            acceptance_rate=rate,
        ),
        metrics=(
            TheirMetric("ttft", "time_to_first_token"),
            TheirMetric("tpot_classic", "inter_token_latency", "first_chunks_tokens_left_out" if per_chunk else None),
            TheirMetric("chunk_gap", _GAPS),
            TheirMetric("e2e", "request_latency"),
            TheirMetric("output_tps_whole_run", "output_token_throughput", "ramp_and_drain"),
            TheirMetric("acceptance_length", "spec_decode_token_weighted_acceptance_length"),
            TheirMetric("acceptance_rate", "spec_decode_overall_draft_acceptance_rate"),
        ),
        not_compared=NOT_COMPARED,
        model=text_of(at(next(iter(rows(at(summary, "input_config", "models", "items"))), None), "name")),
        url=url_of(next(iter(rows(at(summary, "input_config", "endpoint", "urls"))), None)),
        route=text_of(at(summary, "input_config", "endpoint", "type")),
        dataset=_dataset(summary),
        seed=None if (seed := at(summary, "run_info", "random_seed")) is None else str(seed),
        streamed=streamed if isinstance(streamed, bool) else None,
        started_s=_started(summary, measured),
        broken_off="cancelled" if summary.get("was_cancelled") is True or summary.get("is_complete") is False else None,
        speculated=True if length is not None else None,
        pairing="prompt" if requests else None,
        left_out=len(lines) - len(measured),
        notes=("client_tokenizer",) if at(summary, "input_config", "endpoint", "use_server_token_count") is False else (),
    )


def _check(path: Path, summary: Mapping[str, Any], measured: Sequence[Mapping[str, Any]]) -> None:
    """Refuses a file of a version that calls its times otherwise: an absent metric is never passed over.

    Raises:
        DataError: a metric that every version so far has is nowhere.
    """
    told: set[str] = {name for one in measured for name in at(one, "metrics") or ()}
    good = [one for one in measured if not one.get("error")]
    wanted = [*_TIMES.values(), _GAPS]
    if measured and good:
        lacking = [name for name in wanted if name not in told]
    elif measured or count(at(summary, "request_count", "avg")) == 0:
        return
    else:
        lacking = [name for name in wanted if not isinstance(summary.get(name), dict)]
    if lacking:
        version = text_of(summary.get("schema_version"))
        which = f"AIPerf schema {version}" if version else "this version of AIPerf"
        raise DataError(f"{path}: {which} lacks {', '.join(lacking)}; compare files of a version that has it")


def _request(held: Mapping[str, Any]) -> ImportedRequest:
    metrics = at(held, "metrics") or {}
    conversation, turn = at(held, "metadata", "conversation_id"), at(held, "metadata", "turn_index")
    ok = (
        not held.get("error")
        and at(held, "metadata", "was_cancelled") is not True
        and _ms(metrics, "request_latency") is not None
    )
    given = count(at(metrics, "input_sequence_length", "value"))
    return ImportedRequest(
        ok=ok,
        prompt=None if conversation is None else f"{conversation}/{turn}",
        input_tokens=count(at(metrics, "error_isl", "value")) if given is None else given,
        output_tokens=count(at(metrics, "output_sequence_length", "value")),
        times_ms=times(**{ours: _ms(metrics, theirs) for ours, theirs in _TIMES.items()}) if ok else {},
        gaps_ms={"chunk_gap": _all_ms(metrics, _GAPS)} if ok else {},
    )


def _ms(metrics: object, name: str) -> float | None:
    factor, value = _MS.get(str(at(metrics, name, "unit"))), number(at(metrics, name, "value"))
    return None if factor is None or value is None else value * factor


def _all_ms(metrics: object, name: str) -> tuple[float, ...]:
    factor = _MS.get(str(at(metrics, name, "unit")))
    if factor is None:
        return ()
    return tuple(found * factor for one in rows(at(metrics, name, "value")) if (found := number(one)) is not None and found >= 0)


def _percentiles(summary: Mapping[str, Any]) -> dict[str, float]:
    found = {}
    for ours, theirs in {**_TIMES, "chunk_gap": _GAPS}.items():
        factor = _MS.get(str(at(summary, theirs, "unit")))
        for point in (50, 95):
            value = number(at(summary, theirs, f"p{point}"))
            if factor is not None and value is not None:
                found[f"{ours}_p{point}"] = value * factor
    return found


def _counts(summary: Mapping[str, Any], requests: Sequence[ImportedRequest]) -> tuple[int | None, int | None]:
    if requests:
        return len(requests), sum(not one.ok for one in requests)
    good, failed = count(at(summary, "request_count", "avg")), count(at(summary, "error_request_count", "avg"))
    return (None, None) if good is None else (good + (failed or 0), failed or 0)


def _acceptance(summary: Mapping[str, Any], measured: Sequence[Mapping[str, Any]]) -> tuple[float | None, float | None]:
    """Acceptance length and rate, every verification round alike, from the engine's counts for each request."""
    told = [block for one in measured if not one.get("error") and isinstance(block := one.get("spec_decode_acceptance"), dict)]
    steps, drafted, accepted = (
        sum(count(one.get(name)) or 0 for one in told)
        for name in ("num_spec_steps", "num_draft_tokens", "num_accepted_draft_tokens")
    )
    if steps and drafted:
        return 1 + accepted / steps, accepted / drafted
    length = number(at(summary, "spec_decode_token_weighted_acceptance_length", "avg"))
    rate = number(at(summary, "spec_decode_overall_draft_acceptance_rate", "avg"))
    return length, None if rate is None else rate / 100


def _load(summary: Mapping[str, Any]) -> str:
    phases = [one for one in rows(at(summary, "input_config", "phases")) if at(one, "kind") != "warmup"]
    phase = phases[0] if phases else {}
    parts = [numbers.streams(streams)] if (streams := count(at(phase, "concurrency"))) else []
    rate = next((found for name in ("rate", "request_rate") if (found := number(at(phase, name))) is not None), None)
    if rate is not None:
        parts.append(f"{rate:g} requests/s")
    return ", ".join(parts) or text_of(at(phase, "type")) or "not told"


def _dataset(summary: Mapping[str, Any]) -> str | None:
    found = next(iter(rows(at(summary, "input_config", "datasets"))), None)
    named = [at(found, key) for key in ("type", "path", "format")]
    return " ".join(str(one) for one in named if one) or None


def _started(summary: Mapping[str, Any], measured: Sequence[Mapping[str, Any]]) -> float | None:
    first = [ns / 1e9 for one in measured if (ns := number(at(one, "metadata", "request_start_ns"))) is not None]
    if first:
        return min(first)
    try:
        found = datetime.fromisoformat(str(summary.get("start_time")))
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
