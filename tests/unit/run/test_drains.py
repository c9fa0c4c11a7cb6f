"""A block waits as long as a request may take, and less once its arm was seen to leave requests hanging."""

from dataclasses import replace

import pytest

from specbench.model.records import LoadFacts, Outcome, RequestRecord
from specbench.run.drains import Drains
from specbench.units import ns_of_s
from tests.support.evidence import HEALTH
from tests.support.records import a_record

LOAD = LoadFacts(window_open_ns=ns_of_s(5), window_close_ns=ns_of_s(25), short=False, end_reason="complete", health=HEALTH)


def ended(outcome: Outcome, sent_s: float, took_s: float) -> RequestRecord:
    """A request that was sent at this moment and ended so long after."""
    return replace(a_record(outcome=outcome), sent_ns=ns_of_s(sent_s), end_ns=ns_of_s(took_s))


@pytest.mark.parametrize("outcome", ["timeout_first_token", "stalled", "timeout_total", "unanswered"])
@pytest.mark.parametrize(("slowest_s", "drain_s"), [(1.0, 10.0), (4.0, 16.0)])
def test_an_arm_that_kept_a_block_waiting_is_waited_for_less(outcome: Outcome, slowest_s: float, drain_s: float) -> None:
    """Ten seconds, or four times its slowest answer; the other arm is waited for as before."""
    drains = Drains()
    drains.note("speculative", LOAD, [ended("ok", 6, slowest_s), ended("ok", 7, 0.5), ended(outcome, 20, 90)])

    assert (drains.shorter_s("speculative"), drains.shorter_s("baseline")) == (drain_s, None)


@pytest.mark.parametrize(
    "record",
    [
        ended("ok", 20, 90),  # slow, and answered
        ended("http_error", 20, 90),
        ended("cut", 26, 90),  # sent after the window
        ended("timeout_first_token", 4, 90),  # before it
        ended("stalled", 6, 18),  # over before it closed
    ],
)
def test_what_kept_no_block_waiting_changes_nothing(record: RequestRecord) -> None:
    """Every request of the next block is waited for to its own end."""
    drains = Drains()
    drains.note("baseline", LOAD, [record])

    assert drains.shorter_s("baseline") is None
