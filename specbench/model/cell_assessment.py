"""One cell as the rules of the verdict see it: where it stands in the load, what was found there, whether it may be judged.

No rule that combines cells may live here; those are `slices.py` (within a slice) and `verdict.py` (over the run).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from specbench.model.result import CellState, Finding, IntegrityCheck, Reason
from specbench.model.scenario import ArmName

Axis = Literal["concurrency", "rate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CellAssessment:
    """A cell's place and state. `slice`: bin and sampling where the cell has traffic of its own, else (None, None).

    `dead`: arms in which not one request succeeded here, or whose engine went down. `benefit`: the success finding, in the cell
    that must show it alone; `fading`: why it does not count, though it is shown. `doubts`: why the cell does not pass although
    its findings do.
    """

    id: str
    place: str
    slice: tuple[str | None, str | None]
    axis: Axis
    level: float
    required: bool
    primary: bool
    state: CellState
    dead: tuple[ArmName, ...]
    benefit: Finding | None
    findings: tuple[Finding, ...]
    integrity: tuple[IntegrityCheck, ...]
    running_mean: float | None
    fading: Reason | None = None
    doubts: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunConditions:
    """What holds for the whole run, whatever its cells say.

    `refusals`: why nothing was measured at all. `partial`: the run did not reach its end. `place_controlled`: the two places are
    known to be alike, `place_sentences` what the runs cited for it show. `enough_launches`: False where the launch is the unit
    and there were too few. `doubts`: why no win counts, whatever the cells say. `made_up`: how many prompts of how many were
    made up to recorded lengths, None where all were written by somebody. `answers`: what a headline adds on answers that were not
    compared, or are lossy by declaration. `synthetic`: drafts are accepted at a given rate, so the answers are not the model's.
    `own_history`: prompts hold the arm's own answers, so that no two arms have the same.
    """

    refusals: tuple[str, ...] = ()
    partial: bool = False
    place_controlled: bool = True
    place_sentences: tuple[str, ...] = ()
    enough_launches: bool = True
    doubts: tuple[Reason, ...] = ()
    made_up: tuple[int, int] | None = None
    answers: str = ""
    synthetic: bool = False
    own_history: bool = False


def state_of(
    findings: Sequence[Finding],
    integrity: Sequence[IntegrityCheck],
    required: bool,
    pairs_used: int,
    doubts: Sequence[Reason] = (),
) -> CellState:
    """The worst of the cell's required findings; INVALID where its integrity failed, ADVISORY where the cell decides nothing.

    With a doubt it is INCONCLUSIVE where it would pass. A cell without a single pair is NODATA even where no guardrail applies to
    it: an unmeasured cell never passes.
    """
    if not required:
        return "ADVISORY"
    if any(check.ok is False for check in integrity):
        return "INVALID"
    states = {finding.state for finding in findings if finding.decides}
    if "FAIL" in states:
        return "FAIL"
    if pairs_used == 0 or "NODATA" in states:
        return "NODATA"
    return "INCONCLUSIVE" if "INCONCLUSIVE" in states or doubts else "PASS"


def failed_findings(cell: CellAssessment) -> tuple[Finding, ...]:
    """The required findings of the cell that failed, safety first."""
    failed = [f for f in cell.findings if f.decides and f.state == "FAIL"]
    return tuple(sorted(failed, key=lambda f: f.role != "safety"))


def open_findings(cell: CellAssessment) -> tuple[Finding, ...]:
    """The required findings of the cell that neither passed nor failed."""
    return tuple(f for f in cell.findings if f.decides and f.is_open)
