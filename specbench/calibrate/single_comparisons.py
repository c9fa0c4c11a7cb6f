"""Campaigns of one comparison at a time: coverage of intervals, power, the edge of a margin, the pairs that a decision needs.

They run the analysis's own comparison and finding on simulated columns, without a run around them, so that thousands are cheap.
"""

from dataclasses import dataclass, replace
from functools import cache, partial

from specbench.analysis.arrays.cell_arrays import CellArrays, arrays_of
from specbench.analysis.comparison.compare import compare, shares_tests
from specbench.analysis.verdict.findings import Case, finding, harm_p
from specbench.calibrate.simulators import BASELINE, Load, NoiseModel, Streams, Treatment, prompts_of, random_of, simulate
from specbench.calibrate.synthetic_runs import blocks_of, first_pairs, records_of
from specbench.calibrate.whole_runs import BINS, PAIRS, SEED, SHIFTING, Outcome, both_arms, load_of
from specbench.explain.findings import FindingContext
from specbench.model.guardrails import DEFAULTS
from specbench.model.metrics import METRICS
from specbench.model.records import Cell
from specbench.model.result import Comparison, Finding, PerArm
from specbench.model.scenario import ARMS
from specbench.plan.variance import pair_spread

ALPHA = 0.05
GUARDED = tuple(rule for rule in DEFAULTS if rule.role == "guardrail")
STREAMS = 4
CELL = Cell(id="c4", concurrency=STREAMS, rate=None, bin=None, sampling=None, required=True, traffic_share=None)
SETTING = FindingContext(cell="c4", place="At 4 streams", pairs=PAIRS, alpha=ALPHA)

COVERED = ("tpot_p50", "tpot_p95", "itl_p95", "pace_p95", "output_tps")
ANSWER = (96, 160)
LONG_STEPS, LONG_PAIRS = 100_000, 4  # of the run that stands for the truth where no formula gives it


@dataclass(frozen=True, slots=True)
class CoverageCase:
    """One scenario of coverage. Both arms are of one `kind`, one of them 10 % slower in all times, so that the true ratios are
    known; or they are of two kinds, and the truth is what a long run without differences between blocks shows."""

    world: NoiseModel
    streams: int = 4
    kind: Treatment = BASELINE
    other: Treatment | None = None


# Steps of coverage are engine steps as they are: nothing is scaled.
STEPS = NoiseModel(step_sd=0.12, step_memory=0.95)
STALLS = replace(STEPS, stall_share=0.03)
ALONE = NoiseModel(
    step_sd=0.0, block_sd=0.0
)  # no shared step: a token's log time has a variance of .25, shared within its request
SPECULATION = Treatment(step_ratio=1.2, alpha=0.65)
SCENARIOS: dict[str, CoverageCase] = {
    "icc-0": CoverageCase(replace(ALONE, own_sd=0.5)),
    "icc-0.1": CoverageCase(replace(ALONE, own_sd=0.474, request_sd=0.158)),
    "icc-0.3": CoverageCase(replace(ALONE, own_sd=0.418, request_sd=0.274)),
    "icc-0.5": CoverageCase(replace(ALONE, own_sd=0.354, request_sd=0.354)),
    "shared-1": CoverageCase(STEPS, 1),
    "shared-4": CoverageCase(STEPS, 4),
    "shared-16": CoverageCase(STEPS, 16),
    "shared-64": CoverageCase(STEPS, 64),
    "drift": CoverageCase(replace(STEPS, drift=0.04)),
    "stalls": CoverageCase(STALLS),
    "stalls-16": CoverageCase(STALLS, 16),
    "several-tokens": CoverageCase(STEPS, kind=Treatment(alpha=0.65)),
    "speculation": CoverageCase(STEPS, other=SPECULATION),
    "speculation-stalls": CoverageCase(STALLS, other=SPECULATION),
}
SLOWER = 1.10


def covers(scenario: str, steps: int, index: int) -> Outcome:
    """For each metric, whether its interval of nominal 95 % holds the true ratio."""
    scene = SCENARIOS[scenario]
    found = comparisons(_scene_arms(scene, PAIRS, steps, f"covers-{scenario}-{steps}", index), COVERED)
    truth = true_ratios(scenario)
    return {metric: _holds(comparison, truth[metric]) for metric, comparison in found.items()}


@cache
def true_ratios(scenario: str) -> dict[str, float]:
    """The true ratio of each metric: by construction where both arms are of one kind, else from a long run."""
    scene = SCENARIOS[scenario]
    if scene.other is None:
        return {metric: 1 / SLOWER if metric == "output_tps" else SLOWER for metric in COVERED}
    steady = replace(scene, world=replace(scene.world, block_sd=0.0))
    found = comparisons(_scene_arms(steady, LONG_PAIRS, LONG_STEPS, f"truth-{scenario}", 0), COVERED)
    return {metric: comparison.ratio for metric, comparison in found.items() if comparison.ratio is not None}


def _scene_arms(scene: CoverageCase, pairs: int, steps: int, name: str, index: int) -> PerArm[Streams]:
    load = Load(streams=scene.streams, pairs=pairs, steps=steps, answer=ANSWER)
    prompts = prompts_of(scene.world, load, random_of(SEED, name, index, "prompts"))
    slower = replace(scene.kind, step_ratio=SLOWER, ttft_ratio=SLOWER)
    treatments = {"baseline": scene.kind, "speculative": scene.other or slower}
    return PerArm(
        *(
            simulate(scene.world, load, treatments[arm], prompts, random_of(SEED, name, index, arm), speculative=arm != ARMS[0])
            for arm in ARMS
        )
    )


def comparisons(arms: PerArm[Streams], metrics: tuple[str, ...]) -> dict[str, Comparison]:
    """The analysis's comparison of both arms on each metric."""
    baseline, speculative = _sides(arms)
    return {metric: compare(METRICS[metric], baseline, speculative, ALPHA) for metric in metrics}


def _sides(arms: PerArm[Streams]) -> tuple[CellArrays, CellArrays]:
    blocks = PerArm(blocks_of(arms.baseline, CELL, "baseline"), blocks_of(arms.speculative, CELL, "speculative"))
    before, after = (arrays_of(blocks.of(arm), records_of(arms.of(arm), CELL, blocks.of(arm), "all", 0)) for arm in ARMS)
    return before, after


def findings(arms: PerArm[Streams]) -> dict[str, Finding]:
    """Each default guardrail judged on its own, before Holm."""
    found = comparisons(arms, tuple(rule.metric for rule in GUARDED))
    tests = shares_tests(*_sides(arms))
    cases = [
        Case(guardrail=rule, comparison=found[rule.metric], setting=SETTING, in_family=False, test=tests.get(rule.metric))
        for rule in GUARDED
    ]
    return {case.guardrail.metric: finding(case, harm_p(case), None, ALPHA) for case in cases}


def power(name: str, treatment: Treatment, index: int, world: NoiseModel = SHIFTING) -> Outcome:
    """For each default guardrail, whether harm is significant, and whether it passes; on a machine that drifts and stalls."""
    arms = both_arms(world, load_of(STREAMS, BINS["middle"]), treatment, name, index)
    return {metric: {"harm": _is_harm(f), "pass": f.state == "PASS"} for metric, f in findings(arms).items()}


NOISY = NoiseModel(block_sd=0.08)
NEED_UP_TO = 60
NEED_GRID = range(12, NEED_UP_TO + 1, 4)


def need(index: int) -> Outcome:
    """On a noisy machine, how many pairs a pilot of 10 says that the throughput guardrail needs, and where it does pass.

    `passes` holds those numbers of pairs on a grid at which the guardrail passed.
    """
    arms = both_arms(NOISY, load_of(STREAMS, BINS["middle"], NEED_UP_TO), BASELINE, "need", index)
    told: int | None = None
    passes = []
    for pairs in (PAIRS, *NEED_GRID):
        cut = PerArm(first_pairs(arms.baseline, pairs), first_pairs(arms.speculative, pairs))
        rule = next(rule for rule in GUARDED if rule.metric == "output_tps")
        comparison = comparisons(cut, ("output_tps",))["output_tps"]
        case = Case(guardrail=rule, comparison=comparison, setting=SETTING, in_family=False)
        judged = finding(case, harm_p(case), None, ALPHA)
        if pairs == PAIRS:
            told = judged.pairs_needed if judged.state == "INCONCLUSIVE" else None
        elif judged.state == "PASS":
            passes.append(pairs)
    return {"told": told, "passes": passes}


def spread(index: int) -> Outcome:
    """The spread of one pair's log ratio, for each default guardrail, in a cell in which both arms are alike."""
    arms = both_arms(SHIFTING, load_of(STREAMS, BINS["middle"]), BASELINE, "spread", index)
    found = comparisons(arms, tuple(rule.metric for rule in GUARDED))
    return {metric: known for metric, comparison in found.items() if (known := pair_spread(comparison)) is not None}


def _is_harm(judged: Finding) -> bool:
    return judged.p_harm is not None and judged.p_harm < ALPHA


def _holds(comparison: Comparison, truth: float) -> bool:
    low, high = comparison.ci_low, comparison.ci_high
    return low is not None and high is not None and low <= truth <= high


# How much slower or longer everything is, by the campaign's name.
SLOWED = {
    "slower-5": 1.05,
    "slower-10": 1.10,
    "slower-20": 1.20,
    "fewer-10": 1 / 0.9,
    "edge-15": 1.15,
    "edge-40": 1.40,
    "edge-5": 1 / 0.95,
}
POWER_RUNS = {name: partial(power, name, Treatment(step_ratio=ratio, ttft_ratio=ratio)) for name, ratio in SLOWED.items()}
# At 100 ms the floor of TTFT's paired limit is wider than its margin, so the margin is tried where prefills take longer.
LONG_PREFILLS = replace(SHIFTING, prefill_ms=300.0)
POWER_RUNS["edge-15"] = partial(power, "edge-15", Treatment(step_ratio=1.15, ttft_ratio=1.15), world=LONG_PREFILLS)
