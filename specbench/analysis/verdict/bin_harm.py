"""Harm in a part of mixed traffic: a bin and sampling that gets slower may hide below the percentiles of the whole cell.

Harm needs proof, and no pass is asked of a part. The tests of all parts are a family of their own, so that they cost the
guardrails no power; a proven harm fails its cell. A part whose harm is proven at one load has to pass at the others, however few
its requests are there: else a load could be a cap merely because it told less.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from specbench.analysis.cell_metrics import CellMetrics
from specbench.analysis.comparison.exclusions import exclusion
from specbench.analysis.comparison.harm_scale import AT_THE_BOUND, Inference, against_baseline, limit_of
from specbench.analysis.stats.alpha_spending import holm
from specbench.analysis.verdict.findings import draft_of
from specbench.explain.findings import FindingContext
from specbench.explain.phrases import place_of
from specbench.explain.rules.parts_of_traffic import harmed_elsewhere, part_reason
from specbench.model.guardrails import IN_A_BIN, advises
from specbench.model.records import Manifest
from specbench.model.result import BinResult, Comparison, Finding
from specbench.model.scenario import Guardrail

LEAST_SHARE = 0.05  # of a cell's requests: a smaller part is not what the scenario is about
LEAST_REQUESTS = 20  # an arm
LEAST_PAIRS = 4  # with figures of both arms: with three, one bad pair hides a doubling in a third of runs
TPOT, TTFT = "tpot_p50", "ttft_paired"
_LIMITS = {TPOT: (0.10, 0.0), TTFT: (0.25, 20.0)}  # margin and floor (ms)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Test:
    """One part of one cell on one metric, with what is known of its harm."""

    cell: str
    part: BinResult
    share: float
    rule: Guardrail
    compared: Comparison
    setting: FindingContext
    inference: Inference | None
    is_tested: bool

    @property
    def key(self) -> tuple[str, str, str]:
        """Which part, by which metric."""
        return self.part.bin, self.part.sampling, self.compared.metric

    @property
    def name(self) -> str:
        """Bin and sampling, for people."""
        return f"{self.part.bin}/{self.part.sampling}"


def judged_bins(cells: Sequence[CellMetrics], manifest: Manifest, alpha: float) -> dict[str, tuple[BinResult, ...]]:
    """The bins of every cell by its id, each with the findings of its parts that hold enough to be tested."""
    tests = [test for cell in cells for test in _tests(cell, manifest, alpha)]
    tried = [(test, test.inference) for test in tests if test.inference is not None and test.is_tested]
    adjusted = holm([inference.p_above_zero() for _, inference in tried])
    judged = [(test, _finding(test, inference, p, alpha)) for (test, inference), p in zip(tried, adjusted, strict=True)]
    failed = {test.key for test, finding in judged if finding.state == "FAIL"}
    judged += [
        (test, _not_tried(test, alpha)) for test in tests if test.key in failed and not (test.inference and test.is_tested)
    ]
    found: dict[tuple[str, str, str], list[Finding]] = {}
    for test, finding in judged:
        asked = finding if test.key not in failed or finding.state in ("PASS", "FAIL") else _asked_to_pass(test, finding)
        found.setdefault((test.cell, test.part.bin, test.part.sampling), []).append(asked)
    return {
        (name := cell.evidence.cell.id): tuple(
            replace(part, findings=tuple(found.get((name, part.bin, part.sampling), ()))) for part in cell.bins
        )
        for cell in cells
    }


def harm_in_bins(parts: Sequence[BinResult]) -> tuple[Finding, ...]:
    """The findings of a cell's parts that fail the cell, or keep it from passing."""
    return tuple(f for part in parts for f in part.findings if f.state == "FAIL" or (f.required and f.state != "PASS"))


def _tests(cell: CellMetrics, manifest: Manifest, alpha: float) -> list[_Test]:
    where = cell.evidence.cell
    whole = sum(part.requests.baseline + part.requests.speculative for part in cell.bins)
    if where.bin is not None or not cell.evidence.required or len(cell.bins) < 2 or not whole:
        return []
    setting = FindingContext(cell=where.id, place=place_of(where), pairs=cell.pairs_used, alpha=alpha)
    tests = []
    for part in cell.bins:
        share = (part.requests.baseline + part.requests.speculative) / whole
        many = share >= LEAST_SHARE and min(part.requests.baseline, part.requests.speculative) >= LEAST_REQUESTS
        for compared in _compared(cell, part):
            rule, inference = _rule(compared.metric, manifest.scenario.guardrails), against_baseline(compared)
            if advises(rule, where, manifest.cells):  # tails are judged where arrivals are equal
                continue
            known = inference is not None and inference.se != 0 and compared.n_blocks >= LEAST_PAIRS
            tests.append(
                _Test(
                    cell=where.id,
                    part=part,
                    share=share,
                    rule=rule,
                    compared=compared,
                    setting=setting,
                    inference=inference if known else None,
                    is_tested=many,
                )
            )
    return tests


def _compared(cell: CellMetrics, part: BinResult) -> list[Comparison]:
    """What a part is judged by; the time per token only where tokens compare between the arms."""
    by_metric = {one.metric: one for one in part.metrics}
    names = [name for name in (TPOT, TTFT) if name == TTFT or exclusion(name, None, cell.unlike_tokens) is None]
    return [by_metric[name] for name in names if name in by_metric]


def _rule(metric: str, guardrails: Sequence[Guardrail]) -> Guardrail:
    """The limit for a part, never closer than what the scenario itself allows on this metric in a whole cell."""
    margin, floor = _LIMITS[metric]
    mine = [rule for rule in guardrails if rule.metric == metric and rule.margin is not None and rule.slo is None]
    return Guardrail(
        metric=metric,
        role="guardrail",
        margin=max([margin, *(rule.margin or 0.0 for rule in mine)]),
        floor=max([floor, *(rule.floor for rule in mine)]),
        slo=None,
        required=True,
        cells=None,
        bins=None,
    )


def _finding(test: _Test, inference: Inference, p_adjusted: float, alpha: float) -> Finding:
    """FAIL: significant over all parts, and the lower bound past the limit. No other state decides anything."""
    draft, limit, least = _draft(test, inference, alpha), limit_of(test.rule, test.compared), inference.least(alpha)
    assert limit is not None
    if p_adjusted < alpha and least >= limit - AT_THE_BOUND:
        judged = replace(draft, state="FAIL")
    else:
        judged = replace(draft, state="PASS" if inference.most(alpha) < limit else "INCONCLUSIVE", required=False)
    judged = replace(judged, p_harm_adjusted=p_adjusted)
    return replace(judged, reason=part_reason(judged, test.name, test.share, inference.ratio_at(least), test.setting))


def _draft(test: _Test, inference: Inference, alpha: float) -> Finding:
    limit, most = limit_of(test.rule, test.compared), inference.most(alpha)
    return replace(
        draft_of(test.rule, test.cell, test.compared),
        bound=None if limit is None else inference.ratio_at(limit),
        upper=inference.ratio_at(most),
        p_harm=inference.p_above_zero(),
        supported_margin=inference.margin_at(most),
        notes=(IN_A_BIN,),
    )


def _not_tried(test: _Test, alpha: float) -> Finding:
    """A part whose harm is proven elsewhere, and that holds too little here to prove any; it may still pass."""
    inference, limit = test.inference, limit_of(test.rule, test.compared)
    if inference is None or limit is None:
        return replace(draft_of(test.rule, test.cell, test.compared), required=False, notes=(IN_A_BIN,))
    draft = replace(_draft(test, inference, alpha), required=False)
    judged = replace(draft, state="PASS" if inference.most(alpha) < limit else "INCONCLUSIVE")
    return replace(judged, reason=part_reason(judged, test.name, test.share, None, test.setting))


def _asked_to_pass(test: _Test, finding: Finding) -> Finding:
    """The open finding of a part whose harm is proven at another load: it keeps its cell from passing."""
    return replace(finding, required=True, reason=harmed_elsewhere(finding, test.name, test.share, test.setting))
