"""GPU memory, power and energy of a block from a DCGM exporter's page, in SI units. No vendor library is needed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from specbench.telemetry.counters import Reported
from specbench.telemetry.metrics_pages import HttpAnswer, Page, Scrape, page_of
from specbench.telemetry.prometheus_text import Key, Labels

BYTES_PER_MIB = 1024 * 1024
MILLI = 1e-3

# Default counters of dcgm-exporter 4 and what older exporters called them: memory in MiB, power in W, energy in mJ.
_MEMORY = ("DCGM_FI_DEV_FB_USED", "dcgm_fb_used")
_POWER = ("DCGM_FI_DEV_POWER_USAGE", "dcgm_power_usage")
_ENERGY = ("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "dcgm_total_energy_consumption")
_GPU_LABELS = ("gpu", "UUID", "uuid")
_IDENTITY = frozenset({*_GPU_LABELS, "GPU_I_ID"})  # other labels, such as a pod's, may change under load


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuReading:
    """All GPUs of one arm at one moment, summed."""

    memory_bytes: float | None
    power_w: float | None


def gpu_page_of(answer: HttpAnswer, gpus: frozenset[str]) -> Page:
    """The exporter's page without the GPUs that are not this arm's; `gpus` holds indices or UUIDs, none for all."""
    page = page_of(answer)
    if page.samples is None or not gpus:
        return page
    values = {key: value for key, value in page.samples.values.items() if _is_of(key, gpus)}
    return replace(page, samples=replace(page.samples, values=values))


def reading_of(pages: Sequence[Page]) -> GpuReading:
    """What the exporter pages say at one moment; nothing where one of them is missing, as the rest would pass for all GPUs."""
    if any(page.absent for page in pages):
        return GpuReading(memory_bytes=None, power_w=None)
    return GpuReading(memory_bytes=_scaled(_sum(pages, _MEMORY), BYTES_PER_MIB), power_w=_sum(pages, _POWER))


def gpu_quantities(before: Scrape, during: Sequence[Scrape], after: Scrape) -> dict[str, Reported[Any]]:
    """Memory peak, mean power under load and energy of one block, as the exporter pages tell them."""
    all_memory = [used for one in (before, *during, after) if (used := reading_of(one.gpu_pages).memory_bytes) is not None]
    power = [watts for one in during if (watts := reading_of(one.gpu_pages).power_w) is not None]
    return {
        "memory_bytes_peak": Reported(round(max(all_memory))) if all_memory else _none((before, *during, after), _MEMORY[0]),
        "power_w_mean": Reported(sum(power) / len(power)) if power else _none(during or (before, after), _POWER[0]),
        "energy_j": _energy_used(before, after),
    }


def _energy_used(before: Scrape, after: Scrape) -> Reported[float]:
    """The energy of each GPU since the opening scrape, summed; counters run from the driver's start, so both ends are needed."""
    start, end = _energy_mj(before.gpu_pages), _energy_mj(after.gpu_pages)
    if not (start or end) or any(page.absent for page in (*before.gpu_pages, *after.gpu_pages)):
        return _none((before, after), _ENERGY[0])
    if start.keys() != end.keys():
        return Reported(None, "not_exposed: a GPU reported its energy at one end of the block only")
    if any(end[gpu] < start[gpu] for gpu in end):
        return Reported(None, "counter_reset: the GPU driver restarted within the block")
    return Reported(sum(end[gpu] - start[gpu] for gpu in end) * MILLI)


def _sum(pages: Sequence[Page], names: tuple[str, ...]) -> float | None:
    values = [
        value for page in pages if page.samples is not None for (name, _), value in page.samples.values.items() if name in names
    ]
    return sum(values) if values else None


def _energy_mj(pages: Sequence[Page]) -> dict[tuple[str, Labels], float]:
    """The energy counters by exporter and GPU."""
    return {
        (page.url, _gpu(labels)): value
        for page in pages
        if page.samples is not None
        for (name, labels), value in page.samples.values.items()
        if name in _ENERGY
    }


def _gpu(labels: Labels) -> Labels:
    """The labels that tell which GPU it is; all of them where none of them says."""
    return tuple(pair for pair in labels if pair[0] in _IDENTITY) or labels


def _is_of(key: Key, gpus: frozenset[str]) -> bool:
    labels = dict(key[1])
    return any(labels.get(label) in gpus for label in _GPU_LABELS)


def _scaled(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor


def _none(scrapes: Sequence[Scrape], name: str) -> Reported[Any]:
    absent = next((page.absent for scrape in scrapes for page in scrape.gpu_pages if page.absent), None)
    return Reported(None, absent or f"not_exposed: no series {name}, or not sampled")
