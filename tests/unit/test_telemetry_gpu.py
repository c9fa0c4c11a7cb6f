"""GPU pages give bytes, watts and joules of this arm's GPUs alone."""

import pytest

from specbench.model.seen import Telemetry
from specbench.telemetry import ENGINES, telemetry_of
from specbench.telemetry.gpu import GpuReading, gpu_page_of, reading_of
from specbench.telemetry.pages import Page, Scrape
from tests.support.scrapes import answer, recorded


def page(name: str, *gpus: str, status: int = 200) -> Page:
    """A recorded exporter page, limited to these GPUs."""
    return gpu_page_of(answer(recorded(name), "http://node:9400/metrics", status), frozenset(gpus))


def block(*gpus: str, status: int = 200) -> Telemetry:
    """Three scrapes of an engine without metrics on these GPUs."""
    pages = [page(name, *gpus, status=status) for name in ("dcgm.txt", "dcgm.txt", "dcgm-later.txt")]
    before, within, after = (Scrape(at_ns=i, wall_s=i, pages=(), gpu_pages=(one,)) for i, one in enumerate(pages))
    return telemetry_of(before, [within], after, ENGINES["openai"])


def test_units_are_turned_into_si() -> None:
    """MiB, W and mJ of the exporter."""
    assert reading_of([page("dcgm.txt", "0")]) == GpuReading(memory_bytes=40_000 * 1024**2, power_w=412.5, energy_j=5000.0)


@pytest.mark.parametrize("gpu", ["1", "GPU-bbbb"])
def test_only_this_arm_s_gpus_count(gpu: str) -> None:
    """By index or by UUID; the other arm's card is on the same page."""
    telemetry = block(gpu)

    assert (telemetry.memory_bytes_peak, telemetry.power_w_mean, telemetry.energy_j) == (70_000 * 1024**2, 70.0, 900.0)


def test_without_a_choice_all_gpus_are_summed() -> None:
    """A model over several cards."""
    telemetry = block()

    assert (telemetry.memory_bytes_peak, telemetry.power_w_mean) == (110_500 * 1024**2, 482.5)


def test_an_exporter_that_does_not_answer_is_a_reason() -> None:
    """No GPU numbers, never 0."""
    telemetry = block(status=404)

    assert (telemetry.memory_bytes_peak, telemetry.power_w_mean, telemetry.energy_j) == (None, None, None)
    assert telemetry.absent["energy_j"].startswith("http_404")


def test_an_energy_counter_that_fell_is_a_reset() -> None:
    """A driver that was loaded again counts from 0."""
    pages = [page("dcgm-later.txt"), page("dcgm.txt")]
    before, after = (Scrape(at_ns=i, wall_s=i, pages=(), gpu_pages=(one,)) for i, one in enumerate(pages))

    assert telemetry_of(before, [], after, ENGINES["openai"]).absent["energy_j"].startswith("counter_reset")


def test_without_an_exporter_the_engine_s_own_word_stands() -> None:
    """A reader of an engine may tell memory itself."""
    telemetry = telemetry_of(Scrape(at_ns=0, wall_s=0, pages=()), [], Scrape(at_ns=1, wall_s=1, pages=()), ENGINES["vllm"])

    assert telemetry.absent["memory_bytes_peak"] == "not_told: vLLM does not tell it"
