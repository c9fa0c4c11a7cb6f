"""The streams of a block wait for its start and its end."""

import subprocess
import sys

RACE = """
import time
import gevent
from gevent.event import Event
from specbench.load.streams import wait_for

event, ended = Event(), []

def looks_now_and_then():
    wait_for(event, 0.02)
    ended.append("timed")

def starts_it():
    gevent.sleep(0.01)
    event.set()
    wait_for(event)
    ended.append("starter")

streams = [gevent.spawn(looks_now_and_then), gevent.spawn(starts_it)]
gevent.sleep(0.001)
time.sleep(0.05)  # both timers are due in one turn of the loop
gevent.joinall(streams, timeout=5)
print(*ended)
"""


def test_who_sets_an_event_never_waits_for_it() -> None:
    """Not even where another waiter's time is up in the same turn: gevent would then forget to wake it, and the run hangs."""
    ran = subprocess.run([sys.executable, "-c", RACE], capture_output=True, text=True, check=True, timeout=60)

    assert ran.stdout.split() == ["starter", "timed"]
