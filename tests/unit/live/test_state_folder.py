"""The folder of a watch keeps what was read, for one watcher at a time and one run, and gives the same word again."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from specbench.errors import DataError
from specbench.live.state_folder import PERIODS, Recorded, StateFolder, WatchSettings, read_recorded, read_settings
from specbench.live.watch import conclusion
from specbench.model.live.watch_result import WatchRules
from tests.support.live import period, run

SETTINGS = WatchSettings(
    speculative='{arm="spec"}', baseline=None, run="code-1", period_s=300.0, rules=WatchRules(assignment="random", errors="none")
)


def recorded(windows: int, first: int = 0) -> list[Recorded]:
    """So many windows of both arms, of which the speculative one is slower."""
    return [
        Recorded(speculative=period(n, tpot_s=0.012 + 0.0001 * (n % 3)), baseline=period(n, "baseline"), facts={"model": "m"})
        for n in range(first, first + windows)
    ]


def test_a_restart_changes_no_later_word(tmp_path: Path) -> None:
    """Twenty windows, a watcher that is gone, ten more: judged as thirty at once, and again from the folder."""
    with StateFolder(tmp_path, SETTINGS) as first:
        for one in recorded(20):
            first.add(one)
    with StateFolder(tmp_path, SETTINGS) as second:
        for one in recorded(10, first=20):
            second.add(one)
        live = conclusion(second.recorded, SETTINGS, run())

    again = conclusion(list(read_recorded(tmp_path)), read_settings(tmp_path), run())
    assert live == again == conclusion(recorded(30), SETTINGS, run())
    assert live.state == "ROLLBACK"


def test_half_a_line_of_a_killed_watch_is_dropped(tmp_path: Path) -> None:
    """What was whole stays, and what comes next stands on a line of its own."""
    with StateFolder(tmp_path, SETTINGS) as folder:
        folder.add(recorded(1)[0])
    with (tmp_path / PERIODS).open("ab") as file:
        file.write(b'{"speculative": {"arm"')
    with StateFolder(tmp_path, SETTINGS) as folder:
        assert folder.recorded == recorded(1)
        folder.add(recorded(1, first=1)[0])

    assert list(read_recorded(tmp_path)) == recorded(2)


def test_a_copied_line_is_no_second_window(tmp_path: Path) -> None:
    """Evidence is summed over windows, so that a copy would count twice."""
    (tmp_path / PERIODS).write_bytes(b"".join(2 * (msgspec.json.encode(one) + b"\n") for one in recorded(3)))

    assert list(read_recorded(tmp_path)) == recorded(3)


def test_two_watchers_on_one_folder_are_refused(tmp_path: Path) -> None:
    """The second one ends in one line."""
    with StateFolder(tmp_path, SETTINGS), pytest.raises(DataError, match="another watch"), StateFolder(tmp_path, SETTINGS):
        pass


@pytest.mark.parametrize(
    "other", [{"run": "code-2"}, {"speculative": '{arm="x"}'}, {"baseline": "b"}, {"period_s": 60.0}, {"rules": WatchRules()}]
)
def test_the_folder_of_another_watch_is_refused(tmp_path: Path, other: dict[str, Any]) -> None:
    """Another run, another arm, windows of another length, traffic that was not at random."""
    with StateFolder(tmp_path, SETTINGS):
        pass
    with pytest.raises(DataError, match="of another watch"), StateFolder(tmp_path, replace(SETTINGS, **other)):
        pass


def test_what_is_no_folder_of_a_watch_is_refused(tmp_path: Path) -> None:
    """No settings, settings of something else, a line that is no period."""
    with pytest.raises(DataError):
        read_settings(tmp_path)
    (tmp_path / "watch.json").write_text("[]")
    with pytest.raises(DataError):
        read_settings(tmp_path)
    (tmp_path / PERIODS).write_text("{}\n")
    with pytest.raises(DataError, match="line 1"):
        read_recorded(tmp_path)
