"""T8: what is asked of the findings on answers, and whether their campaigns meet it. Nothing is simulated here."""

from collections.abc import Mapping, Sequence

from specbench.calibrate.answering_worlds.answer_cases import (
    ASKED,
    CONTRADICTING,
    FORMS,
    GREEDY_FAULTS,
    HONEST,
    SAMPLED_FAULTS,
    SHOWN,
    AnswerCase,
)
from specbench.calibrate.targets import Event, TargetRow, at_least, at_most, share_of, shown, verdict_is
from specbench.calibrate.whole_runs import Outcome
from specbench.model.answers.answer_rules import GREEDY, SAMPLED

Outcomes = Mapping[str, Sequence[Outcome]]


def answer_rows(found: Outcomes) -> list[TargetRow]:
    """T8, honest arms first."""
    honest = _together(found, HONEST)
    rows = [
        at_most(
            "T8",
            "honest arms, greedy and sampled, noise 0 to 0.15 nat: ROLLBACK for answers",
            share_of(honest, verdict_is("ROLLBACK")),
            0.01,
            0.02,
        )
    ]
    rows += [
        at_least("T8", f"the same: `{metric}` passes", share_of(honest, _is(metric, "PASS")), 0.95)
        for metric in (GREEDY, SAMPLED)
    ]
    rows.append(
        at_most("T8", "honest, asked at first differences alone: ROLLBACK", share_of(_together(found, ASKED), _off()), 0.01, 0.02)
    )
    rows += [_rolled_back(case.what, found[case.name]) for case in (*GREEDY_FAULTS, *SAMPLED_FAULTS)]
    what, _ = FORMS["answers_form-broken"]
    rows.append(_rolled_back(what, found["answers_form-broken"]))
    what, _ = FORMS["answers_form-honest"]
    rows.append(at_most("T8", f"{what}: ROLLBACK", share_of(found["answers_form-honest"], _off()), 0.01, 0.02))
    rows += [shown("T8", f"{case.what}: ROLLBACK", share_of(found[case.name], _off())) for case in SHOWN]
    contradicting = share_of(found[CONTRADICTING.name], verdict_is("INVALID", "HOLD"))
    rows.append(at_least("T8", f"{CONTRADICTING.what}: INVALID or HOLD, never ROLLBACK", contradicting, 0.99))
    return rows


def _rolled_back(what: str, outcomes: Sequence[Outcome]) -> TargetRow:
    return at_least("T8", f"{what}: ROLLBACK", share_of(outcomes, _off()), 0.95)


def _off() -> Event:
    return verdict_is("ROLLBACK")


def _is(metric: str, state: str) -> Event:
    return lambda outcome: bool(outcome["states"][metric] == state)


def _together(found: Outcomes, cases: Sequence[AnswerCase]) -> list[Outcome]:
    return [outcome for case in cases for outcome in found[case.name]]
