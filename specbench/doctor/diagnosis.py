"""What the doctor says: symptoms with remedies, and how it reads as text. Values only; nothing is measured here."""

from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import fill
from typing import Literal

from specbench.explain.numbers import columns

Weight = Literal["unfit", "caution", "note"]
"""unfit: figures would be wrong; caution: some figures need care; note: good to know."""

WIDTH = 80
MARKS: dict[Weight, str] = {"unfit": "✗", "caution": "!", "note": "·"}


@dataclass(frozen=True, slots=True)
class Symptom:
    """One thing that was seen, and what to do about it, each in one sentence; `remedy` is empty where nothing need be done."""

    id: str
    weight: Weight
    seen: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Accuracy:
    """One figure as the client reported it (None: it had none) beside what was true, in milliseconds."""

    what: str
    said_ms: float | None
    true_ms: float
    allowed_ms: float

    @property
    def ok(self) -> bool:
        """Whether the client was within the budget."""
        return self.said_ms is not None and abs(self.said_ms - self.true_ms) <= self.allowed_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadLevel:
    """One load at which the client was held to the truth.

    `chunks_per_s` is what the endpoint really sent. `complaints` is why the generator itself says that it was late.
    `foreign_cpu` is the share of the machine that other programs used meanwhile, None where it is not known.
    """

    streams: int
    rate: int
    chunks_per_s: float
    readings: tuple[Accuracy, ...]
    failed: int
    complaints: tuple[str, ...]
    stamps: tuple[str, ...]
    foreign_cpu: float | None

    @property
    def ok(self) -> bool:
        """Whether every figure was within its budget, every request answered and the generator content."""
        return not self.failed and not self.complaints and all(reading.ok for reading in self.readings)

    @property
    def wrong(self) -> tuple[Accuracy, ...]:
        """The figures beyond their budget."""
        return tuple(reading for reading in self.readings if not reading.ok)


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """All that the doctor has to say of one machine or endpoint.

    `chunks_per_s`: the highest load at which the client was true; None for an endpoint, or where it never was.
    """

    subject: str
    symptoms: tuple[Symptom, ...]
    facts: tuple[tuple[str, str], ...] = ()
    rungs: tuple[LoadLevel, ...] = ()
    chunks_per_s: float | None = None

    @property
    def fit(self) -> bool:
        """Whether what is measured with it will be right."""
        return not any(symptom.weight == "unfit" for symptom in self.symptoms)


def as_text(diagnosis: Diagnosis) -> str:
    """The diagnosis for people: a headline, what was measured, and a line per symptom with its remedy."""
    reach = "" if diagnosis.chunks_per_s is None else f", up to {diagnosis.chunks_per_s:.0f} chunks/s a process"
    headline = f"{diagnosis.subject}: {'fit' if diagnosis.fit else 'NOT FIT'} to measure{reach}"
    return "\n".join([headline, *_facts(diagnosis), *_rungs(diagnosis.rungs), *_symptoms(diagnosis.symptoms)])


def _facts(diagnosis: Diagnosis) -> Iterator[str]:
    if diagnosis.facts:
        facts = ", ".join(f"{name} {value}" for name, value in diagnosis.facts)
        yield fill(facts, width=WIDTH, initial_indent="  ", subsequent_indent="  ", break_long_words=False)


def _rungs(rungs: tuple[LoadLevel, ...]) -> Iterator[str]:
    if rungs:
        yield "  streams x chunks/s in each and chunks/s in all, then reported/true in ms:"
        yield _row("", [f"{reading.what} " for reading in rungs[0].readings])
    for rung in rungs:
        yield _row(f"{rung.streams}x{rung.rate} {rung.chunks_per_s:.0f}", list(map(_pair, rung.readings)))
        if not rung.ok:
            yield "      too slow, detected" if rung.complaints else "      INACCURATE, not detected by the self-check"


def _row(load: str, fields: list[str]) -> str:
    return columns([(load, *fields)], (13, *[-13] * len(fields)), gap="")[0].rstrip()


def _pair(reading: Accuracy) -> str:
    said = "n/a" if reading.said_ms is None else _short(reading.said_ms)
    return f"{said}/{_short(reading.true_ms)}{' ' if reading.ok else '!'}"


def _short(value_ms: float) -> str:
    return f"{value_ms:.{2 if value_ms < 100 else 1 if value_ms < 1000 else 0}f}"


def _symptoms(symptoms: tuple[Symptom, ...]) -> Iterator[str]:
    for symptom in sorted(symptoms, key=lambda one: list(MARKS).index(one.weight)):
        remedy = f" {symptom.remedy}" if symptom.remedy else ""
        yield fill(
            f"{MARKS[symptom.weight]} {symptom.id}: {symptom.seen}{remedy}",
            width=WIDTH,
            initial_indent="  ",
            subsequent_indent="    ",
            break_long_words=False,
            break_on_hyphens=False,
        )
