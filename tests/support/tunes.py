"""Tunes for tests, made from literal numbers. No test and no assertion lives here."""

from dataclasses import replace

from specbench.model.tuning.tune_values import Candidate, LoadFigure, LoadPick, TriedCandidate, Tune, TuneRules
from specbench.tune.picks import setting_of

# TPOT of each depth ÷ the baseline's, by streams.
RATIOS = {1: {1: 0.66, 16: 1.08}, 4: {1: 0.48, 16: 1.25}}


def a_candidate(depth: int) -> TriedCandidate:
    """A draft model of that depth, started in two series."""
    block = {"method": "draft_model", "num_speculative_tokens": depth}
    return TriedCandidate(candidate=Candidate(name=f"depth-{depth}", depth=depth, speculative=block), state="tried", series=2)


def a_tune(**changes: object) -> Tune:
    """A tune of depths 1 and 4 that ended, with these changes; nothing is picked yet."""
    plain = Tune(
        format_version=1,
        id="t",
        name="code",
        tool_version="0",
        started="2026-01-01T00:00:00Z",
        finished="2026-01-01T01:00:00Z",
        engine="embedded",
        schedule="alternate",
        rules=TuneRules(metric="tpot_p50", within=0.02, sure=0.9, series=4, blocks=2, primary=1),
        candidates=tuple(map(a_candidate, RATIOS)),
        series=2,
        starts=6,
        loads=(),
        start_sd=None,
        start_df=0,
        settled=False,
        setting=None,
    )
    return replace(plain, **changes)  # type: ignore[arg-type]


def a_load(streams: int, pick: str, **ratios: float) -> LoadPick:
    """The pick at one load, with the ratios of candidates such as `off` and `depth_4`."""
    figures = tuple(LoadFigure(candidate=name.replace("_", "-"), ratio=ratio) for name, ratio in ratios.items())
    return LoadPick(streams=streams, pick=pick, sure=0.97, next_best=None, figures=figures)


def predicted_tune() -> Tune:
    """A tune of depths 1, 2 and 4 at 1, 4 and 16 streams, picked, with what depth 4 predicts of the others."""
    loads = (
        a_load(1, "depth-4", off=1.0, depth_1=0.66, depth_2=0.56, depth_4=0.48),
        a_load(4, "depth-2", off=1.0, depth_1=0.78, depth_2=0.70, depth_4=0.74),
        a_load(16, "off", off=1.0, depth_1=1.04, depth_2=1.06, depth_4=1.13),
    )
    predicted = ({"depth-1": 0.67, "depth-2": 0.56}, {"depth-1": 0.77, "depth-2": 0.71}, {"depth-1": 1.05, "depth-2": 1.06})
    told = tuple(
        replace(load, figures=tuple(replace(one, predicted=of.get(one.candidate)) for one in load.figures))
        for load, of in zip(loads, predicted, strict=True)
    )
    harmed = tuple(replace(one, ruled_out="tpot_p95") if one.candidate == "depth-4" else one for one in told[2].figures)
    told = (replace(told[0], better_untried=(3,)), told[1], replace(told[2], figures=harmed))
    dropped = replace(a_candidate(4), state="dropped", reason="surely not the best")
    tune = a_tune(
        candidates=(a_candidate(1), a_candidate(2), dropped), loads=told, starts=8, start_sd=0.012, start_df=14, settled=True
    )
    return replace(tune, setting=setting_of(tune))
