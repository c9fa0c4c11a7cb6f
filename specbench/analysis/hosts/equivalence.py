"""Where the arms stand: whether a difference between them can only come from speculation, and whether starts were enough.

Facts of the run only; what follows for the verdict is `slices.py`'s.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from specbench.analysis.hosts.previous_run_checks import started_on
from specbench.explain import hosts
from specbench.explain.phrases import subject_of
from specbench.model.guardrails import MIN_LAUNCHES
from specbench.model.previous_runs import PreviousRun
from specbench.model.records import Block, Cell, Manifest
from specbench.model.result import Finding, PerArm
from specbench.model.scenario import ARMS, ArmName, Scenario, StartSd
from specbench.net.urls import is_loopback, share_server


@dataclass(frozen=True, slots=True)
class HostEquivalence:
    """Whether the two places are known to be alike, and one sentence for each run cited for it: what it shows, or why nothing."""

    controlled: bool
    sentences: tuple[str, ...] = ()


def place_by_address(manifest: Manifest) -> bool:
    """Whether the arms share a place: one accelerator of this machine, one URL, or declared alike (`place: same`).

    An engine that specbench starts is on this machine. Two addresses on one host that is not this machine do not count: a
    gateway may send them to different accelerators.
    """
    urls = [manifest.scenario.arm(arm).url for arm in ARMS]
    if manifest.scenario.place is not None or (urls[0] is not None and urls[0] == urls[1]):
        return True
    return _on_this_machine(manifest) and two_accelerators(manifest) is None


def _on_this_machine(manifest: Manifest) -> bool:
    urls = [manifest.scenario.arm(arm).url for arm in ARMS]
    return all(url is None or is_loopback(urlsplit(url).hostname or "") for url in urls)


def two_accelerators(manifest: Manifest) -> str | None:
    """Why two engines on this machine may run on two accelerators, in a sentence; None where they cannot, or say the same.

    Engines that specbench starts alike (the same `gpu`, the same variables) take the same one; the embedded engine needs none.
    """
    scenario = manifest.scenario
    if all(scenario.arm(arm).url is None and scenario.arm(arm).launch is None for arm in ARMS):
        return None
    accelerators = PerArm(_accelerator(manifest, "baseline"), _accelerator(manifest, "speculative"))
    if accelerators.baseline != accelerators.speculative and accelerators.baseline and accelerators.speculative:
        return hosts.two_accelerators(accelerators.baseline, accelerators.speculative)
    alike = accelerators.baseline == accelerators.speculative and (accelerators.baseline is not None or _both_started(manifest))
    if alike or manifest.accelerators in (0, 1):
        return None
    return hosts.accelerators_not_reported(manifest.accelerators)


def _both_started(manifest: Manifest) -> bool:
    return all(manifest.scenario.arm(arm).launch is not None for arm in ARMS)


def _accelerator(manifest: Manifest, arm: ArmName) -> str | None:
    """The accelerator that the arm says it runs on: as started, or as declared (`declare: {gpu: ...}`)."""
    facts = next((endpoint.facts for endpoint in manifest.endpoints if endpoint.arm == arm), {})
    return started_on(manifest.scenario.arm(arm).launch) or facts.get("gpu")


def place_of_run(manifest: Manifest, findings: Sequence[Finding]) -> HostEquivalence:
    """Whether place can explain a difference: no where the arms share one, or where one cited run shows the two alike.

    Args:
        findings: This run's own, those that decide it (`deciding`); a cited run with the arms exchanged is read
            together with them.
    """
    doubts = [(run, why_not_equivalent(run, findings, manifest.cells)) for run in manifest.previous_runs]
    sentences = tuple(hosts.cited_run(run, doubt) for run, doubt in doubts)
    controlled = place_by_address(manifest) or any(doubt is None for _, doubt in doubts)
    apart = two_accelerators(manifest) if not controlled and _on_this_machine(manifest) else None
    return HostEquivalence(controlled, sentences if apart is None else (apart, *sentences))


def why_not_equivalent(run: PreviousRun, findings: Sequence[Finding], cells: Sequence[Cell]) -> str | None:
    """Why the cited run does not show that the places are alike; None where it does.

    Source: with the effect s of speculation and p of the second place, the ratios of the two runs are s·p and s ÷ p, so their
    quotient is p², whatever s is. Every finding must come out alike in both runs, and p must lie within what the finding allows.
    """
    if run.problem is not None or run.kind == "aa":
        return run.problem
    if not any(finding.role == "success" for finding in findings):
        return hosts.NOTHING_TO_READ_WITH
    earlier = {(found.cell, found.metric, found.role): found for found in run.findings}
    for finding in findings:
        what = subject_of(finding.metric, finding.cell, cells)
        found = earlier.get((finding.cell, finding.metric, finding.role))
        if found is None:
            return hosts.NOT_JUDGED.format(what=what)
        if found.state != finding.state:
            return hosts.OTHER_STATE.format(what=what, there=found.state, here=finding.state)
        if finding.ratio is None or found.ratio is None or finding.cell is None:
            continue
        if finding.role == "success" and (finding.ratio - 1) * (found.ratio - 1) < 0:
            return hosts.OTHER_WAY.format(what=what)
        place = math.sqrt(finding.ratio / found.ratio) if finding.ratio and found.ratio else None
        if place is None or finding.bound is None or abs(math.log(place)) >= abs(math.log(finding.bound)):
            return hosts.places_apart(what, place)
    return None


def start_effect(scenario: Scenario) -> StartSd | None:
    """What one start of each engine leaves open in every comparison; None where each pair has starts of its own, or both arms are
    one server."""
    matrix = scenario.matrix
    one_server = share_server([scenario.arm(arm).url for arm in ARMS])
    return None if matrix.schedule == "restart" or one_server or matrix.start_sd.sd == 0 else matrix.start_sd


def enough_launches(manifest: Manifest, blocks: Sequence[Block]) -> bool:
    """Whether each arm was started at least four times, where the schedule makes a start the unit; always True elsewhere."""
    if manifest.scenario.matrix.schedule != "restart":
        return True
    return all(len({block.launch for block in blocks if block.arm == arm}) >= MIN_LAUNCHES for arm in ARMS)
