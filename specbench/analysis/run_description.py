"""What a result says of its run besides the verdict: which run, which rules, which endpoints.

Plain restatement of the manifest; secrets and credentials in addresses are left out.
"""

from collections.abc import Sequence
from urllib.parse import urlsplit, urlunsplit

from specbench.model.records import Cell, Manifest, RunData
from specbench.model.request_fields import resolved_sha256
from specbench.model.run_info import Config, EndpointInfo, RunInfo
from specbench.model.scenario import Arm, ArmName, Sampling, Workload
from specbench.model.shown import TrafficBin


def run_info(evidence: RunData) -> RunInfo:
    """Which run the result is of."""
    manifest = evidence.manifest
    return RunInfo(
        id=manifest.run_id,
        name=manifest.scenario.name,
        started=manifest.started,
        finished=evidence.finished,
        partial=evidence.partial,
        profile=manifest.scenario.profile,
        seed=manifest.scenario.seed,
        labels=dict(sorted(manifest.scenario.labels.items())),
        scenario=manifest.scenario.path or None,
        flags=manifest.scenario.flags,
        confirms=manifest.scenario.confirms,
    )


def config_of(evidence: RunData, required: Sequence[str]) -> Config:
    """What was decided before the run, and how often the data were looked at."""
    scenario = evidence.manifest.scenario
    return Config(
        sha256=scenario.sha256,
        alpha=scenario.alpha,
        success_metric=scenario.success.metric,
        improve_by=scenario.success.improve_by,
        pairs=scenario.matrix.pairs,
        schedule=scenario.matrix.schedule,
        looks=max(1, len(evidence.looks)),
        required_cells=tuple(required),
        primary_cell=_primary(evidence.manifest),
        bins=_bins(scenario.workload),
        sampling=tuple(_sampling(one) for one in scenario.workload.sampling),
        source=scenario.workload.dataset or f"the built-in corpus {scenario.workload.corpus}",
        design=scenario.design,
        accept_differences=scenario.accept_differences,
        built_in=scenario.workload.dataset is None,
        length=scenario.workload.length,
        resolved_sha256=resolved_sha256(scenario),
        census=evidence.manifest.census,
    )


def endpoint_of(manifest: Manifest, arm: ArmName) -> EndpointInfo:
    """One arm as the result names it: as it described itself, else as the scenario does."""
    asked = manifest.scenario.arm(arm)
    told = next((endpoint for endpoint in manifest.endpoints if endpoint.arm == arm), None)
    return EndpointInfo(
        url=_without_credentials(told.url if told is not None else asked.url or "embedded"),
        model=told.model if told is not None else asked.model or "",
        engine=told.engine if told is not None else asked.engine,
        engine_version=None if told is None else told.engine_version,
        speculation=_speculation(asked) or (None if told is None else told.facts.get("speculation_config")),
        facts={} if told is None else dict(sorted(told.facts.items())),
        sources={} if told is None else dict(sorted(told.sources.items())),
        slow_by=asked.slow_by,
    )


def _bins(workload: Workload) -> tuple[TrafficBin, ...]:
    total = sum(band.weight for band in workload.bins)
    return tuple(
        TrafficBin(name=band.name, input_tokens=band.input_tokens, output_tokens=band.output_tokens, share=band.weight / total)
        for band in workload.bins
    )


def _sampling(one: Sampling) -> str:
    """The setting as people write it: 'sampled (temperature 0.8, top_p 0.95)'."""
    told = {"temperature": one.temperature, "top_p": one.top_p, "top_k": one.top_k, "seed": one.seed}
    said = {name: f"{value:g}" if isinstance(value, float) else str(value) for name, value in told.items() if value is not None}
    return f"{one.name} ({', '.join(f'{name} {value}' for name, value in said.items())})"


def _primary(manifest: Manifest) -> str:
    """The first cell at the primary level; the first of all where none is there."""
    named = [cell for cell in manifest.cells if cell.level == manifest.scenario.matrix.primary]
    first: Sequence[Cell] = named or manifest.cells
    return first[0].id if first else ""


def _speculation(arm: Arm) -> str | None:
    return None if arm.speculative is None else ", ".join(f"{key} {value}" for key, value in arm.speculative.items())


def _without_credentials(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
