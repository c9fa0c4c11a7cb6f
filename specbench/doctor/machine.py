"""What the rungs of the ladder say of this machine. Pure but for the facts, which are read from the system."""

import os
import platform
import resource
from collections.abc import Iterable, Iterator
from pathlib import Path

from specbench.doctor.diagnosis import Diagnosis, LoadLevel, Symptom

BUSY_SHARE = 0.25
SPARE_DESCRIPTORS = 64
FEW_STREAMS = 1024


def machine_facts() -> tuple[tuple[str, str], ...]:
    """What the system says of itself, by name."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    return (
        ("system", f"{platform.system()} {platform.release()}"),
        ("cores", cores_here()),
        ("open files", "unlimited" if most == resource.RLIM_INFINITY else str(most)),
    )


def cores_here() -> str:
    """How many cores this process may use, and of how many where those are fewer: by its affinity and its group's quota."""
    machine = os.cpu_count() or 1
    allowed = float(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else machine)
    quota = cpu_quota(_own_groups())
    usable = allowed if quota is None else min(allowed, quota)
    return str(machine) if usable >= machine else f"{usable:g} of {machine}"


def cpu_quota(groups: Iterable[Path]) -> float | None:
    """The smallest quota of these control groups in cores; None where none of them has one.

    Version 2 says `cpu.max` (quota or "max", and period), version 1 `cpu.cfs_quota_us` (-1 for none) and `cpu.cfs_period_us`.
    """
    return min((cores for group in groups if (cores := _quota_of(group)) is not None), default=None)


def _quota_of(group: Path) -> float | None:
    try:
        if (group / "cpu.max").exists():
            quota, period = (group / "cpu.max").read_text().split()
        else:
            quota, period = ((group / f"cpu.cfs_{name}_us").read_text().strip() for name in ("quota", "period"))
        return float(quota) / float(period) if quota not in ("max", "-1") and float(period) > 0 else None
    except (OSError, ValueError):
        return None


def _own_groups() -> Iterator[Path]:
    """The control groups of this process and those that hold them, as far as they can be seen from here."""
    root = Path("/sys/fs/cgroup")
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers in ("", "cpu", "cpu,cpuacct", "cpuacct,cpu"):
            top = root / controllers if controllers else root
            own = top / path.lstrip("/")
            yield from (own, *(parent for parent in own.parents if parent.is_relative_to(top)))


def machine_diagnosis(rungs: tuple[LoadLevel, ...], facts: tuple[tuple[str, str], ...]) -> Diagnosis:
    """Whether the client measures truly here, and up to how many chunks a second."""
    true = [rung for rung in rungs if rung.ok]
    symptoms = (*_reach(rungs), *_stamps(rungs), *_others(rungs), *_descriptors(dict(facts)))
    return Diagnosis(
        subject="this machine",
        symptoms=tuple(symptoms),
        facts=facts,
        rungs=rungs,
        chunks_per_s=max((rung.chunks_per_s for rung in true), default=None),
    )


def _reach(rungs: tuple[LoadLevel, ...]) -> Iterator[Symptom]:
    *lower, last = rungs
    true = [rung for rung in rungs if rung.ok]
    if true:
        best = max(true, key=lambda rung: rung.chunks_per_s)
        beyond = "no limit was found" if last.ok else f"beyond that, {_trouble(last)}"
        yield Symptom(
            "true_up_to",
            "note",
            f"one generator process measures truly up to {best.chunks_per_s:.0f} chunks/s "
            f"({best.streams} streams of {best.rate}); {beyond}.",
            "" if last.ok else "For more, use more processes (--processes) or more machines.",
        )
    else:
        yield Symptom(
            "never_true",
            "unfit",
            f"even at {last.streams} streams of {last.rate} chunks/s {_trouble(last)}.",
            "Stop other programs or use another machine; nothing measured here can be trusted.",
        )
    if lower and not last.ok and not last.complaints and last.wrong:
        yield Symptom(
            "wrong_unnoticed",
            "caution",
            f"at {last.chunks_per_s:.0f} chunks/s figures were beyond the budget and the generator did not notice.",
            "Stay below that, or leave the machine to the load generator alone and run the doctor again.",
        )


def _trouble(rung: LoadLevel) -> str:
    if rung.failed:
        return f"{rung.failed} requests failed"
    if rung.wrong:
        worst = max(rung.wrong, key=lambda one: abs((one.said_ms or 0.0) - one.true_ms) / one.allowed_ms)
        said = "nothing" if worst.said_ms is None else f"{worst.said_ms:.2f} ms"
        return f"{worst.what} is reported as {said} where {worst.true_ms:.2f} ms is true"
    return "; ".join(rung.complaints)


def _stamps(rungs: tuple[LoadLevel, ...]) -> Iterator[Symptom]:
    if any("user" in rung.stamps for rung in rungs):
        yield Symptom(
            "no_kernel_stamps",
            "caution",
            "the system does not stamp data on arrival here, so every delay of the client is in its figures.",
            "Measure from Linux outside a sandbox, or stay well below the reach given.",
        )


def _others(rungs: tuple[LoadLevel, ...]) -> Iterator[Symptom]:
    shares = [rung.foreign_cpu for rung in rungs if rung.foreign_cpu is not None]
    if shares and max(shares) > BUSY_SHARE:
        yield Symptom(
            "busy_machine",
            "caution",
            f"other programs, or other machines on the same host, took up to {max(shares):.0%} of the processors meanwhile.",
            "Stop them and run the doctor again: on a quiet machine the reach is higher.",
        )


def _descriptors(facts: dict[str, str]) -> Iterator[Symptom]:
    most = facts.get("open files", "")
    if most.isdigit() and int(most) < FEW_STREAMS + SPARE_DESCRIPTORS:
        streams = max(0, int(most) - SPARE_DESCRIPTORS)
        yield Symptom(
            "few_descriptors",
            "caution",
            f"at most {most} files may be open in a process, so one process handles about {streams} streams.",
            "Raise the hard limit (ulimit -Hn), or use more processes.",
        )
