"""What the process and its machine did while a window was open."""

import time

from specbench.load.machine import ResourceMonitor, ResourceUsage, machine_busy_s
from specbench.units import ns_of_ms


def test_a_window_that_never_opened_has_no_figures() -> None:
    """None, and no nought."""
    watch = ResourceMonitor()
    watch.woke(ns_of_ms(5))

    assert watch.usage() == ResourceUsage(None, None, None)


def test_the_lag_is_that_of_the_window_alone() -> None:
    """Sleeps that ended before it opened or after it closed do not count; of a hundred the second latest is told."""
    watch = ResourceMonitor()
    watch.woke(ns_of_ms(900))
    watch.window_is(True, False)
    for late_ms in range(100, 0, -1):
        watch.woke(ns_of_ms(late_ms))
    watch.window_is(True, True)
    watch.woke(ns_of_ms(900))

    assert watch.usage().loop_lag_ms_p99 == 99.0


def test_a_process_that_computes_uses_its_core_and_one_that_sleeps_does_not() -> None:
    """A share of one core for the process, of all cores for the machine."""
    shares = []
    for busy in (True, False):
        watch = ResourceMonitor()
        watch.window_is(True, False)
        began_ns = time.process_time_ns()
        while busy and time.process_time_ns() - began_ns < ns_of_ms(50):
            pass
        time.sleep(0.05)
        watch.window_is(True, True)
        shares.append(watch.usage())

    computing, sleeping = (one.cpu_share or 0.0 for one in shares)
    assert 0 < sleeping < computing <= 1.05
    if machine_busy_s() is not None:
        assert all(0 <= (one.machine_cpu_share or 0.0) <= 1 for one in shares)
