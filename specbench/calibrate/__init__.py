"""How often the verdict errs: campaigns of simulated and real runs through the real analysis, and the table of what came out.

No statistic and no rule of the verdict may live here: campaigns call `analysis/` as `analyze` does.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

TABLE = "calibration.md"


def calibrate(
    folder: Path, names: Sequence[str], say: Callable[[str], None], *, jobs: int, real: bool = False, most: int | None = None
) -> Path:
    """The table of targets, written into `folder` beside the parts that it was made from; parts that are there are kept.

    Args:
        names: Campaigns, or beginnings of their names; none for all of them. The table shows whatever parts there are.
        real: Also those over real sockets, unless campaigns are named.
        most: At most so many runs of each campaign, for a quick look.

    Raises:
        ScenarioError: No campaign has such a name.
    """
    from specbench.calibrate.batches import batches_of, chosen, outcomes_in, run_batches
    from specbench.calibrate.campaigns import CAMPAIGNS
    from specbench.calibrate.table import table_of

    run_batches(folder, batches_of(chosen(names, real=real), most), jobs, say)
    table = folder / TABLE
    table.write_text(table_of(outcomes_in(folder, batches_of(CAMPAIGNS, most))), encoding="utf-8")
    return table
