"""Campaigns of whole runs through the real judge: A/A, a true win, a win that ends at some load, and what ITL does to a verdict.

A campaign is a function of its index alone, and its outcome holds nothing but counts and words. Random numbers are drawn in
`simulators.py`; what the outcomes add up to is `targets.py`'s.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from specbench.analysis.judge import judge
from specbench.analysis.verdict.interim import is_settled
from specbench.calibrate.simulators import (
    BASELINE,
    Load,
    NoiseModel,
    Prompts,
    Streams,
    Treatment,
    prompts_of,
    random_of,
    simulate,
)
from specbench.calibrate.synthetic_runs import DRAFTING, PLAIN, evidence_of, scenario_of
from specbench.model.records import Cell, RunData
from specbench.model.result import PerArm, Result
from specbench.plan.trials import cells_of
from specbench.report.formats.result_json import result_json
from specbench.run.early_stopping import interim_pairs

Outcome = dict[str, Any]
SEED = 20261129
PAIRS = 10
# One simulated step stands for ten engine steps of 10 ms: it varies as their mean does and remembers as .95 to the tenth power.
SCALE = 10
CLEAN = NoiseModel()
SHIFTING = NoiseModel(drift=0.04, stall_share=0.005)
BINS = {"short": (16, 24), "middle": (24, 40), "long": (40, 56)}
LEVELS = (1, 4, 8, 16)
ONE_BIN = {"middle": BINS["middle"]}
LEAST_REQUESTS, LEAST_STEPS = 30, 200  # a block of the standard profile: 30 requests, and 20 s of steps as scaled
PREFILL_STEPS = 11
Cells = Callable[[Cell], Treatment]


def steps_of(streams: int, answer: tuple[int, int]) -> int:
    """Steps of a block of the standard profile, time scaled down: both of its minima hold."""
    a_request = sum(answer) / 2 + PREFILL_STEPS
    return max(LEAST_STEPS, round(LEAST_REQUESTS * a_request / streams))


def load_of(streams: int, answer: tuple[int, int], pairs: int = PAIRS) -> Load:
    """One cell of the standard profile."""
    return Load(streams=streams, pairs=pairs, steps=steps_of(streams, answer), answer=answer)


def both_arms(world: NoiseModel, load: Load, treatment: Treatment, *names: str | int) -> PerArm[Streams]:
    """One simulated cell: the same prompts for both arms, and each arm's own machine noise."""
    prompts: Prompts = prompts_of(world, load, random_of(SEED, *names, "prompts"))
    return PerArm(
        simulate(world, load, BASELINE, prompts, random_of(SEED, *names, "baseline"), speculative=False),
        simulate(world, load, treatment, prompts, random_of(SEED, *names, "speculative"), speculative=True),
    )


def simulated_run(
    name: str, index: int, world: NoiseModel, bins: Mapping[str, tuple[int, int]], levels: Sequence[int], treated: Cells
) -> RunData:
    """The facts of one simulated run with this treatment in each cell, every number of it fixed by `name` and `index`."""
    separate = len(bins) > 1
    cells = cells_of(scenario_of(bins, levels, PAIRS, separate=separate))
    drafts = any(treated(cell).alpha is not None for cell in cells)
    scenario = scenario_of(bins, levels, PAIRS, separate=separate, speculation=DRAFTING if drafts else PLAIN)
    answers = {cell.id: bins[cell.bin or next(iter(bins))] for cell in cells}
    streams = {
        cell.id: both_arms(world, load_of(cell.concurrency or 1, answers[cell.id]), treated(cell), name, index, cell.id)
        for cell in cells
    }
    return evidence_of(scenario, cells, streams)


def summary_of(result: Result) -> Outcome:
    """What the table needs of a result: the verdict, the cap, every deciding guardrail's state by metric, and broken checks."""
    states: dict[str, dict[str, int]] = {}
    unresolvable: dict[str, int] = {}
    blind = 0
    for finding in (f for cell in result.cells for f in cell.findings if f.role == "guardrail" and f.required):
        counts = states.setdefault(finding.metric, {})
        counts[finding.state] = counts.get(finding.state, 0) + 1
        if "unresolvable_at_this_margin" in finding.notes:
            unresolvable[finding.metric] = unresolvable.get(finding.metric, 0) + 1
        blind += finding.state == "INCONCLUSIVE" and finding.detectable is None
    return {
        "verdict": result.verdict,
        "cap": None if result.enable_range is None else result.enable_range.high,
        "states": states,
        "unresolvable": unresolvable,
        "without_detectable": blind,
        "broken": sorted({check.id for cell in result.cells for check in cell.integrity if check.ok is False}),
    }


def matrix_aa(index: int) -> Outcome:
    """The default matrix of 3 bins x 4 concurrencies, both arms the same; every second run on a drifting machine that stalls."""
    world = SHIFTING if index % 2 else CLEAN
    evidence = simulated_run("matrix-aa", index, world, BINS, LEVELS, lambda cell: BASELINE)
    return summary_of(judge(evidence, "calibrate")) | {"clean": world is CLEAN}


def matrix_win(index: int) -> Outcome:
    """The same matrix with a true win everywhere: TPOT 25 % lower, TTFT 2 % higher."""
    win = Treatment(step_ratio=0.75, ttft_ratio=1.02)
    world = SHIFTING if index % 2 else CLEAN
    return summary_of(judge(simulated_run("matrix-win", index, world, BINS, LEVELS, lambda cell: win), "calibrate"))


def capped(name: str, at_the_top: float, index: int) -> Outcome:
    """Wins up to 8 streams, and makes steps so many times as long at 16: the right cap is 8."""
    ratios = {1: 0.6, 4: 0.7, 8: 0.8}

    def treated(cell: Cell) -> Treatment:
        return Treatment(step_ratio=ratios.get(cell.concurrency or 0, at_the_top))

    return summary_of(judge(simulated_run(name, index, SHIFTING, ONE_BIN, LEVELS, treated), "calibrate"))


def itl(index: int) -> Outcome:
    """Real speculation: alpha .5 to .7, steps 20 to 35 % longer, TPOT ratio at most .6; is it ever rolled back because of ITL?"""
    draw = random_of(SEED, "itl", index)
    ratio, alpha, gamma = 1.0, 0.0, 4
    while ratio > 0.6:
        alpha, step_ratio = draw.uniform(0.5, 0.7), draw.uniform(1.20, 1.35)
        ratio = step_ratio * (1 - alpha) / (1 - alpha ** (gamma + 1))
    treatment = Treatment(step_ratio=step_ratio, alpha=alpha, gamma=gamma)
    evidence = simulated_run("itl", index, SHIFTING, ONE_BIN, (1, 8), lambda cell: treatment)
    result = judge(evidence, "calibrate")
    blamed = any((reason.metric or "").startswith("itl") for reason in result.reasons)
    worse = [c.ratio for cell in result.cells for c in cell.metrics if c.metric == "itl_p95" and c.ratio is not None]
    return summary_of(result) | {"itl_blamed": result.verdict == "ROLLBACK" and blamed, "itl_p95_ratio": max(worse)}


def until_settled(name: str, treatment: Treatment, index: int) -> Outcome:
    """A run that looks on the way (`--until resolved`): its verdict, and after how many pairs it stopped."""
    evidence = simulated_run(name, index, SHIFTING, ONE_BIN, (1, 8), lambda cell: treatment)
    result, looks = settled(evidence)
    return {"verdict": result.verdict, "pairs": looks[-1], "looks": len(looks)}


def settled(evidence: RunData) -> tuple[Result, tuple[int, ...]]:
    """The result at which a run that looks on the way stops, and after how many pairs it looked."""
    looks: tuple[int, ...] = ()
    for pairs in interim_pairs(evidence.manifest.scenario.matrix.pairs):
        looks = (*looks, pairs)
        blocks = tuple(block for block in evidence.blocks if block.pair < pairs)
        names = {block.id for block in blocks}
        records = tuple(record for record in evidence.records if record.block in names)
        result = judge(replace(evidence, blocks=blocks, records=records, looks=looks), "calibrate")
        if is_settled(result, pairs):
            break
    return result, looks


def determinism(index: int) -> Outcome:
    """Whether the same facts, judged twice and the second time in another order, give the same result."""
    evidence = simulated_run("determinism", index, SHIFTING, ONE_BIN, (1, 4), lambda cell: BASELINE)
    turned = replace(evidence, blocks=evidence.blocks[::-1], records=evidence.records[::-1])
    first, second = (result_json(judge(facts, "calibrate")) for facts in (evidence, turned))
    return {"same_bytes": first == second}


cap_clear = partial(capped, "cap-clear", 1.30)
cap_edge = partial(capped, "cap-edge", 1.10)  # TPOT is worse by just the margin, which must not pass for harmless
until_aa = partial(until_settled, "until-aa", BASELINE)
until_twice = partial(until_settled, "until-twice", Treatment(step_ratio=2.0))
until_win = partial(until_settled, "until-win", Treatment(step_ratio=0.75, ttft_ratio=1.02))
