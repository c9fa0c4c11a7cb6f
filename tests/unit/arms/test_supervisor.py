"""What a command left behind is killed, all of it, and not waited for beyond a limit."""

import os
import signal

import pytest

from specbench.arms import supervisor


@pytest.mark.parametrize("held", [11, 12, 13])
def test_a_process_that_the_kernel_holds_on_to_shields_no_other(monkeypatch: pytest.MonkeyPatch, held: int) -> None:
    """All three are killed before the first is looked after, and the end comes although one of them stays."""
    alive = [11, 12, 13]
    killed: list[int] = []

    def waitpid(pid: int, options: int) -> tuple[int, int]:
        assert options == os.WNOHANG
        assert {11, 12, 13} <= set(killed)
        if pid == held:
            return (0, 0)
        alive.remove(pid)
        return (pid, signal.SIGKILL)

    monkeypatch.setattr(supervisor, "REAP_S", 0.01)
    monkeypatch.setattr(supervisor, "POLL_S", 0.001)
    monkeypatch.setattr(supervisor, "_children", lambda: list(alive))
    monkeypatch.setattr(os, "kill", lambda pid, number: killed.append(pid))
    monkeypatch.setattr(os, "killpg", lambda group, number: None)
    monkeypatch.setattr(os, "waitpid", waitpid)
    supervisor._end_descendants(10)

    assert alive == [held]
