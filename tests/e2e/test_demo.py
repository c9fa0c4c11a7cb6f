"""`specbench demo` from an installed wheel, in an empty folder without a checkout."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from specbench.cli.demo import written_here
from specbench.errors import DataError

PATIENCE_S = 300.0


def test_the_demonstration_is_the_scenario_of_the_docs(tmp_path: Path) -> None:
    """The very text."""
    written_here(tmp_path)
    assert (tmp_path / "demo.yaml").read_bytes() == Path("scenarios/code.yaml").read_bytes()


def test_another_scenario_of_its_name_is_kept(tmp_path: Path) -> None:
    """The user's own is never overwritten; the demo's own is used again."""
    (tmp_path / "demo.yaml").write_text("name: mine\n")
    with pytest.raises(DataError, match=r"demo\.yaml"):
        written_here(tmp_path)
    (tmp_path / "demo.yaml").unlink()

    assert [str(written_here(tmp_path)) for _ in range(2)] == ["demo.yaml", "demo.yaml"]
    assert (tmp_path / "demo.yaml").read_bytes() == Path("scenarios/code.yaml").read_bytes()


@pytest.mark.slow
@pytest.mark.beside
def test_a_wheel_runs_the_demonstration_in_an_empty_folder(tmp_path: Path) -> None:
    """Everything is in the wheel: it measures, and what an interruption leaves is judged and reported."""
    wheels, site, here = (tmp_path / name for name in ("wheels", "site", "here"))
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", str(wheels), "."], check=True)
    (wheel,) = wheels.glob("*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--target", str(site), str(wheel)], check=True)
    here.mkdir()
    environment = os.environ | {"PYTHONPATH": str(site), "HOME": str(tmp_path)}

    place = [sys.executable, "-c", "import specbench; print(specbench.__file__)"]
    assert str(site) in subprocess.run(place, cwd=here, env=environment, capture_output=True, text=True, check=True).stdout
    command = [sys.executable, "-m", "specbench", "demo", "--out", "run"]
    with subprocess.Popen(
        command, cwd=here, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stderr is not None
        lines = []
        for line in running.stderr:
            lines.append(line)
            if "  2/24 " in line:
                running.send_signal(signal.SIGINT)
        running.wait(PATIENCE_S)

    assert running.returncode == 130, "".join(lines)
    assert sorted(path.name for path in here.iterdir()) == ["demo.yaml", "run"]
    assert {"manifest.json", "result.json", "report.html"} <= {path.name for path in (here / "run").iterdir()}
