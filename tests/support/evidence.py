"""Evidence of whole runs for tests: synthetic, seeded records with known effects. No test and no assertion lives here.

A request is told by a few numbers (`Effect`); pairs share a machine state that makes both of their blocks a little slower or
faster, as on a real machine, so that comparisons by pairs are sharper than by arms.
"""

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from specbench.model.guardrails import effective_guardrails
from specbench.model.records import (
    Block,
    Cell,
    Endpoint,
    GeneratorHealth,
    Manifest,
    Outcome,
    RequestRecord,
    RunData,
    SpeculationCounts,
    Telemetry,
)
from specbench.model.scenario import Arm, ArmName, Bin, BlockSize, Guardrail, Matrix, Sampling, Scenario, Success, Workload
from specbench.units import ns_of_ms, ns_of_s

WINDOW_S = 20.0
HEALTH = GeneratorHealth(
    cpu_share=0.2, read_lag_ms_p99=0.1, send_delay_ms_p95=0.3, achieved_concurrency=1.0, chunks=1000, clock_steps=0
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What speculation does in one cell: ratios to the baseline, the share of failures, and odd manners of answers."""

    tpot: float = 0.6
    ttft: float = 1.0
    length: float = 1.0
    fails: float = 0.0
    outcome: Outcome = "http_error"
    loops: float = 0.0
    noise: float = 0.02
    tokens_per_step: int = 3
    drafts: bool = True
    fields: Mapping[str, Any] = field(default_factory=dict)


NONE = Effect(tpot=1.0, tokens_per_step=1, drafts=False)
Telling = Callable[[Block, Sequence[RequestRecord]], Telemetry | None]


def an_arm(url: str | None = None, speculative: dict[str, Any] | None = None) -> Arm:
    """An arm of the embedded engine, or of a URL."""
    return Arm(
        engine="embedded" if url is None else "vllm",
        url=url,
        model="m",
        api_key_env=None,
        headers={},
        extra_body={},
        metrics_url=None,
        speculative=speculative,
        slow_by=0.0,
        options={},
        declare={},
    )


def a_scenario(
    concurrency: Sequence[int] = (1, 4, 16), *, pairs: int = 10, primary: float | None = None, **changes: Any
) -> Scenario:
    """A scenario with the default guardrails; `changes` replace whole fields."""
    scenario = Scenario(
        name="known-effects",
        path="known-effects.yaml",
        sha256="0" * 64,
        seed=1,
        profile="standard",
        baseline=an_arm(),
        speculative=an_arm(speculative={"method": "draft_model", "num_speculative_tokens": 4}),
        workload=Workload(
            corpus=None,
            dataset="prompts.jsonl",
            route="chat",
            length="natural",
            streaming=True,
            shared_prefix_tokens=0,
            bins=(Bin(name="short", input_tokens=(32, 64), output_tokens=(32, 64), weight=1.0),),
            sampling=(Sampling(name="greedy", temperature=0.0, top_p=None, top_k=None, seed=None),),
        ),
        matrix=Matrix(
            traffic="mixed",
            concurrency=tuple(concurrency),
            rate=(),
            arrivals="poisson",
            primary=float(concurrency[0]) if primary is None else primary,
            optional=(),
            traffic_share={},
            schedule="alternate",
            pairs=pairs,
            block=BlockSize(min_requests=30, min_s=WINDOW_S, max_s=90.0, ramp_s=5.0),
        ),
        success=Success(metric="tpot_p50", improve_by=0.05),
        guardrails=effective_guardrails((), True, "natural"),
        alpha=0.05,
        place=None,
        accept_differences=(),
        labels={},
    )
    return replace(scenario, **changes)


ONE_CELL = a_scenario([4], pairs=10)


def with_guardrails(scenario: Scenario, *listed: Guardrail, defaults: bool = True) -> Scenario:
    """The scenario with these guardrails listed."""
    work = scenario.workload
    rules = effective_guardrails(listed, defaults, work.length, scenario.matrix, [band.name for band in work.bins])
    return replace(scenario, guardrails=rules)


def cells_for(scenario: Scenario) -> tuple[Cell, ...]:
    """The cells of the scenario's matrix, named as plans name them."""
    slices: list[tuple[str | None, str | None]] = [(None, None)]
    if scenario.matrix.traffic == "separate":
        slices = [(b.name, s.name) for b in scenario.workload.bins for s in scenario.workload.sampling]
    levels: list[tuple[int | None, float | None]] = [(c, None) for c in scenario.matrix.concurrency]
    levels += [(None, rate) for rate in scenario.matrix.rate]
    return tuple(
        Cell(
            id=".".join(part for part in (b, s, f"c{c}" if c is not None else f"r{r:g}") if part),
            concurrency=c,
            rate=r,
            bin=b,
            sampling=s,
            required=(c if c is not None else r) not in scenario.matrix.optional,
            traffic_share=scenario.matrix.traffic_share.get(float(c if c is not None else r or 0)),
        )
        for b, s in slices
        for c, r in levels
    )


def evidence(
    effects: Mapping[str, Effect] | Effect,
    scenario: Scenario | None = None,
    *,
    baseline: Effect = NONE,
    seed: int = 7,
    requests: int = 40,
    telling: Telling | None = None,
) -> RunData:
    """A finished run in which speculation has the given effect in each cell, by the cell's id.

    Args:
        effects: One for all cells, or one for each.
        baseline: What the baseline does, as ratios to a TPOT of 20 ms, a TTFT of 200 ms and 48 tokens.
        requests: Per block.
        telling: What the engine says of a block, given its records; nothing if left out.
    """
    asked = scenario or a_scenario()
    cells = cells_for(asked)
    draw = random.Random(seed)
    blocks: list[Block] = []
    records: list[RequestRecord] = []
    for pair in range(asked.matrix.pairs):
        for cell in cells:
            state = draw.gauss(0.0, 0.05)
            effect = effects if isinstance(effects, Effect) else effects[cell.id]
            for arm, what in (("baseline", baseline), ("speculative", effect)):
                block = _block(cell, pair, "baseline" if arm == "baseline" else "speculative", len(blocks))
                made = _records(block, what, state, draw, requests)
                blocks.append(replace(block, telemetry=None if telling is None else telling(block, made)))
                records.extend(made)
    return RunData(
        manifest=a_manifest(asked), blocks=tuple(blocks), records=tuple(records), finished="2026-01-01T01:00:00Z", problems=()
    )


def a_manifest(scenario: Scenario, **facts: dict[str, str]) -> Manifest:
    """The manifest of a run of this scenario; `facts` by arm replace what the endpoints say of themselves."""
    endpoints = tuple(
        Endpoint(
            arm=arm,
            url=scenario.arm(arm).url or "http://127.0.0.1:9000",
            model="m",
            engine=scenario.arm(arm).engine,
            engine_version="1",
            facts=facts.get(arm, {"model": "m", "engine": "embedded", "engine_version": "1"}),
            sources={"model": "read", "engine": "read", "engine_version": "read"},
        )
        for arm in _ARMS
    )
    return Manifest(
        format_version=1,
        run_id="r1",
        tool_version="0",
        python="3.12",
        platform="linux",
        started="2026-01-01T00:00:00Z",
        scenario=scenario,
        cells=cells_for(scenario),
        endpoints=endpoints,
        notes=(),
        accelerators=0,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One literal request: when its first and last content event came, how many tokens, how it ended, when it was sent."""

    e2e_ms: float
    ttft_ms: float = 100.0
    tokens: int = 11
    outcome: Outcome = "ok"
    sent_ms: float | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)


def literal_run(
    scenario: Scenario, baseline: Sequence[Sequence[Answer]], speculative: Sequence[Sequence[Answer]], **health: Any
) -> RunData:
    """A run of one cell with exactly these answers, pair by pair; `health` replaces figures of the generator in all blocks."""
    cell = cells_for(scenario)[0]
    blocks: list[Block] = []
    records: list[RequestRecord] = []
    for pair, held in enumerate(zip(baseline, speculative, strict=True)):
        for arm, answers in zip(_ARMS, held, strict=True):
            block = _block(cell, pair, arm, len(blocks))
            blocks.append(replace(block, health=replace(HEALTH, **health)))
            records += [_literal(block, index, answer, len(answers)) for index, answer in enumerate(answers)]
    return RunData(
        manifest=a_manifest(replace(scenario, baseline=_plain(scenario.baseline), speculative=_plain(scenario.speculative))),
        blocks=tuple(blocks),
        records=tuple(records),
        finished="2026-01-01T01:00:00Z",
        problems=(),
    )


def _plain(arm: Arm) -> Arm:
    """Literal answers come token by token, so neither arm is held to draft."""
    return replace(arm, declare={"speculation": "off"} | arm.declare)


def _literal(block: Block, index: int, answer: Answer, of: int) -> RequestRecord:
    """Its tokens come one by one and evenly; a failed request has none. Requests are sent evenly over the window."""
    good = answer.outcome == "ok"
    gap = (answer.e2e_ms - answer.ttft_ms) / max(answer.tokens - 1, 1)
    moments = tuple(ns_of_ms(answer.ttft_ms + gap * place) for place in range(answer.tokens)) if good else ()
    sent_ms = 1000 * WINDOW_S * index / of if answer.sent_ms is None else answer.sent_ms
    plain = _record(block, index, index % 4, answer.tokens, NONE, 0.0, 1.0, random.Random(0))
    return replace(
        plain,
        sent_ns=(block.window_open_ns or 0) + ns_of_ms(sent_ms),
        outcome=answer.outcome,
        event_ns=moments,
        event_tokens=(1,) * len(moments),
        output_tokens=answer.tokens if good else None,
        end_ns=ns_of_ms(answer.e2e_ms),
        acceptance=None,
        **answer.fields,
    )


_ARMS: tuple[ArmName, ArmName] = ("baseline", "speculative")


def _block(cell: Cell, pair: int, arm: ArmName, order: int) -> Block:
    opened = ns_of_s(100.0 * order)
    return Block(
        id=f"{cell.id}/p{pair:02d}/{arm}",
        cell=cell.id,
        pair=pair,
        arm=arm,
        order=order,
        concurrency=cell.concurrency,
        rate=cell.rate,
        bin=cell.bin,
        launch=0,
        started="2026-01-01T00:00:00Z",
        window_open_ns=opened,
        window_close_ns=opened + ns_of_s(WINDOW_S),
        short=False,
        end_reason="complete",
        health=HEALTH,
        telemetry=None,
        engine_truth=None,
    )


def _records(block: Block, effect: Effect, state: float, draw: random.Random, requests: int) -> list[RequestRecord]:
    """Requests one after another in as many streams as it takes, so that throughput follows from the times of answers."""
    made: list[RequestRecord] = []
    streams = max(1, block.concurrency or 4)
    prompts = random.Random(f"{block.cell}/{block.pair}")
    opened = block.window_open_ns or 0
    closes = ns_of_s(WINDOW_S)
    clocks = [stream * ns_of_ms(37.0) for stream in range(streams)]
    each_s = WINDOW_S * streams / requests  # the baseline's answers take this long, so that blocks hold about `requests`
    for index in range(20 * requests):
        stream = clocks.index(min(clocks))
        if clocks[stream] >= closes:
            break
        length = prompts.randint(32, 64)
        slow = state + draw.gauss(0.0, effect.noise)
        record = _record(block, index, stream, length, effect, slow, each_s, draw)
        made.append(replace(record, sent_ns=opened + clocks[stream]))
        clocks[stream] += record.end_ns + ns_of_ms(1.0)
    return made


def _record(
    block: Block, index: int, stream: int, max_tokens: int, effect: Effect, slow: float, each_s: float, draw: random.Random
) -> RequestRecord:
    factor = math.exp(slow)
    ttft_ms = 1000 * each_s * 0.17 * effect.ttft * factor
    tpot_ms = 1000 * each_s * 0.83 / 48 * effect.tpot * factor
    tokens = max(2, round(max_tokens * effect.length))
    failed = draw.random() < effect.fails
    sizes = [1] + [effect.tokens_per_step] * ((tokens - 1) // effect.tokens_per_step)
    sizes += [tokens - sum(sizes)] if tokens > sum(sizes) else []
    moments, passed = [], 0
    for size in sizes:
        passed += size  # a step is stamped when it ends, so its tokens take their time before the stamp
        moments.append(ns_of_ms(ttft_ms + (passed - 1) * tpot_ms * math.exp(draw.gauss(0.0, 0.01))))
    moments = sorted(moments)
    if failed:
        sizes, moments = [], []
    rounds = len(sizes)
    known: dict[str, Any] = {
        "block": block.id,
        "index": index,
        "stream": stream,
        "bin": block.bin or "short",
        "sampling": "greedy",
        "max_tokens": max_tokens,
        "scheduled_ns": None,
        "sent_ns": 0,
        "connect_ns": None,
        "retries": 0,
        "outcome": effect.outcome if failed else "ok",
        "reason": None,
        "status": 503 if failed else 200,
        "stamp_source": "kernel",
        "token_source": None if failed else "running_usage",
        "prompt_tokens": 48,
        "output_tokens": None if failed else tokens,
        "cached_tokens": 0,
        "finish_reason": None if failed else "stop",
        "event_ns": tuple(moments),
        "event_tokens": tuple(sizes),
        "step_events": None,
        "censored": (),
        "first_answer_ns": moments[0] if moments else None,
        "end_ns": moments[-1] if moments else ns_of_ms(1000 * each_s / 4),
        "text_chars": 4 * tokens,
        "text_sha256": "0" * 64,
        "looping": draw.random() < effect.loops,
        "acceptance": _acceptance(rounds, effect) if not failed else None,
        "flags": (),
    }
    return RequestRecord(**{**known, **effect.fields})


def _acceptance(rounds: int, effect: Effect) -> SpeculationCounts | None:
    """What the answer says of its drafts: four drafted a round, as many accepted as its steps show."""
    if not effect.drafts:
        return SpeculationCounts(rounds=0, drafted=0, accepted=0, per_position=None)
    kept = effect.tokens_per_step - 1
    positions = tuple(rounds if place < kept else 0 for place in range(4))
    return SpeculationCounts(rounds=rounds, drafted=4 * rounds, accepted=kept * rounds, per_position=positions)
