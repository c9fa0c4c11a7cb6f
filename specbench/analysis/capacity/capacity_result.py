"""From the facts of a search to the capacity of both arms: crossings, the limit that binds, the ratio, machines. The same facts
give the same result, always."""

from collections.abc import Sequence
from dataclasses import replace
from math import exp, log, sqrt

from specbench.analysis.capacity.crossing import CONFIDENCE, crossing_of, held_and_missed
from specbench.analysis.capacity.machines import compared, machines_for
from specbench.analysis.capacity.requests_in_time import FAILURES, shares_of
from specbench.analysis.stats.paired import t_quantile
from specbench.explain.capacity_sentences import capacity_sentences
from specbench.explain.costs import positive_number, prices
from specbench.model.capacity.capacity_values import (
    ArmCapacity,
    BlockShare,
    Bracket,
    CapacityPlan,
    CapacityResult,
    Crossing,
    SearchEnd,
    ServiceLimit,
)
from specbench.model.records import Block, RequestRecord, RunData
from specbench.model.result import PerArm
from specbench.model.scenario import ARMS, ArmName

SCHEMA_VERSION = 1
OTHER_LIMITS = (0.5, 0.75, 1.5, 2.0)  # times the one that was asked
_WORST: tuple[SearchEnd, ...] = ("no_rate", "client", "too_little")


def capacity_of(evidence: RunData, plan: CapacityPlan, tool_version: str) -> CapacityResult:
    """What the search of this folder found, and how many machines its traffic needs."""
    found = {arm: _arm(evidence, arm, plan.limits) for arm in ARMS}
    arms = PerArm(found["baseline"][0], found["speculative"][0])
    scenario = evidence.manifest.scenario
    price = prices(scenario.labels)
    gpus = positive_number(scenario.labels.get("gpus", ""))
    needed = {
        arm: None if plan.traffic is None else machines_for(arms.of(arm), plan.traffic, plan.headroom, price[arm], gpus)
        for arm in ARMS
    }
    machines = PerArm(needed["baseline"], needed["speculative"])
    ratio, low, high = _ratio(arms)
    result = CapacityResult(
        schema_version=SCHEMA_VERSION,
        tool_version=tool_version,
        name=scenario.name,
        run_id=evidence.manifest.run_id,
        started=evidence.manifest.started,
        finished=evidence.finished,
        plan=plan,
        arms=arms,
        ratio=ratio,
        ratio_low=low,
        ratio_high=high,
        machines=machines,
        comparison=compared(arms, machines, None if low is None or high is None else (low, high)),
        currency=scenario.labels.get("currency", ""),
        virtual=any(scenario.arm(arm).engine == "embedded" for arm in ARMS),
        problems=evidence.problems,
        sentences=(),
        shares=PerArm(found["baseline"][1], found["speculative"][1]),
    )
    return replace(result, sentences=capacity_sentences(result))


def _arm(
    evidence: RunData, arm: ArmName, limits: Sequence[ServiceLimit]
) -> tuple[ArmCapacity, tuple[tuple[BlockShare, ...], ...]]:
    blocks = [block for block in evidence.blocks if block.arm == arm and block.rate is not None]
    ids = {block.id for block in blocks}
    records = [record for record in evidence.records if record.block in ids]
    shares = shares_of(blocks, records, limits)
    crossings = tuple(crossing_of(of_limit, limit) for of_limit, limit in zip(shares, limits, strict=True))
    rates = [block.rate for block in blocks if block.rate is not None]
    end, binding = _binding(crossings)
    return ArmCapacity(
        end=end,
        binding=None if binding is None else binding.limit.metric,
        rate=None if binding is None else binding.rate,
        low=None if binding is None else binding.low,
        high=None if binding is None else binding.high,
        crossings=crossings,
        brackets=_brackets(blocks, records, limits),
        requests=sum(share.requests for share in shares[0]),
        blocks=len(blocks),
        lowest_rate=min(rates, default=None),
        highest_rate=max(rates, default=None),
        output_tokens_mean=_tokens(records),
    ), shares


def _binding(crossings: Sequence[Crossing]) -> tuple[SearchEnd, Crossing | None]:
    """How the arm's search ended, and the crossing that its capacity is; where one limit is open below, there is none."""
    for end in _WORST:
        at_end = next((one for one in crossings if one.end == end), None)
        if at_end is not None:
            return end, at_end if end == "no_rate" else None
    known = [one for one in crossings if one.rate is not None]
    if not known:
        return "not_reached", None
    return "found", min(known, key=lambda one: one.rate or 0.0)


def _brackets(blocks: Sequence[Block], records: Sequence[RequestRecord], limits: Sequence[ServiceLimit]) -> tuple[Bracket, ...]:
    """Between which probed rates other limits of the same metrics would be missed."""
    others = [
        replace(limit, limit=limit.limit * factor)
        for limit in limits
        if limit.metric != FAILURES
        for factor in sorted((1.0, *OTHER_LIMITS))
    ]
    shares = shares_of(blocks, records, others)
    return tuple(
        Bracket(limit.metric, limit.limit, *held_and_missed([one for one in of_limit if one.fit], limit.share))
        for limit, of_limit in zip(others, shares, strict=True)
    )


def _ratio(arms: PerArm[ArmCapacity]) -> tuple[float | None, float | None, float | None]:
    """Speculative ÷ baseline with its interval of 90 %: the errors of both searches together, df by Welch and Satterthwaite."""
    base, spec = (_bound(arms.of(arm)) for arm in ARMS)
    if base is None or spec is None:
        return None, None, None
    (one, se_one, df_one), (other, se_other, df_other) = base, spec
    se = sqrt(se_one**2 + se_other**2)
    df = se**4 / (se_one**4 / df_one + se_other**4 / df_other) if se else min(df_one, df_other)
    reach = t_quantile((1 + CONFIDENCE) / 2, df) * se
    middle = log(other / one)
    return exp(middle), exp(middle - reach), exp(middle + reach)


def _bound(arm: ArmCapacity) -> tuple[float, float, float] | None:
    found = next((one for one in arm.crossings if one.limit.metric == arm.binding and one.rate == arm.rate), None)
    if found is None or found.rate is None or found.se_log is None or found.df is None:
        return None
    return found.rate, found.se_log, found.df


def _tokens(records: Sequence[RequestRecord]) -> float | None:
    told = [record.output_tokens for record in records if record.outcome == "ok" and record.output_tokens is not None]
    return sum(told) / len(told) if told else None
