"""Files of others before their content is read: whether they end, and are in UTF-8; and files that are replaced as a whole."""

import contextlib
import os
import stat
from pathlib import Path
from typing import IO

from specbench.errors import DataError

_SOME_MB = 1 << 20
_MOST_LINKS = 40  # as many as Linux follows
_BOMS = {b"\xff\xfe\x00\x00": "UTF-32", b"\x00\x00\xfe\xff": "UTF-32", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
# Which of the first four bytes are zero where text of ASCII has another encoding; a shorter file has the beginning of one.
_ZEROS = {(0, 1, 0, 1): "UTF-16", (1, 0, 1, 0): "UTF-16", (0, 1, 1, 1): "UTF-32", (1, 1, 1, 0): "UTF-32"}
_PACKED = {
    b"\x1f\x8b": "gunzip",
    b"PK\x03\x04": "unzip",
    b"BZh": "bunzip2",
    b"\xfd7zXZ": "unxz",
    b"\x28\xb5\x2f\xfd": "unzstd",
    b"7z\xbc\xaf": "7z x",
}


def no_text(content: bytes) -> str | None:
    """Why a file that begins so is no UTF-8 text, and what to do about it; None where it may be some."""
    unpack = next((command for mark, command in _PACKED.items() if content.startswith(mark)), None)
    if unpack is not None:
        return f"is packed; unpack it with {unpack}"
    if content and not content.strip(b"\0"):
        return "holds zeros alone, so what it held is lost; copy it again"
    encoding = next((name for mark, name in _BOMS.items() if content.startswith(mark)), None)
    if encoding is None and content:
        zeros = tuple(int(byte == 0) for byte in content[:4])
        encoding = next((name for place, name in _ZEROS.items() if any(zeros) and place[: len(zeros)] == zeros), None)
    return None if encoding is None else f"is {encoding} text; save it as UTF-8"


def regular_bytes(path: Path) -> bytes:
    """What the file holds.

    Raises:
        FileNotFoundError: It is not there.
        OSError: It cannot be read.
        DataError: It is a pipe, a device or another thing that may never end.
    """
    with regular_file(path) as file:
        return file.read()


def regular_file(path: Path) -> IO[bytes]:
    """The file, open for reading; raises as `regular_bytes` does."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # or else a pipe is waited for
    if stat.S_ISDIR(mode := os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise IsADirectoryError(21, "Is a directory")
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        raise DataError(f"{path}: is a pipe or a device, no file; copy what it holds into one")
    return open(descriptor, "rb", buffering=_SOME_MB)


def replace_whole(file: Path, content: bytes) -> None:
    """The file holds this content as a whole, or what it held before; nothing half is left beside it."""
    beside = file.with_name(file.name + ".new")
    with contextlib.suppress(FileNotFoundError):
        beside.unlink()  # what was left there, or laid there for us to write through
    try:
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as taking:
            taking.write(content)
        beside.replace(file)
    except OSError:
        with contextlib.suppress(OSError):
            beside.unlink()  # half of it on a disk that is full
        raise


def takes_writes(path: Path) -> bool:
    """Whether it is a device or a pipe, or an open file of this process (/proc/self/fd/1) by whatever links."""
    hop = path
    for _ in range(_MOST_LINKS):
        if hop.parent.resolve().is_relative_to("/proc"):
            return True
        if not hop.is_symlink():
            break
        hop = hop.parent / hop.readlink()
    return path.exists() and not path.is_file()
