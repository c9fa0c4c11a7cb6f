"""What a search for capacity is asked: limits as people write them, and what is refused in one line."""

from dataclasses import replace

import pytest

from specbench.errors import ScenarioError
from specbench.model.capacity.capacity_values import ServiceLimit
from specbench.model.guardrails import DEFAULTS
from specbench.plan.service_limits import capacity_plan
from tests.support.evidence import a_scenario

PLAIN = a_scenario()
TTFT = next(rule for rule in DEFAULTS if rule.metric == "ttft_p95")


@pytest.mark.parametrize(
    ("slo", "limit"),
    [
        ("ttft_p95=400ms", ServiceLimit("ttft_p95", 400.0, 0.95)),
        ("ttft_p95=400", ServiceLimit("ttft_p95", 400.0, 0.95)),
        (" tpot_p50 = 0.02s ", ServiceLimit("tpot_p50", 20.0, 0.5)),
        ("tpot_p99=20ms", ServiceLimit("tpot_p99", 20.0, 0.99)),
        ("e2e_p95=2s", ServiceLimit("e2e_p95", 2000.0, 0.95)),
        ("error_rate=1%", ServiceLimit("error_rate", 0.01, 0.99)),
        ("error_rate=0.01", ServiceLimit("error_rate", 0.01, 0.99)),
    ],
)
def test_a_limit_says_which_share_of_the_requests_must_be_within_it(slo: str, limit: ServiceLimit) -> None:
    assert capacity_plan(PLAIN, [slo], 10.0, "20%", 60.0).limits == (limit,)


def test_without_limits_those_of_the_scenario_hold() -> None:
    own = replace(
        PLAIN, guardrails=(replace(TTFT, margin=None, slo=400.0), replace(TTFT, metric="pace_p95", slo=20.0, margin=None))
    )
    assert capacity_plan(own, [], None, "20%", 60.0).limits == (ServiceLimit("ttft_p95", 400.0, 0.95),)


def test_limits_of_the_command_line_replace_those_of_the_scenario() -> None:
    own = replace(PLAIN, guardrails=(replace(TTFT, margin=None, slo=400.0),))
    assert [limit.metric for limit in capacity_plan(own, ["tpot_p95=20ms"], None, "20%", 60.0).limits] == ["tpot_p95"]


@pytest.mark.parametrize(("headroom", "share"), [("20%", 0.2), ("0", 0.0), ("0.5", 0.5), ("90 %", 0.9)])
def test_headroom_is_a_share(headroom: str, share: float) -> None:
    assert capacity_plan(PLAIN, ["ttft_p95=1s"], None, headroom, 60.0).headroom == pytest.approx(share)


@pytest.mark.parametrize(
    ("slos", "traffic", "headroom", "names"),
    [
        ([], None, "20%", "known-effects.yaml"),
        (["ttft_p95"], None, "20%", "--slo ttft_p95"),
        (["ttft_p95="], None, "20%", "--slo ttft_p95="),
        (["ttft_p95=fast"], None, "20%", "fast"),
        (["ttft_p95=-1ms"], None, "20%", "above 0 ms"),
        (["ttft_p95=nan"], None, "20%", "above 0 ms"),
        (["ttft_p95=inf"], None, "20%", "above 0 ms"),
        (["pace_p95=20ms"], None, "20%", "pace_p95"),
        (["ttft_p59=20ms"], None, "20%", "ttft_p95"),
        (["error_rate=0%"], None, "20%", "error_rate"),
        (["error_rate=100%"], None, "20%", "error_rate"),
        (["ttft_p95=1s", "ttft_p95=2s"], None, "20%", "twice"),
        (["ttft_p95=1s"], 0.0, "20%", "--traffic 0"),
        (["ttft_p95=1s"], -5.0, "20%", "--traffic -5"),
        (["ttft_p95=1s"], float("nan"), "20%", "--traffic nan"),
        (["ttft_p95=1s"], float("inf"), "20%", "--traffic inf"),
        (["ttft_p95=1s"], 10.0, "91%", "--headroom 91%"),
        (["ttft_p95=1s"], 10.0, "-1%", "--headroom -1%"),
        (["ttft_p95=1s"], 10.0, "much", "--headroom much"),
    ],
)
def test_what_cannot_be_searched_for_is_refused_in_one_line(
    slos: list[str], traffic: float | None, headroom: str, names: str
) -> None:
    with pytest.raises(ScenarioError) as refused:
        capacity_plan(PLAIN, slos, traffic, headroom, 60.0)
    assert names in str(refused.value)
    assert "\n" not in str(refused.value)
