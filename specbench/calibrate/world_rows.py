"""What is asked of each case for what is true of it, and whether its campaign meets that. Nothing is simulated here."""

from collections.abc import Mapping, Sequence
from typing import get_args

from specbench.calibrate.targets import Event, TargetRow, at_least, at_most, share_of, verdict_is
from specbench.calibrate.whole_runs import Outcome
from specbench.calibrate.worlds.event_cases import EVENT_GROUPS
from specbench.calibrate.worlds.noise_cases import NOISE_GROUPS
from specbench.calibrate.worlds.world_case import WorldCase
from specbench.model.result import VerdictWord

GROUPS = {**NOISE_GROUPS, **EVENT_GROUPS}
WRONG = 0.05  # of the runs may end in a verdict that is wrong


def world_rows(found: Mapping[str, Sequence[Outcome]]) -> list[TargetRow]:
    """The rows of every case, group by group."""
    return [row for group, cases in GROUPS.items() for case in cases for row in rows_of(group, case, found[case.name])]


def rows_of(group: str, case: WorldCase, outcomes: Sequence[Outcome]) -> list[TargetRow]:
    """What is asked of one case, and how often each verdict came."""
    rows = []
    if case.truth in ("equal", "harm"):
        rows.append(at_most(group, f"{case.what}: PROMOTE or CAPPED{_above(case)}", share_of(outcomes, _enabled(case)), WRONG))
    if case.promoted is not None:
        rows.append(at_least(group, f"{case.what}: PROMOTE", share_of(outcomes, verdict_is("PROMOTE")), case.promoted))
    if case.truth in ("equal", "tolerated", "win"):
        rows.append(at_most(group, f"{case.what}: ROLLBACK", share_of(outcomes, verdict_is("ROLLBACK")), case.rolled_back))
    if case.invalid is not None:
        rows.append(at_most(group, f"{case.what}: INVALID", share_of(outcomes, verdict_is("INVALID")), case.invalid))
    return [*rows, _verdicts(group, case, outcomes)]


def _verdicts(group: str, case: WorldCase, outcomes: Sequence[Outcome]) -> TargetRow:
    """How often each verdict came."""
    words = [(word, sum(outcome["verdict"] == word for outcome in outcomes)) for word in get_args(VerdictWord)]
    counts = ", ".join(f"{word} {count}" for word, count in words if count)
    return TargetRow(group, f"{case.what}: verdicts", "shown", len(outcomes), counts, "shown" if outcomes else "not run")


def _above(case: WorldCase) -> str:
    return "" if case.harm_from is None else f" at {case.harm_from}"


def _enabled(case: WorldCase) -> Event:
    """Whether the verdict lets speculation go live at a load at which it does harm, or at all."""

    def event(outcome: Outcome) -> bool:
        if outcome["verdict"] == "CAPPED":
            return case.harm_from is None or (outcome["cap"] is not None and outcome["cap"] >= case.harm_from)
        return bool(outcome["verdict"] == "PROMOTE")

    return event
