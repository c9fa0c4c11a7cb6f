"""Were the arms alike beyond the change under test, and was the engine's own account whole? Judged from what engines tell.

What an engine does not tell is no fault of the run: such a check answers None, which is shown and never refused.
"""

from collections.abc import Mapping
from typing import Any

from specbench.analysis.cells import CellEvidence
from specbench.explain import integrity
from specbench.model.facts import compare
from specbench.model.off_schedule import is_off
from specbench.model.records import Block, Manifest, RequestRecord, Telemetry
from specbench.model.request_fields import refused_fields
from specbench.model.result import IntegrityCheck, PerArm
from specbench.model.scenario import ARMS, ArmName

FOREIGN_SHARE = 0.05
HIT_RATE_DIFFERENCE = 0.05
LEAST_LAST_REQUESTS = 4  # fewer say nothing about the end of a block


def arms_equal(manifest: Manifest) -> tuple[IntegrityCheck, ...]:
    """One check on the facts that must be equal, and one, never failing, that names those that an endpoint did not tell."""
    endpoints = {endpoint.arm: endpoint for endpoint in manifest.endpoints}
    if len(endpoints) < len(ARMS):
        unknown = integrity.arms_equal(None, {})
        return (IntegrityCheck(id="arms_equal", cell=None, ok=None, value=None, limit=None, message=unknown),)
    facts = PerArm(endpoints["baseline"].facts, endpoints["speculative"].facts)
    accepted = manifest.scenario.accept_differences
    states = {fact.name: fact.state for fact in compare(facts.baseline, facts.speculative, accepted)}
    unequal = [name for name, state in states.items() if state == "differs"]
    silent = [name for name, state in states.items() if state == "not known"]
    fields = refused_fields(manifest.scenario)
    message, count = integrity.arms_equal(facts, states, fields), len(unequal) + len(fields)
    checks = [IntegrityCheck(id="arms_equal", cell=None, ok=not count, value=float(count), limit=0.0, message=message)]
    if silent:
        text = integrity.not_declared(silent)
        checks.append(IntegrityCheck(id="not_declared", cell=None, ok=None, value=float(len(silent)), limit=None, message=text))
    return tuple(checks)


def counters_whole(cell: CellEvidence) -> IntegrityCheck:
    """No counter of an engine started again from nothing inside a block."""
    told = [block.telemetry for block in cell.all_blocks if block.telemetry is not None and _counts(block.telemetry)]
    reset = [telemetry for telemetry in told if telemetry.reset]
    message = integrity.counters_whole(cell.cell, len(reset), len(told))
    if not told:
        return cell.check("counter_reset", None, None, 0.0, message)
    return cell.check("counter_reset", not reset, float(len(reset)), 0.0, message)


def no_foreign_traffic(cell: CellEvidence) -> IntegrityCheck:
    """The engine generated hardly more tokens in a block than the client asked for: somebody else's requests would slow one arm.

    (generated − received − what cut and failed answers may still have cost) ÷ generated, in the worst block.
    """
    shares = [share for arm in ARMS for share in _foreign_shares(cell, arm)]
    worst = max(shares, default=None)
    ok = None if worst is None else worst <= FOREIGN_SHARE
    message = integrity.foreign_traffic(cell.cell, worst, FOREIGN_SHARE, ok)
    return cell.check("foreign_traffic", ok, worst, FOREIGN_SHARE, message)


def prefix_cache_alike(cell: CellEvidence, *, same_prompts: bool) -> IntegrityCheck:
    """Both arms found about as much of their prompts in a cache: an arm that ran second on warm prompts has no prefill to do.

    Where the arms have not the `same_prompts`, shares that differ say nothing.
    """
    rates = PerArm(_hit_rate(cell, "baseline"), _hit_rate(cell, "speculative"))
    difference = None if rates.baseline is None or rates.speculative is None else abs(rates.speculative - rates.baseline)
    ok = None if difference is None or not same_prompts else difference <= HIT_RATE_DIFFERENCE
    message = integrity.prefix_cache(cell.cell, rates, HIT_RATE_DIFFERENCE, ok or not same_prompts)
    return cell.check("cache_imbalance", ok, difference, HIT_RATE_DIFFERENCE, message)


def speculation_on(cell: CellEvidence, declared: PerArm[Mapping[str, Any] | None]) -> tuple[IntegrityCheck, ...]:
    """Each arm drafts throughout if the scenario declares a method for it, and not at all if it declares none.

    Only where some arm declares one: a scenario of two plain URLs says nothing about who drafts. Where the declared schedule
    switches speculation off at this load, it need not draft.
    """
    if declared.baseline is None and declared.speculative is None:
        return ()
    checks = []
    for arm in ARMS:
        if not cell.blocks.of(arm):
            continue
        name = f"speculation_{arm}"
        known = drafting_of(cell, arm)
        wanted = declared.of(arm) is not None
        off = off_by_schedule(cell, arm, declared.of(arm))
        message = integrity.speculation(cell.cell, arm, known, wanted, off)
        if not known:
            checks.append(cell.check(name, None, None, None, message))
            continue
        share = sum(known) / len(known)
        if off:
            checks.append(cell.check(name, True, share, None, message))
            continue
        ok = all(known) if wanted else not any(known)
        checks.append(cell.check(name, ok, share, 1.0 if wanted else 0.0, message))
    return tuple(checks)


def drafting_of(cell: CellEvidence, arm: ArmName) -> list[bool]:
    """Whether the arm drafted, for each of its blocks here that tells."""
    return [drafts for block in cell.blocks.of(arm) if (drafts := _drafting(cell, block)) is not None]


def off_by_schedule(cell: CellEvidence, arm: ArmName, speculative: Mapping[str, Any] | None) -> bool:
    """Whether the declared schedule switches the arm's speculation off at this load.

    That load is the cell's streams; where requests arrive at a rate, the mean that the engine told to be running, if it did.
    """
    if cell.cell.concurrency is not None:
        return is_off(speculative, cell.cell.concurrency)
    told = [
        b.telemetry.running_mean for b in cell.blocks.of(arm) if b.telemetry is not None and b.telemetry.running_mean is not None
    ]
    return bool(told) and is_off(speculative, sum(told) / len(told))


def _drafting(cell: CellEvidence, block: Block) -> bool | None:
    """Whether the block's engine drafted, and to the end of it; None where neither requests nor counters tell.

    Requests tell more than counters: an engine that gave up half-way still has a counter above 0. A single request without a
    draft is no sign of that (n-gram methods find none in some texts), a whole last quarter is.
    """
    told = [r for r in cell.records.of(block.arm) if r.block == block.id and r.acceptance is not None and sum(r.event_tokens) > 1]
    if told:
        drafted = [_drafted(record) for record in sorted(told, key=lambda record: record.sent_ns)]
        last = max(LEAST_LAST_REQUESTS, len(drafted) // 4)
        gave_up = len(drafted) >= 2 * last and not any(drafted[-last:])
        return any(drafted) and not gave_up
    telemetry = block.telemetry
    if telemetry is None or telemetry.acceptance is None:
        return None
    counted = telemetry.acceptance.drafted if telemetry.acceptance.drafted is not None else telemetry.acceptance.rounds
    return None if counted is None else counted > 0


def _drafted(record: RequestRecord) -> bool:
    acceptance = record.acceptance
    return acceptance is not None and bool(acceptance.drafted or acceptance.rounds)


def _counts(telemetry: Telemetry) -> bool:
    """Whether the engine told any counter: a log or a page of the GPU alone says nothing of whether counters are whole."""
    counters = (
        telemetry.acceptance,
        telemetry.generated_tokens,
        telemetry.prompt_tokens,
        telemetry.prefix_queries,
        telemetry.prefix_hits,
        telemetry.preemptions,
        telemetry.decode_steps,
        telemetry.restarts,
    )
    return telemetry.reset or any(counter is not None for counter in counters)


def _foreign_shares(cell: CellEvidence, arm: ArmName) -> list[float]:
    shares = []
    for block in cell.blocks.of(arm):
        generated = None if block.telemetry is None or block.telemetry.reset else block.telemetry.generated_tokens
        if not generated:
            continue
        records = [record for record in cell.records.of(arm) if record.block == block.id]
        received = sum(
            (record.output_tokens if record.output_tokens is not None else sum(record.event_tokens)) + (record.hidden_tokens or 0)
            for record in records
        )
        unfinished = sum(
            max(r.max_tokens - sum(r.event_tokens), 0) for r in records if r.outcome != "ok" or "usage_ambiguous" in r.flags
        )
        shares.append((generated - received - unfinished) / generated)
    return shares


def _hit_rate(cell: CellEvidence, arm: ArmName) -> float | None:
    """Hits ÷ queries of the engine's prefix cache; else the cached share of the prompts as the answers tell it."""
    told = [block.telemetry for block in cell.blocks.of(arm) if block.telemetry is not None and not block.telemetry.reset]
    counted = [(t.prefix_hits, t.prefix_queries) for t in told if t.prefix_hits is not None and t.prefix_queries]
    if counted:
        return sum(hits for hits, _ in counted) / sum(queries for _, queries in counted)
    records = [r for r in cell.records.of(arm) if r.cached_tokens is not None and r.prompt_tokens]
    prompts = sum(record.prompt_tokens or 0 for record in records)
    return sum(record.cached_tokens or 0 for record in records) / prompts if prompts else None
