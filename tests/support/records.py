"""Blocks and request records for tests, made from literal numbers in milliseconds. No test and no assertion lives here."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from specbench.analysis.arrays.cell_arrays import CellArrays, arrays_of
from specbench.model.records import Block, GeneratorHealth, RequestRecord, SpeculationCounts, Telemetry
from specbench.model.scenario import ArmName
from specbench.units import ns_of_ms

HEALTH = GeneratorHealth(
    cpu_share=0.1, read_lag_ms_p99=0.05, send_delay_ms_p95=0.2, achieved_concurrency=1.0, chunks=0, clock_steps=0
)


def a_block(
    pair: int = 0,
    *,
    arm: ArmName = "baseline",
    window_ms: tuple[float, float] | None = (0.0, 60_000.0),
    telemetry: Telemetry | None = None,
    name: str | None = None,
) -> Block:
    """One block of cell `c4`, called after its arm and pair."""
    return Block(
        id=name or f"{arm}-{pair}",
        cell="c4",
        pair=pair,
        arm=arm,
        order=0,
        concurrency=4,
        rate=None,
        bin=None,
        launch=0,
        started="2026-01-01T00:00:00Z",
        window_open_ns=None if window_ms is None else ns_of_ms(window_ms[0]),
        window_close_ns=None if window_ms is None else ns_of_ms(window_ms[1]),
        short=False,
        end_reason="complete",
        health=HEALTH,
        telemetry=telemetry,
        engine_truth=None,
    )


def a_record(
    event_ms: Sequence[float] = (),
    tokens: Sequence[int] | None = None,
    *,
    block: str = "baseline-0",
    index: int = 0,
    sent_ms: float = 0.0,
    acceptance: SpeculationCounts | None = None,
    **fields: Any,
) -> RequestRecord:
    """A request whose content events arrive at these moments after it was sent, one token each unless said otherwise."""
    counts = tuple(tokens) if tokens is not None else (1,) * len(event_ms)
    known: dict[str, Any] = {
        "stream": 0,
        "bin": "short",
        "sampling": "greedy",
        "max_tokens": 64,
        "scheduled_ns": None,
        "connect_ns": None,
        "retries": 0,
        "outcome": "ok",
        "reason": None,
        "status": 200,
        "stamp_source": "kernel",
        "token_source": "running_usage",
        "prompt_tokens": 32,
        "output_tokens": sum(counts),
        "cached_tokens": None,
        "finish_reason": "stop",
        "step_events": None,
        "censored": (),
        "first_answer_ns": None,
        "end_ns": ns_of_ms(event_ms[-1]) if event_ms else 0,
        "text_chars": 1,
        "text_sha256": "",
        "looping": False,
        "flags": (),
    }
    known.update(fields)
    return RequestRecord(
        block=block,
        index=index,
        sent_ns=ns_of_ms(sent_ms),
        event_ns=tuple(ns_of_ms(moment) for moment in event_ms),
        event_tokens=counts,
        acceptance=acceptance,
        **known,
    )


def one_block(*records: RequestRecord, window_ms: tuple[float, float] | None = (0.0, 60_000.0), **fields: Any) -> CellArrays:
    """The columns of one baseline block that holds these records, numbered in their order."""
    numbered = [_numbered(record, index) for index, record in enumerate(records)]
    return arrays_of([a_block(window_ms=window_ms, **fields)], numbered)


def blocks_of(
    arm: ArmName,
    requests: Sequence[Sequence[RequestRecord]],
    telemetry: Telemetry | None = None,
    window_ms: tuple[float, float] = (0.0, 60_000.0),
    speculates: bool | None = None,
) -> CellArrays:
    """The columns of one block per pair, each with its requests; `speculates` is what the scenario or the endpoint says."""
    blocks = [a_block(pair, arm=arm, telemetry=telemetry, window_ms=window_ms) for pair in range(len(requests))]
    records = [
        _numbered(record, index, f"{arm}-{pair}") for pair, held in enumerate(requests) for index, record in enumerate(held)
    ]
    return arrays_of(blocks, records, speculates=speculates)


def _numbered(record: RequestRecord, index: int, block: str | None = None) -> RequestRecord:
    return replace(record, index=index, block=block or record.block)
