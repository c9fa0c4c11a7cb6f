"""Folders of runs over days, for tests: the same run again and again, with what a test changes in some. No test lives here."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from specbench.model.result import CellResult, PerArm, Result
from specbench.model.run_info import EndpointInfo
from specbench.report import result_json
from tests.support.results import promote

# What a step of 12 % is hidden in: noise of about half a per cent, other figures in every run.
NOISE = (0.003, -0.004, 0.006, -0.001, -0.006, 0.002, 0.005, -0.003, 0.001, -0.005, 0.004, -0.002)
Change = Callable[[Result, int], Result]


def unchanged(result: Result, number: int) -> Result:
    """The run as it is."""
    return result


def upgraded(result: Result, number: int) -> Result:
    """From the seventh run on both engines have another version, and the gain is smaller by 12 %."""
    if number < 7:
        return result
    ends = result.endpoints
    return slower(replace(result, endpoints=PerArm(_newer(ends.baseline), _newer(ends.speculative))), 1.12)


def slower(result: Result, by: float) -> Result:
    """All ratios of the median time per token in it are so many times as large."""
    return replace(result, cells=tuple(_slower(cell, by) for cell in result.cells))


def run_number(number: int, change: Change = unchanged) -> Result:
    """The run of that day, from 1 on."""
    whole = promote()
    day = replace(whole, run=replace(whole.run, id=f"run-{number}", started=f"2025-03-{number:02}T10:00:00Z"))
    return change(slower(day, 1 + NOISE[(number - 1) % len(NOISE)]), number)


def runs_in_folder(folder: Path, count: int, change: Change = unchanged) -> Path:
    """So many runs, one a day, in folders that another order of names would give."""
    for number in range(1, count + 1):
        run = folder / f"{chr(ord('z') - number)}-run-{number}"
        run.mkdir(parents=True)
        (run / "result.json").write_bytes(result_json(run_number(number, change)))
    return folder


def _newer(info: EndpointInfo) -> EndpointInfo:
    return replace(info, engine_version="0.2.0")


def _slower(cell: CellResult, by: float) -> CellResult:
    return replace(
        cell,
        metrics=tuple(
            replace(one, ratio=one.ratio * by) if one.metric == "tpot_p50" and one.ratio is not None else one
            for one in cell.metrics
        ),
    )
