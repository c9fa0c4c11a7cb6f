"""Simulated tunes: candidates whose true figures are known, picked by `analysis/selection.py` as `tune` does.

The truth is the roofline of the embedded engine at each depth and load; blocks and starts scatter as stated. No engine runs.
"""

from math import exp, log

from specbench.analysis.selection import LEAST_SERIES, SelectionRules, StartFigure, hopeless, select
from specbench.calibrate.simulators import random_of
from specbench.calibrate.whole_runs import SEED, Outcome
from specbench.engine.core.setup import machine_of
from specbench.engine.options import Speculation
from specbench.engine.timing.roofline import Part, step_s

SELECTIONS = 500
DEPTHS = (1, 2, 3, 4, 5)
LOADS = (1, 4, 16)
BLOCKS, MOST_SERIES = 3, 4
BLOCK_SD, START_SD = 0.025, 0.01
WITHIN, SURE = 0.02, 0.9
CONTEXT = 96  # tokens of a request in the middle of its answer
ACCEPTANCES = (0.55, 0.65, 0.75, 0.85)  # of each drafted token; one a tune, in turn
OFF = "off"


def selection(index: int) -> Outcome:
    """Whether one tune picked within 2 % of the best at every load, how far off its picks are, and how many starts it took."""
    acceptance = ACCEPTANCES[index % len(ACCEPTANCES)]
    truth = {(depth, load): log(_tpot(depth, load, acceptance)) for depth in (0, *DEPTHS) for load in LOADS}
    picks, starts = _tuned(truth, index)
    losses = {load: truth[picks[load], load] - min(truth[depth, load] for depth in (0, *DEPTHS)) for load in LOADS}
    return {"good": all(exp(loss) <= 1 + WITHIN for loss in losses.values()), "starts": starts, "loss": max(losses.values())}


def _tuned(truth: dict[tuple[int, int], float], index: int) -> tuple[dict[int, int], int]:
    """The picked depth at each load, and the starts until then."""
    rng = random_of(SEED, "selection", index, "starts")
    names = {0: OFF, **{depth: str(depth) for depth in DEPTHS}}
    rules = SelectionRules(depths={name: depth for depth, name in names.items()}, within=WITHIN, sure=SURE)
    live, figures, starts, settled = list(DEPTHS), list[StartFigure](), 0, frozenset[float]()
    for series in range(MOST_SERIES):
        for depth in (0, *live):
            starts += 1
            own = rng.normal(0.0, START_SD / 2**0.5)
            for load in LOADS:
                if load in settled:
                    continue
                scatter = own + rng.normal(0.0, START_SD / 2**0.5) + rng.normal(0.0, BLOCK_SD / BLOCKS**0.5)
                figures.append(StartFigure(float(load), series, names[depth], truth[depth, load] + scatter))
        found = select(figures, rules)
        if series + 1 >= LEAST_SERIES:
            settled |= {*found.settled_loads(SURE)}
            if settled >= {*LOADS}:
                break
        given_up = hopeless(found, [names[depth] for depth in live], OFF, settled)
        live = [depth for depth in live if names[depth] not in given_up]
    return {int(one.load): rules.depths[one.pick] for one in found.loads}, starts


def _tpot(depth: int, load: int, acceptance: float) -> float:
    """Seconds for each token: a step of all streams ÷ the tokens that it brings each."""
    speculation = Speculation(num_speculative_tokens=depth) if depth else None
    part = Part(1 + depth, CONTEXT, 1 + depth, depth, depth > 0)
    tokens = sum(acceptance**place for place in range(depth + 1))
    return step_s(machine_of(speculation), [part] * load) / tokens
