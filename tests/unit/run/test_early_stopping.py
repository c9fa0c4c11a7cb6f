"""A run that looks on the way looks at planned moments only, and stops only when nothing is left to learn."""

from pathlib import Path

import pytest

from specbench.plan.trials import cells_of, trials_of
from specbench.run.early_stopping import EarlyStopping, interim_pairs
from tests.support.scenarios import code


@pytest.mark.parametrize(("budget", "looks"), [(10, (4, 6, 8, 10)), (4, (2, 3, 4)), (20, (8, 12, 16, 20)), (2, (2,))])
def test_looks_come_at_shares_of_the_budget_and_at_its_end(budget: int, looks: tuple[int, ...]) -> None:
    """40, 60 and 80 % of the pairs, never after a single one, and all of them."""
    assert interim_pairs(budget) == looks


def test_between_looks_nothing_is_looked_at(tmp_path: Path) -> None:
    """With one block of pair 0 left nothing can be complete, so the folder is not even read."""
    scenario = code(profile="standard")
    trials = trials_of(scenario, cells_of(scenario))
    looking = EarlyStopping(tmp_path / "absent", budget=10)

    assert looking.settled(trials[1:]) is False
    assert looking.looks == []


def test_the_end_of_the_budget_is_the_last_look(tmp_path: Path) -> None:
    """With no trial left the run ends, whatever the data say, and the look is counted."""
    looking = EarlyStopping(tmp_path / "absent", budget=10)

    assert looking.settled(()) is True
    assert looking.looks == [10]
