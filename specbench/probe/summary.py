"""What one probe saw, as numbers and as text. Pure: the requests were sent by `probe/probe.py`."""

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import msgspec
import numpy as np

from specbench.analysis.arrays.cell_arrays import CellArrays, arrays_of
from specbench.analysis.arrays.samples import Samples, quantiles
from specbench.analysis.comparison.censoring import open_bounds
from specbench.analysis.integrity.engine_checks import FOREIGN_SHARE
from specbench.analysis.integrity.generator_limits import CENSORED_SHARE, CPU_SHARE, events_at_once, latest_ms, merged_reads
from specbench.analysis.metrics.acceptance import acceptance_of
from specbench.analysis.metrics.inter_token import chunk_gap, itl, tokens_per_step
from specbench.analysis.metrics.latency import e2e, tpot, ttft
from specbench.analysis.metrics.throughput import output_tps
from specbench.explain import integrity
from specbench.explain.numbers import columns
from specbench.load.messages import BlockSummary
from specbench.model.records import Block, GeneratorHealth, RequestRecord, Telemetry
from specbench.units import ms

BLOCK = "probe"
POINTS = (0.5, 0.9, 0.95, 0.99)
_FIGURES = ("mean", "p50", "p90", "p95", "p99")
_TIMES = {"chunk_gap_ms": chunk_gap, "itl_ms": itl, "ttft_ms": ttft, "tpot_ms": tpot, "e2e_ms": e2e}
_SAID = {
    "usage_ambiguous": "the streamed tokens are unknown, so there is no figure per token",
    "unread_text": "text in a field that is not read may have been generated",
    "first_token_doubtful": "such text came before the first token that was read, so TTFT may be too long",
}


@dataclass(frozen=True, slots=True)
class ProcessOutcome:
    """What one generator process brought home; `moved` is the path to which the endpoint redirected its requests."""

    records: tuple[RequestRecord, ...]
    texts: dict[int, str]
    end: BlockSummary
    moved: str | None = None


def summarize(parts: Sequence[ProcessOutcome], engine: str, telemetry: Telemetry | None, max_tokens: int) -> dict[str, Any]:
    """The numbers of one probe by the names that `probe --json` prints.

    Args:
        max_tokens: How many tokens each request was allowed, by which one that failed may have kept the engine busy.
    """
    records = [record for part in parts for record in part.records]
    columns = arrays_of([_as_block(parts, telemetry)], records)
    texts = {index: text for part in parts for index, text in part.texts.items()}
    good = sorted(record.index for record in records if record.outcome == "ok")
    text = "".join(texts[index] for index in good)
    outcomes = Counter(record.outcome for record in records)
    acceptance = acceptance_of(columns)
    steps = tokens_per_step(columns)
    return {
        "engine": engine,
        "requests": {
            "ok": outcomes["ok"],
            "failed": len(records) - outcomes["ok"],
            "by_outcome": dict(sorted(outcomes.items())),
            "by_status": _statuses(records),
        },
        "reasons": {record.outcome: record.reason for record in records if record.reason is not None},
        "tokens": sum(record.output_tokens or 0 for record in records if record.outcome == "ok"),
        "hidden_tokens": sum(record.hidden_tokens or 0 for record in records if record.outcome == "ok"),
        "token_sources": dict(Counter(record.token_source for record in records if record.token_source is not None)),
        "flags": dict(sorted(Counter(flag for record in records for flag in record.flags).items())),
        "text": {"chars": len(text), "sha256": hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()},
        "output_tps": _finite(output_tps(columns).by_unit()[0]),
        **{name: _summary(source(columns)) for name, source in _TIMES.items()},
        "tokens_per_step": _finite(steps.by_unit()[0]),
        "acceptance": None if acceptance.length is None else msgspec.to_builtins(acceptance),
        "acceptance_reason": acceptance.reason,
        "foreign_traffic": _foreign_share(records, telemetry, max_tokens),
        "generator": _generator(parts, records, columns),
    }


def as_text(told: dict[str, Any]) -> str:
    """The numbers of one probe as text for people."""
    requests, generator = told["requests"], told["generator"]
    lines = [
        f"{told['engine']}: {requests['ok']} requests ok, {requests['failed']} failed, {told['tokens']} tokens, "
        f"{_number(told['output_tps'])} tokens/s",
    ]
    rows: list[tuple[str, ...]] = [("ms", *_FIGURES)]
    for name in _TIMES:
        values = told[name] or {}
        rows.append((name.removesuffix("_ms").replace("_", " "), *(_number(values.get(point)) for point in _FIGURES)))
    lines += columns(rows, (10, *[-10] * len(_FIGURES)), gap="", indent="")
    acceptance = told["acceptance"]
    if acceptance is None:
        lines.append(f"acceptance: unknown ({told['acceptance_reason']})")
    else:
        lines.append(
            f"acceptance: {_number(acceptance['length'])} tokens a round, rate {_number(acceptance['rate'])}, "
            f"alpha {_number(acceptance['alpha'])} (from {acceptance['source']})"
        )
    for flag, words in _SAID.items():
        if count := told["flags"].get(flag):
            lines.append(f"! {flag} in {count} of {requests['ok'] + requests['failed']} answers: {words}")
    if told["hidden_tokens"]:
        lines.append(f"! {told['hidden_tokens']} tokens were counted but not streamed; only TTFT includes them")
    if (told["foreign_traffic"] or 0.0) > FOREIGN_SHARE:
        lines.append(
            f"foreign_traffic: {told['foreign_traffic']:.0%} of the generated tokens are not of this probe;"
            " the engine's counters include other requests"
        )
    for outcome, count in requests["by_outcome"].items():
        if outcome != "ok":
            lines.append(f"{count} × {outcome}: {told['reasons'].get(outcome, '')}")
    lines += [f"note: {note}" for note in told.get("notes", ())]
    state = "in time" if generator["healthy"] else "LATE: " + "; ".join(generator["reasons"])
    lines.append(f"client: {state}, {generator['cpu_s']:.2f} s of CPU in {generator['wall_s']:.2f} s")
    return "\n".join(lines)


def _foreign_share(records: Sequence[RequestRecord], telemetry: Telemetry | None, max_tokens: int) -> float | None:
    """The share of what the engine generated meanwhile that these requests do not explain; None where it does not tell.

    What a failed answer may still have cost counts as explained.
    """
    generated = None if telemetry is None or telemetry.reset else telemetry.generated_tokens
    if not generated:
        return None
    received = sum(r.output_tokens if r.output_tokens is not None else sum(r.event_tokens) for r in records)
    unfinished = sum(max(max_tokens - sum(r.event_tokens), 0) for r in records if r.outcome != "ok")
    return max((generated - received - unfinished) / generated, 0.0)


def _as_block(parts: Sequence[ProcessOutcome], telemetry: Telemetry | None) -> Block:
    """All processes together as one block: they share one clock."""
    opened_ns, closed_ns = _window(parts)
    return Block(
        id=BLOCK,
        cell=BLOCK,
        pair=0,
        arm="baseline",
        order=0,
        concurrency=None,
        rate=None,
        bin=None,
        launch=0,
        started="",
        window_open_ns=opened_ns,
        window_close_ns=closed_ns,
        short=False,
        end_reason=parts[0].end.end_reason,
        health=parts[0].end.health,
        telemetry=telemetry,
        engine_truth=None,
    )


def _window(parts: Sequence[ProcessOutcome]) -> tuple[int | None, int | None]:
    """From the first process's opening to the last one's end, that moment too; None where none opened."""
    opened = [part.end.window_open_ns for part in parts if part.end.window_open_ns is not None]
    closed = [part.end.window_close_ns for part in parts if part.end.window_close_ns is not None]
    return min(opened, default=None), max(closed) + 1 if closed else None


def _generator(parts: Sequence[ProcessOutcome], records: Sequence[RequestRecord], columns: CellArrays) -> dict[str, Any]:
    """Whether the client was in time, and why not; the limits are those of a run."""
    window = _window(parts)
    found = merged_reads(records, {record.block: window for record in records})
    busiest = _worst(parts, lambda health: health.cpu_share)
    delay = _worst(parts, lambda health: health.send_delay_ms_p95)
    latest = latest_ms([ms(record.end_ns) for record in records if record.outcome == "ok"], closed_loop=True)
    bounds = open_bounds(columns, "chunk_gap_p99")
    reasons = []
    at_once = events_at_once(records)
    if at_once is not None and (found.events or found.firsts):
        reasons.append(f"{found.events} of {found.gaps} gaps could not be timed: {integrity.several_at_once(at_once)}")
    elif found.share is not None and found.share > CENSORED_SHARE:
        reasons.append(f"{found.events} of {found.gaps} gaps could not be timed: events were read together; use more --processes")
    elif bounds is not None:
        reasons.append(
            f"p99 of the gaps lies between {bounds[0]:.2f} and {bounds[1]:.2f} ms, as events were read together; "
            "use more --processes"
        )
    if found.firsts > found.firsts_allowed and at_once is None:
        reasons.append(f"{found.firsts} first tokens were read together with later ones; use more --processes")
    if delay is not None and delay > latest:
        reasons.append(f"send delay p95 is {delay:.1f} ms; use more --processes")
    if busiest is not None and busiest > CPU_SHARE:
        reasons.append(f"a generator process used {busiest:.0%} of its core; use more --processes")
    return {
        "lag_p99_ms": _worst(parts, lambda health: health.read_lag_ms_p99),
        "send_delay_p95_ms": delay,
        "loop_lag_p99_ms": _worst(parts, lambda health: health.loop_lag_ms_p99),
        "cpu_share": busiest,
        "machine_cpu_share": _worst(parts, lambda health: health.machine_cpu_share),
        "merged_events": found.events,
        "events_per_stamp": _worst(parts, lambda health: health.events_per_stamp),
        "stamps": dict(Counter(record.stamp_source for record in records)),
        "healthy": not reasons,
        "reasons": reasons,
    }


def _worst(parts: Sequence[ProcessOutcome], figure: Callable[[GeneratorHealth], float | None]) -> float | None:
    """The largest of this figure of health among the processes; None where none has it."""
    values = [figure(part.end.health) for part in parts]
    return max((value for value in values if value is not None), default=None)


def _statuses(records: Sequence[RequestRecord]) -> dict[str, int]:
    """How often each HTTP status refused a request."""
    refused = [record.status for record in records if record.outcome == "http_error" and record.status is not None]
    return {str(status): count for status, count in sorted(Counter(refused).items())}


def _summary(samples: Samples) -> dict[str, float | None] | None:
    """Mean and percentiles of the finite values; None where there is none: a request that failed has no latency here."""
    values = samples.values[np.isfinite(samples.values)]
    if not len(values):
        return None
    points = quantiles(values, POINTS)
    return {"mean": float(values.mean()), **{f"p{round(100 * p)}": float(v) for p, v in zip(POINTS, points, strict=True)}}


def _finite(value: float) -> float | None:
    return float(value) if isfinite(value) else None


def _number(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.2f}"
