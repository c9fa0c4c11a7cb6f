"""A worker's decoding process: starts its reading one, and turns what that reads into records on their way to the master.

What it is told comes over standard input, the secret included; it ends with that input, with its reader, or with the run.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from select import select

from specbench.credentials import Secrets
from specbench.errors import ExitCode
from specbench.load.fleet.ledger import Tally
from specbench.load.fleet.wire import (
    DecodedAnswer,
    Forward,
    Go,
    JoinFleet,
    Quit,
    Records,
    Share,
    ShareClosed,
    ShareDone,
    decode_to_decoder,
    decode_to_reader,
    encode,
    packed_lines,
)
from specbench.load.health import HealthCounter, latest_read_ms
from specbench.load.messages import LENGTH_BYTES, MessageDecoder, framed
from specbench.model.captures import Capture
from specbench.stream.record import RequestSpec, record_and_text
from specbench.telemetry import ENGINES

BATCH_S = 0.1
READ_SIZE = 1 << 18
NO_REQUEST = RequestSpec("", "", 0)  # the parent knows what was asked for, and puts it in


class ShareDecoder:
    """One part of a block being decoded; what is ready goes out in batches."""

    def __init__(self, share: Share, say: Callable[[bytes, bool], None]) -> None:
        self._share = share
        self._say = say
        self._rule = ENGINES[share.block.engine].stream
        self._secrets = Secrets(share.block.secrets)
        self._health = HealthCounter(share.block.spec)
        self._offset_ns = 0
        self._ready: list[DecodedAnswer] = []
        self._reported = Tally()

    def begin(self, go: Go) -> None:
        """The clock of this machine is so far ahead of the master's."""
        self._offset_ns = go.offset_ns

    def add(self, capture: Capture) -> None:
        """One more answer; its moments are put on the master's clock, nothing inside it is."""
        self._health.add(capture)
        record, text = record_and_text(capture, NO_REQUEST, self._rule, self._secrets)
        due_ns = None if record.scheduled_ns is None else record.scheduled_ns - self._offset_ns
        record = replace(record, sent_ns=record.sent_ns - self._offset_ns, scheduled_ns=due_ns)
        texts = self._share.block.texts
        self._ready.append(
            DecodedAnswer(
                record=record, text=text if texts else None, redirected=capture.redirected, lag_ms=latest_read_ms(capture)
            )
        )

    def flush(self) -> None:
        """What is ready is on its way."""
        if self._ready:
            indices = tuple(one.record.index for one in self._ready)
            self._reported = self._reported.plus(indices)
            self._say(encode(Records(serial=self._share.serial, indices=indices, lines=packed_lines(self._ready))), False)
            self._ready.clear()

    def close(self, end: ShareClosed) -> None:
        """The part has ended: its last records, then what it amounts to."""
        self.flush()
        health = self._health.health(end.closed)
        done = ShareDone(
            serial=end.serial, closed=end.closed, health=health, dealt=end.dealt, sent=end.sent, reported=self._reported
        )
        self._say(encode(done), True)


def decode(reader: "subprocess.Popen[bytes]") -> int:
    """The exit code of the worker, once its reader has ended."""
    assert reader.stdin is not None
    assert reader.stdout is not None
    into, out = reader.stdin, reader.stdout.fileno()
    splitter = MessageDecoder()
    share: ShareDecoder | None = None
    ended: Quit | None = None
    flushed_s = time.monotonic()

    def say(payload: bytes, at_once: bool) -> None:
        into.write(framed(Forward(payload=payload, at_once=at_once)))
        into.flush()

    while True:
        readable, _, _ = select([out], [], [], BATCH_S)
        data = os.read(out, READ_SIZE) if readable else None
        if data == b"":
            break
        for packed in splitter.split(data or b""):
            match decode_to_decoder(packed):
                case Share() as begun:
                    share = ShareDecoder(begun, say)
                case Quit() as quit_:
                    ended = quit_
                case _ if share is None:
                    pass
                case Go() as go:
                    share.begin(go)
                case Capture() as capture:
                    share.add(capture)
                case ShareClosed() as end:
                    share.close(end)
        if share is not None and time.monotonic() - flushed_s >= BATCH_S:
            share.flush()
            flushed_s = time.monotonic()
    code = reader.wait()
    if ended is None:
        return code or ExitCode.INTERNAL
    if ended.why:
        sys.stderr.write(f"specbench: {ended.why}\n")
    return ended.exit_code


def _end_with_input(reader: "subprocess.Popen[bytes]") -> None:
    while sys.stdin.buffer.read(1):
        pass
    reader.kill()
    os._exit(ExitCode.PROMOTE)


def main() -> None:
    """Work for one fleet until it is done."""
    for number in (signal.SIGINT, signal.SIGHUP):  # whoever started this process decides what they mean
        signal.signal(number, signal.SIG_IGN)
    length = int.from_bytes(sys.stdin.buffer.read(LENGTH_BYTES), "big")
    join = decode_to_reader(sys.stdin.buffer.read(length))
    assert isinstance(join, JoinFleet)
    reader = subprocess.Popen(
        [sys.executable, "-m", "specbench.load.fleet.reader"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        pipesize=1 << 20,
    )
    assert reader.stdin is not None
    reader.stdin.write(framed(join))
    reader.stdin.flush()
    threading.Thread(target=_end_with_input, args=(reader,), daemon=True).start()
    try:
        code = decode(reader)
    except (BrokenPipeError, ConnectionResetError):
        code = reader.wait() or ExitCode.INTERNAL
    except BaseException:
        reader.kill()
        raise
    sys.stderr.flush()
    os._exit(code)  # the thread above waits for input, and Python would wait for it


if __name__ == "__main__":
    main()
