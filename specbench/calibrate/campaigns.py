"""Every campaign in one table: its name, how often it is run, and the function that runs it once.

A campaign's outcome depends on its name and its number alone, so that any part of the table can be made anywhere, in any order.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from specbench.calibrate import engine_simulation, faults, live_runs, single_comparisons, whole_runs
from specbench.calibrate.answering_worlds.answer_cases import (
    ANSWER_CASES,
    ASKED,
    FORMS,
    HONEST,
    outcome_of_answers,
    outcome_of_form,
)
from specbench.calibrate.watching.live_weeks import WATCH_RUNS
from specbench.calibrate.whole_runs import Outcome
from specbench.calibrate.worlds.capacity_searches import SERVERS, search_covers
from specbench.calibrate.worlds.event_cases import EVENT_GROUPS
from specbench.calibrate.worlds.noise_cases import NOISE_GROUPS
from specbench.calibrate.worlds.selections import SELECTIONS, selection
from specbench.calibrate.worlds.world_case import outcome_of

# Coverage is also looked at in shorter blocks, where stalls are few in each and the arms meet them differently.
SHORTER_SCENE = "speculation-stalls"
SHORTER_BLOCKS = (200, 500, 1000)
FULL_BLOCK = 2000
FACTS = "facts"  # the folder that holds the run folders of campaigns over sockets
WORLD_RUNS = 300  # of each case: 5 % is then known to 2.5 %
WATCHED_WEEKS = 200  # of each campaign of `watch`
COVERED_RUNS = 1000  # 95 % is then known to 1.4 %, less than the 2 % that it may be off
COVERED_RUNS_64 = 400  # at 64 streams, where one takes as long as fifteen others
HONEST_RUNS = 250  # at each of four noises: 1,000 in all
FAULTY_RUNS = 200
FORM_RUNS = 1000


@dataclass(frozen=True, slots=True)
class Campaign:
    """`count` runs, each of which is given its number; a file holds `part` of them.

    `simulated` needs nothing else; `over_sockets` takes real time, and is given a folder for what it measures.
    """

    name: str
    count: int
    simulated: Callable[[int], Outcome] | None
    part: int = 100
    over_sockets: Callable[[int, Path], Outcome] | None = None

    @property
    def real(self) -> bool:
        """Whether its runs take place over sockets, in real time."""
        return self.over_sockets is not None

    def outcome(self, index: int, folder: Path) -> Outcome:
        """What the run of this number came to; facts are kept in `folder`."""
        if self.over_sockets is not None:
            return self.over_sockets(index, folder / FACTS / f"{self.name}-{index:04d}")
        assert self.simulated is not None
        return self.simulated(index)


def covering(scenario: str, steps: int) -> str:
    """The name of a coverage campaign."""
    return f"covers-{scenario}-{steps}"


def _covering(scenario: str, steps: int, count: int) -> Campaign:
    return Campaign(covering(scenario, steps), count, partial(single_comparisons.covers, scenario, steps), 200)


WORLD_CASES = tuple(case for group in (*NOISE_GROUPS.values(), *EVENT_GROUPS.values()) for case in group)
CAMPAIGNS: tuple[Campaign, ...] = (
    Campaign("matrix-aa", 1000, whole_runs.matrix_aa, 50),
    Campaign("matrix-win", 300, whole_runs.matrix_win, 50),
    Campaign("cap-clear", 300, whole_runs.cap_clear),
    Campaign("cap-edge", 300, whole_runs.cap_edge),
    Campaign("itl", 500, whole_runs.itl),
    Campaign("determinism", 20, whole_runs.determinism),
    *(Campaign(f"fault-{name}", 100, run) for name, run in faults.RUNS.items()),
    *(Campaign(name, 1000, run, 500) for name, run in single_comparisons.POWER_RUNS.items()),
    Campaign("until-aa", 500, whole_runs.until_aa),
    Campaign("until-twice", 300, whole_runs.until_twice),
    Campaign("until-win", 300, whole_runs.until_win),
    Campaign("need", 200, single_comparisons.need),
    Campaign("spread", 400, single_comparisons.spread),
    *(Campaign(f"capacity-{server}", 100, partial(search_covers, server), 50) for server in SERVERS),
    *(
        _covering(name, FULL_BLOCK, COVERED_RUNS_64 if scene.streams == 64 else COVERED_RUNS)
        for name, scene in single_comparisons.SCENARIOS.items()
    ),
    *(_covering(SHORTER_SCENE, steps, COVERED_RUNS) for steps in SHORTER_BLOCKS),
    Campaign("selection", SELECTIONS, selection),
    Campaign("engine-aa", 1000, engine_simulation.engine_aa),
    Campaign("engine-aa-drafting", 1000, engine_simulation.engine_aa_drafting),
    Campaign("engine-slower", 500, engine_simulation.engine_slower),
    Campaign("engine-faster", 500, engine_simulation.engine_faster),
    Campaign("engine-capped", 500, engine_simulation.engine_capped),
    *(Campaign(case.name, WORLD_RUNS, partial(outcome_of, case), 50) for case in WORLD_CASES),
    *(Campaign(name, WATCHED_WEEKS, run, 50) for name, run in WATCH_RUNS.items()),
    *(
        Campaign(case.name, HONEST_RUNS if case in (*HONEST, *ASKED) else FAULTY_RUNS, partial(outcome_of_answers, case), 50)
        for case in ANSWER_CASES
    ),
    *(Campaign(name, FORM_RUNS, partial(outcome_of_form, shares), 500) for name, (_, shares) in FORMS.items()),
    *(Campaign(f"sockets-{name}", 20, None, 1, over_sockets=run) for name, run in live_runs.RUNS.items()),
)
