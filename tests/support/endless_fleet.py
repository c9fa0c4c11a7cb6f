"""Drives endless load with a fleet of two against the URL that is given, for tests that kill it. Prints its process ids."""

import sys

from specbench.load.fleet.fleet import Fleet
from specbench.load.fleet.fleet_plan import FleetOptions, fleet_plan
from tests.support.fleets import block, jobs


def main() -> None:
    """Drive, and say so once the first answers are there."""
    plan = fleet_plan(FleetOptions(processes=2), {}, 512, at_once=False)
    assert plan is not None
    with Fleet(plan, lambda said: None) as fleet:
        for count, _ in enumerate(fleet.run_block(block(sys.argv[1], min_s=600.0, max_s=600.0), jobs())):
            if count == 20:
                assert fleet.here is not None
                print(*fleet.here.pids, fleet.pid, flush=True)  # noqa: T201 - the test reads it


if __name__ == "__main__":
    main()
