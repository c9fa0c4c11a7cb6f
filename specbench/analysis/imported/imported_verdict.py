"""What two arms that another tool measured show: INVALID, ROLLBACK or HOLD, and an indication. Nothing here can promote."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from specbench.analysis.imported.comparable_runs import Unlike, unlike, unlike_work
from specbench.analysis.imported.import_statistics import MEASURABLE_RUNS, excess_failures
from specbench.analysis.imported.imported_cells import Runs, cell_of, deciding
from specbench.analysis.stats.alpha_spending import holm
from specbench.errors import ExitCode
from specbench.explain.imported import imported_sentences as sentences
from specbench.model.data.imported import ImportedRun
from specbench.model.data.imported_result import (
    ComparedReason,
    ImportedCell,
    ImportedComparison,
    ImportedWord,
    Indication,
)
from specbench.model.result import PerArm

BETWEEN_RUNS = 0.10  # of a median, from run to run of one command, where it is not measured
FEWEST_SUCCESSES = 20  # of the baseline, beside which none of the other arm proves harm
FEWEST_RUNS = 4  # an arm, for harm over runs
ALPHA = 0.05
FAILURE_ALPHA = 0.01
FAILURE_EXCESS = 0.01  # of all requests


@dataclass(frozen=True, slots=True)
class ArmNames:
    """The two arguments of the command, and the tool's name, for programs and for people."""

    baseline: str
    speculative: str
    tool: str
    tool_label: str


def compare_imported(baseline: Runs, speculative: Runs, names: ArmNames, between: float = BETWEEN_RUNS) -> ImportedComparison:
    """The comparison of these runs; both arms have at least one."""
    faults = list(unlike(baseline, speculative))
    loads = [load for load in dict.fromkeys(run.load for run in baseline) if any(run.load == load for run in speculative)]
    if not faults and not loads:
        held = [", ".join(dict.fromkeys(run.load for run in runs)) for runs in (baseline, speculative)]
        faults.append(Unlike("loads", held[0], held[1]))
    comparable = not any(one.code in ("tools", "loads") for one in faults)
    cells: list[ImportedCell] = []
    for load in loads if comparable else ():
        a, b = _at(baseline, load), _at(speculative, load)
        faults += [one for one in unlike_work(a, b) if _has_success(a) and _has_success(b)]
        cells.append(cell_of(load, a, b, between))
    cells = _silent(cells) if faults else _with_adjusted_harm(cells)
    measured = bool(cells) and all(min(cell.runs.baseline, cell.runs.speculative) >= MEASURABLE_RUNS for cell in cells)
    harm = [] if faults else _harm(cells)
    word: ImportedWord = "INVALID" if faults else "ROLLBACK" if harm else "HOLD"
    whole = _together([cell.indication for cell in cells])
    indication: Indication = whole if word == "HOLD" else "slower" if word == "ROLLBACK" else "unclear"
    return ImportedComparison(
        tool=names.tool,
        tool_version=PerArm(_version(baseline), _version(speculative)),
        files=PerArm(_files(baseline), _files(speculative)),
        verdict=word,
        exit_code=int(ExitCode[word]),
        indication=indication,
        reasons=_reasons(faults, harm, cells, (baseline, speculative), names, between, measured),
        between_runs=between,
        between_measured=measured,
        cells=tuple(cells),
        not_compared=tuple(dict.fromkeys(one for run in (*baseline, *speculative) for one in run.not_compared)),
        notes=_notes(baseline, speculative, loads),
    )


def _why_unlike(one: Unlike, names: ArmNames) -> str:
    if not one.inside:
        return sentences.unlike(one.code, one.baseline, one.speculative)
    name, held = (names.baseline, one.baseline) if one.baseline else (names.speculative, one.speculative)
    return sentences.several(one.code, name, held)


def _reasons(
    faults: Sequence[Unlike],
    harm: Sequence[ComparedReason],
    cells: Sequence[ImportedCell],
    arms: tuple[Runs, Runs],
    names: ArmNames,
    between: float,
    measured: bool,
) -> tuple[ComparedReason, ...]:
    decide = sentences.to_decide(_url(arms[0]), _url(arms[1]), _model(arms[1]))
    if faults:
        said = [ComparedReason(code="not_comparable", message=_why_unlike(one, names)) for one in faults]
        return (*said, ComparedReason(code="to_decide", message=decide))
    if harm:
        return (*harm, ComparedReason(code="to_decide", message=decide))
    shown = [sentences.finding(cell, one) for cell in cells for one in cell.metrics if one.ours == deciding(cell)]
    stated = sentences.between(between, measured)
    return (
        *(ComparedReason(code="indication", message=f"{one} ({stated}).") for one in shown),
        ComparedReason(code="imported", message=sentences.not_known(names.tool_label)),
        ComparedReason(code="to_decide", message=decide),
    )


def _at(runs: Runs, load: str) -> list[ImportedRun]:
    return [run for run in runs if run.load == load]


def _has_success(runs: Runs) -> bool:
    return any(run.succeeded is None or run.succeeded for run in runs)


def _with_adjusted_harm(cells: Sequence[ImportedCell]) -> list[ImportedCell]:
    """The cells with each p adjusted over all tests of all of them."""
    adjusted = iter(holm([one.p_harm for cell in cells for one in cell.metrics if one.p_harm is not None]))
    return [
        replace(
            cell,
            metrics=tuple(one if one.p_harm is None else replace(one, p_harm=next(adjusted)) for one in cell.metrics),
        )
        for cell in cells
    ]


def _together(indications: Sequence[Indication]) -> Indication:
    """That of all loads: the one that they share, `mixed` where they contradict each other, else `unclear`."""
    found = set(indications)
    if len(found) == 1:
        return found.pop()
    if "mixed" in found or {"faster", "slower"} <= found:
        return "mixed"
    return "unclear"


def _silent(cells: Sequence[ImportedCell]) -> list[ImportedCell]:
    """The cells of arms that cannot be compared: numbers that indicate nothing."""
    return [
        replace(cell, indication="unclear", metrics=tuple(replace(one, indication=None, p_harm=None) for one in cell.metrics))
        for cell in cells
    ]


def _harm(cells: Sequence[ImportedCell]) -> list[ComparedReason]:
    """What even such files prove."""
    reasons = []
    for cell in cells:
        attempted, failed = cell.attempted, cell.failed
        if None not in (attempted.baseline, attempted.speculative, failed.baseline, failed.speculative):
            judged = (attempted.baseline or 0, attempted.speculative or 0)
            bad = (failed.baseline or 0, failed.speculative or 0)
            if min(judged) and judged[1] == bad[1] and judged[0] - bad[0] >= FEWEST_SUCCESSES:
                reasons.append(ComparedReason(code="no_success", message=sentences.no_success(cell.load, judged, bad)))
            elif _fails_more(bad, judged):
                reasons.append(ComparedReason(code="failures", message=sentences.failures(cell.load, judged, bad)))
        reasons += [
            ComparedReason(code="harm", message=sentences.harm(cell, one))
            for one in cell.metrics
            if one.p_harm is not None and one.p_harm < ALPHA
        ]
    return reasons


def _fails_more(failed: tuple[int, int], judged: tuple[int, int]) -> bool:
    """Whether the second arm fails more often by a share that matters, and by more than chance does."""
    excess = min(judged) and failed[1] / judged[1] - failed[0] / judged[0] >= FAILURE_EXCESS
    return bool(excess) and excess_failures(failed, judged) < FAILURE_ALPHA


def _notes(baseline: Runs, speculative: Runs, loads: Sequence[str]) -> tuple[str, ...]:
    both = (*baseline, *speculative)
    codes = dict.fromkeys(code for run in both for code in run.notes)
    found = [sentences.note(code) for code in codes]
    warm = [sum(run.left_out for run in runs) for runs in (baseline, speculative)]
    if any(warm):
        found.append(sentences.warm_up(warm[0], warm[1]))
    if any(not run.requests for run in both):
        found.append(sentences.note("percentiles_of_the_file"))
    if any(run.attempted is None for run in both):
        found.append(sentences.note("failures_not_told"))
    if any(run.speculated for run in baseline) and any(run.speculated for run in speculative):
        found.append(sentences.note("both_drafted"))
    if not any(run.speculated for run in both):
        found.append(sentences.note("no_drafts_told"))
    alone = [load for load in dict.fromkeys(run.load for run in both) if load not in loads]
    if alone and loads:
        found.append(sentences.loads_of_one_arm(alone))
    return tuple(found)


def _version(runs: Runs) -> str | None:
    return ", ".join(sorted({run.version for run in runs if run.version})) or None


def _files(runs: Runs) -> Any:
    return tuple(dict.fromkeys(file for run in runs for file in run.files))


def _url(runs: Runs) -> str | None:
    return next((run.url for run in runs if run.url), None)


def _model(runs: Runs) -> str | None:
    return next((run.model for run in runs if run.model), None)
