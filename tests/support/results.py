"""Results for tests: a small honest `Result` of each verdict, made from literal numbers. No test and no assertion lives here."""

from dataclasses import replace

from specbench.model.result import (
    CellResult,
    Finding,
    FindingState,
    IntegrityCheck,
    LoadRange,
    PerArm,
    Reason,
    Result,
    SliceResult,
    VerdictWord,
)
from specbench.model.run_info import Config, EndpointInfo, RunInfo
from tests.support.result_parts import a_cell, a_comparison, a_finding, moved


def an_endpoint(speculation: str | None) -> EndpointInfo:
    """An endpoint of the embedded engine."""
    return EndpointInfo(
        url="http://127.0.0.1:8000",
        model="specbench-ngram",
        engine="embedded",
        engine_version="0.1.0",
        speculation=speculation,
        facts={"quantization": "none", "max_model_len": "4096", "prefix_caching": "on"},
        sources={"quantization": "not declared", "max_model_len": "read", "prefix_caching": "declared"},
    )


def a_result(
    verdict: VerdictWord, cells: tuple[CellResult, ...], reasons: tuple[Reason, ...], cap: LoadRange | None = None
) -> Result:
    """A whole result around those cells."""
    codes: dict[VerdictWord, int] = {"PROMOTE": 0, "CAPPED": 11, "HOLD": 10, "ROLLBACK": 20, "INVALID": 30}
    return Result(
        schema_version=1,
        tool_name="specbench",
        tool_version="0.1.0",
        run=RunInfo(
            id="20250102-030405-code",
            name="code",
            started="2025-01-02T03:04:05Z",
            finished="2025-01-02T03:05:38Z",
            partial=False,
            profile="smoke",
            seed=7,
            labels={},
        ),
        config=Config(
            sha256="0" * 64,
            alpha=0.05,
            success_metric="tpot_p50",
            improve_by=0.05,
            pairs=4,
            schedule="alternate",
            looks=1,
            required_cells=tuple(cell.id for cell in cells),
            primary_cell=cells[0].id if cells else "c1",
        ),
        endpoints=PerArm(an_endpoint(None), an_endpoint("draft_model, 4 tokens")),
        verdict=verdict,
        promote=verdict == "PROMOTE",
        rollback=verdict == "ROLLBACK",
        exit_code=codes[verdict],
        reasons=reasons,
        enable_range=cap,
        cells=cells,
        slices=(),
        run_findings=(_error_rate("PASS" if verdict != "ROLLBACK" else "FAIL"),) if cells else (),
        integrity=(
            IntegrityCheck(
                id="arms_equal", cell=None, ok=verdict != "INVALID", value=None, limit=None, message=ARMS[verdict == "INVALID"]
            ),
        ),
        notes=("The built-in corpus is a demonstration: a verdict on it says nothing about your traffic.",),
    )


ARMS = ("The arms are equal but for speculation.", "The arms differ in quantization: fp16 against int4.")


def _error_rate(state: FindingState) -> Finding:
    failed = state == "FAIL"
    return replace(
        a_finding(a_comparison("tpot_p50", 1.0), None, state),
        metric="error_rate",
        role="safety",
        margin=0.005,
        ratio=None,
        bound=None,
        upper=0.12 if failed else 0.001,
        reason="9.7 % of the speculative arm's requests failed, none of the baseline's."
        if failed
        else "No request failed in either arm.",
    )


def reason(code: str, message: str, cell: str | None = None, metric: str | None = None) -> Reason:
    """One sentence of a verdict."""
    return Reason(code=code, cell=cell, metric=metric, message=message)


def promote() -> Result:
    """Speculation wins in every cell."""
    cells = (a_cell(1, 0.45, primary=True), a_cell(4, 0.58), a_cell(16, 0.74))
    cap = LoadRange(
        low=1.0,
        high=16.0,
        running_at_cap=14.4,
        by="concurrency",
        beyond=None,
        method="every tested cell passed",
    )
    why = (
        reason(
            "success",
            "At 1 stream the median time per output token fell by 55 % (95 % sure: between 53 and 57 %).",
            "c1",
            "tpot_p50",
        ),
    )
    return a_result("PROMOTE", cells, why, cap)


def capped() -> Result:
    """Speculation wins up to 4 streams and does harm at 16."""
    cells = (a_cell(1, 0.45, primary=True), a_cell(4, 0.72), a_cell(16, 1.31, state="FAIL", ttft=1.22))
    cap = LoadRange(
        low=1.0,
        high=4.0,
        running_at_cap=3.6,
        by="concurrency",
        beyond="harm_beyond",
        method="from the primary cell outward",
    )
    why = (
        reason(
            "harm_beyond", "At 16 streams the time per output token rose by 31 %; up to 10 % more is allowed.", "c16", "tpot_p95"
        ),
        reason(
            "success",
            "At 1 stream the median time per output token fell by 55 % (95 % sure: between 53 and 57 %).",
            "c1",
            "tpot_p50",
        ),
    )
    return a_result("CAPPED", cells, why, cap)


def hold() -> Result:
    """Nothing is shown either way."""
    cells = (a_cell(1, 0.99, primary=True, state="INCONCLUSIVE"), a_cell(4, 1.07, state="INCONCLUSIVE", unknown=("ttft_p95",)))
    why = (
        reason(
            "insufficient_evidence", "At 1 stream the median time per output token fell by 1 %; 5 % is asked.", "c1", "tpot_p50"
        ),
    )
    return a_result("HOLD", cells, why)


def rollback() -> Result:
    """The speculative arm fails requests and is slower everywhere."""
    cells = (a_cell(1, 1.3, primary=True, state="FAIL", failed=12), a_cell(4, 1.4, state="FAIL", failed=12))
    return a_result(
        "ROLLBACK", cells, (reason("safety", "9.7 % of the speculative arm's requests failed, none of the baseline's."),)
    )


def invalid() -> Result:
    """Refused before any load: no cells."""
    return a_result("INVALID", (), (reason("arms_differ", ARMS[True]),))


def every_verdict() -> dict[VerdictWord, Result]:
    """One result of each verdict."""
    return {"PROMOTE": promote(), "CAPPED": capped(), "HOLD": hold(), "ROLLBACK": rollback(), "INVALID": invalid()}


def sliced() -> Result:
    """Two slices with cells of their own, of which one may be switched on."""
    low, high = a_cell(1, 0.5, primary=True), a_cell(1, 1.4, state="FAIL")
    cells = tuple(
        replace(moved(cell, f"c1-{band}", replace(cell.axes, bin=band, sampling="greedy")), bins=())
        for cell, band in ((low, "complete"), (high, "creative"))
    )
    one = LoadRange(
        low=1.0,
        high=1.0,
        running_at_cap=0.9,
        by="concurrency",
        beyond=None,
        method="every tested cell passed",
    )
    why = (reason("eligible_slices", "1 of 2 slices may be switched on: complete."),)
    slices = (
        SliceResult(bin="complete", sampling="greedy", verdict="PROMOTE", enable_range=one, reasons=why),
        SliceResult(bin="creative", sampling="greedy", verdict="ROLLBACK", enable_range=None, reasons=()),
    )
    return replace(a_result("CAPPED", cells, why), slices=slices)


def slices_with_a_cap(*verdicts: VerdictWord, cap: float = 4.0) -> Result:
    """The bin `complete` as greedy, sampled and so on, a slice of 1 and 16 streams for each verdict; a CAPPED one up to `cap`."""
    samplings = ("greedy", "sampled", "warm", "hot")[: len(verdicts)]
    whole = LoadRange(low=1.0, high=16.0, running_at_cap=14.4, by="concurrency", beyond=None, method="every cell passed")
    ranges = {"PROMOTE": whole, "CAPPED": replace(whole, high=cap, running_at_cap=None, beyond="harm_beyond")}
    cells = tuple(
        replace(moved(cell, f"{cell.id}-complete-{sampling}", replace(cell.axes, bin="complete", sampling=sampling)), bins=())
        for verdict, sampling in zip(verdicts, samplings, strict=True)
        for cell in (
            a_cell(1, 1.4 if verdict == "ROLLBACK" else 0.5, primary=True),
            a_cell(16, 0.6 if verdict == "PROMOTE" else 1.4, state="PASS" if verdict == "PROMOTE" else "FAIL"),
        )
    )
    slices = tuple(
        SliceResult(bin="complete", sampling=sampling, verdict=verdict, enable_range=ranges.get(verdict), reasons=())
        for verdict, sampling in zip(verdicts, samplings, strict=True)
    )
    return replace(a_result("CAPPED", cells, (reason("slices", "Some slices may be switched on."),)), slices=slices)


def twice_judged() -> Result:
    """One cell in which a metric is both benefit and guardrail, another has two guardrails, and two run-wide rules on errors."""
    cell = a_cell(1, 0.5, primary=True)
    benefit = next(one for one in cell.findings if one.role == "success")
    again = replace(next(one for one in cell.findings if one.metric == "ttft_p95"), margin=0.3)
    slow = replace(benefit, role="guardrail", slo=5.0, bound=5.0, state="FAIL", reason="The TPOT p50 is 5.9 ms.")
    found = replace(cell, findings=(slow, *cell.findings, replace(again, state="INCONCLUSIVE")))
    result = a_result("ROLLBACK", (found,), ())
    return replace(result, run_findings=(*result.run_findings, replace(result.run_findings[0], margin=0.01, state="PASS")))


def large(cells: int) -> Result:
    """A matrix of that many cells, to hold formats to their size limits."""
    matrix = tuple(
        moved(a_cell(4, 0.6 + index / cells, state="FAIL"), f"c{index}", replace(a_cell(4, 1).axes, concurrency=index + 1))
        for index in range(cells)
    )
    why = tuple(reason("harm", f"At {cell.axes.concurrency} streams it got worse.", cell.id, "tpot_p95") for cell in matrix)
    return a_result("ROLLBACK", matrix, why)


def hostile() -> Result:
    """Names and messages that try to break out of every format."""
    script = "a</script><script>alert(1)</script>"
    base = capped()
    spec = replace(
        base.endpoints.speculative, model='BaNaNa "x" & <b>', facts={"note|pipe": "<!-- \u001b[31m ]]> `tick`"}, sources={}
    )
    return replace(
        base,
        run=replace(base.run, name=script),
        endpoints=PerArm(base.endpoints.baseline, spec),
        reasons=(reason("http_error", "502: <!-- <html> | % \r\n::error::owned\u0000", "c16", "tpot_p95"),),
        notes=(script,),
    )
