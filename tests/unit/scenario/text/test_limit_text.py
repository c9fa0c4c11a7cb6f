"""Limits of live traffic as a scenario writes them: what is kept, and what is refused in one line."""

import pytest

from specbench.errors import ScenarioError
from specbench.model.request_fields import resolved_sha256
from specbench.scenario.parse import Overrides, parse_scenario
from specbench.scenario.text.limit_text import limit_value
from tests.support.goldens import same_text
from tests.support.scenarios import CODE

SMALL = CODE.read_text()
WRONG = {
    "an unknown metric": "pace_p99: 50ms",
    "a percentile of all": "tpot_p100: 50ms",
    "a time without a unit": "tpot_p99: 50",
    "no time": "ttft_p95: soon",
    "no time at all": "tpot_p99: 0ms",
    "alpha in ms": "alpha: 7ms",
    "alpha above one": "alpha: 1.2",
    "a list": "tpot_p99: [50ms]",
}


def limits(written: str, *settings: tuple[str, str]) -> dict[str, float]:
    """What a scenario with these limits holds."""
    text = f"{SMALL}watch:\n  limits: {{{written}}}\n"
    return parse_scenario(text, "code.yaml", Overrides(settings=settings)).watch_limits


def test_times_are_kept_in_ms() -> None:
    """In seconds or ms; alpha is a number; `--set` replaces one."""
    assert limits("tpot_p99: 50ms, ttft_p95: 1.5s, alpha: 0.65") == {"tpot_p99": 50.0, "ttft_p95": 1500.0, "alpha": 0.65}
    assert limits("tpot_p99: 50ms", ("watch.limits.tpot_p99", "75ms")) == {"tpot_p99": 75.0}
    assert parse_scenario(SMALL, "code.yaml", Overrides()).watch_limits == {}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_limit_is_refused_with_its_line(name: str) -> None:
    """By the golden file's words."""
    with pytest.raises(ScenarioError) as error:
        limits(WRONG[name])

    assert "\n" not in str(error.value)
    same_text(name, str(error.value))


def test_the_command_line_may_leave_the_unit_out() -> None:
    """A time is in ms there."""
    assert limit_value("tpot_p99", "50") == 50
    with pytest.raises(ValueError, match="such as"):
        limit_value("alpha", "1")


def test_a_run_is_the_same_run_with_other_limits_of_live_traffic() -> None:
    """They hold after launch, and change nothing that is measured."""
    without = parse_scenario(SMALL, "code.yaml", Overrides())
    text = f"{SMALL}watch: {{limits: {{tpot_p99: 50ms}}}}\n"

    assert resolved_sha256(parse_scenario(text, "code.yaml", Overrides())) == resolved_sha256(without)
