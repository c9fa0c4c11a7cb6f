"""Simulated streams as the facts of a run: the blocks and records that a run would have left on disk, and its scenario.

No random number is drawn here, and nothing is judged; the scenario is the default one, with its default guardrails. Most
treatments change times alone, so both arms are declared not to speculate: else such a run would be INVALID.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from specbench.calibrate.simulators import Streams
from specbench.model.records import Block, Cell, Endpoint, GeneratorHealth, Manifest, RequestRecord, RunData
from specbench.model.result import PerArm
from specbench.model.scenario import ARMS, ArmName, Scenario
from specbench.scenario.parse import Overrides, parse_scenario

PLAIN = PerArm("off", "off")  # whether each arm speculates, as declared
DRAFTING = PerArm("off", "on")
WHEN = "2026-01-01T00:00:00Z"
HEALTHY = GeneratorHealth(
    cpu_share=0.2, read_lag_ms_p99=0.1, send_delay_ms_p95=0.2, achieved_concurrency=1.0, chunks=1000, clock_steps=0
)
_SCENARIO = """
name: calibration
arms:
  baseline: {{url: "http://127.0.0.1:9001", model: simulated, declare: {{speculation: "{baseline}"}}}}
  speculative: {{url: "http://127.0.0.1:9002", model: simulated, declare: {{speculation: "{speculative}"}}}}
workload:
  source: {{dataset: simulated}}
  bins: [{bins}]
  sampling: [{{name: greedy, temperature: 0}}]
matrix: {matrix}
"""


def scenario_with(bins: Sequence[str], matrix: str, speculation: PerArm[str]) -> Scenario:
    """A scenario with every default of a user's, with these bins and this matrix in YAML's flow form."""
    text = _SCENARIO.format(
        bins=", ".join(bins), matrix=matrix, baseline=speculation.baseline, speculative=speculation.speculative
    )
    return parse_scenario(text, "calibration", Overrides())


def scenario_of(
    bins: Mapping[str, tuple[int, int]],
    concurrency: Sequence[int],
    pairs: int,
    *,
    separate: bool,
    speculation: PerArm[str] = PLAIN,
) -> Scenario:
    """A scenario with every default of a user's: `bins` give each bin's band of output tokens.

    Each arm declares by `speculation` whether it speculates: arms that are made faster or slower by a factor do not.
    """
    bands = [f"{{name: {name}, input_tokens: [64, 128], output_tokens: {list(band)}}}" for name, band in bins.items()]
    traffic = "separate" if separate else "mixed"
    return scenario_with(bands, f"{{traffic: {traffic}, concurrency: {list(concurrency)}, pairs: {pairs}}}", speculation)


def evidence_of(scenario: Scenario, cells: Sequence[Cell], streams: Mapping[str, PerArm[Streams]]) -> RunData:
    """The facts of a finished run, from the simulated streams of each of its cells by the cell's id."""
    blocks: list[Block] = []
    records: list[RequestRecord] = []
    most = {band.name: band.output_tokens[1] for band in scenario.workload.bins}
    for place, cell in enumerate(cells):
        bin_name = cell.bin or next(iter(most))
        for arm in ARMS:
            made = blocks_of(streams[cell.id].of(arm), cell, arm)
            before = 2 * len(made) * place  # cell by cell
            blocks.extend(replace(block, order=before + block.order) for block in made)
            records.extend(records_of(streams[cell.id].of(arm), cell, made, bin_name, most[bin_name]))
    return finished_run(scenario, cells, blocks, records)


def finished_run(scenario: Scenario, cells: Sequence[Cell], blocks: Sequence[Block], records: Sequence[RequestRecord]) -> RunData:
    """These facts as those of a run that reached its end, on a machine without accelerators."""
    manifest = Manifest(
        format_version=1,
        run_id="calibration",
        tool_version="0",
        python="3",
        platform="simulated",
        started=WHEN,
        scenario=scenario,
        cells=tuple(cells),
        endpoints=endpoints_of(scenario),
        notes=(),
        accelerators=0,
    )
    return RunData(manifest=manifest, blocks=tuple(blocks), records=tuple(records), finished=WHEN, problems=())


def endpoints_of(scenario: Scenario) -> tuple[Endpoint, ...]:
    """What both endpoints say of themselves: the same, but for what each arm declares."""
    facts = {"model": "simulated", "engine": "openai", "engine_version": "1"}
    return tuple(
        Endpoint(
            arm=arm,
            url=scenario.arm(arm).url or "",
            model="simulated",
            engine="openai",
            engine_version="1",
            facts=facts | scenario.arm(arm).declare,
            sources=dict.fromkeys(facts | scenario.arm(arm).declare, "declared"),
        )
        for arm in ARMS
    )


def blocks_of(streams: Streams, cell: Cell, arm: ArmName) -> tuple[Block, ...]:
    """The blocks of one arm, their windows as simulated; the load generator was in time."""
    return tuple(
        Block(
            id=f"{cell.id}/p{pair:02d}/{arm}",
            cell=cell.id,
            pair=pair,
            arm=arm,
            order=2 * pair + ((pair % 2 == 1) != (arm == "speculative")),
            concurrency=cell.concurrency,
            rate=cell.rate,
            bin=cell.bin,
            launch=0,
            started=WHEN,
            window_open_ns=opened,
            window_close_ns=closed,
            short=False,
            end_reason="complete",
            health=HEALTHY,
            telemetry=None,
            engine_truth=None,
        )
        for pair, (opened, closed) in enumerate(zip(streams.open_ns.tolist(), streams.close_ns.tolist(), strict=True))
    )


def records_of(streams: Streams, cell: Cell, blocks: Sequence[Block], bin_name: str, max_tokens: int) -> list[RequestRecord]:
    """The records of these blocks: every request ended well, its tokens told by the endpoint."""
    since_sent = streams.time_ns - np.repeat(streams.sent_ns, np.diff(streams.first_event))
    times, tokens, bounds = tuple(since_sent.tolist()), tuple(streams.tokens.tolist()), streams.first_event.tolist()
    rows = zip(streams.block.tolist(), streams.index.tolist(), streams.sent_ns.tolist(), strict=True)
    record = partial(
        RequestRecord,
        bin=bin_name,
        sampling="greedy",
        max_tokens=max_tokens,
        scheduled_ns=None,
        connect_ns=None,
        retries=0,
        outcome="ok",
        reason=None,
        status=200,
        stamp_source="kernel",
        token_source="token_ids",
        prompt_tokens=96,
        cached_tokens=None,
        finish_reason="stop",
        step_events=None,
        censored=(),
        text_chars=0,
        text_sha256="0" * 64,
        looping=False,
        acceptance=None,
        flags=(),
    )
    made = []
    for place, (block, index, sent) in enumerate(rows):
        start, end = bounds[place], bounds[place + 1]
        made.append(
            record(
                block=blocks[block].id,
                index=index,
                stream=index % (cell.concurrency or 1),
                sent_ns=sent,
                output_tokens=sum(tokens[start:end]),
                event_ns=times[start:end],
                event_tokens=tokens[start:end],
                first_answer_ns=times[start],
                end_ns=times[end - 1],
            )
        )
    return made


def first_pairs(streams: Streams, pairs: int) -> Streams:
    """Only the first pairs, as a look before the end of the run sees them."""
    n = int(np.searchsorted(streams.block, pairs))
    n_events = int(streams.first_event[n])
    return Streams(
        open_ns=streams.open_ns[:pairs],
        close_ns=streams.close_ns[:pairs],
        block=streams.block[:n],
        index=streams.index[:n],
        sent_ns=streams.sent_ns[:n],
        first_event=streams.first_event[: n + 1],
        time_ns=streams.time_ns[:n_events],
        tokens=streams.tokens[:n_events],
    )
