"""The endpoint that knows what it sent, in a process of its own."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def truth_endpoint(*options: str) -> Iterator[str]:
    """Its URL, while the context is open."""
    command = [sys.executable, "-m", "specbench.engine.yardstick", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()
