"""How far starts of engines differ, from A/A runs between which they were started anew."""

from dataclasses import replace
from math import exp
from pathlib import Path

import pytest

from specbench.analysis.judge import judge
from specbench.calibrate.hardware_noise import equal_arms
from specbench.calibrate.start_spread import StartSpread, describe_starts, earlier_starts, start_spread
from specbench.errors import DataError
from specbench.model.result import PerArm, Result
from specbench.report.formats.result_json import result_json
from specbench.scenario.parse import Overrides
from tests.support.evidence import NONE, a_scenario, evidence

AA = judge(evidence(NONE, replace(a_scenario((4,)), design="aa")), "test")


def an_aa(log_ratio: float, run: str = "aa") -> Result:
    """An A/A whose arms are apart by this log ratio in TPOT."""
    cell = AA.cells[0]
    apart = tuple(replace(c, ratio=exp(log_ratio)) if c.metric == "tpot_p50" else c for c in cell.metrics)
    return replace(AA, run=replace(AA.run, id=run), cells=(replace(cell, metrics=apart),))


def test_the_spread_is_that_of_one_start_not_of_the_ratio_of_two() -> None:
    """Log ratios of -3, 0 and +3 % scatter by 3 %, of which each arm's start has 3 % divided by the root of 2."""
    spread = start_spread([an_aa(-0.03), an_aa(0.0), an_aa(0.03)])

    assert spread is not None
    assert (round(spread.sd, 4), spread.df) == (0.0212, 2)


def test_two_places_that_always_differ_alike_have_no_spread_of_starts() -> None:
    """An offset of the places is no start's."""
    assert start_spread([an_aa(0.05)] * 3) == StartSpread(0.0, 2)


def test_one_run_tells_nothing_of_starts() -> None:
    """It says how to learn more."""
    assert start_spread([an_aa(0.05)]) is None
    assert "start_sd" not in describe_starts([an_aa(0.05)])


def test_the_spread_is_given_as_a_scenario_states_it() -> None:
    """With its degrees of freedom, and a word where they are few."""
    three = describe_starts([an_aa(-0.03), an_aa(0.0), an_aa(0.03)])

    assert "matrix: {start_sd: {sd: 2.1%, df: 2}}" in three
    assert "4 runs or more" in three
    assert "4 runs or more" not in describe_starts([an_aa(-0.03), an_aa(0.0), an_aa(0.03), an_aa(0.01)])


def test_earlier_runs_must_be_of_the_same_places_and_count_once(tmp_path: Path) -> None:
    """A run of other URLs, of no A/A, or named twice is refused by its folder, before any load."""
    places = equal_arms(Overrides(baseline_url="http://10.0.0.1:8000", speculative_url="http://10.0.0.2:8000/v1"))
    ends = AA.endpoints
    ours, theirs = (
        PerArm(replace(ends.baseline, url=f"http://{first}:8000"), replace(ends.speculative, url="http://10.0.0.2:8000"))
        for first in ("10.0.0.1", "10.0.0.9")
    )
    for name, result in {
        "before": replace(an_aa(0.02, "before"), endpoints=ours),
        "other": replace(an_aa(0.0, "other"), endpoints=theirs),
        "no-aa": replace(an_aa(0.0, "no-aa"), endpoints=ours, config=replace(AA.config, design="plain")),
    }.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "result.json").write_bytes(result_json(result))

    assert [result.run.id for result in earlier_starts([str(tmp_path / "before")], places)] == ["before"]
    for names in (["other"], ["no-aa"], ["before", "before"]):
        with pytest.raises(DataError, match=names[-1]):
            earlier_starts([str(tmp_path / name) for name in names], places)
