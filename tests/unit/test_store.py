"""A run folder keeps every whole line, whatever happened to the run."""

import dataclasses
import os
from pathlib import Path

import pytest

from specbench.errors import DataError
from specbench.model.seen import Manifest
from specbench.plan import cells_of
from specbench.store import FORMAT_VERSION, Ending, RunWriter, read_run, write_atomically
from tests.support.records import a_block, a_record
from tests.unit.test_plan import code

RECORD = a_record([0.1, 0.2, 0.3], block="c1/p00/baseline", sent_ms=0.001)
BLOCK = dataclasses.replace(a_block(name="c1/p00/baseline", window_ms=(0.0, 1.0)), cell="c1", concurrency=1)


def manifest(version: int = FORMAT_VERSION) -> Manifest:
    """The manifest of a run of code.yaml."""
    scenario = code(("matrix.traffic_share", "{1: 0.5, 4: 0.5}"))
    return Manifest(
        format_version=version,
        run_id="r",
        tool_version="0",
        python="3",
        platform="p",
        started="2026-11-29T10:00:00Z",
        scenario=scenario,
        cells=cells_of(scenario),
        endpoints=(),
        notes=(),
    )


def written(folder: Path, finished: bool = True) -> Path:
    """A run folder with two records and a block."""
    writer = RunWriter(folder, manifest())
    writer.request(RECORD)
    writer.request(dataclasses.replace(RECORD, index=1, outcome="stalled", reason="no token for 2 s"))
    writer.block(BLOCK)
    if finished:
        writer.finish(Ending("2026-11-29T10:01:00Z", ()))
    writer.close()
    return folder


def test_what_was_written_is_read_back_equal(tmp_path: Path) -> None:
    """Manifest, records and blocks survive the disk unchanged, the scenario with them."""
    evidence = read_run(written(tmp_path / "run"))

    assert evidence.manifest == manifest()
    assert [record.outcome for record in evidence.records] == ["ok", "stalled"]
    assert evidence.records[0] == RECORD
    assert evidence.blocks == (BLOCK,)
    assert evidence.finished == "2026-11-29T10:01:00Z"
    assert evidence.problems == ()


def test_a_killed_run_keeps_its_whole_lines_and_says_what_is_missing(tmp_path: Path) -> None:
    """Half a last line is left out and counted."""
    folder = written(tmp_path / "run", finished=False)
    with (folder / "requests.jsonl").open("ab") as file:
        file.write(b'{"block": "c1/p0')

    evidence = read_run(folder)

    assert len(evidence.records) == 2
    assert evidence.finished is None
    assert evidence.problems == ("requests.jsonl: 1 damaged line was left out",)


def test_a_folder_is_never_written_over(tmp_path: Path) -> None:
    """A second run needs a second folder."""
    written(tmp_path / "run")

    with pytest.raises(DataError, match="exists already; give another folder with --out"):
        RunWriter(tmp_path / "run", manifest())


def test_another_format_version_is_refused(tmp_path: Path) -> None:
    """A run of an unknown format is not guessed at."""
    writer = RunWriter(tmp_path / "run", manifest(version=99))
    writer.close()

    with pytest.raises(DataError, match="format version 99; this specbench reads 1"):
        read_run(tmp_path / "run")


@pytest.mark.parametrize("content", [None, b"", b"not json", b'{"format_version": 1}', b"[1]"])
def test_what_is_no_run_folder_is_one_line(tmp_path: Path, content: bytes | None) -> None:
    """A missing or damaged manifest names the file."""
    if content is not None:
        (tmp_path / "manifest.json").write_bytes(content)

    with pytest.raises(DataError) as error:
        read_run(tmp_path)

    assert "manifest.json" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    """No half-written result is ever seen, and nothing is left beside it."""
    write_atomically(tmp_path / "result.json", b"one")
    write_atomically(tmp_path / "result.json", b"two")

    assert (tmp_path / "result.json").read_bytes() == b"two"
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]


def test_what_is_no_file_is_written_to_and_stays_what_it_is(tmp_path: Path) -> None:
    """A pipe, as /dev/stdout may be, or a link."""
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(tmp_path / "file")
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_atomically(pipe, b"one")
        write_atomically(link, b"two")

        assert os.read(reader, 10) == b"one"
    finally:
        os.close(reader)
    assert pipe.is_fifo()
    assert link.is_symlink()
    assert (tmp_path / "file").read_bytes() == b"two"
