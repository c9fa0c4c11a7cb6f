"""A real Prometheus for tests, unpacked from Debian's package into a folder; no service is installed."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import httpx

PATIENCE_S = 60.0
UNPACKED = Path(os.environ.get("SPECBENCH_TEST_TOOLS", Path(tempfile.gettempdir()) / "specbench-test-tools"))


@cache
def tool(name: str, package: str) -> Path | str:
    """The program, found on the path or unpacked; or why it cannot be had, as one line."""
    if found := shutil.which(name):
        return Path(found)
    program = UNPACKED / package / "usr" / "bin" / name
    if program.exists():
        return program
    if shutil.which("apt-get") is None or shutil.which("dpkg") is None:
        return f"{name} is not here, and apt-get or dpkg neither"
    with tempfile.TemporaryDirectory() as folder:
        try:
            subprocess.run(["apt-get", "download", package], cwd=folder, check=True, capture_output=True, timeout=120)
            UNPACKED.mkdir(parents=True, exist_ok=True)
            fetched = next(Path(folder).glob("*.deb"))
            subprocess.run(["dpkg", "-x", str(fetched), str(UNPACKED / package)], check=True, capture_output=True, timeout=120)
        except (subprocess.SubprocessError, StopIteration, OSError):
            return f"{name} is not here, and apt-get download {package} does not bring it"
    return program if program.exists() else f"the package {package} holds no {name}"


@contextmanager
def prometheus(program: Path, targets: Mapping[str, str], folder: Path, every_s: float = 0.5) -> Iterator[str]:
    """The URL of a server that scrapes these engines (arm to URL), once it has samples of each."""
    jobs = "".join(
        f"      - {{targets: ['{url.removeprefix('http://')}'], labels: {{arm: {arm}}}}}\n" for arm, url in targets.items()
    )
    ms = round(1000 * every_s)
    config = f"global: {{scrape_interval: {ms}ms, scrape_timeout: {ms}ms}}\n"
    (folder / "prometheus.yml").write_text(f"{config}scrape_configs:\n  - job_name: vllm\n    static_configs:\n{jobs}")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with (folder / "prometheus.log").open("wb") as log:
        process = subprocess.Popen(
            [
                str(program),
                f"--config.file={folder / 'prometheus.yml'}",
                f"--storage.tsdb.path={folder / 'data'}",
                f"--web.listen-address=127.0.0.1:{port}",
            ],
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            url = f"http://127.0.0.1:{port}"
            _wait_for_samples(url, len(targets))
            yield url
        finally:
            process.terminate()
            process.wait()


def _wait_for_samples(url: str, targets: int) -> None:
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        try:
            told = httpx.get(f"{url}/api/v1/query", params={"query": "count(up == 1)"}, trust_env=False).json()
            if told["data"]["result"] and float(told["data"]["result"][0]["value"][1]) >= targets:
                return
        except (httpx.HTTPError, ValueError, KeyError):
            pass
        time.sleep(0.2)
    raise AssertionError(f"{url} has no samples of its targets")
