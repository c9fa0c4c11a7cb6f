"""Endpoints that echo every key: no file, no format, no screen and no process list holds one, in whatever form."""

import os
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest

from specbench.report import FORMATS, write_report
from tests.support.echoing import cores, echoing

pytestmark = [pytest.mark.slow, pytest.mark.beside]

SECRETS = {
    "BASELINE_KEY": "sk-base/line+Key=with&odd%chars-0123456789",
    "SPECULATIVE_KEY": "sk-other\"Key'-abcdefghijklmnop",
    "TENANT_KEY": "tenant~Key.9876543210",
    "PAGE_KEY": "page-Key-5555aaaa6666",
}
PASSWORD = "proxy-Pass:w0rd-77"
PROXY = "http://somebody:proxy-Pass%3Aw0rd-77@127.0.0.1:9"
CONTROLS = [chr(code) for code in (*range(9), 11, 12, *range(14, 32), *range(0x7F, 0xA0), 0x202E, 0x2066, 0x200F)]
SCENARIO = """
name: echo
arms:
  baseline:
    url: {baseline}
    engine: vllm
    model: m
    api_key_env: BASELINE_KEY
    options: {{metrics_api_key_env: PAGE_KEY}}
    extra_body: {{user: "{user}"}}
  speculative:
    url: {speculative}
    engine: vllm
    model: m
    api_key_env: SPECULATIVE_KEY
    header_env: {{X-Tenant: TENANT_KEY}}
    declare: {{revision: "{user}"}}
labels: {{note: "{user}"}}
accept_differences: [user]
workload:
  source: {{corpus: python}}
  bins: [{{name: all, input_tokens: [8, 16], output_tokens: [6, 6]}}]
matrix: {{concurrency: [2], pairs: 2, block: {{min_requests: 8, min_s: 0.4, max_s: 4}}}}
"""


@dataclass(frozen=True, slots=True)
class Seen:
    """A run against two such endpoints: its folder, all that was printed, and all that the process list showed meanwhile."""

    folder: Path
    printed: str
    listed: str


def specbench(*words: str) -> str:
    """All that the command prints."""
    said = subprocess.run(
        [sys.executable, "-m", "specbench", *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **SECRETS, "HTTP_PROXY": PROXY},
    )
    assert "Traceback" not in said.stderr
    return said.stdout + said.stderr


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """The run, its reports in every format, the probe and the doctor of each endpoint."""
    base = tmp_path_factory.mktemp("echo")
    known = [*SECRETS.values(), PASSWORD]
    folder = base / "run"
    listed: list[str] = []
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.1):
            for entry in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    listed.append(entry.read_bytes().decode(errors="replace"))
                except OSError:
                    continue

    looking = threading.Thread(target=look)
    looking.start()
    try:
        with echoing(known) as baseline, echoing(known) as speculative:
            scenario = base / "echo.yaml"
            scenario.write_text(SCENARIO.format(baseline=baseline, speculative=speculative, user=SECRETS["TENANT_KEY"]))
            printed = [specbench("run", str(scenario), "--profile", "smoke", "--out", str(folder))]
        # These are told one key, and know of no other.
        with echoing([SECRETS["BASELINE_KEY"], PASSWORD]) as one:
            asked = (one, "--model", "m", "--api-key-env", "BASELINE_KEY")
            printed += [specbench("probe", *asked, "--requests", "9"), specbench("doctor", *asked)]
        made = [write_report(folder, format, Path("-")) for format in FORMATS]
        printed += [one.decode() for one in made if isinstance(one, bytes)]
        for table in ("csv", "parquet"):
            write_report(folder, table, None)
        printed += [specbench("analyze", str(folder)), specbench("gate", str(folder))]
    finally:
        over.set()
        looking.join()
    assert (folder / "result.json").exists(), printed[0]
    return Seen(folder, "\n".join(printed), "\n".join(dict.fromkeys(listed)))


def test_no_secret_stands_anywhere(seen: Seen) -> None:
    """Keys of both arms, of headers and metrics, and a proxy's password: in files, on the screen, in the process list."""
    files = {str(path): path.read_bytes().decode("latin-1") for path in seen.folder.rglob("*") if path.is_file()}
    assert len(files) >= 8
    texts = {**files, "printed": seen.printed, "process list": seen.listed}
    secrets = {**SECRETS, "the proxy's password": PASSWORD}
    found = [
        (where, name, form)
        for where, text in texts.items()
        for name, secret in secrets.items()
        for form, core in cores(secret).items()
        if core in text
    ]
    assert found == []


def test_no_half_of_a_secret_is_left_by_a_cut(seen: Seen) -> None:
    """An excerpt ends somewhere, and a key that it cuts in two is a key as well: not eight characters of one stand anywhere."""
    for path in (seen.folder / "requests.jsonl", seen.folder / "manifest.json", seen.folder / "result.json"):
        text = path.read_text()
        for secret in (*SECRETS.values(), PASSWORD):
            assert [secret[at : at + 8] for at in range(len(secret) - 7) if secret[at : at + 8] in text] == []


def test_the_failures_are_there_without_the_keys(seen: Seen) -> None:
    """What the server said beside its secrets is kept: the reason of a failure is no use without."""
    assert "****" in (seen.folder / "requests.jsonl").read_text()
    assert "HTTP 429" in (seen.folder / "requests.jsonl").read_text()


def test_no_control_character_and_no_command_reaches_a_terminal(seen: Seen) -> None:
    """Neither in what was printed nor in a file that somebody shows with `cat`; no forged line is one of its own."""
    shown = [seen.printed, *(path.read_text() for path in seen.folder.rglob("*") if path.suffix in (".json", ".jsonl", ".csv"))]
    for text in shown:
        assert [one for one in CONTROLS if one in text] == []
    told = [line for line in seen.printed.splitlines() if line.lstrip().startswith("::")]
    assert all(line.startswith(("::error title=", "::warning title=", "::notice title=")) for line in told)
    assert not any("forged" in line.partition("::error::")[2] for line in told)


def test_no_cell_of_a_table_is_a_formula(seen: Seen) -> None:
    """Reasons and finish reasons are a server's words."""
    rows = (seen.folder / "tables" / "requests.csv").read_text().splitlines()
    assert len(rows) > 10
    assert [cell for row in rows for cell in row.split(",") if cell.startswith(("=", "@", "+"))] == []


def test_the_folder_is_its_owners_alone(seen: Seen) -> None:
    """Prompts and addresses are nobody else's business."""
    assert seen.folder.stat().st_mode & 0o777 == 0o700
