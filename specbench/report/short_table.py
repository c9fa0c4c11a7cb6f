"""The short table of cells that text and Markdown share: which metrics stand in it, and what to know of them."""

from specbench.model.judged import Result
from specbench.report import parts, wording


def side_metrics(result: Result) -> list[str]:
    """The metrics that a short table shows beside the one of the benefit: a judged figure for each thing that users feel."""
    shown = ("pace_p95", parts.first_token_metric(result), "output_tps")
    return [metric for metric in shown if metric != result.config.success_metric]


def table_remarks(result: Result) -> tuple[str, ...]:
    """What a reader of such a table must know: what its interval is, and which TTFT was judged."""
    found = [cell for cell in result.cells if parts.comparison(cell, result.config.success_metric)]
    level = next((c.ci_level for cell in found if (c := parts.comparison(cell, result.config.success_metric))), None)
    said = [f"Intervals are two-sided at {wording.percent(level)}; the checks use one-sided bounds."] if level else []
    at_p50 = [
        wording.load(cell.axes) for cell in result.cells if any(f.metric == "ttft_p50" and f.required for f in cell.findings)
    ]
    if at_p50 and parts.first_token_metric(result) == "ttft_p50":
        said.append("TTFT is judged at p50, as blocks held fewer than 20 requests, too few for a p95.")
    elif at_p50:
        said.append(f"At {', '.join(dict.fromkeys(at_p50))} TTFT is judged at p50, as blocks held fewer than 20 requests.")
    return tuple(said)
