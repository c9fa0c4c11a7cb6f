"""Two runs of ours: the difference of what speculation did in each."""

from dataclasses import replace
from typing import Any

import pytest

from specbench.analysis.imported.two_runs import compare_runs
from specbench.model.result import Result
from tests.support.results import promote


def with_ratio(result: Result, ratio: float, **fields: Any) -> Result:
    """The result with this ratio of the metric of success in each cell, known to 1 % with 9 degrees of freedom."""
    cells = tuple(
        replace(
            cell,
            metrics=tuple(
                replace(one, ratio=ratio, se_log=0.01, df=9.0) if one.metric == result.config.success_metric else one
                for one in cell.metrics
            ),
        )
        for cell in result.cells
    )
    return replace(result, cells=cells, **fields)


@pytest.mark.parametrize(
    ("before", "after", "word", "code"),
    [(0.8, 0.6, "better", 0), (0.6, 0.8, "worse", 20), (0.8, 0.8, "alike", 0), (0.8, 0.78, "unclear", 10)],
)
def test_the_gain_of_the_second_run_decides(before: float, after: float, word: str, code: int) -> None:
    """Better and alike pass, worse is 20, what the pairs leave open is 10."""
    held = promote()
    found = compare_runs(with_ratio(held, before), with_ratio(held, after), ("one", "two"))

    assert (found.word, found.exit_code) == (word, code)


def test_welch_joins_the_errors_of_both_runs() -> None:
    """0.6 ÷ 0.8 with 1 % each: 0.75, between 0.728 and 0.773 at 18 degrees of freedom."""
    held = promote()
    found = compare_runs(with_ratio(held, 0.8), with_ratio(held, 0.6), ("one", "two"))
    gain = next(one for one in found.metrics if one.metric == held.config.success_metric)

    assert [gain.ratio, gain.low, gain.high] == pytest.approx([0.75, 0.728, 0.773], abs=1e-3)


def test_runs_without_a_load_in_common_share_nothing() -> None:
    """30, as for a run that is INVALID itself."""
    held = promote()
    elsewhere = replace(held, cells=tuple(replace(cell, id="other") for cell in held.cells))

    assert compare_runs(held, elsewhere, ("one", "two")).exit_code == 30
    assert compare_runs(held, replace(held, verdict="INVALID"), ("one", "two")).exit_code == 30


def test_what_differs_between_the_runs_is_listed() -> None:
    """Another engine under speculation, and another scenario."""
    held = promote()
    other = replace(held.endpoints.speculative, engine_version="9.9")
    found = compare_runs(held, replace(held, endpoints=replace(held.endpoints, speculative=other)), ("one", "two"))

    assert len(found.differences) == 1
    assert "9.9" in found.differences[0]


def test_a_rollback_after_none_is_worse() -> None:
    """Whatever the gain is."""
    held = promote()
    before, after = with_ratio(held, 0.8, verdict="HOLD"), with_ratio(held, 0.6, verdict="ROLLBACK")

    assert compare_runs(before, after, ("one", "two")).exit_code == 20
