"""Spreads of pairs come from an earlier run, a pilot or a stated prior, and each says which."""

from contextlib import closing
from dataclasses import replace
from math import log, sqrt
from pathlib import Path
from typing import Any

import pytest

from specbench.analysis.judge import judge
from specbench.calibrate import single_comparisons
from specbench.calibrate.synthetic_runs import WHEN
from specbench.model.records import RunData
from specbench.plan.variance import (
    AA,
    BLOCK_SD,
    LABEL,
    PRIOR_WITHIN,
    PRIOR_WITHIN_OTHER,
    earlier,
    noise,
    pilot,
    prior,
    spreads_in,
)
from specbench.report.formats.result_json import result_json
from specbench.store import RESULT, Ending, RunWriter
from tests.support.evidence import NONE, Effect, a_scenario, cells_for, evidence

SAME = NONE


def a_run(pairs: int = 10, effect: Effect = SAME) -> RunData:
    """A run of one cell."""
    return evidence(effect, a_scenario((4,), pairs=pairs), seed=3)


def test_an_earlier_run_gives_the_spread_of_its_pairs() -> None:
    """The error without its starts times the root of the pairs, the baseline's value beside it, the run's id in the source."""
    result = judge(a_run(), "test")
    spreads = earlier(result)
    tps = next(c for c in result.cells[0].metrics if c.metric == "output_tps")

    assert tps.se_log is not None
    assert spreads.of["c4", "output_tps"] == pytest.approx(sqrt(tps.se_log**2 - 2 * 0.01**2) * sqrt(10))
    assert spreads.values["c4", "output_tps"] == tps.value.baseline
    assert spreads.source == "the pairs of run r1"
    assert spreads.offsets == {}


def test_two_pairs_tell_no_spread() -> None:
    """Too few: nothing is known rather than something wrong."""
    assert earlier(judge(a_run(pairs=2), "test")).of == {}


def test_an_a_a_run_tells_where_equal_endpoints_are_not_equal() -> None:
    """Endpoints that are alike have hardly an offset; one that is 10 % slower has one of log 1.1."""
    alike, apart = (noise(judge(a_run(effect=effect), "test")) for effect in (SAME, replace(NONE, tpot=1.1)))

    assert ("c4", "tpot_p50") not in alike.offsets
    assert apart.offsets["c4", "tpot_p50"] == pytest.approx(log(1.1), abs=0.03)
    assert apart.source == "the A/A run r1"


def test_a_run_folder_gives_what_its_run_can_tell(tmp_path: Path) -> None:
    """The pairs of a run, the noise floor of one that is an A/A by label or design, the pilot of one with a single pair."""
    told = {}
    runs: tuple[tuple[str, int, dict[str, Any]], ...] = (
        ("earlier", 10, {}),
        ("floor", 10, {"labels": {LABEL: AA}}),
        ("aa", 10, {"design": "aa"}),
        ("single", 1, {}),
    )
    for name, pairs, changes in runs:
        run = evidence(SAME, a_scenario((4,), pairs=pairs, **changes), seed=3)
        with closing(RunWriter(tmp_path / name, run.manifest)) as writer:
            for record in run.records:
                writer.request(record)
            for block in run.blocks:
                writer.block(block)
            writer.finish(Ending(WHEN, ()))
        (tmp_path / name / RESULT).write_bytes(result_json(judge(run, "test")))
        told[name] = spreads_in(tmp_path / name).source

    assert told["earlier"] == "the pairs of run r1"
    assert told["floor"] == told["aa"] == "the A/A run r1"
    assert told["single"].startswith("the pilot r1")


def test_a_single_pair_tells_a_spread_once_its_blocks_are_cut() -> None:
    """A pilot of one pair knows every guardrail's spread, at least that of blocks, and says that it was a pilot."""
    spreads = pilot(a_run(pairs=1))

    assert spreads.of["c4", "tpot_p50"] >= sqrt(2) * BLOCK_SD
    assert spreads.of["c4", "output_tps"] >= sqrt(2) * BLOCK_SD
    assert "the pilot r1" in spreads.source


def test_a_block_without_a_window_is_no_part_of_a_pilot() -> None:
    """A pair whose window never opened leaves nothing to cut."""
    run = a_run(pairs=1)
    closed = replace(run, blocks=tuple(replace(block, window_open_ns=None, window_close_ns=None) for block in run.blocks))

    assert pilot(closed).of == {}


def test_the_prior_grows_as_blocks_shrink() -> None:
    """A quarter of 20 s doubles what is scattered within blocks; what blocks differ by stays."""
    cells = cells_for(a_scenario((4,)))
    long, short = (prior(cells, ["tpot_p95"], seconds).of["c4", "tpot_p95"] for seconds in (20.0, 5.0))

    assert long**2 == pytest.approx(2 * BLOCK_SD**2 + PRIOR_WITHIN["tpot_p95"] ** 2)
    assert short**2 == pytest.approx(2 * BLOCK_SD**2 + 4 * PRIOR_WITHIN["tpot_p95"] ** 2)


@pytest.mark.slow
def test_the_prior_is_what_the_calibration_finds() -> None:
    """Within a third of the simulated spread of every default guardrail."""
    found = [single_comparisons.spread(index) for index in range(60)]
    cells = cells_for(a_scenario((4,)))
    metrics = [rule.metric for rule in single_comparisons.GUARDED]
    stated = prior(cells, metrics, 20.0).of

    for metric in metrics:
        simulated = sqrt(sum(outcome[metric] ** 2 for outcome in found) / len(found))
        assert stated["c4", metric] == pytest.approx(simulated, rel=1 / 3), metric
    assert min(PRIOR_WITHIN.values()) > PRIOR_WITHIN_OTHER
