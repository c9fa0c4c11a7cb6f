"""The facts of searches for capacity, made of servers whose limit is known: literal shares at literal rates."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from specbench.model.capacity.capacity_values import CapacityPlan, ServiceLimit
from specbench.model.records import Block, RequestRecord, RunData
from specbench.model.result import PerArm
from specbench.model.scenario import ARMS, ArmName, Scenario
from specbench.units import ns_of_ms, ns_of_s
from tests.support.evidence import HEALTH, a_manifest, a_scenario
from tests.support.records import a_record

TTFT = ServiceLimit("ttft_p95", 400.0, 0.95)
PLAN = CapacityPlan(limits=(TTFT,), traffic=20.0, headroom=0.2, minutes=60.0)
REQUESTS = 200
AROUND = (0.5, 0.8, 0.88, 0.94, 0.97, 1.03, 1.06, 1.12, 1.25)
LATE = {0.5: 0, 0.8: 2, 0.88: 5, 0.94: 7, 0.97: 9, 1.03: 11, 1.06: 13, 1.12: 18, 1.25: 40}


def around(rate: float) -> dict[float, int]:
    """How many of 200 requests come too late at rates around this one, at which it would be 10."""
    return {factor * rate: LATE[factor] for factor in AROUND}


def a_search(
    baseline: Mapping[float, int], speculative: Mapping[float, int], plan: CapacityPlan = PLAN, scenario: Scenario | None = None
) -> RunData:
    """A search in which so many of the 200 requests of each rate have their first token after 600 ms, the others after 200."""
    late = PerArm(baseline, speculative)
    blocks: list[Block] = []
    records: list[RequestRecord] = []
    for arm in ARMS:
        for number, (rate, slow) in enumerate(late.of(arm).items(), start=1):
            block = _block(arm, number, rate)
            blocks.append(block)
            records += _records(block, slow)
    manifest = replace(a_manifest(scenario or a_scenario()), cells=(), capacity=plan)
    return RunData(manifest=manifest, blocks=tuple(blocks), records=tuple(records), finished="2026-01-01T01:00:00Z", problems=())


def _block(arm: ArmName, number: int, rate: float) -> Block:
    opened = ns_of_s(1000.0 * number + 500.0 * ARMS.index(arm))  # the arms take turns: no two requests are at one moment
    return Block(
        id=f"r{rate:.4g}/p{number:02d}/{arm}",
        cell=f"r{rate:.4g}",
        pair=number,
        arm=arm,
        order=number,
        concurrency=None,
        rate=rate,
        bin=None,
        launch=0,
        started="2026-01-01T00:00:00Z",
        window_open_ns=opened,
        window_close_ns=opened + ns_of_s(120.0),
        short=False,
        end_reason="complete",
        health=HEALTH,
        telemetry=None,
        engine_truth=None,
    )


def _records(block: Block, slow: int) -> Sequence[RequestRecord]:
    assert block.window_open_ns is not None
    found = []
    for index in range(REQUESTS):
        first = 600.0 if index < slow else 200.0
        moments = [first + 15.0 * token for token in range(10)]
        sent_ns = block.window_open_ns + ns_of_ms(500.0 * index)
        record = a_record(moments, block=block.id, index=index)
        found.append(replace(record, sent_ns=sent_ns, scheduled_ns=sent_ns))
    return found
