"""Parts of a result by name: a metric of a cell, the primary cell, the cells of the range. No number is made here."""

from collections.abc import Sequence

from specbench.model.result import CellResult, Comparison, Finding, IntegrityCheck, LoadRange, Result, SliceResult, VerdictWord
from specbench.model.scenario import ArmName


def comparison(cell: CellResult, metric: str) -> Comparison | None:
    """That metric of the cell, None where it was not compared."""
    return next((found for found in cell.metrics if found.metric == metric), None)


def unit(cell: CellResult, metric: str) -> str:
    """The unit of that metric there, '' where it was not compared."""
    compared = comparison(cell, metric)
    return "" if compared is None else compared.unit


def must_show(cell: CellResult) -> bool:
    """Whether the benefit is asked of this cell; with both loops each has a primary cell, and one of them alone must show it."""
    return cell.primary and any(one.role == "success" for one in cell.findings)


def primary(result: Result) -> CellResult | None:
    """The cell that must show the benefit, with slices that of the first eligible one; None where nothing was measured."""
    eligible = next((part for part in result.slices if part.verdict in ("PROMOTE", "CAPPED")), None)
    cells = [cell for cell in result.cells if eligible is None or slice_of(result, cell) == eligible]
    return next((cell for cell in cells if must_show(cell)), next((cell for cell in cells if cell.primary), None))


def slice_of(result: Result, cell: CellResult) -> SliceResult | None:
    """The slice that the cell belongs to, None where the traffic was not judged by slices."""
    place = (cell.axes.bin, cell.axes.sampling)
    return next((part for part in result.slices if (part.bin, part.sampling) == place), None)


def slices_that(result: Result, verdict: VerdictWord) -> tuple[SliceResult, ...]:
    """The slices of that verdict."""
    return tuple(part for part in result.slices if part.verdict == verdict)


def no_benefit(result: Result) -> bool:
    """Whether a HOLD rules the benefit out for all of the traffic: with slices, in each of them."""
    by_slice = [part.reasons for part in result.slices] or [result.reasons]
    return result.verdict == "HOLD" and all(any(one.code == "no_benefit" for one in reasons) for reasons in by_slice)


def numbered(found: Sequence[Finding]) -> tuple[tuple[Finding, int], ...]:
    """The findings of one place, each with its number from 1 among those of its metric and role."""
    groups: dict[tuple[str, str], list[int]] = {}
    for index, one in enumerate(found):
        groups.setdefault((one.metric, one.role), []).append(index)
    return tuple((one, groups[one.metric, one.role].index(index) + 1) for index, one in enumerate(found))


def findings(result: Result) -> tuple[Finding, ...]:
    """Every finding of the run: of each cell, then the run-wide ones."""
    return tuple(finding for cell in result.cells for finding in cell.findings) + result.run_findings


def integrity(result: Result) -> tuple[IntegrityCheck, ...]:
    """Every integrity check: the run's, then each cell's."""
    return result.integrity + tuple(check for cell in result.cells for check in cell.integrity)


def place(cell: CellResult, by: str) -> float | None:
    """Where the cell lies on the axis that a range runs along, None where it lies on the other one."""
    return cell.axes.rate if by == "rate" else None if cell.axes.rate is not None else cell.axes.concurrency


def within(cell: CellResult, found: LoadRange) -> bool:
    """Whether the cell lies in the range."""
    at, low, high = place(cell, found.by), found.low, found.high
    return at is not None and low is not None and high is not None and low <= at <= high


def ranges(found: Result | SliceResult) -> tuple[LoadRange, ...]:
    """The ranges of a result or slice: by concurrency, by rate, or both."""
    return tuple(one for one in (found.enable_range, found.rate_range) if one is not None)


def unconfirmed(result: Result) -> tuple[LoadRange, ...]:
    """The ranges that one run up to their caps would confirm: the result's, or those of its capped slices where all are alike."""
    if result.verdict != "CAPPED":
        return ()
    by_cap = {tuple((one.by, one.high) for one in found): found for found in map(ranges, slices_that(result, "CAPPED"))}
    return ranges(result) or (next(iter(by_cap.values())) if len(by_cap) == 1 else ())


def enabled(result: Result) -> tuple[CellResult, ...]:
    """The cells for which speculation may be on: of the result's ranges, else of its slices'."""
    own = ranges(result)
    if own:
        return tuple(cell for cell in result.cells if any(within(cell, one) for one in own))
    named = [(part.bin, part.sampling, one) for part in result.slices for one in ranges(part)]
    return tuple(
        cell
        for cell in result.cells
        if any((bin, sampling) == (cell.axes.bin, cell.axes.sampling) and within(cell, one) for bin, sampling, one in named)
    )


def share_failed(result: Result, arm: ArmName) -> float | None:
    """The share of the arm's requests over all required cells that failed, of those that ended; None where none ended."""
    counts = [cell.counts.of(arm) for cell in result.cells if cell.required]
    ended = sum(one.ok + one.failed for one in counts)
    return sum(one.failed for one in counts) / ended if ended else None


def virtual(result: Result) -> bool:
    """Whether an embedded engine set the times: they are those of a modelled accelerator."""
    return "embedded" in (result.endpoints.baseline.engine, result.endpoints.speculative.engine)
