"""Parts of a `Result` for tests: comparisons, findings and cells made from literal numbers. No test lives here."""

from dataclasses import replace
from math import exp, log

from specbench.model.result import (
    AcceptanceSummary,
    ArmCounts,
    BinResult,
    CellCoordinates,
    CellResult,
    CellState,
    Comparison,
    Direction,
    Factors,
    Finding,
    FindingState,
    IntegrityCheck,
    PerArm,
)
from specbench.model.scenario import ARMS, ArmName, Role
from specbench.model.shown import BlockSample, Distribution, Timeline

PROBABILITIES = (0.0, 0.01, 0.05, *(step / 40 for step in range(4, 38)), 0.95, 0.99, 0.999, 1.0)

# id: unit, direction, baseline at one stream, definition
METRICS: dict[str, tuple[str, Direction, float, str]] = {
    "tpot_p50": (
        "ms",
        "lower",
        11.2,
        "Per request: last minus first content event, per token after the first engine step; median.",
    ),
    "tpot_p95": ("ms", "lower", 12.4, "The same, 95th percentile over requests."),
    "pace_p95": ("ms", "lower", 11.9, "Time for the next 8 tokens, divided by 8; 95th percentile."),
    "ttft_p95": ("ms", "lower", 48.0, "First content event minus the moment before the request is written; 95th percentile."),
    "e2e_p95": ("ms", "lower", 760.0, "Last content event minus sent; 95th percentile."),
    "itl_p50": ("ms", "lower", 11.1, "A step gap that brings k tokens gives k values of gap / k; median."),
    "itl_p95": ("ms", "lower", 12.0, "The same, 95th percentile."),
    "output_tps": ("tokens/s", "higher", 84.0, "Tokens received inside the steady window, divided by its length."),
    "completed_rps": ("requests/s", "higher", 1.6, "Shares of requests inside the window, summed, divided by its length."),
}
MARGINS: dict[str, tuple[Role, float, float]] = {
    "tpot_p50": ("success", 0.05, 0.0),
    "tpot_p95": ("guardrail", 0.10, 0.5),
    "pace_p95": ("guardrail", 0.10, 0.5),
    "ttft_p95": ("guardrail", 0.15, 20.0),
    "e2e_p95": ("guardrail", 0.10, 0.0),
    "output_tps": ("guardrail", 0.05, 0.0),
    "itl_p95": ("advisory", 0.10, 0.5),
}


def a_comparison(
    metric: str, ratio: float | None, *, scale: float = 1.0, se: float = 0.012, reason: str | None = None
) -> Comparison:
    """One metric whose arms differ by `ratio`; None stands for a metric that nobody could measure."""
    unit, direction, start, definition = METRICS[metric]
    value = start * scale
    known = ratio is not None
    return Comparison(
        metric=metric,
        unit=unit,
        definition=definition,
        direction=direction,
        value=PerArm(value if known else None, value * ratio if ratio is not None else None),
        n=PerArm(120, 124) if known else PerArm(0, 0),
        ratio=ratio,
        ci_low=ratio * exp(-3.18 * se) if ratio is not None else None,
        ci_high=ratio * exp(3.18 * se) if ratio is not None else None,
        ci_level=0.95,
        method="paired t on log ratios of 4 pairs",
        n_blocks=4 if known else 0,
        design_effect=None,
        se_log=se if known else None,
        df=3.0 if known else None,
        unbounded=PerArm(False, False),
        constant=False,
        low_n=False,
        reason=reason if not known else None,
    )


def a_finding(comparison: Comparison, cell: str | None, state: FindingState | None = None, *, required: bool = True) -> Finding:
    """The guardrail on that comparison, judged by its interval unless `state` says otherwise."""
    role, margin, floor = MARGINS[comparison.metric]
    harm = _harm(comparison)
    limit = 1 + margin
    bound = 1 - margin if (comparison.direction == "higher") == (role != "success") else 1 + margin
    judged = state or (
        "NODATA" if harm is None else "PASS" if harm * 1.03 < limit else "FAIL" if harm > limit else "INCONCLUSIVE"
    )
    return Finding(
        metric=comparison.metric,
        cell=cell,
        role=role,
        required=required and role != "advisory",
        state=judged,
        direction=comparison.direction,
        margin=margin,
        floor=floor,
        slo=None,
        bound=bound,
        ratio=comparison.ratio,
        upper=comparison.ratio * 1.03 if comparison.ratio is not None else None,
        p_harm=0.001 if judged == "FAIL" else 0.8 if harm is not None else None,
        p_harm_adjusted=0.012 if judged == "FAIL" else 1.0 if harm is not None else None,
        supported_margin=0.18 if judged == "INCONCLUSIVE" else None,
        pairs_needed=14 if judged == "INCONCLUSIVE" else None,
        detectable=0.25,
        notes=(),
        reason=_sentence(comparison, bound),
    )


def _sentence(comparison: Comparison, bound: float) -> str:
    if comparison.ratio is None:
        return f"{comparison.metric} has no figure to judge: {comparison.reason}."
    return f"{comparison.metric} is {100 * comparison.ratio - 100:+.0f} % (limit {100 * bound - 100:+.0f} %)."


def _harm(comparison: Comparison) -> float | None:
    if comparison.ratio is None:
        return None
    return 1 / comparison.ratio if comparison.direction == "higher" else comparison.ratio


def an_acceptance(length: float | None = 3.4) -> AcceptanceSummary:
    """Acceptance of a draft of four tokens, or its absence."""
    if length is None:
        return AcceptanceSummary(
            length=None,
            length_low=None,
            length_high=None,
            rate=None,
            alpha=None,
            per_position=None,
            conditional=None,
            rejection_frequency=None,
            rounds=None,
            source="none",
            reason="the endpoint tells no counters and no tokens per step",
        )
    return AcceptanceSummary(
        length=length,
        length_low=length - 0.06,
        length_high=length + 0.06,
        rate=(length - 1) / 4,
        alpha=0.81,
        per_position=(0.82, 0.66, 0.52, 0.4),
        conditional=(0.82, 0.805, 0.788, 0.769),
        rejection_frequency=0.6,
        rounds=5210,
        source="per-request counts",
        reason=None,
    )


def counts(requests: int, failed: int = 0) -> ArmCounts:
    """Requests of one arm, of which `failed` answered 503."""
    return ArmCounts(
        requests=requests,
        ok=requests - failed - 4,
        failed=failed,
        cut=4,
        tokens=(requests - failed) * 52,
        chunks=(requests - failed) * 17,
        censored_chunks=3,
        by_outcome={"ok": requests - failed - 4, "cut": 4} | ({"http_error": failed} if failed else {}),
        finish_reasons={"length": requests - failed - 14, "stop": 10},
        stamp_sources={"kernel": requests},
        token_sources={"token_ids": requests},
    )


def distributions(tpot: float) -> tuple[Distribution, ...]:
    """Log-logistic quantiles of TTFT and ITL of both arms, the speculative ITL scaled by `tpot`."""
    shapes: tuple[tuple[str, ArmName, float, float], ...] = (
        ("ttft", "baseline", 38.0, 0.12),
        ("ttft", "speculative", 39.0, 0.13),
        ("itl", "baseline", 11.1, 0.05),
        ("itl", "speculative", 11.1 * tpot, 0.28),
    )
    return tuple(
        Distribution(
            metric=metric,
            unit="ms",
            arm=arm,
            n=6200,
            probabilities=PROBABILITIES,
            values=tuple(middle * exp(spread * log((p + 0.002) / (1.002 - p))) for p in PROBABILITIES),
        )
        for metric, arm, middle, spread in shapes
    )


def a_cell(
    concurrency: int,
    tpot: float,
    *,
    state: CellState = "PASS",
    primary: bool = False,
    ttft: float = 1.02,
    unknown: tuple[str, ...] = (),
    failed: int = 0,
) -> CellResult:
    """A cell whose time per output token is `tpot` times the baseline's; `unknown` metrics could not be had."""
    scale = 1 + concurrency / 24
    ratios = {
        "ttft_p95": ttft,
        "output_tps": 1 / tpot,
        "completed_rps": 1 / tpot,
        "e2e_p95": 0.1 + 0.9 * tpot,
        "itl_p95": tpot * 1.2,
    }
    scales = {"output_tps": concurrency / scale, "completed_rps": concurrency / scale}
    metrics = tuple(
        a_comparison(
            metric,
            None if metric in unknown else ratios.get(metric, tpot),
            scale=scales.get(metric, scale),
            reason="no request of the speculative arm succeeded" if metric in unknown else None,
        )
        for metric in METRICS
    )
    cell = f"c{concurrency}"
    return CellResult(
        id=cell,
        axes=CellCoordinates(
            concurrency=concurrency,
            rate=None,
            bin=None,
            sampling=None,
            running_mean=PerArm(concurrency * 0.95, concurrency * 0.9),
        ),
        required=True,
        primary=primary,
        state=state,
        pairs_planned=4,
        pairs_used=4,
        counts=PerArm(counts(120), counts(124, failed)),
        metrics=metrics,
        bins=tuple(
            BinResult(bin=band, sampling=sampling, requests=PerArm(30, 31), metrics=metrics, acceptance=an_acceptance(length))
            for band, sampling, length in (("complete", "greedy", 3.6), ("complete", "sampled", 3.2), ("edit", "greedy", 3.5))
        ),
        acceptance=an_acceptance(),
        factors=Factors(
            step_ms=PerArm(11.2 * scale, 11.2 * scale * tpot * 3.2),
            step_ratio=tpot * 3.2,
            tokens_per_step=PerArm(1.0, 3.2),
            tpot_ratio=tpot,
            residual=0.0,
            break_even=tpot * 3.2,
        ),
        findings=tuple(a_finding(metric, cell) for metric in metrics if metric.metric in MARGINS),
        integrity=(
            IntegrityCheck(id="generator_lag", cell=cell, ok=True, value=0.4, limit=5.0, message="The generator was in time."),
            IntegrityCheck(id="steady", cell=cell, ok=None, value=None, limit=None, message="Too few blocks to tell a drift."),
        ),
        distributions=distributions(tpot),
        theory={"alpha": 0.81, "expected_tokens": 3.4, "speedup": 2.3},
        timelines=tuple(
            Timeline(
                arm=arm,
                block=f"c{concurrency}-{arm}",
                pair=2,
                slot_s=0.25,
                window_open_s=1.0,
                tokens_per_s=tuple(height * (1 + 0.1 * (slot % 5)) for slot in range(20)),
                in_flight=(float(concurrency),) * 20,
            )
            for arm, height in zip(ARMS, (80.0, 80.0 / tpot), strict=True)
        ),
        block_series=tuple(
            BlockSample(
                arm=arm,
                block=f"c{concurrency}-{arm}-{pair}",
                pair=pair,
                acceptance_length=3.4 - 0.1 * pair if arm == "speculative" else None,
                read_lag_ms_p99=0.5 + 0.25 * pair,
                send_delay_ms_p95=0.2,
            )
            for arm in ARMS
            for pair in range(4)
        ),
        engine_truth=PerArm({"steps": 9000.0, "overrun_steps": 12.0}, {"steps": 3100.0, "overrun_steps": 9.0}),
    )


def moved(cell: CellResult, id: str, axes: CellCoordinates) -> CellResult:
    """The same cell at another place of the matrix."""
    return replace(
        cell,
        id=id,
        axes=axes,
        findings=tuple(replace(found, cell=id) for found in cell.findings),
        integrity=tuple(replace(check, cell=id) for check in cell.integrity),
    )
