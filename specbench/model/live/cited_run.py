"""The run that let speculation go live, as far as live traffic is held against it."""

from dataclasses import dataclass, field

from specbench.model.result import VerdictWord
from specbench.model.scenario import Guardrail


@dataclass(frozen=True, slots=True, kw_only=True)
class TestedLoad:
    """One load of the run: how many requests an engine ran at once, what a step then cost, and what a step brought."""

    batch: float
    step_ratio: float
    tokens_per_step: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedRun:
    """What a run says of itself that live traffic may part from.

    `loads` in order of their batch; `primary` is the one that had to show the gain. `highest_batch`: the highest tested one, or
    the cap where there is one. `inputs` and `outputs`: the least and most tokens of the tested prompts and answers.
    `ended_s`: Unix time. `demonstration`: built-in prompts or a virtual accelerator. `hosts`: of the baseline, of the speculative
    arm. `p50_p99_ms`: of TPOT, TTFT and E2E, the smaller p50 and the larger p99 of both arms at any load.
    """

    id: str
    verdict: VerdictWord
    ended_s: float | None
    demonstration: bool
    alpha: float | None
    length: float | None
    loads: tuple[TestedLoad, ...]
    primary: TestedLoad | None
    highest_batch: float | None
    inputs: tuple[float, float] | None
    outputs: tuple[float, float] | None
    facts: dict[str, str]
    guardrails: tuple[Guardrail, ...]
    hosts: tuple[str, str]
    p50_p99_ms: dict[str, tuple[float, float]] = field(default_factory=dict)
