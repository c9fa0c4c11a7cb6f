"""Each fault, put into a good run, leads to the state that it must lead to."""

import pytest

from specbench.calibrate.faults import FAULTS, faulty


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_leads_to_its_state(name: str) -> None:
    """Two runs of each, one with the fault in either arm where it is in one block; without a fault the win is promoted."""
    for index in (0, 1):
        outcome = faulty(name, index)

        assert outcome["verdict"] == outcome["wanted"]
