"""What a result says of its run: when and how it went, what was decided before it, and both endpoints."""

from dataclasses import dataclass

from specbench.model.data.datasets import Census
from specbench.model.scenario import Design, Length
from specbench.model.shown import TrafficBin
from specbench.model.tuning.tune_values import Confirmation


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInfo:
    """Which run this is the result of; `scenario` is the path of its scenario as it was given, None where not known.

    `flags` are the words of its command line that changed the scenario, but for profile, design and loads.
    `confirms`: the setting or cap that the run tests, None where it tests none.
    """

    id: str
    name: str
    started: str
    finished: str | None
    partial: bool
    profile: str
    seed: int
    labels: dict[str, str]
    scenario: str | None = None
    flags: tuple[str, ...] = ()
    confirms: Confirmation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What was decided before the run: rules, margins, required cells, and the traffic.

    `sha256` is of the scenario file's text, without what the command line changed; two runs of one hash may differ in that.
    `resolved_sha256` is of the scenario as it was run, with all of that and every default; None in results of older versions.
    `sampling` are the settings in words, which requests take in turn; `source` is where the prompts came from, `built_in` says
    that it is a corpus of this program's own; `length` whether answers end by themselves. `design` says whether the run is an
    A/A, or has its arms swapped. `accept_differences` names facts that may differ between the arms, `census` what a dataset held.
    """

    sha256: str
    alpha: float
    success_metric: str
    improve_by: float
    pairs: int
    schedule: str
    looks: int
    required_cells: tuple[str, ...]
    primary_cell: str
    bins: tuple[TrafficBin, ...] = ()
    sampling: tuple[str, ...] = ()
    source: str | None = None
    design: Design = "plain"
    accept_differences: tuple[str, ...] = ()
    built_in: bool = False
    length: Length = "natural"
    resolved_sha256: str | None = None
    census: Census | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointInfo:
    """One arm as the result names it, credentials left out. `slow_by`: the share by which its engine was slowed on request."""

    url: str
    model: str
    engine: str
    engine_version: str | None
    speculation: str | None
    facts: dict[str, str]
    sources: dict[str, str]
    slow_by: float = 0.0
