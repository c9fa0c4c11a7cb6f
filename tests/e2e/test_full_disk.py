"""A disk that fills up in the middle of a run: the load ends, whole lines are kept, and the run goes on elsewhere.

Needs root, to mount a file system of four MB in memory; skips without.
"""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.commands import specbench
from tests.support.endpoint import Behaviour, endpoint

pytestmark = [pytest.mark.slow, pytest.mark.beside]
LEFT = 48_000  # bytes: room for the manifest and some blocks


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A folder on a file system of four MB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no right to mount a file system")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_ends_the_load_and_the_run_goes_on_from_a_copy(small: Path, tmp_path: Path) -> None:
    """Exit 65 with a warning before load; every line that is there can be read, and in the end each pair is there once."""
    (small / "other").write_bytes(b"x" * (shutil.disk_usage(small).free - LEFT))
    folder, copy = small / "run", tmp_path / "copy"
    scenario = tmp_path / "scripted.yaml"
    with endpoint(Behaviour()) as baseline, endpoint(Behaviour()) as speculative:
        scenario.write_text(
            "name: scripted\n"
            f"arms: {{baseline: {{url: '{baseline}'}}, speculative: {{url: '{speculative}'}}}}\n"
            "workload:\n"
            "  source: {corpus: python}\n"
            "  bins: [{name: all, input_tokens: [8, 16], output_tokens: [6, 6]}]\n"
            "matrix: {concurrency: [2], pairs: 2, block: {min_requests: 20, min_s: 0.5, max_s: 5}}\n"
        )
        full = specbench("run", str(scenario), "--out", str(folder), "--profile", "smoke")
        kept = {name: (folder / name).read_bytes() for name in ("requests.jsonl", "blocks.jsonl")}
        shutil.copytree(folder, copy)
        resumed = specbench("run", str(scenario), "--profile", "smoke", "--resume", str(copy))

    assert full.returncode == 65, full.stderr
    assert f"{folder}: cannot be written: No space left on device" in full.stderr
    assert f"{folder} will take about" in full.stderr
    assert not (folder / "finished.json").exists()
    for content in kept.values():
        assert all(json.loads(line) for line in content.splitlines())
        assert content.endswith(b"\n") or not content
    assert resumed.returncode in (0, 30), resumed.stderr  # a busy machine may spoil the generator's timing
    result = json.loads((copy / "result.json").read_text())
    assert (result["run"]["partial"], result["cells"][0]["pairs_used"]) == (False, 2)
    assert not [note for note in result["notes"] if "damaged" in note]
