"""What a ladder of loads says of a machine, and how it reads."""

import os
from pathlib import Path
from typing import Any

import pytest

from specbench.doctor.accuracy_sweep import best_of_two, load_level_of
from specbench.doctor.diagnosis import Accuracy, Diagnosis, LoadLevel, Symptom, as_text
from specbench.doctor.machine import cores_here, cpu_quota, machine_diagnosis
from specbench.load.machine import ProcessorTime, machine_busy_s

FACTS = (("cores", "8"), ("open files", "20000"))


def _rung(streams: int, said_ms: float = 10.0, **fields: Any) -> LoadLevel:
    values: dict[str, Any] = {
        "streams": streams,
        "rate": 100,
        "chunks_per_s": streams * 100.0,
        "readings": (Accuracy("gap p99", said_ms, 10.0, 0.1), Accuracy("TTFT p95", 50.0, 50.0, 0.5)),
        "failed": 0,
        "complaints": (),
        "stamps": ("kernel",),
        "foreign_cpu": 0.02,
    }
    return LoadLevel(**(values | fields))


def _ids(*rungs: LoadLevel, facts: tuple[tuple[str, str], ...] = FACTS) -> dict[str, str]:
    return {symptom.id: symptom.weight for symptom in machine_diagnosis(rungs, facts).symptoms}


def test_a_machine_is_true_up_to_its_last_true_rung() -> None:
    """8 and 64 streams are right, 128 not: 6,400 chunks a second, and the sentence says what goes wrong beyond."""
    diagnosis = machine_diagnosis((_rung(8), _rung(64), _rung(128, 12.5, complaints=("late",))), FACTS)

    assert (diagnosis.fit, diagnosis.chunks_per_s) == (True, 6400.0)
    assert [symptom.seen for symptom in diagnosis.symptoms] == [
        "one generator process measures truly up to 6400 chunks/s (64 streams of 100); beyond that, gap p99 is reported as "
        "12.50 ms where 10.00 ms is true."
    ]


def test_without_a_true_rung_nothing_measured_here_counts() -> None:
    """No reach, and not fit."""
    diagnosis = machine_diagnosis((_rung(8, 11.0),), FACTS)

    assert (diagnosis.fit, diagnosis.chunks_per_s, [one.id for one in diagnosis.symptoms]) == (False, None, ["never_true"])


@pytest.mark.parametrize(
    ("rungs", "found"),
    [
        ((_rung(8), _rung(64)), {"true_up_to": "note"}),
        ((_rung(8), _rung(64, 11.0)), {"true_up_to": "note", "wrong_unnoticed": "caution"}),
        ((_rung(8), _rung(64, failed=3)), {"true_up_to": "note"}),
        ((_rung(8, stamps=("kernel", "user")),), {"true_up_to": "note", "no_kernel_stamps": "caution"}),
        ((_rung(8, foreign_cpu=0.6),), {"true_up_to": "note", "busy_machine": "caution"}),
        ((_rung(8, foreign_cpu=None),), {"true_up_to": "note"}),
    ],
)
def test_what_else_is_to_be_said(rungs: tuple[LoadLevel, ...], found: dict[str, str]) -> None:
    """Errors that nobody noticed, stamps taken late, other programs."""
    assert _ids(*rungs) == found


@pytest.mark.parametrize(("most", "warned"), [("256", True), ("1087", True), ("1088", False), ("unlimited", False)])
def test_a_low_limit_of_open_files_is_named(most: str, warned: bool) -> None:
    """L-09: below a thousand streams and some files to spare."""
    assert ("few_descriptors" in _ids(_rung(8), facts=(("open files", most),))) is warned


def test_a_figure_is_right_within_its_budget() -> None:
    """One per cent or the floor, whichever is larger; nothing reported is never right."""
    assert [Accuracy("gap p50", said, 50.0, 0.5).ok for said in (50.5, 49.5, 50.6, None)] == [True, True, False, False]


def test_a_rung_sets_two_accounts_side_by_side() -> None:
    """The client's and the endpoint's, each figure with the budget that holds for it."""
    points = {"p50": 10.0, "p95": 10.2, "p99": 30.0}
    told = {
        "chunk_gap_ms": points,
        "ttft_ms": {"p50": 50.3, "p95": 50.9},
        "requests": {"failed": 0},
        "generator": {"reasons": [], "stamps": {"kernel": 8}},
    }
    true = {"chunks_per_s": 800.0, "gap_ms": points | {"p99": 30.25}, "ttft_ms": {"p50": 50.0, "p95": 50.1}}
    rung = load_level_of(8, 100, told, true, None)

    assert [(one.what, one.ok) for one in rung.readings] == [
        ("gap p50", True),
        ("gap p95", True),
        ("gap p99", True),
        ("TTFT p50", True),
        ("TTFT p95", False),
    ]
    assert not rung.ok
    assert load_level_of(8, 100, told | {"chunk_gap_ms": None}, true, None).wrong[0].said_ms is None


def test_a_rung_is_climbed_twice_before_it_counts_as_wrong() -> None:
    """The second try may be true; where none is, the one that other programs disturbed least is told."""
    first, quiet, good = _rung(8, 12.0, foreign_cpu=0.5), _rung(8, 11.0, foreign_cpu=0.1), _rung(8)

    def in_turn(*rungs: LoadLevel) -> LoadLevel:
        turn = iter(rungs)
        return best_of_two(lambda streams, rate: next(turn), 8, 100)

    assert in_turn(good) == good
    assert in_turn(first, good) == good
    assert in_turn(first, quiet) == quiet


def test_processor_time_is_everything_but_idle(tmp_path: Path) -> None:
    """User, nice, system, interrupts and stolen time are busy; idle and waiting for disks are not."""
    stat = tmp_path / "stat"
    stat.write_text("cpu  100 10 50 800 40 1 2 30 7 0\ncpu0 1 2 3 4 5 6 7 8 9 0\n")

    assert machine_busy_s(stat) == ProcessorTime(busy_s=1.93, total_s=10.33)
    assert machine_busy_s(tmp_path / "none") is None


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("cpu  0 0 0 0 0 0 0 0 0 0", ProcessorTime(busy_s=0.0, total_s=0.0)),
        ("cpu  1 2 3", None),
        ("cpu", None),
        ("cpu  a b c d e f g h", None),
        ("", None),
        ("intr 1 2 3 4 5 6 7 8 9", None),
    ],
)
def test_a_sandbox_s_account_of_its_processors_is_no_division(line: str, told: ProcessorTime | None, tmp_path: Path) -> None:
    """N-38: all zeros, short, or another line first."""
    (tmp_path / "stat").write_text(f"{line}\n")
    assert machine_busy_s(tmp_path / "stat") == told


def test_the_headline_has_the_reach() -> None:
    """Up to how many chunks a second, where a rung was true."""
    good, none = machine_diagnosis((_rung(8), _rung(64)), FACTS), machine_diagnosis((_rung(8, 12.0),), FACTS)

    assert as_text(good).splitlines()[0] == "this machine: fit to measure, up to 6400 chunks/s a process"
    assert as_text(none).splitlines()[0] == "this machine: NOT FIT to measure"


def test_a_diagnosis_reads_worst_first() -> None:
    """Headline, facts, a line a rung, and each symptom with its remedy."""
    symptoms = (Symptom("role_first", "note", "It is."), Symptom("held_back", "unfit", "Something collects.", "Turn it off."))
    text = as_text(Diagnosis(subject="http://x", symptoms=symptoms, facts=(("engine", "vllm"),), rungs=(_rung(8, 10.5),)))

    assert text.splitlines() == [
        "http://x: NOT FIT to measure",
        "  engine vllm",
        "  streams x chunks/s in each and chunks/s in all, then reported/true in ms:",
        "                    gap p99     TTFT p95",
        "  8x100 800     10.50/10.00! 50.00/50.00",
        "      INACCURATE, not detected by the self-check",
        "  ✗ held_back: Something collects. Turn it off.",
        "  · role_first: It is.",
    ]


def test_a_diagnosis_reads_at_eighty_columns() -> None:
    """Five figures of a slow machine a line, and a long sentence on several; a URL in it is not broken."""
    readings = tuple(Accuracy(f"TTFT p{point}", 298.41, 1234.5, 1.0) for point in (5, 25, 50, 95, 99))
    rung = LoadLevel(streams=128, rate=100, chunks_per_s=12_745.0, readings=readings, failed=0, complaints=(), stamps=("kernel",),
                foreign_cpu=None)  # fmt: skip
    symptom = Symptom("by_proxy", "caution", "It goes by a proxy. " * 6, "See http://gpu.example:8000/v1/chat/completions there.")
    lines = as_text(Diagnosis(subject="this machine", symptoms=(symptom,), rungs=(rung,))).splitlines()

    assert max(map(len, lines)) <= 80
    assert "http://gpu.example:8000/v1/chat/completions" in "\n".join(lines)
    assert all(line.startswith("    ") for line in lines[-2:])


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({"cpu.max": "150000 100000\n"}, 1.5),
        ({"cpu.max": "max 100000\n"}, None),
        ({"cpu.cfs_quota_us": "200000\n", "cpu.cfs_period_us": "100000\n"}, 2.0),
        ({"cpu.cfs_quota_us": "-1\n", "cpu.cfs_period_us": "100000\n"}, None),
        ({"cpu.max": "\n"}, None),
        ({"cpu.max": "100000 0\n"}, None),
        ({}, None),
    ],
)
def test_a_quota_of_processor_time_is_read_in_both_versions(files: dict[str, str], cores: float | None, tmp_path: Path) -> None:
    """N-38: what is empty, or of another form, is no quota and no division."""
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    assert cpu_quota([tmp_path]) == cores


def test_the_smallest_quota_of_the_groups_around_counts(tmp_path: Path) -> None:
    """A group may give itself four cores in one that has two."""
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "cpu.max").write_text("400000 100000")
    (tmp_path / "cpu.max").write_text("200000 100000")
    assert cpu_quota([inner, tmp_path]) == 2.0


def test_cores_are_those_that_this_process_may_use() -> None:
    """Bound to one of several, it has one."""
    allowed = os.sched_getaffinity(0)
    if len(allowed) < 2:
        pytest.skip("one core")
    try:
        os.sched_setaffinity(0, {min(allowed)})
        assert cores_here().startswith(("1 of ", "0."))
    finally:
        os.sched_setaffinity(0, allowed)
