"""What an earlier run says of the places of the arms, as a later run copies it: enough to judge the later one alone."""

from dataclasses import dataclass
from typing import Literal

from specbench.model.result import FindingState, VerdictWord
from specbench.model.scenario import Role

PreviousRunKind = Literal["aa", "swap"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviousFinding:
    """One required finding of the earlier run; `ratio` is speculative ÷ baseline as the arms stood there."""

    cell: str | None
    metric: str
    role: Role
    state: FindingState
    ratio: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviousRun:
    """One earlier run, cited to show that two places are alike.

    `kind`: an A/A of the two places, or the same comparison with the arms in each other's place; None where it is neither.
    `checked` says what was found as it has to be; `problem` why the run says nothing of these places, None where it does.
    """

    cited: str
    run_id: str | None
    kind: PreviousRunKind | None
    verdict: VerdictWord | None
    checked: tuple[str, ...]
    findings: tuple[PreviousFinding, ...]
    problem: str | None
