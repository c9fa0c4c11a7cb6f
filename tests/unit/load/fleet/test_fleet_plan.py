"""What the options of a fleet come to."""

import pytest

from specbench.errors import ScenarioError
from specbench.load.fleet.fleet_plan import FleetOptions, fleet_plan
from tests.support.goldens import same_text

KEY = "SPECBENCH_FLEET_KEY"
GOOD = {KEY: "k" * 32}


def test_one_process_is_no_fleet() -> None:
    """Without a flag nothing changes."""
    assert fleet_plan(FleetOptions(), {}, 16, at_once=False) is None


def test_processes_of_this_machine_draw_their_own_key() -> None:
    """Nobody sets one, no two runs have the same, and a free port of the loopback is taken."""
    first, second = (fleet_plan(FleetOptions(processes=4), {}, 16, at_once=False) for _ in range(2))

    assert first is not None
    assert second is not None
    assert (first.workers, first.here, first.host, first.port) == (4, 4, "127.0.0.1", 0)
    assert len(first.secret) >= 32
    assert first.secret != second.secret


def test_workers_of_other_machines_share_the_key_of_the_environment() -> None:
    """They are waited for at the usual address; this machine drives no load itself unless it is asked to."""
    plan = fleet_plan(FleetOptions(workers=2, worker_wait="5s"), GOOD, 16, at_once=False)

    assert plan is not None
    assert (plan.here, plan.elsewhere, plan.host, plan.port, plan.secret, plan.wait_s) == (
        *(0, 2, "127.0.0.1", 5557),
        *("k" * 32, 5.0),
    )


def test_both_kinds_of_workers_go_together() -> None:
    """Two here and two elsewhere are four."""
    plan = fleet_plan(FleetOptions(processes=2, workers=2), GOOD, 16, at_once=False)

    assert plan is not None
    assert (plan.here, plan.workers) == (2, 4)


def test_both_arms_at_once_share_the_fleet() -> None:
    """Two lanes, each with half."""
    plan = fleet_plan(FleetOptions(processes=4), {}, 16, at_once=True)

    assert plan is not None
    assert plan.lanes == 2


@pytest.mark.parametrize("listen", ["0.0.0.0:5557", "[::]:5557", "10.0.0.1:5557", "load-master:5557", "*:5557"])
def test_an_address_that_others_reach_needs_the_key(listen: str) -> None:
    """Even where all workers are of this machine."""
    with pytest.raises(ScenarioError, match=KEY):
        fleet_plan(FleetOptions(processes=2, listen=listen), {}, 16, at_once=False)


@pytest.mark.parametrize("listen", ["127.0.0.1:5557", "[::1]:5557", "localhost:5557"])
def test_the_loopback_needs_none(listen: str) -> None:
    """Who is on this machine alone cannot know the drawn one."""
    assert fleet_plan(FleetOptions(processes=2, listen=listen), {}, 16, at_once=False) is not None


BAD = {
    "key missing": (FleetOptions(workers=2), {}),
    "key short": (FleetOptions(workers=2), {KEY: "k" * 31}),
    "too many processes": (FleetOptions(processes=17), {}),
    "no process": (FleetOptions(processes=0), {}),
    "negative workers": (FleetOptions(workers=-1), GOOD),
    "no port": (FleetOptions(workers=2, listen="10.0.0.1"), GOOD),
    "no span": (FleetOptions(workers=2, worker_wait="soon"), GOOD),
    "nobody to listen for": (FleetOptions(listen="127.0.0.1:5557"), {}),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_options_end_in_one_line(name: str) -> None:
    """What, where, and what to try."""
    options, environment = BAD[name]

    with pytest.raises(ScenarioError) as raised:
        fleet_plan(options, environment, 16, at_once=False)

    assert "\n" not in str(raised.value)
    same_text(name, str(raised.value))


def test_both_arms_at_once_need_an_even_number() -> None:
    """Each gets half."""
    with pytest.raises(ScenarioError) as raised:
        fleet_plan(FleetOptions(processes=3), {}, 16, at_once=True)

    same_text("odd", str(raised.value))
