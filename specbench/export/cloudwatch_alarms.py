"""CloudWatch alarms and saved queries over the lines of `watch --format emf`, as Terraform JSON."""

from typing import Any

from specbench.explain.live import exported_lines as lines
from specbench.report.live.window_objects import NAMESPACE

PERIOD_S = 300  # a window of `watch`
TPOT_PERIODS, ALPHA_PERIODS = 2, 3


def cloudwatch(tpot_ms: float, least_alpha: float) -> dict[str, Any]:
    """The file as plain values. Alarms have no dimensions, as the lines of the speculative arm alone have that set."""
    tpot, alpha = lines.TPOT_ALARM.format(limit=tpot_ms), lines.ALPHA_ALARM.format(limit=least_alpha)
    alarms = {
        "specbench_tpot_p99": _alarm("TPOT_P99", "Maximum", "GreaterThanThreshold", tpot_ms, TPOT_PERIODS, tpot),
        "specbench_alpha": _alarm("acceptance_rate", "Average", "LessThanThreshold", least_alpha, ALPHA_PERIODS, alpha),
    }
    saved = {
        f"specbench_{name}": {
            "name": f"specbench/{name}",
            "log_group_names": ["${var.log_group_name}"],
            "query_string": f"# {lines.QUERIES[name]}\n{query}",
        }
        for name, query in _queries(tpot_ms).items()
    }
    return {
        "terraform": {"required_providers": {"aws": {"source": "hashicorp/aws", "version": ">= 5.0"}}},
        "variable": {
            "log_group_name": {"type": "string", "default": "/specbench/watch"},
            "alarm_actions": {"type": "list(string)", "default": []},
        },
        "resource": {"aws_cloudwatch_metric_alarm": alarms, "aws_cloudwatch_query_definition": saved},
    }


def _alarm(metric: str, statistic: str, comparison: str, threshold: float, periods: int, about: str) -> dict[str, Any]:
    return {
        "alarm_name": f"specbench-{metric}",
        "alarm_description": about,
        "namespace": NAMESPACE,
        "metric_name": metric,
        "statistic": statistic,
        "comparison_operator": comparison,
        "threshold": threshold,
        "period": PERIOD_S,
        "evaluation_periods": periods,
        # A watcher that is gone shows as INSUFFICIENT_DATA; an arm without traffic breaches nothing.
        "treat_missing_data": "missing",
        "alarm_actions": "${var.alarm_actions}",
    }


def _queries(tpot_ms: float) -> dict[str, str]:
    own = 'filter arm = "speculative"'
    return {
        "alpha": f"{own}\n| stats avg(acceptance_rate) as avg_alpha, avg(num_speculative_tokens) as depth by bin(5m)",
        "speed_up": f"{own}\n| stats avg(speedup_ratio) as avg_speedup, count(*) as windows by batch_size, speedup_source"
        "\n| sort batch_size asc",
        "slow": f"fields window_start, TPOT_P99, batch_size, acceptance_rate, state\n| {own} and TPOT_P99 > {tpot_ms:g}"
        "\n| sort window_start desc\n| limit 100",
    }
