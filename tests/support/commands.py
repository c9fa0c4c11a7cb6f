"""`specbench` as a person runs it: a command line in a process of its own."""

import subprocess
import sys
from pathlib import Path

# What a machine that is busy with other work does to a load generator on the same cores; never the program's own fault.
TOO_BUSY = {"merged_events", "read_lag", "send_delay", "client_saturated", "achieved_concurrency", "clock_step"}
QUICK = ("--profile", "smoke", "--answers", "off")  # a short run, without comparing answers
BLOCKS = ["--set", "matrix.pairs=2", "--set", "matrix.block={min_requests: 6, min_s: 0.7, max_s: 6}", "--profile", "smoke"]
SHORT = [*BLOCKS, "--set", "answers.check=off"]  # answers are compared in tests of their own


def specbench(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The finished command."""
    return subprocess.run([sys.executable, "-m", "specbench", *words], capture_output=True, text=True, check=False, cwd=cwd)
