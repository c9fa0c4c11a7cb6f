"""Cases of noise and of shares: times that scatter in ways that mislead, and harm that percentiles hide or margins allow."""

from specbench.calibrate.worlds.evidence import WorldRun
from specbench.calibrate.worlds.setting import Behaviour, RequestClass, World
from specbench.calibrate.worlds.world_case import WIN, WorldCase, name_of, percent_of


def _modes() -> list[WorldCase]:
    """Blocks that fall into a slow mode at random: a neighbour, clocks."""
    found = [
        WorldCase(
            name=name_of("modes-aa", 100 * share, factor),
            what=f"A/A, {percent_of(share)} of blocks {factor:g} times as slow",
            run=WorldRun(world=World(slow_share=share, slow_factor=factor)),
            truth="equal",
        )
        for share in (0.05, 0.1, 0.3)
        for factor in (1.3, 1.5, 3.0)
    ]
    for share, factor in ((0.05, 3.0), (0.1, 3.0), (0.3, 1.3)):
        found.append(
            WorldCase(
                name=name_of("modes-win", 100 * share, factor),
                what=f"a win of 1.5, {percent_of(share)} of blocks {factor:g} times as slow",
                run=WorldRun(world=World(slow_share=share, slow_factor=factor), speculative=WIN),
                truth="win",
                rolled_back=0.01,
            )
        )
    own = Behaviour(step_ratio=0.75, slow_share=0.1, slow_factor=3.0)
    what = "25 % faster, but for 10 % of the speculative arm's blocks, 3 times as slow"
    return [*found, WorldCase(name="modes-one-arm", what=what, run=WorldRun(speculative=own), truth="open")]


def _launches() -> list[WorldCase]:
    """Engines whose every start has a speed of its own."""
    found = [
        WorldCase(
            name=name_of("launches", 100 * sd),
            what=f"A/A, starts differ by {percent_of(sd)}, not stated",
            run=WorldRun(world=World(start_sd=sd)),
            truth="open",
        )
        for sd in (0.02, 0.03, 0.05)
    ]
    stated = [
        WorldCase(
            name=name_of("launches-stated", 100 * sd),
            what=f"A/A, starts differ by {percent_of(sd)}, stated",
            run=WorldRun(world=World(start_sd=sd), start_sd=sd),
            truth="equal",
        )
        for sd in (0.01, 0.02, 0.03)
    ]
    return [
        *stated,
        *found,
        WorldCase(
            name="launches-restart",
            what="A/A, starts differ by 5 %, `schedule: restart`",
            run=WorldRun(world=World(start_sd=0.05), schedule="restart"),
            truth="equal",
        ),
    ]


def _orders() -> list[WorldCase]:
    """What a block leaves behind for the next one."""
    found = [
        WorldCase(
            name=name_of("carry-over", 100 * slower),
            what=f"A/A, the baseline {percent_of(slower)} slower after a block of the other arm",
            run=WorldRun(world=World(after_speculative=slower)),
            truth="equal",
        )
        for slower in (0.05, 0.15)
    ]
    return [
        *found,
        WorldCase(
            name="carry-over-one-load",
            what="A/A at 8 streams alone, the baseline 15 % slower after a block of the other arm",
            run=WorldRun(world=World(after_speculative=0.15), streams=(8,)),
            truth="equal",
        ),
        WorldCase(
            name="carry-over-harm",
            what="A/A at 1 stream, the same 15 %, and steps 12 % longer at 8",
            run=WorldRun(world=World(after_speculative=0.15), beyond=Behaviour(step_ratio=1.12)),
            truth="harm",
        ),
        WorldCase(
            name="second-block",
            what="A/A, the second block of each pair 10 % slower",
            run=WorldRun(world=World(second_block=0.1)),
            truth="equal",
            invalid=0.02,
        ),
        WorldCase(
            name="second-block-win",
            what="a win of 1.5, the second block of each pair 10 % slower",
            run=WorldRun(world=World(second_block=0.1), speculative=WIN),
            truth="win",
            invalid=0.02,
        ),
    ]


def _mixes() -> list[WorldCase]:
    """Bins of unlike times, one of which gets worse while every percentile of the whole gets better."""

    def classes(share: float) -> tuple[RequestClass, ...]:
        return (RequestClass(name="quick", weight=share), RequestClass(name="heavy", weight=1 - share, prefill_ms=150.0))

    # The heavy bin's steps are 2.5 times as long as the quick one's, so that the quick one lies below the total's p95.
    heavy = Behaviour(step_ratio_of={"heavy": 2.5})
    found = [
        WorldCase(
            name=name_of("mix", 100 * share),
            what=f"TPOT +40 % in the quick {percent_of(share)} of requests, −36 % in the rest",
            run=WorldRun(
                baseline=heavy, speculative=Behaviour(step_ratio_of={"quick": 1.4, "heavy": 1.6}), classes=classes(share)
            ),
            truth="open" if share <= 0.05 else "harm",
        )
        for share in (0.05, 0.15, 0.3, 0.45)
    ]
    first = Behaviour(step_ratio=1 / 1.5, ttft_ratio_of={"quick": 4.0})
    short = (RequestClass(name="quick", weight=0.8, prefill_ms=50.0), RequestClass(name="heavy", weight=0.2, prefill_ms=220.0))
    return [
        *found,
        WorldCase(
            name="mix-aa",
            what="A/A in two unlike bins",
            run=WorldRun(baseline=heavy, speculative=heavy, classes=classes(0.3)),
            truth="equal",
        ),
        WorldCase(
            name="mix-first-token",
            what="a win of 1.5, TTFT 4 times as long for the short 80 % of prompts",
            run=WorldRun(speculative=first, classes=short),
            truth="harm",
        ),
    ]


def _first_tokens() -> list[WorldCase]:
    """Times to the first token that scatter, or wait in line."""
    found = [
        WorldCase(
            name=name_of("ttft-win", 100 * sd, pairs),
            what=f"a win of 1.5, TTFT +2 %, its deviation {sd:g}, {pairs} pairs",
            run=WorldRun(world=World(ttft_sd=sd), speculative=WIN, pairs=pairs),
            truth="win",
            promoted=0.8 if pairs == 10 and sd <= 0.4 else None,
        )
        for sd, pairs in ((0.1, 10), (0.2, 10), (0.4, 6), (0.4, 10), (0.4, 20), (0.6, 10))
    ]
    queue = World(ttft_sd=0.4, prefills_at_once=3)
    return [
        *found,
        WorldCase(
            name="ttft-aa",
            what="A/A, TTFT's deviation 0.6",
            run=WorldRun(world=World(ttft_sd=0.6)),
            truth="equal",
        ),
        WorldCase(
            name="ttft-queue-aa",
            what="A/A, three prefills at once, TTFT's deviation 0.4",
            run=WorldRun(world=queue),
            truth="equal",
        ),
        WorldCase(
            name="ttft-queue-win",
            what="a win of 1.5 whose requests wait in that line more often",
            run=WorldRun(world=queue, speculative=WIN),
            truth="open",
        ),
    ]


def _tolerated() -> list[WorldCase]:
    """Harm within every limit."""
    found = []
    # A request takes 420 ms, 320 of them in steps: TTFT and steps together cost the named part of the 5 % of throughput.
    for name, part, step, first, tail in (
        ("half", "half", 1.0143, 1.075, 1.05),
        ("two-thirds", "two thirds", 1.0142, 1.10, 1.067),
    ):
        found.append(
            WorldCase(
                name=f"tolerated-{name}",
                what=f"every metric at {part} of its margin",
                run=WorldRun(speculative=Behaviour(step_ratio=step, ttft_ratio=first, tail_share=0.08, tail_ratio=tail)),
                truth="tolerated",
            )
        )
    return [
        *found,
        *(
            WorldCase(
                name=name_of("tolerated-ttft", 100 * sd),
                what=f"a win of 1.5, TTFT +10 %, its deviation {sd:g}",
                run=WorldRun(world=World(ttft_sd=sd), speculative=Behaviour(step_ratio=1 / 1.5, ttft_ratio=1.1)),
                truth="tolerated",
            )
            for sd in (0.2, 0.4)
        ),
    ]


def _outliers() -> list[WorldCase]:
    """The study of docs/adr/0026: pairs that hold an outlier are measured once more, in both arms."""
    slow, own = World(slow_share=0.05, slow_factor=3.0), Behaviour(step_ratio=0.75, slow_share=0.1, slow_factor=3.0)
    runs = {
        "win": ("a win of 1.5, 5 % of blocks 3 times as slow", WorldRun(world=slow, speculative=WIN, repeats=True)),
        "aa": ("A/A, 5 % of blocks 3 times as slow", WorldRun(world=slow, repeats=True)),
        "one-arm": ("25 % faster, but for 10 % of that arm's blocks, 3 times as slow", WorldRun(speculative=own, repeats=True)),
    }
    return [
        WorldCase(name=f"outliers-{name}", what=f"{what}, outliers repeated", run=run, truth="open")
        for name, (what, run) in runs.items()
    ]


NOISE_GROUPS: dict[str, tuple[WorldCase, ...]] = {
    "modes": tuple(_modes()),
    "launches": tuple(_launches()),
    "order": tuple(_orders()),
    "mix": tuple(_mixes()),
    "TTFT": tuple(_first_tokens()),
    "tolerated": tuple(_tolerated()),
    "outliers": tuple(_outliers()),
}
