"""The policy that a router reads: only what may be switched on, and the baseline for everything else."""

import json

import pytest

from specbench.model.judged import Result
from specbench.report.policy import policy, policy_of
from tests.support import results


def test_the_policy_of_a_capped_run_has_one_entry_and_the_baseline_for_the_rest() -> None:
    """No bin and no sampling: it holds for all traffic, up to the cap; a cap is a proposal until it was tested."""
    result = results.capped()

    policy = policy_of(result)

    assert policy["default"] == "baseline"
    assert result.enable_range is not None
    assert policy["enable"] == [
        {
            "bin": None,
            "sampling": None,
            "max_streams": result.enable_range.max_concurrency,
            "max_requests_per_second": None,
            "running_at_cap": result.enable_range.running_at_cap,
            "proposal": True,
        }
    ]


def test_the_policy_of_slices_lists_the_eligible_ones_alone() -> None:
    """Only slices that may be switched on, each with its own top."""
    result = results.sliced()

    listed = [(entry["bin"], entry["sampling"]) for entry in policy_of(result)["enable"]]

    assert listed == [(part.bin, part.sampling) for part in result.slices if part.verdict in ("PROMOTE", "CAPPED")]
    assert len(listed) < len(result.slices)


@pytest.mark.parametrize("result", [results.hold(), results.rollback(), results.invalid()])
def test_no_other_verdict_enables_anything(result: Result) -> None:
    """Fail closed: without PROMOTE or CAPPED the policy is the baseline for everything."""
    assert policy_of(result)["enable"] == []


def test_the_format_is_the_policy_as_json() -> None:
    """`report --format policy` and `/policy.json` print it."""
    assert json.loads(policy(results.sliced())) == policy_of(results.sliced())
