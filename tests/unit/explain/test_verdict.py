"""A headline says what else differs between the arms and may be behind the figures."""

from dataclasses import replace

import pytest

from specbench.explain.verdict import headline
from specbench.model.result import PerArm, Result
from tests.support.goldens import same_text
from tests.support.results import hold, promote


def unlike(result: Result, baseline: dict[str, str], speculative: dict[str, str], slow_by: float = 0.0) -> Result:
    """The result of arms that tell these facts, the baseline slowed by this share."""
    first = replace(result.endpoints.baseline, facts=baseline, slow_by=slow_by)
    return replace(result, endpoints=PerArm(first, replace(result.endpoints.speculative, facts=speculative)))


def test_settings_that_differ_and_delays_stand_in_the_headline() -> None:
    """Each with both values, in every verdict."""
    facts = {"graph_mode": "off", "max_running": "16", "memory_share": "0.45"}, {"graph_mode": "on", "max_running": "32"}

    same_text("settings", headline(unlike(promote(), *facts)))
    same_text("a delay", headline(unlike(hold(), {}, {}, slow_by=0.333)))


@pytest.mark.parametrize(
    ("baseline", "speculative"),
    [
        ({}, {}),
        ({"graph_mode": "on"}, {}),
        ({"graph_mode": "on"}, {"graph_mode": "on"}),
        ({"memory_share": "0.9"}, {"memory_share": "0.90"}),
    ],
)
def test_what_is_alike_or_not_told_is_not_mentioned(baseline: dict[str, str], speculative: dict[str, str]) -> None:
    """The headline is that of the verdict alone."""
    assert headline(unlike(promote(), baseline, speculative)) == headline(promote())
