"""The policy that a router reads: only what may be switched on, and the baseline for everything else."""

import json

import pytest

from specbench.model.result import Result
from specbench.report.formats.policy import policy, policy_of
from tests.support import results

CAP = {
    "bin": None,
    "sampling": None,
    "max_streams": 4.0,
    "max_requests_per_second": None,
    "running_at_cap": 3.6,
    "proposal": True,
}


def test_a_cap_is_proposed_until_it_was_tested() -> None:
    """No router switches it on from `enable`; no bin and no sampling: it would hold for all traffic."""
    policy = policy_of(results.capped())

    assert (policy["default"], policy["enable"], policy["proposed"]) == ("baseline", [], [CAP])


def test_whoever_takes_caps_gets_it_enabled() -> None:
    """With `allow_capped` the cap is one entry, and the baseline serves the rest."""
    policy = policy_of(results.capped(), allow_capped=True)

    assert (policy["default"], policy["enable"], policy["proposed"]) == ("baseline", [CAP], [])


def test_what_every_tested_load_confirms_is_no_proposal() -> None:
    """PROMOTE is enabled, up to the highest load that was tested."""
    policy = policy_of(results.promote())

    assert [(entry["max_streams"], entry["proposal"]) for entry in policy["enable"]] == [(16.0, False)]
    assert policy["proposed"] == []


def test_the_policy_of_slices_lists_the_eligible_ones_alone() -> None:
    """Only slices that may be switched on, each with its own top."""
    result = results.sliced()

    listed = [(entry["bin"], entry["sampling"]) for entry in policy_of(result)["enable"]]

    assert listed == [(part.bin, part.sampling) for part in result.slices if part.verdict in ("PROMOTE", "CAPPED")]
    assert len(listed) < len(result.slices)


@pytest.mark.parametrize("result", [results.hold(), results.rollback(), results.invalid()])
def test_no_other_verdict_enables_anything(result: Result) -> None:
    """Fail closed: without PROMOTE or CAPPED the policy is the baseline for everything."""
    found = policy_of(result, allow_capped=True)
    assert (found["enable"], found["proposed"]) == ([], [])


def test_the_format_is_the_policy_as_json() -> None:
    """`report --format policy` prints it, and so does `/policy.json`."""
    assert json.loads(policy(results.sliced())) == policy_of(results.sliced())
