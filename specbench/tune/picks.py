"""From what is on disk to picks: the figures of each start, what rules a candidate out, the selection and the setting.

The folder of a tune holds its plan and picks (`tune.json`) and a run folder for each candidate. Nothing is measured here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import exp, log
from pathlib import Path

import msgspec

from specbench.analysis.arrays.cell_arrays import arrays_of
from specbench.analysis.cells import cells_of
from specbench.analysis.comparison.compare import figures_by_pair
from specbench.analysis.selection import LEAST_SERIES, Selection, SelectionRules, StartFigure, select
from specbench.errors import DataError
from specbench.files import regular_bytes
from specbench.model.metrics import METRICS
from specbench.model.result import Result
from specbench.model.scenario import ARMS
from specbench.model.tuning.tune_values import (
    BASELINE,
    DEPTH,
    FORMAT_VERSION,
    Candidate,
    LoadFigure,
    LoadPick,
    Setting,
    Tune,
)
from specbench.scenario.settings import DepthsByLoad, setting_for
from specbench.store import MANIFEST, TUNE, pretty, read_run, write_in_run
from specbench.tune.candidates import EMBEDDED_MOST
from specbench.tune.predictions import PREDICTED, better_untried, method_of, predicted_depths, predicted_ratio

SETTING_TEXT = "setting.txt"
Out = Mapping[tuple[str, float], str]


def selection_of(folder: Path, tune: Tune, out: Out) -> Selection:
    """The picks by the facts in the candidates' run folders; `out` says why a candidate may not be picked at a load."""
    depths = {BASELINE: 0, **{one.candidate.name: _rank(one.candidate) for one in tune.candidates}}
    rules = SelectionRules(depths=depths, within=tune.rules.within, sure=tune.rules.sure, out=frozenset(out))
    names = [one.candidate.name for one in tune.candidates if (folder / one.candidate.name / MANIFEST).is_file()]
    return select(_start_figures(folder, names, tune), rules)


def judged(folder: Path, tune: Tune, results: Mapping[str, Result]) -> Tune:
    """The tune with its picks, and where it is finished with its setting.

    Args:
        results: Of each candidate's run folder that could be judged.
    """
    out = ruled_out(results, tune)
    found = selection_of(folder, tune, out)
    picked = {one.load: one for one in found.loads}
    loads = sorted({float(level) for one in results.values() for cell in one.cells if (level := cell.axes.concurrency)})
    names = [BASELINE, *(one.candidate.name for one in tune.candidates)]
    picks = []
    for load in loads:
        one = picked.get(load)
        picks.append(
            LoadPick(
                streams=int(load),
                pick=None if one is None else one.pick,
                sure=None if one is None else one.sure,
                next_best=None if one is None else one.next_best,
                figures=tuple(_figure(name, load, None if one is None else one.means, out, tune) for name in names),
            )
        )
    if tune.rules.metric == PREDICTED:
        picks = [_with_predictions(load, tune, results) for load in picks]
    whole = replace(
        tune,
        loads=tuple(picks),
        start_sd=found.start_sd,
        start_df=found.df,
        settled=tune.series >= LEAST_SERIES and found.settled(tune.rules.sure),
    )
    return replace(whole, setting=setting_of(whole) if whole.picked else None)


def setting_of(tune: Tune) -> Setting:
    """The setting that the picks come to, of the method that was picked at the primary load, or else wherever one was.

    At loads where another method was picked, it is the best depth of this one, or off where that loses to off.
    """
    known = {one.candidate.name: one.candidate for one in tune.candidates}
    chosen = [load for load in tune.loads if load.pick in known]
    if not chosen:
        return Setting(engine=tune.engine, kind="off", speculative=None)
    named = next((load for load in chosen if load.streams == tune.rules.primary), chosen[0])
    method = method_of(known[named.pick or ""])
    family = {name: one for name, one in known.items() if method_of(one) == method}
    ratios = {load.streams: _allowed(load, family, tune.rules.metric) for load in tune.loads}
    picks = []
    for load in tune.loads:
        of = ratios[load.streams]
        own = load.pick if load.pick in family or load.pick == BASELINE else min(of, key=of.__getitem__, default=BASELINE)
        picks.append((load.streams, family[own].depth if own in family else 0))
    losses: dict[int, dict[int, float]] = {}
    for streams, of in ratios.items():
        best = min(of.values(), default=1.0)
        for name, ratio in of.items():
            losses.setdefault(family[name].depth if name in family else 0, {})[streams] = ratio / best - 1
    speculative = {key: value for key, value in family[named.pick or ""].speculative.items() if key != DEPTH}
    if not family[named.pick or ""].depth:
        return Setting(engine=tune.engine, kind="static", speculative=dict(family[named.pick or ""].speculative))
    asked = DepthsByLoad(picks=tuple(picks), losses=losses, primary=named.streams, within=tune.rules.within)
    return setting_for(tune.engine, speculative, asked)


def ruled_out(results: Mapping[str, Result], tune: Tune) -> dict[tuple[str, float], str]:
    """Why a candidate may not be picked at a load: shown harm, a failed safety finding, or a measurement that cannot be trusted.

    The baseline is out where no candidate's measurement can be trusted.
    """
    out: dict[tuple[str, float], str] = {}
    loads = sorted({float(c.axes.concurrency or 0) for one in results.values() for c in one.cells})
    broken: dict[float, int] = dict.fromkeys(loads, 0)
    for name, result in results.items():
        whole = next((check.id for check in result.integrity if check.ok is False), None)
        unsafe = next((one.metric for one in result.run_findings if one.decides and one.state == "FAIL"), None)
        for cell in result.cells:
            load = float(cell.axes.concurrency or 0)
            failed = whole or next((check.id for check in cell.integrity if check.ok is False), None)
            harm = unsafe or next((one.metric for one in cell.findings if one.decides and one.state == "FAIL"), None)
            broken[load] += failed is not None
            if failed or harm:
                out[name, load] = failed or harm or ""
    for load in loads:
        if results and broken[load] == len(results):
            out[BASELINE, load] = next(why for (_, at), why in out.items() if at == load)
    for one in tune.candidates:
        if one.state == "failed":
            out |= {(one.candidate.name, load): "failed" for load in loads}
    return out


def write_tune(folder: Path, tune: Tune) -> None:
    """Writes `tune.json` as a whole."""
    write_in_run(folder / TUNE, pretty(tune))


def read_tune(folder: Path) -> Tune:
    """The tune in that folder.

    Raises:
        DataError: there is none, or it is damaged, or of another version.
    """
    try:
        content = regular_bytes(folder / TUNE)
        version = msgspec.json.decode(content, type=dict[str, object]).get("format_version")
        if version != FORMAT_VERSION:
            raise DataError(f"{folder / TUNE}: has format version {version}; this specbench reads {FORMAT_VERSION}")
        return msgspec.json.decode(content, type=Tune)
    except FileNotFoundError:
        raise DataError(f"{folder}: no {TUNE} in it; name a folder that `specbench tune` wrote") from None
    except OSError as error:
        raise DataError(f"{folder / TUNE}: cannot be read ({error.strerror})") from None
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(f"{folder / TUNE}: damaged: {error}; copy the whole tune again") from None


def _start_figures(folder: Path, names: Sequence[str], tune: Tune) -> list[StartFigure]:
    """The log figure of every start at every load, lower being better; the baseline's once, whatever folders hold it."""
    metric = METRICS[tune.rules.metric]
    sign = 1.0 if metric.direction == "lower" else -1.0
    found: dict[tuple[float, int, str], list[float]] = {}
    taken: set[tuple[float, int]] = set()
    for name in names:
        for cell in cells_of(read_run(folder / name)):
            columns = [arrays_of(cell.blocks.of(arm), cell.records.of(arm), speculates=arm != ARMS[0]) for arm in ARMS]
            for pair, (before, after) in figures_by_pair(metric.id, columns[0], columns[1]).items():
                series, load = pair // tune.rules.blocks, cell.cell.level
                found.setdefault((load, series, name), []).append(sign * log(after))
                if (load, pair) not in taken:
                    taken.add((load, pair))
                    found.setdefault((load, series, BASELINE), []).append(sign * log(before))
    return [StartFigure(load, series, name, sum(logs) / len(logs)) for (load, series, name), logs in sorted(found.items())]


def _figure(name: str, load: float, means: Mapping[str, float] | None, out: Out, tune: Tune) -> LoadFigure:
    value = None if means is None else means.get(name)
    sign = 1.0 if METRICS[tune.rules.metric].direction == "lower" else -1.0
    return LoadFigure(candidate=name, ratio=None if value is None else exp(sign * value), ruled_out=out.get((name, load)))


def _with_predictions(load: LoadPick, tune: Tune, results: Mapping[str, Result]) -> LoadPick:
    """The load with what other depths are predicted to have there, those that were tried and those that were not."""
    candidates = {one.candidate.name: one.candidate for one in tune.candidates}
    sources = {
        method: predicted_depths([*candidates.values()], results, method, load.streams)
        for method in {method_of(one): None for one in candidates.values()}
    }
    figures = tuple(
        replace(one, predicted=predicted_ratio(candidates[one.candidate], sources[method_of(candidates[one.candidate])]))
        if one.candidate in candidates
        else one
        for one in load.figures
    )
    pick = candidates.get(load.pick or "")
    better: set[int] = set()
    if load.pick is not None:
        for method, found in sources.items():
            if pick is None or method_of(pick) == method:
                tried = [one.depth for one in candidates.values() if method_of(one) == method]
                better |= {*better_untried(pick, found, tried, tune.rules.within)}
    most = EMBEDDED_MOST if tune.engine == "embedded" else max(better, default=0)
    return replace(load, figures=figures, better_untried=tuple(sorted(depth for depth in better if depth <= most)))


def _allowed(load: LoadPick, family: Mapping[str, Candidate], metric: str) -> dict[str, float]:
    """The figures of this method and of no speculation that may be picked at the load; lower is better, whatever the metric."""
    higher = METRICS[metric].direction == "higher"
    return {
        one.candidate: 1 / one.ratio if higher else one.ratio
        for one in load.figures
        if one.ratio is not None and one.ruled_out is None and (one.candidate in family or one.candidate == BASELINE)
    }


def _rank(candidate: Candidate) -> int:
    return max(candidate.depth, 1)
