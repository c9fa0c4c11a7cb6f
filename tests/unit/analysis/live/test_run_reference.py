"""What live traffic is held against is what the run says of itself: its loads stand at the batches that its engines counted."""

from dataclasses import replace
from pathlib import Path

from specbench.analysis.live.run_reference import cited_run
from specbench.model.result import CellResult, PerArm
from specbench.report import read_result

EXAMPLE = read_result(Path("reports/example"))


def with_batch(cell: CellResult, batch: float | None) -> CellResult:
    """The cell with so many requests per engine step in its speculative arm."""
    told = PerArm(1.0, batch)
    return replace(cell, metrics=tuple(replace(one, value=told) if one.metric == "batch_size" else one for one in cell.metrics))


def test_a_load_stands_at_its_requests_per_engine_step() -> None:
    """Counted by the engine; a run that did not record it says how many ran on average."""
    first, *others = EXAMPLE.cells
    counted = cited_run(replace(EXAMPLE, cells=(with_batch(first, 0.5), *others)))
    uncounted = cited_run(replace(EXAMPLE, cells=(with_batch(first, None), *others)))

    assert counted.loads[0].batch == 0.5
    assert uncounted.loads[0].batch == first.axes.running_mean.speculative
    assert counted.loads[1:] == uncounted.loads[1:]
