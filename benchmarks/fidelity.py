"""How truly the client reports what an endpoint sent, and what that costs: errors and CPU per chunk beside their budgets.

    python -m benchmarks.fidelity [--seconds 6] [--repeat 1] [--vllm PATH --tokenizer FOLDER] [--write [--note TEXT]]

Drives `specbench probe`, and vLLM's own client where PATH runs it as `vllm`, against `specbench.engine.reference_endpoint` in
turn. Measures and prints; no test rests on a time of this machine.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.machine import described
from benchmarks.results import write_section

ROOT = Path(__file__).parent.parent
TITLE = "What the client reports and what was sent"
CERTIFICATE, KEY = (ROOT / "tests/support/tls" / name for name in ("localhost.pem", "localhost.key"))
TOKENS = 128
TTFT_MS = 50.0
GAP_POINTS, TTFT_POINTS = ("p50", "p95", "p99"), ("p50", "p95")
RELATIVE, GAP_MS, FIRST_MS = 0.01, 0.1, 0.5
CPU_US, CPU_LEVEL = 75.0, "128x100"
PEER_SHARE = 1 / 3


@dataclass(frozen=True, slots=True)
class Level:
    """So many streams, each with so many chunks a second of so many tokens."""

    streams: int
    rate: int
    tokens_per_chunk: int = 1
    tls: bool = False

    @property
    def name(self) -> str:
        """As tables call it."""
        extras = f" {self.tokens_per_chunk} tokens a chunk" * (self.tokens_per_chunk > 1) + " TLS" * self.tls
        return f"{self.streams}x{self.rate}{extras}"

    def requests(self, seconds: float) -> int:
        """How many requests keep the streams busy for that long; two each at least."""
        one_s = TTFT_MS / 1000 + TOKENS / self.tokens_per_chunk / self.rate
        return max(2 * self.streams, int(self.streams * seconds / one_s))


@dataclass(frozen=True, slots=True)
class Row:
    """What one client said at one level, and what was true."""

    client: str
    level: Level
    gap: dict[str, float]
    ttft: dict[str, float]
    true_gap: dict[str, float]
    true_ttft: dict[str, float]
    cpu_us: float
    chunks_per_s: float

    def errors(self) -> list[tuple[str, float, float, bool]]:
        """(what, reported, true, whether within budget) in milliseconds."""
        gaps = [(f"gap {p}", self.gap[p], self.true_gap[p], GAP_MS) for p in GAP_POINTS]
        firsts = [(f"TTFT {p}", self.ttft[p], self.true_ttft[p], FIRST_MS) for p in TTFT_POINTS]
        return [(what, said, true, abs(said - true) <= max(RELATIVE * true, floor)) for what, said, true, floor in gaps + firsts]


LEVELS = (Level(8, 100), Level(64, 100), Level(128, 100), Level(32, 400), Level(16, 100, tls=True), Level(64, 100, 4))


def main(arguments: list[str] | None = None) -> int:
    """Prints what was measured against the budgets; answers 0 where all of them were met."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--vllm", metavar="PATH", help="a program that is `vllm`; needs --tokenizer")
    parser.add_argument("--tokenizer", metavar="FOLDER", default="")
    parser.add_argument("--note", default="", help="a sentence for that page on what else the machine was doing")
    parser.add_argument("--write", action="store_true", help="write benchmarks/RESULTS.md too")
    asked = parser.parse_args(arguments)
    rows = []
    for _ in range(asked.repeat):
        for level in LEVELS:
            rows.append(measured("specbench", level, asked.seconds, ours(level, asked.seconds)))
            print(line_of(rows[-1]), flush=True)
            if asked.vllm and not level.tls:
                rows.append(measured("vLLM", level, asked.seconds, vllms(asked.vllm, asked.tokenizer, level, asked.seconds)))
                print(line_of(rows[-1]), flush=True)
    verdicts = list(_verdicts(rows))
    print("\n".join(text for text, _ in verdicts))
    if asked.write:
        write_section(TITLE, section(rows, verdicts, asked.note))
    return 0 if all(met for _, met in verdicts) else 1


def ours(level: Level, seconds: float) -> list[str]:
    """The command that probes, but for the URL in third place."""
    program = [sys.executable, "-m", "specbench", "probe", "URL", "--model", "truth", "--engine", "openai"]
    load = ["--concurrency", level.streams, "--requests", level.requests(seconds), "--max-tokens", TOKENS, "--json", "-"]
    return [*program, *map(str, load)]


def vllms(path: str, tokenizer: str, level: Level, seconds: float) -> list[str]:
    """The command of vLLM's own client; it writes its figures to FILE."""
    endpoint = ["--backend", "openai-chat", "--base-url", "URL", "--endpoint", "/v1/chat/completions", "--model", "truth"]
    work = ["--tokenizer", tokenizer, "--dataset-name", "random", "--random-input-len", "50", "--random-output-len", str(TOKENS)]
    load = ["--num-prompts", str(level.requests(seconds)), "--max-concurrency", str(level.streams)]
    told = ["--percentile-metrics", "ttft,itl", "--metric-percentiles", "50,95,99", "--save-result", "--result-filename", "FILE"]
    return [path, "bench", "serve", *endpoint, *work, *load, *told]


def measured(client: str, level: Level, seconds: float, command: list[str]) -> Row:
    """One run of a client: what it said, what was true, and its CPU with all its processes, their start included."""
    with _truth(level) as url, tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "told.json")
        environment = {**os.environ, "SSL_CERT_FILE": str(CERTIFICATE)} if level.tls else dict(os.environ)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [{"URL": url, "FILE": file}.get(word, word) for word in command],
            env=environment, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60 + 20 * seconds,
        )  # fmt: skip
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        gap, ttft = _said(json.loads(done.stdout if client == "specbench" else Path(file).read_text()))
        true = _asked(url)
    chunks = true["gap_ms"]["n"] + true["ttft_ms"]["n"]
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Row(client, level, gap, ttft, true["gap_ms"], true["ttft_ms"], 1e6 * cpu_s / chunks, true["chunks_per_s"])


def _said(told: dict[str, Any]) -> tuple[dict[str, float], dict[str, float]]:
    if "chunk_gap_ms" in told:
        return told["chunk_gap_ms"], told["ttft_ms"]
    gap, ttft = ({p: told[f"{p}_{name}_ms"] for p in GAP_POINTS} for name in ("itl", "ttft"))
    return gap, ttft


def _asked(url: str) -> dict[str, Any]:
    context = None
    if url.startswith("https"):
        import ssl

        context = ssl.create_default_context(cafile=str(CERTIFICATE))
    with urllib.request.urlopen(f"{url}/truth", timeout=10, context=context) as answer:
        told: dict[str, Any] = json.load(answer)
    return told


@contextmanager
def _truth(level: Level) -> Iterator[str]:
    options = ["--ttft-ms", TTFT_MS, "--interval-us", 1e6 / level.rate, "--tokens-per-chunk", level.tokens_per_chunk]
    tls = ["--tls", CERTIFICATE, KEY] if level.tls else []
    command = [sys.executable, "-m", "specbench.engine.reference_endpoint.reference_endpoint", *map(str, options + tls)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as endpoint:
        assert endpoint.stdout is not None
        try:
            yield endpoint.stdout.readline().strip()
        finally:
            endpoint.terminate()


def line_of(row: Row) -> str:
    figures = "  ".join(f"{what} {said:.2f}/{true:.2f}{'' if ok else ' !'}" for what, said, true, ok in row.errors())
    return f"{row.client:<10}{row.level.name:<24}{row.chunks_per_s:7.0f} chunks/s {row.cpu_us:7.1f} us/chunk  {figures}"


def _verdicts(rows: list[Row]) -> Iterator[tuple[str, bool]]:
    """Each budget, and whether it was met."""
    mine = [row for row in rows if row.client == "specbench"]
    missed = [f"{row.level.name} {what}" for row in mine for what, _, _, ok in row.errors() if not ok]
    text = f"gap p50, p95, p99 within 1 % or {GAP_MS} ms, TTFT p50, p95 within 1 % or {FIRST_MS} ms"
    yield f"{text}: {'met' if not missed else 'MISSED at ' + ', '.join(missed)}", not missed
    cpu = max((row.cpu_us for row in mine if row.level.name == CPU_LEVEL), default=0.0)
    yield f"CPU per chunk at {CPU_LEVEL} at most {CPU_US:g} us: {cpu:.1f}, {'met' if cpu <= CPU_US else 'MISSED'}", cpu <= CPU_US
    peers = [row.cpu_us for row in rows if row.client != "specbench" and row.level.name == CPU_LEVEL]
    if peers:
        share = cpu / min(peers)
        yield (
            f"at most a third of vLLM's client there: {share:.2f}, {'met' if share <= PEER_SHARE else 'MISSED'}",
            share <= PEER_SHARE,
        )


def section(rows: list[Row], verdicts: list[tuple[str, bool]], note: str) -> str:
    """Its section of RESULTS.md: what was compared, versions and figures."""
    head = ["client", "level", "chunks/s", "CPU µs/chunk", *(f"gap {p}" for p in GAP_POINTS), *(f"TTFT {p}" for p in TTFT_POINTS)]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for row in rows:
        figures = [f"{said:.2f} / {true:.2f}" for _, said, true, _ in row.errors()]
        cells = [row.client, row.level.name, f"{row.chunks_per_s:.0f}", f"{row.cpu_us:.1f}", *figures]
        lines.append(f"| {' | '.join(cells)} |")
    text = [
        f"`python -m benchmarks.fidelity --write` wrote this section: {described()}. Times are in milliseconds,",
        "reported / true, of the same run; a level is streams x chunks a second in each. CPU counts all processes of a client",
        f"and their start. {note}".rstrip(),
    ]
    notes = [f"- {sentence}" for sentence, _ in verdicts]
    return "\n".join([*text, "", *lines, "", *notes])


if __name__ == "__main__":
    sys.exit(main())
