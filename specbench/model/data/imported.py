"""What other load tools measured, under our names: one run of one arm at one load, as its files tell it.

Times are milliseconds whatever the file's unit. Nothing is estimated here; what a file does not tell is None or missing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Pairing = Literal["prompt", "order"]  # by what a request of one run finds its like in another


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """A file that was read, with the sha256 of its bytes."""

    path: str
    sha256: str


@dataclass(frozen=True, slots=True)
class TheirMetric:
    """A quantity of ours that the tool has too: its name there, and in what it differs (a code; None: in nothing)."""

    quantity: str
    theirs: str
    difference: str | None = None


@dataclass(frozen=True, slots=True)
class NotCompared:
    """A figure of the tool that is not compared, and why (a code)."""

    theirs: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedRequest:
    """One request: whether it succeeded, what it asked (`prompt` pairs it), and its times by quantity."""

    ok: bool
    prompt: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    times_ms: Mapping[str, float] = field(default_factory=dict)  # one value a request: ttft, tpot_classic, e2e and others
    gaps_ms: Mapping[str, tuple[float, ...]] = field(default_factory=dict)  # many a request: chunk_gap, itl


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedRun:
    """One run of one arm at one load.

    `summary` has percentiles by metric, for files without values of each request; `values` what is of the whole run.
    `broken_off` is the code of a reason why the run is no whole one. `speculated`: whether the file shows drafted tokens.
    """

    tool: str
    version: str | None
    files: tuple[ImportedFile, ...]
    load: str
    attempted: int | None
    failed: int | None
    requests: tuple[ImportedRequest, ...] = ()
    summary: Mapping[str, float] = field(default_factory=dict)
    values: Mapping[str, float] = field(default_factory=dict)
    metrics: tuple[TheirMetric, ...] = ()
    not_compared: tuple[NotCompared, ...] = ()
    model: str | None = None
    url: str | None = None
    route: str | None = None
    dataset: str | None = None
    seed: str | None = None
    streamed: bool | None = None
    started_s: float | None = None
    broken_off: str | None = None
    speculated: bool | None = None
    pairing: Pairing | None = None
    left_out: int = 0  # requests of a warm-up
    notes: tuple[str, ...] = ()  # codes

    @property
    def succeeded(self) -> int | None:
        """How many requests succeeded; None where the file does not tell."""
        if self.attempted is None or self.failed is None:
            return None
        return self.attempted - self.failed
