"""The folder of a watch: what it was told to do, and every period it has read, one line each, so that they can be judged anew.

One watcher at a time: the folder is locked while it is open.
"""

import fcntl
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO

import msgspec

from specbench.errors import DataError
from specbench.files import regular_bytes
from specbench.model.live.live_period import LivePeriod
from specbench.model.live.watch_result import WatchRules
from specbench.store import write_atomically

SETTINGS, PERIODS, LOCK = "watch.json", "periods.jsonl", "watch.lock"


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchSettings:
    """What a watch was told to do: the cited run by its id, the arms as they were named, the length of a period, the rules."""

    speculative: str
    baseline: str | None
    run: str | None
    period_s: float
    rules: WatchRules
    schema_version: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """One period of each arm, and the facts that the endpoint told then (None: not asked, or not told)."""

    speculative: LivePeriod
    baseline: LivePeriod | None = None
    facts: dict[str, str] | None = None


@dataclass(slots=True)
class StateFolder:
    """A watch's folder, locked while the context is open."""

    folder: Path
    settings: WatchSettings
    recorded: list[Recorded] = field(default_factory=list)
    _lock: IO[bytes] | None = None

    def __enter__(self) -> "StateFolder":
        """Takes the folder, and what an earlier watcher of the same run recorded there.

        Raises:
            DataError: Another watcher has it, it is of another run, other arms or windows, or it cannot be written.
        """
        try:
            self._take()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def _take(self) -> None:
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = (self.folder / LOCK).open("ab")
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DataError(f"{self.folder}: another watch uses this folder; give each one its own (--state)") from None
        except OSError as error:
            raise DataError(f"{self.folder}: cannot be written ({error.strerror}); give another folder (--state)") from None
        if (self.folder / SETTINGS).exists():
            self._check(read_settings(self.folder))
            self.recorded = list(read_recorded(self.folder))
            _drop_half_a_line(self.folder / PERIODS)
        write_atomically(self.folder / SETTINGS, msgspec.json.format(msgspec.json.encode(self.settings), indent=2) + b"\n")

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._lock is not None:
            self._lock.close()

    def add(self, one: Recorded) -> None:
        """Records a period, on disk before anything is concluded of it."""
        try:
            with (self.folder / PERIODS).open("ab") as file:
                file.write(msgspec.json.encode(one) + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise DataError(f"{self.folder / PERIODS}: cannot be written ({error.strerror})") from None
        self.recorded.append(one)

    def _check(self, before: WatchSettings) -> None:
        mine = self.settings
        for what, was, now in (
            ("run", before.run, mine.run),
            ("speculative arm", before.speculative, mine.speculative),
            ("baseline", before.baseline, mine.baseline),
            ("window", f"{before.period_s:g} s", f"{mine.period_s:g} s"),
            ("assignment", before.rules.assignment, mine.rules.assignment),
        ):
            if was != now:
                told = f"{was or 'none'}, not {now or 'none'}"
                raise DataError(f"{self.folder}: is the folder of another watch ({what}: {told}); give another one (--state)")


def read_settings(folder: Path) -> WatchSettings:
    """What the watch of this folder was told to do.

    Raises:
        DataError: It is no folder of a watch.
    """
    try:
        return msgspec.json.decode(regular_bytes(folder / SETTINGS), type=WatchSettings)
    except OSError:
        raise DataError(f"{folder}: is no folder of a watch ({SETTINGS} is missing); name what --state made") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise DataError(f"{folder / SETTINGS}: is not what a watch writes; give another folder") from None


def read_recorded(folder: Path) -> Sequence[Recorded]:
    """Every period that was recorded, in order, each once: a copied line is no second window. Half a line at the end, of a watch
    that was killed, is left out.

    Raises:
        DataError: A line is no period.
    """
    path = folder / PERIODS
    try:
        lines = regular_bytes(path).split(b"\n")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None
    found = []
    seen: set[bytes] = set()
    for number, line in enumerate(lines[:-1], start=1):
        if line in seen:
            continue
        seen.add(line)
        try:
            found.append(msgspec.json.decode(line, type=Recorded))
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise DataError(f"{path}, line {number}: is no period of a watch; remove the line") from None
    return found


def _drop_half_a_line(path: Path) -> None:
    try:
        content = regular_bytes(path)
    except FileNotFoundError:
        return
    if content and not content.endswith(b"\n"):
        with path.open("r+b") as file:
            file.truncate(content.rfind(b"\n") + 1)
