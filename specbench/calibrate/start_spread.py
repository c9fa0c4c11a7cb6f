"""How far one start of an engine differs from the next, from A/A runs of two endpoints that were started anew between them.

Every pair of blocks of one run compares the same two processes, so what a start draws at random (memory layout, clocks, which
device) shows only between runs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, sqrt
from pathlib import Path
from statistics import fmean, stdev

from specbench.errors import DataError
from specbench.explain.numbers import tenths
from specbench.model.result import Result
from specbench.model.scenario import Scenario
from specbench.net.urls import origin
from specbench.report.formats.result_json import read_result

METRIC = "tpot_p50"  # the gain is judged by it, and it scatters least within a run
FEW = 4  # runs: fewer leave the spread unknown by a factor of two and more


@dataclass(frozen=True, slots=True)
class StartSpread:
    """The standard deviation of the log of a start's speed, and its degrees of freedom."""

    sd: float
    df: int


def start_spread(results: Sequence[Result]) -> StartSpread | None:
    """The spread between starts that these A/A runs show, one start of each arm a run; None of fewer than two.

    Each run tells one log ratio, the mean over its cells, which varies by twice the variance of a start. What pairs of blocks
    leave open of it is not taken off: the spread is rather too wide than too narrow.
    """
    ratios = [found for result in results if (found := _log_ratio(result)) is not None]
    return StartSpread(stdev(ratios) / sqrt(2), len(ratios) - 1) if len(ratios) > 1 else None


def earlier_starts(folders: Sequence[str], scenario: Scenario) -> list[Result]:
    """The results in these folders, each an A/A of the endpoints of this scenario.

    Raises:
        DataError: A folder has no result, or one of something else, or is named twice.
    """
    places = [origin(arm.url) for arm in (scenario.baseline, scenario.speculative) if arm.url is not None]
    found: dict[str, Result] = {}
    for folder in folders:
        before = read_result(Path(folder))
        told = [origin(endpoint.url) for endpoint in (before.endpoints.baseline, before.endpoints.speculative)]
        if before.config.design != "aa" or told != places:
            raise DataError(f"{folder}: not an A/A of these two URLs in this order; name only folders of such runs")
        if before.run.id in found:
            raise DataError(f"{folder}: the run {before.run.id} is named twice; each start counts once")
        found[before.run.id] = before
    return list(found.values())


def describe_starts(results: Sequence[Result]) -> str:
    """What these runs say of starts, in lines, with what a scenario states for it."""
    spread = start_spread(results)
    if spread is None:
        return (
            "starts: start both engines anew, run this again with another --out, and name this run's folder to learn their spread"
        )
    sd = tenths(spread.sd).replace(" ", "")
    few = "" if len(results) >= FEW else f"; {FEW} runs or more estimate it better"
    return (
        f"starts: their speeds have a standard deviation of {tenths(spread.sd)} ({spread.df + 1} runs, df {spread.df}){few}\n"
        f"  matrix: {{start_sd: {{sd: {sd}, df: {spread.df}}}}}"
    )


def _log_ratio(result: Result) -> float | None:
    """The log ratio of the arms, the mean over the cells that have one."""
    ratios = [c.ratio for cell in result.cells for c in cell.metrics if c.metric == METRIC and c.ratio]
    return fmean(map(log, ratios)) if ratios else None
