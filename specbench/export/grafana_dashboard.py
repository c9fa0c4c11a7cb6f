"""A Grafana dashboard: both arms side by side, the run's values as lines, shares over limits instead of quantiles."""

from collections.abc import Iterator, Mapping
from typing import Any

from specbench.explain.live import exported_lines as lines
from specbench.export.prometheus_rules import ExportOrder
from specbench.export.vllm_queries import ArmQueries, break_even

RATE = "$__rate_interval"
WIDTH, HEIGHT, ACROSS = 8, 8, 3
SOURCE = {"type": "prometheus", "uid": "${source}"}
VLLM_DASHBOARDS = "https://github.com/vllm-project/vllm/tree/main/examples/observability/dashboards/grafana"

Queries = Mapping[str, str]


def dashboard(order: ExportOrder) -> dict[str, Any]:
    """The dashboard as plain values, for Grafana's import."""
    run = order.run
    return {
        "title": lines.DASHBOARD_TITLE,
        "uid": "specbench",
        "description": " ".join([lines.made_of(run.id, run.verdict) if run else lines.made_of(None, None), lines.VLLM]),
        "tags": ["specbench", "vllm"],
        "schemaVersion": 39,
        "editable": True,
        "refresh": "1m",
        "time": {"from": "now-6h", "to": "now"},
        "templating": {"list": [{"name": "source", "type": "datasource", "query": "prometheus", "label": "Prometheus"}]},
        "links": [{"title": lines.OWN_DASHBOARDS, "type": "link", "url": VLLM_DASHBOARDS, "targetBlank": True}],
        "panels": [_panel(number, *shown) for number, shown in enumerate(_shown(order))],
    }


def _shown(order: ExportOrder) -> Iterator[tuple[str, str, Queries]]:
    """Each panel: its key, its unit and its queries by legend."""
    spec = ArmQueries(selector=order.speculative.selector, window=RATE)
    base = None if order.baseline is None else ArmQueries(selector=order.baseline.selector, window=RATE)
    run, limit = order.run, order.least_alpha
    arms = {"speculative": spec, **({} if base is None else {"baseline": base})}
    if order.depth is not None:
        lowest = {} if limit is None else {"limit": f"vector({limit:g})"}
        yield (
            "alpha",
            "percentunit",
            {"speculative": spec.alpha(order.depth), **_line(None if run is None else run.alpha), **lowest},
        )
    yield "length", "none", {"speculative": spec.acceptance_length(), **_line(None if run is None else run.length)}
    yield "positions", "percentunit", {"position {{position}}": spec.by_position()}
    yield "depth", "none", {"speculative": spec.depth()}
    needed = break_even(run.loads, f"({spec.batch_size()})") if run is not None and run.loads else None
    tokens = spec.tokens_per_step()
    yield "steps", "none", {"speculative": tokens, **({} if needed is None else {"breaks even": needed})}
    if needed is not None:
        yield "speed_up", "none", {"speculative": f"{tokens} / ({needed})", "no gain": "vector(1)"}
    yield "tpot", "s", {arm: queries.mean("tpot") for arm, queries in arms.items()}
    over = {
        f"{arm}: {one.quantity} over {one.edge_s * 1000:g} ms": queries.share_over(one)
        for one in order.limits
        for arm, queries in arms.items()
    }
    yield "over", "percentunit", {**over, **{f"{one.quantity}: may be": f"vector({one.share:g})" for one in order.limits}}
    yield "ttft", "s", {arm: queries.mean("ttft") for arm, queries in arms.items()}
    highest = {} if run is None or run.highest_batch is None else {"tested up to": f"vector({run.highest_batch:g})"}
    yield "batch", "none", {**{arm: queries.batch_size() for arm, queries in arms.items()}, **highest}
    yield "arrivals", "reqps", {arm: queries.arrivals_per_replica() for arm, queries in arms.items()}
    yield "kv", "percentunit", {arm: queries.kv_usage() for arm, queries in arms.items()}


def _line(value: float | None) -> Queries:
    return {} if value is None else {"run": f"vector({value:.4g})"}


def _panel(number: int, key: str, unit: str, queries: Queries) -> dict[str, Any]:
    row, column = divmod(number, ACROSS)
    return {
        "id": number + 1,
        "title": lines.PANELS[key],
        "type": "timeseries",
        "datasource": SOURCE,
        "gridPos": {"h": HEIGHT, "w": WIDTH, "x": column * WIDTH, "y": row * HEIGHT},
        "fieldConfig": {"defaults": {"unit": unit, "custom": {"spanNulls": False}}, "overrides": []},
        "targets": [
            {"refId": chr(ord("A") + place), "datasource": SOURCE, "expr": expr, "legendFormat": legend}
            for place, (legend, expr) in enumerate(queries.items())
        ],
    }
