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


def other_encoding(content: bytes) -> str | None:
    """The encoding of text that is none of UTF-8, told by its mark or by the zeros beside its first letters; None for others."""
    marked = next((name for mark, name in _BOMS.items() if content.startswith(mark)), None)
    if marked is not None or 0 not in content[:4]:
        return marked
    return "UTF-32" if content[:4].count(0) > 2 else "UTF-16"


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
