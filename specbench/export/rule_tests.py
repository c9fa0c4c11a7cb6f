"""`rules.test.yml`: what `promtool test rules` holds the rules to. Each alarm fires in its state, and none in any other.

Each state is an engine whose counters rise evenly; what has to fire follows from its figures, not from the rules.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from specbench.export.prometheus_rules import FALL, ExportOrder, over_alarm, untold_alarm
from specbench.export.selectors import LabelSelector
from specbench.export.vllm_queries import BEYOND, HISTOGRAMS, LatencyLimit
from specbench.model.live.cited_run import TestedLoad

MINUTES = 80
AT = "75m"
ROUNDS = 6000  # a minute
REQUESTS = 120  # a minute
UNDECLARED_DEPTH = 4  # the depth of the engine in the tests, where no rule knows of one
LABELS = {"model_name": "m", "instance": "a:8000"}


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineState:
    """An engine: its alpha, its batch, the limit that it breaks, whether it drafts, and what else is wrong with it."""

    about: str
    depth: int
    alpha: float = 0.9
    batch: float = 1.0
    slow: LatencyLimit | None = None
    drafts: bool = True
    kv_full: bool = False
    other_edges: bool = False
    answers: bool = True
    fires: tuple[str, ...] = ()

    @property
    def tokens_per_step(self) -> float:
        """Tokens per round: the accepted ones and one more."""
        return 1 + sum(self.alpha**place for place in range(1, self.depth + 1)) if self.drafts else 1.0


def rule_tests(order: ExportOrder, rule_file: str) -> dict[str, Any]:
    """The tests of these rules as plain values; `rule_file` stands beside them."""
    tests = [_test(order, state) for state in _states(order)]
    return {"rule_files": [rule_file], "evaluation_interval": "1m", "tests": [*tests, _nothing(order), *_watch(order)]}


def _states(order: ExportOrder) -> Iterator[EngineState]:
    loads = () if order.run is None else order.run.loads
    depth = order.depth or UNDECLARED_DEPTH
    cheapest = min(loads, key=lambda load: load.step_ratio).batch if loads else 1.0
    healthy = EngineState(about="healthy", depth=depth, batch=cheapest, alpha=0.95)
    yield healthy
    yield replace(healthy, about="without traffic", answers=False)
    yield replace(healthy, about="full KV cache without traffic", answers=False, kv_full=True)
    low = min(order.least_alpha or 1.0, 0.7 if order.run is None else (order.run.alpha or 0.7) - FALL)
    yield replace(healthy, about="low acceptance", alpha=round(max(low - 0.1, 0.01), 2))
    for limit in order.limits:
        yield replace(healthy, about=f"slow: {over_alarm(limit)}", slow=limit)
    yield replace(healthy, about="drafts nothing", drafts=False, fires=("SpeculationStopped",))
    yield replace(healthy, about="full KV cache", kv_full=True, fires=("SpeculationMemoryShort",))
    if order.limits:
        untold = tuple(untold_alarm(limit) for limit in order.limits)
        yield replace(healthy, about="other edges", other_edges=True, fires=untold)
    if order.depth is not None:
        yield replace(healthy, about="another depth", depth=depth + 2, fires=("SpeculationDepthChanged",))
    if loads:
        yield replace(healthy, about="at the highest tested load", batch=loads[-1].batch)
        yield replace(healthy, about="beyond every tested load", batch=2 * loads[-1].batch)


def fires(order: ExportOrder, state: EngineState) -> list[str]:
    """The alarms that have to fire in this state."""
    found = list(state.fires)
    if not state.answers:
        return []
    if state.drafts and order.depth == state.depth:
        if order.least_alpha is not None and state.alpha < order.least_alpha:
            found.append("SpeculationAcceptanceLow")
        if order.run is not None and order.run.alpha is not None and state.alpha < order.run.alpha - FALL:
            found.append("SpeculationAcceptanceFell")
    found += [over_alarm(limit) for limit in order.limits if _share_over(state, limit) > limit.share]
    needed = None if order.run is None else _step_ratio(order.run.loads, state.batch)
    if needed is not None and state.tokens_per_step < needed:
        found.append("SpeculationBelowBreakEven")
    return sorted(found)


def _step_ratio(loads: tuple[TestedLoad, ...], batch: float) -> float | None:
    # The states lie at tested loads or beyond all of them, never between two.
    if not loads or batch > loads[-1].batch * BEYOND:
        return None
    return min(loads, key=lambda load: abs(load.batch - batch)).step_ratio


def _test(order: ExportOrder, state: EngineState) -> dict[str, Any]:
    series = [{"series": name, "values": values} for name, values in _series(order, state)]
    if order.watch is not None:
        series.append(_clock(order.watch))
    return {"name": state.about, "interval": "1m", "input_series": series, "promql_expr_test": [_firing(fires(order, state))]}


def _firing(names: list[str]) -> dict[str, Any]:
    samples = [{"labels": f'{{alertname="{name}"}}', "value": 1} for name in names]
    return {"expr": 'count by (alertname) (ALERTS{alertstate="firing"})', "eval_time": AT, "exp_samples": samples}


def _nothing(order: ExportOrder) -> dict[str, Any]:
    gone = ["SpeculationNotScraped", *(["SpeculationBaselineNotScraped"] if order.baseline else [])]
    clock = [] if order.watch is None else [_clock(order.watch)]
    return {"name": "nothing scraped", "interval": "1m", "input_series": clock, "promql_expr_test": [_firing(sorted(gone))]}


def _watch(order: ExportOrder) -> Iterator[dict[str, Any]]:
    if order.watch is None:
        return
    running = [_series_of(order.speculative.selector, "vllm:num_requests_running", "1x80")]
    if order.baseline is not None:
        running.append(_series_of(order.baseline.selector, "vllm:num_requests_running", "1x80"))
    rerun = _series_of(order.watch, "specbench_watch_rerun", "1x80", reason="model_changed")
    for about, series, name in (
        ("watch asks for a run", [_clock(order.watch), rerun], "SpeculationRerunNeeded"),
        ("watch stands still", [{**_clock(order.watch), "values": "0x80"}], "SpeculationWatchSilent"),
        ("watch is gone", [], "SpeculationWatchSilent"),
    ):
        yield {"name": about, "interval": "1m", "input_series": [*running, *series], "promql_expr_test": [_firing([name])]}


def _clock(watch: LabelSelector) -> dict[str, str]:
    return _series_of(watch, "specbench_watch_window_timestamp_seconds", f"0+60x{MINUTES}")


def _series(order: ExportOrder, state: EngineState) -> Iterator[tuple[str, str]]:
    """The series of the speculative arm in this state, and of a baseline that is scraped."""
    by_minute = _counters(order, state)
    fixed = {"num_requests_running": 1.0, "kv_cache_usage_perc": 0.97 if state.kv_full else 0.4}
    for (name, extra), value in by_minute.items():
        values = _rising(value if state.answers else 0)
        found = _series_of(order.speculative.selector, f"vllm:{name}", values, **_own_label(extra))
        yield found["series"], found["values"]
    for name, value in fixed.items():
        found = _series_of(order.speculative.selector, f"vllm:{name}", f"{value:g}x{MINUTES}")
        yield found["series"], found["values"]
    if order.baseline is not None:
        found = _series_of(order.baseline.selector, "vllm:num_requests_running", f"1x{MINUTES}")
        yield found["series"], found["values"]


def _counters(order: ExportOrder, state: EngineState) -> dict[tuple[str, str], float]:
    """What each counter rises by in a minute, by its name and its own label."""
    rounds = ROUNDS if state.drafts else 0
    positions = [rounds * state.alpha**place for place in range(1, state.depth + 1)]
    found: dict[tuple[str, str], float] = {
        ("spec_decode_num_drafts_total", ""): rounds,
        ("spec_decode_num_draft_tokens_total", ""): rounds * state.depth,
        ("spec_decode_num_accepted_tokens_total", ""): sum(positions),
        ("generation_tokens_total", ""): ROUNDS * state.tokens_per_step + REQUESTS,
        ("inter_token_latency_seconds_count", ""): ROUNDS,
        ("iteration_tokens_total_count", ""): (ROUNDS + REQUESTS) / state.batch,
        ("num_preemptions_total", ""): 5 if state.kv_full else 0,
    }
    found |= {
        ("spec_decode_num_accepted_tokens_per_pos_total", f"position={place}"): value for place, value in enumerate(positions)
    }
    for quantity, (name, _) in HISTOGRAMS.items():
        found[(f"{name}_count", "")] = REQUESTS
        for edge in {limit.edge_s for limit in order.limits if limit.quantity == quantity}:
            share = _share_over(state, LatencyLimit(quantity=quantity, percentile=0, edge_s=edge))
            if not state.other_edges:
                found[(f"{name}_bucket", f"le={edge:g}")] = REQUESTS * (1 - share)
    return found


def _share_over(state: EngineState, limit: LatencyLimit) -> float:
    """The share above this edge: what is slower than the broken limit is slower than any lower one too."""
    slow = state.slow
    reached = slow is not None and slow.quantity == limit.quantity and limit.edge_s <= slow.edge_s
    return min(1.0, 2 * slow.share) if slow is not None and reached else 0.0


def _own_label(text: str) -> dict[str, str]:
    name, _, value = text.partition("=")
    return {name: value} if name else {}


def _rising(by_minute: float) -> str:
    return f"0+{by_minute:.12g}x{MINUTES}"


def _series_of(selector: LabelSelector, name: str, values: str, **more: str) -> dict[str, str]:
    labels = {**LABELS, **(selector.labels or {}), **more}
    written = ",".join(f'{label}="{value}"' for label, value in labels.items())
    return {"series": f"{name}{{{written}}}", "values": values}
