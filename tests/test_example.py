"""The committed run in reports/example is read by today's code: facts, result and every report."""

from pathlib import Path

import pytest

from specbench.analysis.judge import judge
from specbench.model.result import Result
from specbench.report import FORMATS, read_result, render
from specbench.store import RESULT, read_run

EXAMPLE = Path("reports/example")


@pytest.fixture(scope="module")
def judged() -> Result:
    """The example's facts, judged by the code as it is."""
    return judge(read_run(EXAMPLE), "0.1.0")


def test_the_facts_of_an_earlier_version_still_lead_to_its_verdict(judged: Result) -> None:
    """The verdict, the range and the state of every finding are those that were committed."""
    committed = read_result(EXAMPLE / RESULT)

    assert (judged.verdict, judged.enable_range) == (committed.verdict, committed.enable_range)
    assert judged.verdict == "CAPPED"
    for now, then in zip(judged.cells, committed.cells, strict=True):
        assert [(f.metric, f.state) for f in now.findings] == [(f.metric, f.state) for f in then.findings]


def test_ratios_of_the_example_have_not_moved(judged: Result) -> None:
    """A change that moves a number shows here, and belongs under Measurement in the changelog."""
    committed = read_result(EXAMPLE / RESULT)

    for now, then in zip(judged.cells, committed.cells, strict=True):
        assert [m.metric for m in now.metrics if m.ratio is None] == [m.metric for m in then.metrics if m.ratio is None]
        ratios = {m.metric: m.ratio for m in then.metrics if m.ratio is not None}
        assert {m.metric: m.ratio for m in now.metrics if m.ratio is not None} == pytest.approx(ratios, rel=1e-9)


@pytest.mark.parametrize("format", sorted(FORMATS))
def test_every_format_can_show_the_example(judged: Result, format: str) -> None:
    """No report of a real run is empty."""
    assert render(judged, format)
