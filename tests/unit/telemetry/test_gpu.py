"""GPU pages give bytes, watts and joules of this arm's GPUs alone."""

from dataclasses import replace

import pytest

from specbench.model.records import Telemetry
from specbench.telemetry import ENGINES, telemetry_of
from specbench.telemetry.gpu import GpuReading, gpu_page_of, reading_of
from specbench.telemetry.metrics_pages import Page, Scrape
from tests.support.scrapes import answer, recorded, scrape_of


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
    assert reading_of([page("dcgm.txt", "0")]) == GpuReading(memory_bytes=40_000 * 1024**2, power_w=412.5)


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


def two_nodes(*moments: tuple[float | None, float | None]) -> Telemetry:
    """One GPU on each of two nodes: MiB, W and J at once, by moment; None where its exporter does not answer."""
    scrapes = []
    for second, figures in enumerate(moments):
        pages = []
        for node, figure in enumerate(figures):
            lines = (("DCGM_FI_DEV_FB_USED", 1), ("DCGM_FI_DEV_POWER_USAGE", 1), ("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", 1000))
            text = "".join(f'{name}{{gpu="0"}} {(figure or 0) * unit}\n' for name, unit in lines)
            pages.append(gpu_page_of(answer(text, f"http://node-{node}:9400/metrics", 200 if figure else None), frozenset()))
        scrapes.append(Scrape(at_ns=second, wall_s=second, pages=(), gpu_pages=tuple(pages)))
    return telemetry_of(scrapes[0], scrapes[1:-1], scrapes[-1], ENGINES["openai"])


def test_two_exporters_are_summed() -> None:
    """Each GPU's energy is its own difference: 30 J and 10 J."""
    telemetry = two_nodes((100, 5000), (110, 5004), (130, 5010))

    assert (telemetry.memory_bytes_peak, telemetry.power_w_mean, telemetry.energy_j) == (5140 * 1024**2, 5114.0, 40.0)


@pytest.mark.parametrize("moments", [((100, None), (130, 5010)), ((100, 5000), (130, None))])
def test_an_exporter_that_missed_an_end_leaves_no_energy(moments: tuple[tuple[float | None, float | None], ...]) -> None:
    """Neither a GPU's whole life nor a fall by it, which would look like a reset."""
    telemetry = two_nodes(*moments)

    assert telemetry.energy_j is None
    assert telemetry.absent["energy_j"] == "unreachable: refused"


def test_moments_that_one_exporter_missed_do_not_count() -> None:
    """One GPU's figures are not those of two; where every moment is so, there is none."""
    some, never = two_nodes((1, 1), (500, None), (20, 30), (1, 1)), two_nodes((1, None), (500, None), (1, None))

    assert (some.memory_bytes_peak, some.power_w_mean) == (50 * 1024**2, 50.0)
    assert (never.memory_bytes_peak, never.power_w_mean) == (None, None)
    assert {never.absent["memory_bytes_peak"], never.absent["power_w_mean"]} == {"unreachable: refused"}


@pytest.mark.parametrize("names", [("dcgm.txt", "one"), ("one", "dcgm-later.txt")])
def test_a_gpu_that_one_end_does_not_list_leaves_no_energy(names: tuple[str, str]) -> None:
    """The exporter answers without it: its counter did not start in the block."""
    pages = [page("dcgm.txt", "0") if name == "one" else page(name) for name in names]
    before, after = (Scrape(at_ns=i, wall_s=i, pages=(), gpu_pages=(one,)) for i, one in enumerate(pages))

    assert telemetry_of(before, [], after, ENGINES["openai"]).absent["energy_j"] == (
        "not_exposed: a GPU reported its energy at one end of the block only"
    )


def test_a_silent_exporter_does_not_take_away_what_the_engine_tells() -> None:
    """TensorRT-LLM's own figure stands; an exporter that answers comes before it."""
    text = "trtllm_gpu_memory_usage_bytes 2000000\n"

    def memory(exporter: Page) -> int | None:
        scrapes = [replace(scrape_of(text, second=second), gpu_pages=(exporter,)) for second in (0, 1)]
        return telemetry_of(scrapes[0], [], scrapes[1], ENGINES["trtllm"]).memory_bytes_peak

    assert memory(page("dcgm.txt", status=404)) == 2_000_000
    assert memory(page("dcgm.txt", "0")) == 40_000 * 1024**2


def test_without_an_exporter_the_engine_s_own_word_stands() -> None:
    """A reader of an engine may tell memory itself."""
    telemetry = telemetry_of(Scrape(at_ns=0, wall_s=0, pages=()), [], Scrape(at_ns=1, wall_s=1, pages=()), ENGINES["vllm"])

    assert telemetry.absent["memory_bytes_peak"] == "not_told: vLLM does not report it"
