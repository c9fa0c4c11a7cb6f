"""Rules that promtool accepts: each alarm fires in its state and in no other, and a rule that is wrong fails its tests."""

import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
import yaml

from specbench.cli.export.export_options import PickedExport, order_of
from specbench.engine.http import histograms
from specbench.errors import ScenarioError
from specbench.export import vllm_queries
from specbench.export.prometheus_rules import ExportOrder, prometheus_rule, remarks, rules
from specbench.export.rule_tests import rule_tests
from specbench.export.vllm_queries import break_even
from specbench.export.yaml_text import yaml_text
from specbench.model.live import cited_run
from specbench.report import read_result
from tests.support.goldens import same_text
from tests.support.prometheus import tool

EXAMPLE = read_result(Path("reports/example"))
FULL = PickedExport(what="rules", speculative='{arm="spec"}', baseline='{arm="base"}', watch='{job="specbench"}')
LIMITS = ("tpot_p95=50ms", "ttft_p99=1s", "e2e_p50=0.3s", "alpha=0.65")
ORDERS = {
    "a run, two arms and a watch": order_of(FULL, EXAMPLE),
    "no run": order_of(PickedExport(what="rules", speculative='{job=~"vllm-.*",namespace!="test"}', baseline=None), None),
    "more limits": order_of(replace(FULL, depth=3, limits=LIMITS, baseline=None, watch=None), None),
}


@cache
def promtool() -> Path:
    """The tool, or a skip that says why."""
    found = tool("promtool", "prometheus")
    if isinstance(found, str):
        pytest.skip(f"the rules are not tried: {found}")
    return found


def checked(folder: Path, order: ExportOrder, wrong: tuple[str, str] = ("", "")) -> subprocess.CompletedProcess[str]:
    """What promtool says of the rules, in which something may have been replaced, by their own tests."""
    text = yaml_text(rules(order), remarks(order))
    assert wrong[0] in text
    (folder / "rules.yml").write_text(text.replace(*wrong) if wrong[0] else text)
    (folder / "rules.test.yml").write_text(yaml_text(rule_tests(order, "rules.yml")))
    program = str(promtool())
    subprocess.run([program, "check", "rules", "rules.yml"], cwd=folder, check=True, capture_output=True, timeout=60)
    return subprocess.run(
        [program, "test", "rules", "rules.test.yml"], cwd=folder, check=False, capture_output=True, text=True, timeout=120
    )


@pytest.mark.parametrize("name", ORDERS)
def test_every_alarm_fires_in_its_state_and_no_other(name: str, tmp_path: Path) -> None:
    """And none without traffic, but for targets that are gone; by the tests that are exported beside the rules."""
    order = ORDERS[name]
    done = checked(tmp_path, order)
    tests = rule_tests(order, "rules.yml")["tests"]
    firing = {sample["labels"] for test in tests for sample in test["promql_expr_test"][0]["exp_samples"]}
    alarms = {f'{{alertname="{rule["alert"]}"}}' for rule in rules(order)["groups"][0]["rules"] if "alert" in rule}

    assert done.returncode == 0, done.stdout + done.stderr
    assert firing == alarms
    silent = [test["promql_expr_test"][0]["exp_samples"] for test in tests if "without traffic" in test["name"]]
    assert silent == [[], []]


@pytest.mark.parametrize(
    "wrong",
    [(" unless model_name:specbench_drafts", " and model_name:specbench_drafts"), ("> 0.01 and", "> 0.03 and")],
    ids=["another operator", "another limit"],
)
def test_a_rule_that_is_wrong_fails_its_tests(wrong: tuple[str, str], tmp_path: Path) -> None:
    """So the tests can fail."""
    order = replace(ORDERS["no run"], baseline=None)
    done = checked(tmp_path, order, (wrong[0], wrong[1]))

    assert done.returncode != 0


def test_the_rules_of_the_example_are_these() -> None:
    """In the golden file, with what stands above them; without a run they say which alarms are missing and why."""
    same_text(
        "rules of a run", yaml_text(rules(ORDERS["a run, two arms and a watch"]), remarks(ORDERS["a run, two arms and a watch"]))
    )
    same_text("remarks without a run", *remarks(ORDERS["no run"]))


def test_no_rule_makes_up_a_value_where_there_is_none() -> None:
    """Nothing stands for missing traffic, and no quantile is interpolated."""
    for order in ORDERS.values():
        text = yaml_text(rules(order))
        assert [word for word in ("vector(", "clamp_min", "histogram_quantile", "increase(") if word in text] == []


def test_the_operators_object_holds_the_same_rules() -> None:
    """PrometheusRule, with its name."""
    order = ORDERS["no run"]
    made = yaml.safe_load(yaml_text(prometheus_rule(order, "code")))

    assert (made["apiVersion"], made["kind"], made["metadata"]) == (
        "monitoring.coreos.com/v1",
        "PrometheusRule",
        {"name": "code"},
    )
    assert made["spec"] == rules(order)


def test_a_limit_must_be_an_edge() -> None:
    """Of vLLM's own or of the engine's; both neighbours are named."""
    with pytest.raises(ScenarioError, match="25ms or 50ms"):
        order_of(replace(FULL, limits=("tpot_p99=40ms",)), None)
    with pytest.raises(ScenarioError, match="80000ms"):
        order_of(replace(FULL, limits=("tpot_p99=90s",)), None)
    own = order_of(replace(FULL, limits=("tpot_p99=40ms",), buckets='{"inter_token_latency": [0.02, 0.04]}'), None)
    assert [limit.edge_s for limit in own.limits] == [0.04]
    for wrong in (
        "{",
        "[1]",
        "{}",
        '{"inter_token_latency": "x"}',
        '{"inter_token_latency": [0, 1]}',
        '{"inter_token_latency": []}',
    ):
        with pytest.raises(ScenarioError):
            order_of(replace(FULL, buckets=wrong), None)


def test_the_edges_are_those_of_vllm() -> None:
    """As the embedded engine has them."""
    assert vllm_queries.TOKEN_S == histograms.TOKEN_S
    assert vllm_queries.FIRST_TOKEN_S == histograms.FIRST_TOKEN_S
    assert vllm_queries.REQUEST_S == histograms.REQUEST_S


def test_break_even_is_linear_between_loads() -> None:
    """One, two and three loads."""
    loads = tuple(
        cited_run.TestedLoad(batch=b, step_ratio=r, tokens_per_step=None) for b, r in ((1.0, 1.5), (5.0, 2.5), (9.0, 4.5))
    )

    assert break_even(loads[:1], "b") == "(1.5 + 0 * b) and b <= 1.05"
    assert break_even(loads, "b") == "(1.5 + 0.25 * clamp(b - 1, 0, 4) + 0.5 * clamp(b - 5, 0, 4)) and b <= 9.45"
