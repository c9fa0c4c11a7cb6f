"""What a run will write is known roughly from the first answers, and said before load where the disk is too small."""

from dataclasses import replace
from pathlib import Path

import pytest

from specbench.plan.trials import cells_of, trials_of
from specbench.run.disk_space import disk_warning, expected_bytes
from tests.support.records import a_record
from tests.support.scenarios import code

FIRST = (a_record([100.0 + 10 * place for place in range(8)]),)


def expected(**levels: str) -> int:
    """What a run of these loads is expected to write."""
    first = levels["concurrency"].strip("[]")
    scenario = code(
        *((f"matrix.{key}", value) for key, value in levels.items()), ("matrix.pairs", "2"), ("matrix.primary", first)
    )
    band = replace(scenario.workload.bins[0], output_tokens=(90, 110), weight=1.0)
    scenario = replace(scenario, workload=replace(scenario.workload, bins=(band,)))
    return expected_bytes(scenario, trials_of(scenario, cells_of(scenario)), FIRST)


@pytest.mark.parametrize(
    ("concurrency", "requests"),
    [
        (1, 12),  # in 3 s, an answer of 1.1 s: fewer than the least that a block takes
        (16, 16 * 3 / 1.1),
        (1600, 1600 * 3 / 1.1),
    ],
)
def test_a_closed_loop_sends_as_its_answers_end(concurrency: int, requests: float) -> None:
    """100 ms to the first token and 10 ms for each of a hundred, in four blocks of 2 s and their ramp of 1 s."""
    assert expected(concurrency=f"[{concurrency}]") == pytest.approx(4 * requests * (900 + 18 * 100), rel=1e-6)


def test_a_rate_is_what_it_says() -> None:
    """Beside a closed loop of one stream."""
    alone = expected(concurrency="[1]")

    assert expected(concurrency="[1]", rate="[50]") - alone == pytest.approx(4 * 50 * 3 * 2700, rel=1e-6)


def test_nothing_is_expected_of_arms_that_did_not_answer() -> None:
    """No guess is no warning."""
    scenario = code()

    assert expected_bytes(scenario, trials_of(scenario, cells_of(scenario)), ()) == 0


def test_a_disk_that_is_too_small_is_named_before_load(tmp_path: Path) -> None:
    """The folder need not be there yet."""
    assert disk_warning(tmp_path / "new" / "run", 1) is None
    said = disk_warning(tmp_path / "new" / "run", 10**18)
    assert said is not None
    assert said.startswith(f"{tmp_path}/new/run will take about 1,000,000,000,000 MB")
