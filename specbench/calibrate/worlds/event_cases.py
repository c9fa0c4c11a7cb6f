"""Cases of what happens to requests and in the course of a run: silence, queues, short answers, gains that go.

In a SLOW_ENGINE nothing is scaled, as what it shows lasts seconds of its own.
"""

from specbench.calibrate.simulators import NoiseModel
from specbench.calibrate.worlds.evidence import WorldRun
from specbench.calibrate.worlds.setting import EQUAL, Behaviour, RequestClass, World
from specbench.calibrate.worlds.world_case import SLOW_CLASS, SLOW_ENGINE, WIN, Truth, WorldCase, name_of, percent_of


def _silences() -> list[WorldCase]:
    """Requests that never answer, and answers that stand still."""

    def slow(speculative: Behaviour, baseline: Behaviour = EQUAL) -> WorldRun:
        return WorldRun(world=SLOW_ENGINE, classes=SLOW_CLASS, baseline=baseline, speculative=speculative)

    found = []
    for share in (0.005, 0.01, 0.03):
        what = f"a win of 1.5, {percent_of(share)} of requests never answered"
        hung = Behaviour(step_ratio=1 / 1.5, hung=share)
        found.append(WorldCase(name=name_of("hung", 100 * share), what=what, run=slow(hung), truth="harm"))
    for share in (0.005, 0.01, 0.03):
        what = f"a win of 1.5, {percent_of(share)} of answers stand still for 2 s"
        stalled = Behaviour(step_ratio=1 / 1.5, stalled=share)
        truth: Truth = "open" if share < 0.01 else "harm"
        found.append(WorldCase(name=name_of("stalls", 100 * share), what=what, run=slow(stalled), truth=truth))
    return [
        *found,
        WorldCase(
            name="stalls-at-once",
            what="a win of 1.5, all streams stand still for 2 s in one block of ten",
            run=slow(Behaviour(step_ratio=1 / 1.5, freeze=0.1)),
            truth="open",
        ),
        WorldCase(
            name="hung-both",
            what="equal arms, 1 % of requests never answered in either",
            run=slow(Behaviour(hung=0.01), Behaviour(hung=0.01)),
            truth="equal",
        ),
        WorldCase(
            name="stalls-both",
            what="equal arms, 1 % of answers stand still for 2 s in either",
            run=slow(Behaviour(stalled=0.01), Behaviour(stalled=0.01)),
            truth="equal",
        ),
    ]


def _rates() -> list[WorldCase]:
    """Arrivals at a rate, below and above what the engines can serve."""

    def arriving(load: float, step_ratio: float) -> WorldRun:
        arm = Behaviour(step_ratio=step_ratio)
        return WorldRun(world=SLOW_ENGINE, classes=SLOW_CLASS, loads=(load,), speculative=arm)

    found = [
        WorldCase(
            name=name_of("rate-aa", 100 * load),
            what=f"A/A, arrivals at {load:g} of capacity",
            run=arriving(load, 1.0),
            truth="equal",
        )
        for load in (0.5, 0.95, 1.05, 1.3)
    ]
    return [
        *found,
        WorldCase(name="rate-win", what="steps −25 % at 0.5 of capacity", run=arriving(0.5, 0.75), truth="win"),
        WorldCase(
            name="rate-baseline-drowns",
            what="steps −25 % at 1.05 of capacity, which the baseline alone does not keep up with",
            run=arriving(1.05, 0.75),
            truth="open",
        ),
        WorldCase(
            name="rate-both-drown",
            what="steps −10 % at 1.3 of capacity: neither arm keeps up",
            run=arriving(1.3, 0.9),
            truth="harm",
        ),
        WorldCase(
            name="rate-arm-drowns",
            what="steps +25 % at 0.95 of capacity: speculation alone does not keep up",
            run=arriving(0.95, 1.25),
            truth="harm",
        ),
    ]


def _short() -> list[WorldCase]:
    """Answers of a few tokens, with real speculation: alpha .65, steps 20 % longer."""
    drafting = Behaviour(step_ratio=1.2, alpha=0.65)
    bands = ((1, 2), (2, 8), (4, 16))
    found = [
        WorldCase(
            name=name_of("short", *band),
            what=f"answers of {band[0]} to {band[1]} tokens, speculation",
            run=WorldRun(speculative=drafting, classes=(RequestClass(answer=band),), streams=(8,)),
            truth="open",
        )
        for band in bands
    ]
    short = (RequestClass(answer=(2, 8)),)
    return [
        *found,
        WorldCase(
            name="short-aa", what="A/A, answers of 2 to 8 tokens", run=WorldRun(classes=short, streams=(8,)), truth="equal"
        ),
    ]


def _fading() -> list[WorldCase]:
    """A gain that goes during the run, or within each block."""
    going = WorldRun(speculative=Behaviour(step_ratio=0.67, last_step_ratio=1.0), streams=(4,))
    half = WorldRun(speculative=Behaviour(step_ratio=0.8, last_step_ratio=0.95), streams=(4,))
    noisy = World(noise=NoiseModel(block_sd=0.05))
    return [
        WorldCase(name="fading", what="TPOT −33 % in the first pair, 0 in the last", run=going, truth="harm"),
        WorldCase(
            name="fading-looks",
            what="the same with looks on the way",
            run=going,
            truth="harm",
            looks=True,
        ),
        WorldCase(
            name="fading-half",
            what="TPOT −20 % in the first pair, −5 % in the last",
            run=half,
            truth="open",
        ),
        WorldCase(
            name="steady-win",
            what="a steady gain of 13 % in blocks that differ by 5 %",
            run=WorldRun(world=noisy, speculative=Behaviour(step_ratio=1 / 1.15), streams=(4,)),
            truth="win",
        ),
        WorldCase(
            name="slows-within",
            what="TPOT −33 %, but 60 % slower in the last third of each block",
            run=WorldRun(speculative=Behaviour(step_ratio=0.67, last_third=0.6), streams=(4,)),
            truth="harm",
        ),
    ]


def _small_losses() -> list[WorldCase]:
    """A small loss of throughput beyond the primary load: is the cap steady?"""
    return [
        WorldCase(
            name=name_of("small-loss", 100 * loss),
            what=f"a win of 1.5 at 1 stream, output TPS −{percent_of(loss)} at 8",
            run=WorldRun(speculative=WIN, beyond=Behaviour(step_ratio=1 + loss * 420 / 320)),
            truth="tolerated",
        )
        for loss in (0.02, 0.04)
    ]


def _answers() -> list[WorldCase]:
    """Answers that are not those of the baseline, as far as a record tells."""
    kinds = {
        "text": ("another text in every answer", Behaviour(step_ratio=0.75, text="other")),
        "finish": ("every answer ends by its length", Behaviour(step_ratio=0.75, finish_reason="length")),
        "chars": ("a quarter of the characters a token", Behaviour(step_ratio=0.75, text="other", chars_per_token=1.0)),
    }
    return [
        WorldCase(name=f"answers-{name}", what=f"25 % faster, {what}", run=WorldRun(speculative=arm, streams=(4,)), truth="open")
        for name, (what, arm) in kinds.items()
    ]


EVENT_GROUPS: dict[str, tuple[WorldCase, ...]] = {
    "silence": tuple(_silences()),
    "rates": tuple(_rates()),
    "short": tuple(_short()),
    "time": tuple(_fading()),
    "small loss": tuple(_small_losses()),
    "answers": tuple(_answers()),
}
