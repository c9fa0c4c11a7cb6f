"""The engine's pages name everything that it has, and the figures that they give are the code's."""

import re
from pathlib import Path

import pytest
from starlette.routing import Route

from specbench.engine.core.setup import kv_tokens_of, machine_of
from specbench.engine.http.server import app_of, endpoint_of
from specbench.engine.options import FAULT_CHECKS, OPTION_CHECKS, SPECULATION_CHECKS, EngineOptions, Speculation
from specbench.engine.timing.roofline import QWEN25_14B_INT4, RTX_3090, Part, step_s
from tests.support.roofline import ridge_tokens

ENGINE = Path("docs/engine.md").read_text()
ROOFLINE = Path("docs/roofline.md").read_text()
FOUR = {
    "draft": Speculation(num_speculative_tokens=4),
    "heads": Speculation(method="heads", num_speculative_tokens=4),
    "lookup": Speculation(method="ngram", num_speculative_tokens=4, draft_sampling="greedy"),
}


@pytest.mark.parametrize("key", [*OPTION_CHECKS, *SPECULATION_CHECKS, *FAULT_CHECKS])
def test_every_option_is_described(key: str) -> None:
    """An option that nobody can read about does not exist."""
    assert f"`{key}`" in ENGINE


def test_every_route_is_described() -> None:
    """Each path of the application stands on the page."""
    options = EngineOptions()
    paths = [route.path for route in app_of(endpoint_of(options), options).routes if isinstance(route, Route)]

    assert [path for path in paths if path not in ENGINE] == []
    assert len(paths) == 10


@pytest.mark.parametrize("requests", [1, 2, 4, 8, 16, 32])
def test_step_times_are_the_codes(requests: int) -> None:
    """The table of step times, row by row."""
    plain = step_s(machine_of(None), [Part(1, 200, 1, 0, False)] * requests)
    cells = [f"{1000 * plain:.1f}"]
    for speculation in FOUR.values():
        step = step_s(machine_of(speculation), [Part(5, 200, 5, 4, True)] * requests)
        cells += [f"{1000 * step:.1f}", f"{step / plain:.2f}"]

    assert f"| {requests} | {' | '.join(cells)} |" in ROOFLINE


def test_the_figures_are_the_codes() -> None:
    """Ridge, shares and room for the cache."""
    assert f"**{ridge_tokens(RTX_3090, QWEN25_14B_INT4):.1f} tokens a step**" in ROOFLINE
    assert re.search(rf"share of bandwidth \| {RTX_3090.bandwidth_efficiency} ", ROOFLINE)
    assert re.search(rf"share of arithmetic \| {RTX_3090.compute_efficiency} ", ROOFLINE)
    for speculation in (None, FOUR["draft"]):
        options = EngineOptions(speculative=speculation)
        assert f"{kv_tokens_of(options, machine_of(speculation)):,}" in ROOFLINE
