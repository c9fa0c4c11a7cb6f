"""A run folder keeps every whole line, whatever happened to the run."""

import dataclasses
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from specbench.errors import DataError
from specbench.model.answers.compared_answers import AnswerComparison, AnswerExample, ComparedAnswers, TokenScores
from specbench.model.records import Manifest, SpeculationCounts
from specbench.model.result import PerArm
from specbench.plan.trials import cells_of
from specbench.store import (
    FORMAT_VERSION,
    Ending,
    RunWriter,
    check_unused,
    facts_sha256,
    read_run,
    stream_run,
    write_atomically,
    write_in_run,
)
from tests.support.records import a_block, a_record
from tests.support.scenarios import code

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


SCORES = TokenScores(tokens=9, surprise_nats=-0.1, rank=0.0, outside=0.0)
EQUAL = ComparedAnswers(
    cell="c1",
    pair=0,
    index=3,
    bin="complete",
    sampling="greedy",
    temperature=0.0,
    concurrency=1,
    by="text",
    equal=True,
    tokens=PerArm(9, 9),
)
DIFFERS = dataclasses.replace(
    EQUAL,
    cell=None,
    pair=None,
    concurrency=None,
    by="token_ids",
    equal=False,
    first_difference=4,
    gap_nats=PerArm(0.0, 1.5),
    widest_gap_nats=PerArm(0.1, 4.0),
    scores=PerArm(SCORES, SCORES),
)
COMPARISON = AnswerComparison(
    compared=(EQUAL, DIFFERS),
    examples=(AnswerExample(cell="c1", index=3, texts=PerArm("a", "b"), probabilities=PerArm(0.5, 0.1)),),
    ruler=0.97,
    unanswerable=(("sampled", "no log probabilities"),),
)


def with_answers(folder: Path, comparison: AnswerComparison = COMPARISON) -> Path:
    """A run folder whose answers were compared."""
    writer = RunWriter(folder, manifest())
    writer.answers(comparison)
    writer.finish(Ending("2026-11-29T10:01:00Z", ()))
    writer.close()
    return folder


def test_compared_answers_are_read_back_equal(tmp_path: Path) -> None:
    """One line a prompt; the examples, how sure the baseline is, and why it cannot be asked stand beside."""
    folder = with_answers(tmp_path / "run")

    assert (folder / "answers.jsonl").read_bytes().count(b"\n") == 2
    assert read_run(folder).answers == COMPARISON


def test_a_run_without_compared_answers_has_none(tmp_path: Path) -> None:
    """As an older version leaves it; one that compared nothing says so by an empty comparison."""
    assert read_run(written(tmp_path / "older")).answers is None
    assert read_run(with_answers(tmp_path / "run", AnswerComparison(compared=()))).answers == AnswerComparison(compared=())


def test_a_record_of_an_older_version_has_no_marks(tmp_path: Path) -> None:
    """What it did not know is empty."""
    folder = written(tmp_path / "run")
    lines = (folder / "requests.jsonl").read_text().splitlines()
    older = [{key: value for key, value in json.loads(line).items() if "scripts" not in key and key != "marks"} for line in lines]
    (folder / "requests.jsonl").write_text("".join(json.dumps(each) + "\n" for each in older))

    assert [(record.marks, record.scripts, record.foreign_scripts) for record in read_run(folder).records] == [((), (), ())] * 2


@pytest.mark.parametrize(
    "fields",
    [
        {"index": -1},
        {"pair": -1},
        {"tokens": {"baseline": -1, "speculative": 2}},
        {"equal": True},
        {"first_difference": None},
        {"first_difference": -2},
        {"gap_nats": {"baseline": 0.0, "speculative": -0.5}},
        {"widest_gap_nats": {"baseline": -1, "speculative": 0.0}},
    ],
    ids=str,
)
def test_answers_that_no_run_writes_are_refused(tmp_path: Path, fields: dict[str, Any]) -> None:
    """Edited lines are named, with their number."""
    folder = with_answers(tmp_path / "run")
    first, second = (folder / "answers.jsonl").read_text().splitlines()
    (folder / "answers.jsonl").write_text(f"{first}\n{json.dumps(json.loads(second) | fields)}\n")

    with pytest.raises(DataError, match=r"answers\.jsonl:2: "):
        read_run(folder)


def test_answers_counted_twice_or_damaged_are_left_out(tmp_path: Path) -> None:
    """A copy, a line with a number that JSON has not, half a line: named, and the rest is read."""
    folder = with_answers(tmp_path / "run")
    first, second = (folder / "answers.jsonl").read_text().splitlines()
    nameless = second.replace("1.5", "NaN")
    (folder / "answers.jsonl").write_text(f"{first}\n{first}\n{nameless}\n{second[:20]}\n")
    evidence = read_run(folder)

    assert evidence.answers is not None
    assert evidence.answers.compared == (EQUAL,)
    assert len(evidence.problems) == 2


def test_answers_are_part_of_the_facts(tmp_path: Path) -> None:
    """A changed line makes other facts."""
    folder = with_answers(tmp_path / "run")
    before = facts_sha256(folder)
    (folder / "answers.jsonl").write_bytes(b"")

    assert facts_sha256(folder) != before


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
    """A pipe, as /dev/stdout may be."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_atomically(pipe, b"one")

        assert os.read(reader, 10) == b"one"
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def test_a_link_stays_and_its_file_is_replaced(tmp_path: Path) -> None:
    """By links to links too; whoever has the old file open still reads it whole."""
    (tmp_path / "results").mkdir()
    file, link, other = tmp_path / "results" / "file", tmp_path / "link", tmp_path / "other"
    file.write_bytes(b"old")
    other.symlink_to(link)
    link.symlink_to(Path("results") / "file")
    with file.open("rb") as before:
        write_atomically(other, b"new")

        assert (before.read(), file.read_bytes()) == (b"old", b"new")
    assert link.is_symlink()
    assert other.is_symlink()
    assert [path.name for path in (tmp_path / "results").iterdir()] == ["file"]


def test_a_link_to_nothing_makes_its_file(tmp_path: Path) -> None:
    """As a plain write would."""
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write_atomically(tmp_path / "link", b"two")

    assert (tmp_path / "file").read_bytes() == b"two"


def test_an_open_file_of_the_process_is_written_on(tmp_path: Path) -> None:
    """What `-o /dev/stdout >> log` asks for: the file keeps what it holds, and its place on the disk."""
    log = tmp_path / "log"
    log.write_bytes(b"before ")
    number = log.stat().st_ino
    with log.open("ab") as standing:
        (tmp_path / "out").symlink_to(f"/proc/self/fd/{standing.fileno()}")
        write_atomically(tmp_path / "out", b"after")

    assert (log.read_bytes(), log.stat().st_ino) == (b"before after", number)


def test_a_folder_cannot_be_written(tmp_path: Path) -> None:
    """One line, and nothing is left beside it."""
    (tmp_path / "folder").mkdir()
    with pytest.raises(DataError, match="folder: cannot be written: Is a directory"):
        write_atomically(tmp_path / "folder", b"x")

    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_a_disk_that_fills_up_is_one_line_and_keeps_what_was_whole(tmp_path: Path) -> None:
    """The system takes a part of a line and refuses the rest: what it took is taken back, and the lines before it are read."""
    script = (
        "import resource, signal, sys; from pathlib import Path; "
        f"from {__name__} import *\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "writer = RunWriter(Path(sys.argv[1]), manifest())\n"
        "writer.request(RECORD)\n"
        "size = (writer.folder / 'requests.jsonl').stat().st_size\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, size + 10))\n"
        "for write in (lambda: writer.request(RECORD), lambda: writer.finish(Ending('2026', ('x' * 9999,)))):\n"
        "    try: write()\n"
        "    except DataError as error: print(error)\n"
    )
    folder = tmp_path / "run"
    said = subprocess.run([sys.executable, "-c", script, str(folder)], capture_output=True, text=True, check=True)

    assert said.stdout == f"{folder}: cannot be written: File too large; what was measured before is kept\n" * 2
    assert sorted(path.name for path in folder.iterdir()) == ["blocks.jsonl", "manifest.json", "requests.jsonl"]
    assert read_run(folder).records == (RECORD,)
    assert read_run(folder).problems == ()


def test_a_name_that_no_folder_can_have_is_one_line(tmp_path: Path) -> None:
    """Too long for the file system, or taken."""
    with pytest.raises(DataError, match="cannot be made: File name too long; give another folder"):
        check_unused(tmp_path / ("x" * 300))
    with pytest.raises(DataError, match="exists already"):
        check_unused(tmp_path)
    check_unused(tmp_path / "new")


def test_a_run_begins_only_where_a_folder_can_be_made(tmp_path: Path) -> None:
    """Below a file, or where the system lets nobody write, no engine is started to lose its log."""
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file" / "run", Path("/proc/self/run")):
        with pytest.raises(DataError, match=re.escape(f"{folder}: cannot be made, as {folder.parent} is no folder")):
            check_unused(folder)


def test_a_run_begins_on_no_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its first engine would die of it, and the run would say that nothing listens."""
    check_unused(tmp_path / "below" / "run")
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=4096))
    with pytest.raises(DataError, match="run: cannot be made, as its disk is full; free some space"):
        check_unused(tmp_path / "run")


def test_records_that_cannot_be_opened_are_one_line(tmp_path: Path) -> None:
    """A folder where a file should be."""
    folder = written(tmp_path / "run")
    (folder / "requests.jsonl").unlink()
    (folder / "requests.jsonl").mkdir()
    with pytest.raises(DataError, match=r"requests\.jsonl: cannot be read: Is a directory"):
        read_run(folder)


def test_streamed_runs_say_what_they_leave_out(tmp_path: Path) -> None:
    """Half a line of each file."""
    folder = written(tmp_path / "run")
    for name in ("requests.jsonl", "blocks.jsonl"):
        with (folder / name).open("ab") as file:
            file.write(b'{"block": "c1/p0')
    said: list[str] = []
    blocks, records = stream_run(folder, said.append)

    assert (blocks, len(list(records))) == ((BLOCK,), 2)
    assert said == ["blocks.jsonl: 1 damaged line was left out", "requests.jsonl: 1 damaged line was left out"]


@pytest.mark.parametrize("name", ["requests.jsonl", "blocks.jsonl"])
def test_a_run_without_one_of_its_files_is_not_streamed(tmp_path: Path, name: str) -> None:
    """Requests without blocks would have neither cell nor arm."""
    folder = written(tmp_path / "run")
    (folder / name).unlink()
    with pytest.raises(DataError, match=f"no {name} in it"):
        stream_run(folder, print)


def test_records_of_before_hidden_tokens_were_told_apart_are_read(tmp_path: Path) -> None:
    """What they do not say is None."""
    folder = written(tmp_path / "run")
    lines = [json.loads(line) for line in (folder / "requests.jsonl").read_bytes().splitlines()]
    older = [{name: value for name, value in line.items() if name not in ("hidden_tokens", "grouping")} for line in lines]
    (folder / "requests.jsonl").write_text("".join(json.dumps(line) + "\n" for line in older))

    read = read_run(folder)

    assert ([record.hidden_tokens for record in read.records], read.problems) == ([None, None], ())
    assert [record.grouping for record in read.records] == [None, None]


def test_a_run_folder_is_its_owners_alone(tmp_path: Path) -> None:
    """Whatever the umask lets others see."""
    before = os.umask(0)
    try:
        folder = written(tmp_path / "run")
    finally:
        os.umask(before)

    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("lost", ["deleted", "moved", "replaced", "one file"])
def test_a_folder_that_vanishes_ends_the_run_and_nothing_claims_to_be_kept(tmp_path: Path, lost: str) -> None:
    """The system goes on taking what is written to a deleted file; the next line of either kind finds out."""
    for kind in ("request", "block", "finish"):
        folder = tmp_path / kind
        writer = RunWriter(folder, manifest())
        writer.request(RECORD)
        if lost == "one file":
            (folder / "requests.jsonl").unlink()
        elif lost == "moved":
            folder.rename(tmp_path / f"{kind}-elsewhere")
        else:
            shutil.rmtree(folder)
        if lost == "replaced":
            RunWriter(folder, manifest()).close()
        if kind == "request" or lost != "one file":
            with pytest.raises(DataError, match="is gone, deleted or moved") as error:
                writer.request(RECORD) if kind == "request" else (
                    writer.block(BLOCK) if kind == "block" or lost == "replaced" else writer.finish(Ending("now", ()))
                )
            assert "is kept" not in str(error.value)
        writer.close()


COPIES: dict[str, dict[str, Any]] = {
    "the same line": {},
    "under another number": {"index": 77},
    "in another block": {"block": "c1/p01/baseline", "index": 77},
}


@pytest.mark.parametrize("copy", COPIES)
def test_a_request_counts_once_and_its_copies_are_named(tmp_path: Path, copy: str) -> None:
    """By its name, or by its moments under another one."""
    folder = written(tmp_path / "run")
    with (folder / "requests.jsonl").open("ab") as file:
        file.write(msgspec.json.encode(dataclasses.replace(RECORD, **COPIES[copy])) + b"\n")
    said: list[str] = []

    evidence = read_run(folder)
    listed = list(stream_run(folder, said.append)[1])

    assert len(evidence.records) == len(listed) == 2
    named = f"requests.jsonl: 1 line is a copy and counted once (request {COPIES[copy].get('index', 0)} of"
    assert evidence.problems[0].startswith(named)
    assert said == list(evidence.problems)


def test_a_block_counts_once(tmp_path: Path) -> None:
    """A file that was put together from two copies of a run."""
    folder = written(tmp_path / "run")
    (folder / "blocks.jsonl").write_bytes((folder / "blocks.jsonl").read_bytes() * 5)

    evidence = read_run(folder)

    assert evidence.blocks == (BLOCK,)
    name = "block c1/p00/baseline"
    assert evidence.problems == (f"blocks.jsonl: 4 lines are copies and counted once ({name}, {name}, {name} and 1 more)",)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"end_ns": -1}, "a time below zero (end_ns is -1)"),
        ({"sent_ns": -1}, "a time below zero (sent_ns is -1)"),
        ({"event_ns": (-5, 1, 2)}, "a time below zero (event_ns is -5)"),
        ({"output_tokens": -3}, "a count below zero (output_tokens is -3)"),
        ({"output_tokens": 10**18}, "a count beyond reason"),
        ({"event_tokens": (1, 10**15, 1)}, "a count beyond reason"),
        ({"event_tokens": (1, 1)}, "3 times of events and 2 counts"),
        ({"step_events": (1, 1)}, "steps of 2 events where there are 3"),
        ({"step_events": (4, -1)}, "steps of 3 events where there are 3"),
        ({"censored": (3,)}, "a censored event that is not there"),
        ({"acceptance": SpeculationCounts(rounds=-1, drafted=4, accepted=3, per_position=None)}, "acceptance.rounds is -1"),
    ],
)
def test_what_no_run_writes_is_refused_with_its_line(tmp_path: Path, changed: dict[str, Any], said: str) -> None:
    """Times and counts below zero or beyond reason, and lists that do not belong together."""
    folder = written(tmp_path / "run")
    with (folder / "requests.jsonl").open("ab") as file:
        file.write(msgspec.json.encode(dataclasses.replace(RECORD, index=9, **changed)) + b"\n")

    for read in (read_run, lambda folder: list(stream_run(folder, lambda line: None)[1])):
        with pytest.raises(DataError) as error:
            read(folder)
        assert str(error.value).startswith(f"{folder}/requests.jsonl:3: ")
        assert said in str(error.value)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["manifest.json", "requests.jsonl", "blocks.jsonl", "finished.json"])
def test_a_pipe_or_a_device_is_no_fact(tmp_path: Path, name: str) -> None:
    """It would be waited for, or never end."""
    folder = written(tmp_path / "run")
    for special in ("pipe", "device"):
        (folder / name).unlink()
        os.mkfifo(folder / name) if special == "pipe" else (folder / name).symlink_to("/dev/zero")

        with pytest.raises(DataError, match=f"{name}: is a pipe or a device, no file"):
            read_run(folder)


def test_nothing_beside_a_run_folder_is_written(tmp_path: Path) -> None:
    """A link or a pipe of the result's name is replaced itself, and so is one that lies where its beginning would."""
    victim = tmp_path / "victim"
    victim.write_bytes(b"mine")
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "result.json").symlink_to(victim)
    (folder / "result.json.new").symlink_to(victim)
    os.mkfifo(folder / "report.html")

    write_in_run(folder / "result.json", b"one")
    write_in_run(folder / "report.html", b"two")

    assert victim.read_bytes() == b"mine"
    assert (folder / "result.json").read_bytes() == b"one"
    assert not (folder / "result.json").is_symlink()
    assert (folder / "report.html").read_bytes() == b"two"


def test_facts_have_one_sum_that_every_file_is_in(tmp_path: Path) -> None:
    """One byte more in any of them, or one of them gone, is another sum."""
    folder = written(tmp_path / "run")
    sums = {facts_sha256(folder)}
    for name in ("manifest.json", "requests.jsonl", "blocks.jsonl", "finished.json"):
        with (folder / name).open("ab") as file:
            file.write(b" ")
        sums.add(facts_sha256(folder))
    (folder / "finished.json").unlink()
    sums.add(facts_sha256(folder))

    assert len(sums) == 6
