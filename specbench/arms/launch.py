"""Starts the engine of an arm that has a `launch:` block, waits until it serves, and stops it, however the context ends.

Which command it is was decided by the scenario; what the engine answers is for others to ask.
"""

import contextlib
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import httpx

from specbench.credentials import Secrets, one_line, secrets_in
from specbench.errors import ScenarioError, UnreachableError
from specbench.model.scenario import ArmName, Launch
from specbench.telemetry.http import client_to

HOST = "127.0.0.1"
POLL_S = 0.1
ANSWER_S = 5.0
STOP_S = 20.0
LAST_LINES = 8
LONGEST_LINE = 300
LONGEST_READ = 262_144
_LOG_TAIL = 64_000
_LOG_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class EngineProcess:
    """An engine that specbench started: where it serves, its keeper's process, and the log with the point where it began."""

    url: str
    keeper: "subprocess.Popen[bytes]"
    log: IO[bytes]
    began: int
    secrets: tuple[str, ...]

    def ended(self, within_s: float = 0.0) -> str | None:
        """How the engine ended by itself, in a few words; None while it runs, looked at for so many seconds."""
        return how_ended(self.keeper, within_s)

    def printed(self) -> int:
        """How many bytes the log holds by now, a mark for `lines_since`."""
        return os.fstat(self.log.fileno()).st_size

    def lines_since(self, mark: int) -> Iterator[str] | None:
        """All lines that the engine printed after that mark, read piece by piece; None where the log was cut back meanwhile.

        Of a line longer than `LONGEST_READ` bytes only so many are given.
        """
        size = self.printed()
        return _lines(self.log.fileno(), mark, size) if size >= mark else None

    def last_lines(self) -> tuple[str, ...]:
        """The last lines that the engine printed, without the values of its secrets."""
        size = self.printed()
        start = max(self.began, size - _LOG_TAIL)
        text = os.pread(self.log.fileno(), size - start, start).decode(errors="replace")
        if start > self.began:  # a line of which the beginning is not seen may begin in a key
            text = text.partition("\n")[2]
        held = {name: os.environ.get(name, "").strip() for name in self.secrets}
        for name, value in sorted(held.items(), key=lambda one: -len(one[1])):  # one may begin as another does
            text = text.replace(value, f"${name}") if value else text
        lines = [one_line(line, LONGEST_LINE) for line in secrets_in(held.values()).out_of(text).split("\n")]
        return tuple([line for line in lines if line][-LAST_LINES:])


def how_ended(process: "subprocess.Popen[bytes]", within_s: float = 0.0) -> str | None:
    """How a process ended by itself, in a few words; None while it runs, looked at for so many seconds."""
    try:
        code = process.wait(within_s) if within_s else process.poll()
    except subprocess.TimeoutExpired:
        return None
    return None if code is None else _ending(code)


@contextmanager
def launched(launch: Launch, name: ArmName, log: Path, keys: Collection[str] = ()) -> Iterator[EngineProcess]:
    """The engine, serving; it is gone with everything it started when the context ends, or this process does.

    Args:
        log: Where its output is appended, unless the block names a file of its own.
        keys: Variables that hold what the arm's requests carry, as secret as `secrets` are.

    Raises:
        ScenarioError: the command or a secret is not there, the port is taken, or the log cannot be written.
        UnreachableError: the engine ended, or did not serve in time.
    """
    environment = environment_of(launch, os.environ, name)
    port = _port(launch, name)
    command = [sys.executable if word == "{python}" else word.replace("{port}", str(port)) for word in launch.command]
    if shutil.which(command[0], path=environment.get("PATH")) is None:
        raise ScenarioError(f"arms.{name}.launch: there is no program {command[0]}; install it, or give its path")
    named = tuple(dict.fromkeys((*launch.secrets, *keys)))
    with _log(Path(launch.log) if launch.log else log, launch.log is not None, name) as file:
        began = file.tell()
        try:
            with _kept(command, environment, file) as keeper:
                engine = EngineProcess(f"http://{HOST}:{port}", keeper, file, began, named)
                _wait_until_ready(engine, launch, name)
                yield engine
        finally:
            _hide(file.fileno(), began, secrets_in(environment.get(variable, "") for variable in named))


def environment_of(launch: Launch, environment: Mapping[str, str], name: ArmName) -> dict[str, str]:
    """This process's environment with what the block adds.

    Raises:
        ScenarioError: a variable that `secrets` names is not set.
    """
    missing = [secret for secret in launch.secrets if secret not in environment]
    if missing:
        raise ScenarioError(f"arms.{name}.launch.secrets: the environment variable {missing[0]} is not set; export it first")
    devices = {} if launch.gpu is None else {"CUDA_VISIBLE_DEVICES": launch.gpu}
    return {**environment, **devices, **launch.env}


def _port(launch: Launch, name: ArmName) -> int:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, launch.port or 0))
        except OSError as error:
            raise ScenarioError(
                f"arms.{name}.launch.port: {launch.port} cannot be used ({error.strerror}); leave it out"
            ) from None
        return int(probe.getsockname()[1])


@contextmanager
def _log(path: Path, named: bool, name: ArmName) -> Iterator[IO[bytes]]:
    """The log, open for appending, for nobody else to read; only where the user named it may it be a link to elsewhere."""
    links = 0 if named else os.O_NOFOLLOW
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = open(path, "ab+", buffering=0, opener=lambda name, flags: os.open(name, flags | links, 0o600))  # noqa: SIM115
    except OSError as error:
        raise ScenarioError(f"arms.{name}.launch.log: {path} cannot be written: {error.strerror}") from None
    with file:
        file.seek(0, os.SEEK_END)
        yield file


@contextmanager
def _kept(command: list[str], environment: dict[str, str], log: IO[bytes]) -> Iterator["subprocess.Popen[bytes]"]:
    """The command under a keeper, which ends with it, with its pipe, or with this process."""
    keeper = subprocess.Popen(
        [sys.executable, "-m", "specbench.arms.supervisor", *command],
        stdin=subprocess.PIPE,
        stdout=log,
        stderr=log,
        env=environment,
        start_new_session=True,
    )
    try:
        yield keeper
    finally:
        assert keeper.stdin is not None
        with contextlib.suppress(OSError):
            keeper.stdin.close()
        try:
            keeper.wait(STOP_S)
        except subprocess.TimeoutExpired:
            keeper.kill()
            keeper.wait()


def _wait_until_ready(engine: EngineProcess, launch: Launch, name: ArmName) -> None:
    deadline = time.monotonic() + launch.timeout_s
    url = engine.url + launch.ready
    with client_to(url) as client:
        while True:
            if (ended := engine.ended()) is not None:
                raise UnreachableError(f"arms.{name}: the engine {ended} before it served; {_said(engine)}")
            with contextlib.suppress(httpx.TransportError), client.stream("GET", url, timeout=ANSWER_S) as answer:
                if answer.status_code == httpx.codes.OK:  # its body may not end
                    return
            if time.monotonic() >= deadline:
                raise UnreachableError(
                    f"arms.{name}: {url} did not answer 200 within {launch.timeout_s:g} s (launch.timeout_s); {_said(engine)}"
                )
            time.sleep(POLL_S)


def _hide(file: int, start: int, secrets: Secrets) -> None:
    """Takes the secrets out of what an engine has printed into its log, in place; it has ended and prints no more."""
    fcntl.fcntl(file, fcntl.F_SETFL, fcntl.fcntl(file, fcntl.F_GETFL) & ~os.O_APPEND)  # or else it would be put at the end
    with contextlib.suppress(OSError):  # a log that cannot be written any more is no reason to lose the run
        while piece := os.pread(file, _LOG_PIECE, start):
            whole = piece[: piece.rfind(b"\n") + 1] or piece
            if (clean := secrets.out_of_bytes(whole)) != whole:
                os.pwrite(file, clean, start)
            start += len(whole)


def _lines(file: int, start: int, end: int) -> Iterator[str]:
    """The lines between two places of a file, with no more of it in memory than a piece and a line."""
    begun = b""
    while start < end and (piece := os.pread(file, min(LONGEST_READ, end - start), start)):
        start += len(piece)
        first, *others = piece.split(b"\n")
        whole = [begun + first, *others]
        begun = whole.pop()[:LONGEST_READ]
        yield from (line[:LONGEST_READ].decode(errors="replace").rstrip("\r") for line in whole)
    if begun:
        yield begun.decode(errors="replace").rstrip("\r")


def _said(engine: EngineProcess) -> str:
    lines = engine.last_lines()
    return f"its log ({engine.log.name}) ends: {' | '.join(lines)}" if lines else "it printed nothing"


def _ending(code: int) -> str:
    """A process's exit code in words; a shell's and the keeper's 128 + n is signal n."""
    number = -code if code < 0 else code - 128
    if number > 0:
        with contextlib.suppress(ValueError):
            return f"was ended by {signal.Signals(number).name}"
    return f"exited with code {code}"
