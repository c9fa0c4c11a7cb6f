"""The short table of cells that text and Markdown share: which metrics stand in it, and what to know of them."""

from specbench.explain import labels, numbers
from specbench.model import queries
from specbench.model.guardrails import AT_P50
from specbench.model.judged import Result

WHY_P50 = (
    "with fewer than 20 requests a block, one or two prefills decide its p95. The other p95s stay, as each of their values spans"
    " many tokens."
)
ACCEPTED = "accept: tokens that a verification round brings in the speculative arm; a number, no ratio."
GUARDS = ("tpot_p95", "pace_p95")


def side_metrics(result: Result) -> list[str]:
    """The metrics that a short table shows beside the one of the benefit: a judged figure for each thing that users feel."""
    shown = ("pace_p95", queries.first_token_metric(result), "output_tps")
    return [metric for metric in shown if metric != result.config.success_metric]


def table_remarks(result: Result) -> tuple[str, ...]:
    """What a reader of such a table must know: what its interval is, and where p50 of TTFT stands in for its p95."""
    found = [cell for cell in result.cells if queries.comparison(cell, result.config.success_metric)]
    level = next((c.ci_level for cell in found if (c := queries.comparison(cell, result.config.success_metric))), None)
    said = [f"Intervals are two-sided at {numbers.percent(level)}; the checks use one-sided bounds."] if level else []
    judged = [(cell, f) for cell in result.cells for f in cell.findings if f.required and f.metric.startswith("ttft_")]
    at_p50 = [numbers.load(cell.axes) for cell, finding in judged if AT_P50 in finding.notes]
    if at_p50 and len(at_p50) == len(judged):
        said.append(f"TTFT is judged at p50: {WHY_P50}")
    elif at_p50:
        said.append(f"At {', '.join(dict.fromkeys(at_p50))} TTFT is judged at p50: {WHY_P50}")
    return (*said, *_benefit_alone(result))


def _benefit_alone(result: Result) -> tuple[str, ...]:
    """That the benefit is asked of the primary cell alone, where other cells do not judge its metric, and what guards those."""
    name = result.config.success_metric
    others = [cell for cell in result.cells if not queries.must_show(cell) and cell.required]
    judged = [[one.metric for one in cell.findings if one.required] for cell in others]
    if not judged or any(name in metrics for metrics in judged):
        return ()
    guards = [labels.metric(one) for one in GUARDS if all(one in metrics for metrics in judged)]
    verb = "guards" if len(guards) == 1 else "guard"
    said = f"{labels.metric(name)} is judged in the primary cell alone, as the benefit"
    return (f"{said}; {' and '.join(guards)} {verb} the others." if guards else f"{said}.",)
