"""`specbench compare`: exit codes, the order of its arguments, and what stays out of gates."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from specbench.cli.main import app
from specbench.errors import DataError
from specbench.report.formats.result_json import result_json
from tests.support.imported import vllm_result
from tests.support.results import capped, promote

FILES = Path("tests/golden/imports")
BASE, SPEC = (str(FILES / f"vllm-bench-serve-0.32.0-{arm}.json") for arm in ("baseline", "speculative"))


def compare(*words: str) -> Result:
    """The finished command."""
    return CliRunner().invoke(app, ["compare", *words])


def written(folder: Path, **fields: object) -> str:
    """A vLLM result in that folder."""
    folder.mkdir(exist_ok=True)
    file = folder / "result.json"  # a name of ours too
    file.write_text(json.dumps(vllm_result(**fields)))
    return str(file)


def test_without_gate_hold_is_done(tmp_path: Path) -> None:
    """0; with --gate 10."""
    assert compare(BASE, SPEC).exit_code == 0
    assert compare(BASE, SPEC, "--gate").exit_code == 10


def test_invalid_is_30_with_and_without_gate(tmp_path: Path) -> None:
    """Two models."""
    one, two = written(tmp_path / "a"), written(tmp_path / "b", model_id="other")

    assert compare(one, two).exit_code == 30
    assert compare(one, two, "--gate").exit_code == 30


def test_rollback_is_20_at_a_gate(tmp_path: Path) -> None:
    """Forty good requests beside forty that failed."""
    many = {"num_prompts": 40, "input_lens": [10] * 40, "output_lens": [11] * 40, "ttfts": [0.1] * 40, "itls": [[0.02] * 10] * 40}
    good = written(tmp_path / "a", **many, errors=[""] * 40)
    bad = written(tmp_path / "b", **many, errors=["refused"] * 40)

    assert compare(good, bad, "--gate").exit_code == 20
    assert compare(good, bad).exit_code == 0


def test_exchanged_arms_are_told_with_the_right_command() -> None:
    """The baseline's file drafted and the other did not."""
    done = compare(SPEC, BASE)

    assert isinstance(done.exception, DataError)
    assert f"specbench compare {BASE} {SPEC}" in str(done.exception)


def test_two_tools_are_not_compared() -> None:
    """INVALID, 30."""
    assert compare(BASE, str(FILES / "guidellm-0.8.1-baseline-run1.benchmarks.json")).exit_code == 30


def test_runs_of_ours_are_compared_with_each_other_alone(tmp_path: Path) -> None:
    """Folder or result.json; a run beside itself, or beside a file of another tool, is 65."""
    folders = [tmp_path / name for name in ("one", "two")]
    for folder, result in zip(folders, (promote(), capped()), strict=True):
        folder.mkdir()
        (folder / "result.json").write_bytes(result_json(result))

    assert isinstance(compare(str(folders[0]), str(folders[0]), "--gate").exception, DataError)
    assert compare(str(folders[0]), str(folders[1] / "result.json"), "--gate").exit_code == 20
    assert isinstance(compare(str(folders[0]), SPEC).exception, DataError)


def test_an_imported_comparison_passes_no_gate(tmp_path: Path) -> None:
    """Neither `gate` nor `report` nor `serve` takes it for the result of a run."""
    assert compare(BASE, SPEC, "--json", "-o", str(tmp_path / "result.json")).exit_code == 0
    for words in (["gate", str(tmp_path)], ["report", str(tmp_path)], ["gate", str(tmp_path), "--allow-capped"]):
        done = CliRunner().invoke(app, words)
        assert isinstance(done.exception, DataError), done.output
        assert done.exception.exit_code == 65


@pytest.mark.parametrize("share", ["0", "-5%", "200%", "ten", "nan", ""])
def test_a_spread_is_a_share(share: str) -> None:
    """From 1 to 100 %."""
    assert compare(BASE, SPEC, "--between-runs", share).exit_code == 2


@pytest.mark.parametrize("words", [["missing.json", SPEC], [BASE, "missing"], [BASE, "/dev/null"]])
def test_what_is_not_there_is_one_line(words: list[str]) -> None:
    """65, with the path."""
    done = compare(*words)

    assert isinstance(done.exception, DataError)
    assert "\n" not in str(done.exception)
