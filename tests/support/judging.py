"""Literal comparisons, findings and assessments for tests of the rules. No test and no assertion lives here."""

from dataclasses import replace
from typing import Any

from specbench.explain.findings import FindingContext
from specbench.model.cell_assessment import CellAssessment
from specbench.model.result import ArmEstimate, CellState, Comparison, Direction, Finding, FindingState, IntegrityCheck, PerArm
from specbench.model.scenario import Guardrail, Role

AT_4 = FindingContext(cell="c4", place="At 4 streams", pairs=10, alpha=0.05)
_UNITS = {
    "output_tps": "tokens/s",
    "completed_rps": "requests/s",
    "output_length": "tokens",
    "alpha": "share",
    "kv_peak": "share",
}
_DIRECTIONS: dict[str, Direction] = {
    "output_tps": "higher",
    "completed_rps": "higher",
    "alpha": "higher",
    "output_length": "equal",
}


def a_comparison(metric: str = "tpot_p95", ratio: float | None = 1.0, se_log: float | None = 0.02, **fields: Any) -> Comparison:
    """Ten pairs of one metric with this ratio and this standard error; the baseline is at 20 in the metric's unit.

    The speculative arm alone has the same figure, and what is unbounded is no chance, unless said otherwise.
    """
    baseline = fields.pop("baseline", 20.0)
    pairs = fields.pop("pairs", 10)
    known: dict[str, Any] = {
        "metric": metric,
        "unit": _UNITS.get(metric, "ms"),
        "definition": "as the glossary says",
        "direction": _DIRECTIONS.get(metric, "lower"),
        "value": PerArm(baseline, None if ratio is None or baseline is None else baseline * ratio),
        "n": PerArm(400, 400),
        "ratio": ratio,
        "ci_low": None,
        "ci_high": None,
        "ci_level": 0.95,
        "method": "mean of log ratios of 10 pairs, t",
        "n_blocks": pairs,
        "design_effect": None,
        "se_log": se_log,
        "df": pairs - 1,
        "unbounded": PerArm(False, False),
        "constant": se_log == 0.0 and metric not in ("output_length",),
        "low_n": False,
        "reason": None,
    }
    given = Comparison(**{**known, "p_unbounded": 0.001, **fields})
    alone = ArmEstimate(
        value=given.value.speculative,
        bound=given.bound.speculative,
        blocks=given.n_blocks,
        unbounded=given.unbounded.speculative,
        p_unbounded=given.p_unbounded,
    )
    return replace(given, alone=fields.get("alone", alone))


def a_guardrail(metric: str = "tpot_p95", margin: float | None = 0.10, *, role: Role = "guardrail", **fields: Any) -> Guardrail:
    """A guardrail that allows a harm of 10 % unless said otherwise."""
    known: dict[str, Any] = {"floor": 0.0, "slo": None, "required": role in ("guardrail", "safety"), "cells": None, "bins": None}
    return Guardrail(metric=metric, role=role, margin=margin, **{**known, **fields})


def a_finding(state: FindingState = "PASS", metric: str = "tpot_p95", *, role: Role = "guardrail", **fields: Any) -> Finding:
    """A finding in this state, with a sentence that names it."""
    known: dict[str, Any] = {
        "cell": "c4",
        "required": role in ("guardrail", "safety", "success"),
        "direction": "lower",
        "margin": 0.10,
        "floor": 0.0,
        "slo": None,
        "bound": 1.10,
        "ratio": 1.0,
        "upper": 1.05,
        "p_harm": None,
        "p_harm_adjusted": None,
        "supported_margin": None,
        "pairs_needed": None,
        "detectable": None,
        "notes": (),
        "reason": f"{metric} is {state}.",
    }
    return Finding(metric=metric, role=role, state=state, **{**known, **fields})


def a_check(ok: bool | None = True, name: str = "merged_events", cell: str | None = "c4") -> IntegrityCheck:
    """An integrity check with this answer."""
    return IntegrityCheck(id=name, cell=cell, ok=ok, value=0.0, limit=0.01, message=f"{name} is {ok}.")


def an_assessment(state: CellState = "PASS", level: float = 4.0, **fields: Any) -> CellAssessment:
    """A required cell at this many streams; its findings and checks are what its state implies."""
    findings: tuple[Finding, ...] = ()
    if state in ("PASS", "FAIL", "INCONCLUSIVE", "NODATA"):
        finding_state: FindingState = state
        findings = (a_finding(finding_state, cell=f"c{level:g}"),)
    known: dict[str, Any] = {
        "id": f"c{level:g}",
        "place": f"At {level:g} streams",
        "slice": (None, None),
        "axis": "concurrency",
        "level": level,
        "required": state != "ADVISORY",
        "primary": False,
        "dead": (),
        "benefit": None,
        "findings": findings,
        "integrity": (a_check(state != "INVALID", cell=f"c{level:g}"),),
        "running_mean": level,
    }
    return CellAssessment(state=state, **{**known, **fields})
