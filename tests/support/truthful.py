"""The endpoint that knows what it sent, in a process of its own."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import httpx

from tests.support.script_player import DELIVERED


@contextmanager
def truth_endpoint(*options: str, module: str = "specbench.engine.reference_endpoint.reference_endpoint") -> Iterator[str]:
    """Its URL, while the context is open."""
    command = [sys.executable, "-m", module, *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def scripted_endpoint() -> AbstractContextManager[str]:
    """The URL of one that also answers by the scripts of `scripts.py`."""
    return truth_endpoint(module="tests.support.script_player")


def delivered(url: str) -> Any:
    """How each script went, as `script_player.py` tells it."""
    return httpx.post(f"{url}/v1/chat/completions", json={"model": DELIVERED}, trust_env=False).json()
