"""What a result says that live traffic is held against: its loads with their step cost, its traffic, facts and guardrails."""

from collections.abc import Iterator
from datetime import UTC, datetime
from urllib.parse import urlsplit

from specbench.model import queries
from specbench.model.guardrails import DEFAULTS
from specbench.model.live.cited_run import CitedRun, TestedLoad
from specbench.model.result import CellResult, Result
from specbench.model.scenario import Guardrail

QUANTITIES = ("tpot", "ttft", "e2e")


def cited_run(result: Result) -> CitedRun:
    """The run as far as live traffic may part from it."""
    loads = {cell.id: load for cell in result.cells if (load := _load(cell)) is not None}
    primary = queries.primary(result)
    tops = [one.running_at_cap if one.running_at_cap is not None else one.high for one in queries.ranges(result)]
    batches = [load.batch for load in loads.values()]
    acceptance = None if primary is None else primary.acceptance
    capped = result.verdict == "CAPPED" and bool(tops) and all(top is not None for top in tops)
    highest = max((top for top in tops if top is not None), default=None) if capped else max(batches, default=None)
    inputs, outputs = ([getattr(one, side) for one in result.config.bins] for side in ("input_tokens", "output_tokens"))
    return CitedRun(
        id=result.run.id,
        verdict=result.verdict,
        ended_s=_seconds(result.run.finished),
        demonstration=result.config.built_in or queries.virtual(result),
        alpha=None if acceptance is None else acceptance.alpha,
        length=None if acceptance is None else acceptance.length,
        loads=tuple(sorted(loads.values(), key=lambda load: load.batch)),
        primary=None if primary is None else loads.get(primary.id),
        highest_batch=highest,
        inputs=_span(inputs),
        outputs=_span(outputs),
        facts=dict(result.endpoints.speculative.facts),
        guardrails=tuple(_guardrails(primary)),
        hosts=(_host(result.endpoints.baseline.url), _host(result.endpoints.speculative.url)),
        p50_p99_ms={name: found for name in QUANTITIES if (found := _p50_p99(result, name)) is not None},
    )


def _load(cell: CellResult) -> TestedLoad | None:
    """The cell's load, where its step cost is known: requests per engine step, in older runs those that ran on average, else as
    the client held them.
    """
    told = queries.comparison(cell, "batch_size")
    batch = (told.value.speculative if told is not None else None) or cell.axes.running_mean.speculative or cell.axes.concurrency
    ratio = cell.factors.break_even
    if batch is None or ratio is None:
        return None
    return TestedLoad(batch=float(batch), step_ratio=ratio, tokens_per_step=cell.factors.tokens_per_step.speculative)


def _guardrails(primary: CellResult | None) -> Iterator[Guardrail]:
    if primary is None:
        yield from (rule for rule in DEFAULTS if rule.decides)
        return
    for found in primary.findings:
        if found.decides and found.margin is not None:
            yield Guardrail(
                metric=found.metric,
                role=found.role,
                margin=found.margin,
                floor=found.floor,
                slo=None,
                required=True,
                cells=None,
                bins=None,
            )


def _p50_p99(result: Result, name: str) -> tuple[float, float] | None:
    values = {metric: list(_values(result, metric)) for metric in (f"{name}_p50", f"{name}_p95", f"{name}_p99")}
    middles, tails = values[f"{name}_p50"], values[f"{name}_p99"] or values[f"{name}_p95"]
    return (min(middles), max(tails)) if middles and tails else None


def _values(result: Result, metric: str) -> Iterator[float]:
    for cell in result.cells:
        found = queries.comparison(cell, metric)
        if found is not None:
            yield from (value for value in (found.value.baseline, found.value.speculative) if value is not None)


def _span(bands: list[tuple[int, int] | None]) -> tuple[float, float] | None:
    known = [band for band in bands if band is not None]
    return (float(min(band[0] for band in known)), float(max(band[1] for band in known))) if known else None


def _host(url: str) -> str:
    return urlsplit(url).hostname or url


def _seconds(moment: str | None) -> float | None:
    try:
        ended = datetime.fromisoformat(moment or "")
    except ValueError:
        return None
    return ended.replace(tzinfo=ended.tzinfo or UTC).timestamp()
