"""Two runs of ours beside each other, such as last week's draft and this week's: did speculation do better in the second?

Compared are the ratios, speculative ÷ baseline, of each run: a baseline that both have cancels the day and the machine.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, inf, isfinite, log

from scipy import stats

from specbench.analysis.imported.import_statistics import LEVEL, welch_difference
from specbench.analysis.stats.alpha_spending import holm
from specbench.explain.imported import run_difference_sentences as sentences
from specbench.model.data.imported_result import ComparedReason, RunComparison, RunDifference, RunMetric
from specbench.model.result import CellResult, Comparison, Result
from specbench.model.run_info import EndpointInfo

ALIKE = 0.05
ALPHA = 0.05
SHOWN = 4  # metrics with a sentence; all have a row
_EXIT = {"better": 0, "alike": 0, "worse": 20, "unclear": 10}
_NOTHING_SHARED = 30


@dataclass(frozen=True, slots=True)
class _Compared:
    """One metric of a cell of both runs, before its p is adjusted."""

    row: RunMetric
    p: float | None


def compare_runs(before: Result, after: Result, names: tuple[str, str]) -> RunComparison:
    """What the second run shows beside the first; `names` are those of their folders."""
    pairs = [(a, b) for a in before.cells for b in after.cells if a.id == b.id and "INVALID" not in (a.state, b.state)]
    invalid = [name for name, run in zip(names, (before, after), strict=True) if run.verdict == "INVALID"]
    rows = [] if invalid else [row for a, b in pairs for row in _metrics(a, b, before.config.success_metric)]
    judged = [one for one in rows if one.row.required and one.p is not None]
    adjusted = dict(zip(map(id, judged), holm([one.p for one in judged if one.p is not None]), strict=True))
    metrics = tuple(_worded(one, adjusted.get(id(one))) for one in rows)
    reasons, word, code = _outcome(metrics, (before, after), invalid, names)
    return RunComparison(
        before=names[0],
        after=names[1],
        word=word,
        exit_code=code,
        differences=_differences(before, after),
        metrics=metrics,
        reasons=reasons,
    )


def _outcome(
    metrics: Sequence[RunMetric], runs: tuple[Result, Result], invalid: Sequence[str], names: tuple[str, str]
) -> tuple[tuple[ComparedReason, ...], RunDifference, int]:
    if invalid:
        return (ComparedReason(code="invalid_run", message=sentences.invalid_run(invalid)),), "unclear", _NOTHING_SHARED
    if not metrics:
        return (ComparedReason(code="nothing_shared", message=sentences.nothing_shared(names)),), "unclear", _NOTHING_SHARED
    required = [one for one in metrics if one.required]
    gain = [one for one in required if one.metric == runs[0].config.success_metric] or required
    if runs[1].verdict == "ROLLBACK" and runs[0].verdict != "ROLLBACK":
        return (ComparedReason(code="rollback", message=sentences.rolled_back(names[1])),), "worse", _EXIT["worse"]
    word: RunDifference = "unclear"
    if any(one.word == "worse" for one in required):
        word = "worse"
    elif any(one.word == "better" for one in required):
        word = "better"
    elif gain and all(one.word == "alike" for one in gain):
        word = "alike"
    shown = [one for one in required if one.word == word] or gain
    said = [ComparedReason(code=one.word, message=sentences.run_metric(one)) for one in shown[:SHOWN]]
    if len(shown) > SHOWN:
        said.append(ComparedReason(code=word, message=sentences.further(len(shown) - SHOWN, word)))
    return tuple(said), word, _EXIT[word]


def _metrics(before: CellResult, after: CellResult, success: str) -> list[_Compared]:
    deciding = {one.metric for cell in (before, after) for one in cell.findings if one.decides} | {success}
    later = {one.metric: one for one in after.metrics}
    both = [(one, later[one.metric]) for one in before.metrics if one.metric in later]
    found = [_compared(before.id, a, b, a.metric in deciding) for a, b in both]
    return [one for one in found if one is not None]


def _compared(cell: str, before: Comparison, after: Comparison, required: bool) -> _Compared | None:
    row = RunMetric(
        metric=before.metric,
        cell=cell,
        direction=before.direction,
        before=before.ratio,
        after=after.ratio,
        ratio=None,
        low=None,
        high=None,
        p_adjusted=None,
        required=required,
        word="unclear",
    )
    if after.unbounded.speculative and not before.unbounded.speculative and before.ratio is not None:
        return _Compared(replace(row, word="worse"), None)
    estimates = [_estimate(one) for one in (before, after)]
    if estimates[0] is None or estimates[1] is None:
        return None if before.ratio is None or after.ratio is None else _Compared(row, None)
    difference, se, df = welch_difference(estimates[0], estimates[1])
    if se == 0:
        return _Compared(replace(row, ratio=exp(difference)), None)
    reach = float(stats.t.ppf((1 + LEVEL) / 2, df)) * se
    p = 2 * float(stats.t.sf(abs(difference) / se, df))
    low, high = _finite_exp(difference - reach), _finite_exp(difference + reach)
    return _Compared(replace(row, ratio=_finite_exp(difference), low=low, high=high), p)


def _estimate(one: Comparison) -> tuple[float, float, float] | None:
    if not one.ratio or one.se_log is None or one.df is None or one.df <= 0:
        return None
    return log(one.ratio), one.se_log, one.df


def _finite_exp(value: float) -> float | None:
    found = exp(value) if value < 700 else inf
    return found if isfinite(found) else None


def _worded(one: _Compared, p_adjusted: float | None) -> RunMetric:
    row = replace(one.row, p_adjusted=p_adjusted)
    if row.ratio is None or row.low is None or row.high is None or row.direction == "equal":
        return row
    p = p_adjusted if row.required else one.p
    if row.low >= 1 - ALIKE and row.high <= 1 + ALIKE:
        return replace(row, word="alike")
    if p is None or p >= ALPHA:
        return row
    lower_is_better = row.direction == "lower"
    return replace(row, word="better" if (row.ratio < 1) == lower_is_better else "worse")


def _differences(before: Result, after: Result) -> tuple[str, ...]:
    """What is not the same in how the two runs were made, most important first."""
    pairs = [
        ("scenario", before.run.name, after.run.name),
        ("scenario as run", before.config.resolved_sha256, after.config.resolved_sha256),
        ("profile", before.run.profile, after.run.profile),
        ("design", before.config.design, after.config.design),
        ("specbench", before.tool_version, after.tool_version),
    ]
    for arm, a, b in (
        ("baseline", before.endpoints.baseline, after.endpoints.baseline),
        ("speculative", before.endpoints.speculative, after.endpoints.speculative),
    ):
        pairs += [(f"{arm}: {name}", x, y) for name, x, y in _endpoint(a, b)]
    return tuple(sentences.differs(name, x, y) for name, x, y in pairs if x != y)


def _endpoint(a: EndpointInfo, b: EndpointInfo) -> list[tuple[str, str | None, str | None]]:
    own = [
        ("engine", a.engine, b.engine),
        ("engine version", a.engine_version, b.engine_version),
        ("model", a.model, b.model),
        ("speculation", a.speculation, b.speculation),
        ("slowed by", f"{a.slow_by:g}", f"{b.slow_by:g}"),
    ]
    known = {"engine", "engine_version", "version", "model", "speculation"}
    names = [name for name in dict.fromkeys((*a.facts, *b.facts)) if name not in known]
    return own + [(name, a.facts.get(name), b.facts.get(name)) for name in names]
