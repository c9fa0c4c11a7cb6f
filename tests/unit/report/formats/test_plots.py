"""Charts: every figure in words too, no colour of their own, ids that never meet, and nothing of the reader's settings."""

import re
from dataclasses import replace

import matplotlib
import pytest

from specbench.report.formats import plots
from specbench.report.formats.svg import VARIABLES
from specbench.report.view.curves import Curve, Point, curves
from tests.support.result_parts import a_cell, distributions
from tests.support.results import capped


def _curve(*points: Point) -> Curve:
    return Curve(
        metric="tpot_p50",
        label="TPOT p50",
        unit="ms",
        slice="",
        axis="concurrent streams",
        points=points,
        crossing=None,
    )


def test_theory_and_measurement_say_every_point_in_their_label() -> None:
    """Load, measured and predicted change of each point; what is unknown is a dash."""
    curve = _curve(Point(1, 10.0, 5.0, 0.5, 0.45, 0.55, 0.48), Point(4, 10.0, None, None, None, None))
    chart = plots.theory_chart(curve, "one")
    label = re.findall(r'aria-label="([^"]+)"', chart)[0]
    assert label == (
        "Change of TPOT p50 against concurrent streams, as measured and as theory predicts it. "
        "at 1: measured −50 %, theory −52 %; at 4: measured –, theory –."
    )
    titles = re.findall(r"<title>([^<]+)</title>", chart)
    assert titles == ["1 concurrent streams, theory: −52 %", "1 concurrent streams, measured: −50 %"]


def test_a_chart_survives_what_could_not_be_measured() -> None:
    """One load, no figure of an arm, a single value: each draws something and fails on nothing."""
    empty = _curve(Point(4, None, None, None, None, None))
    assert plots.theory_chart(empty, "b").startswith("<svg")
    point = replace(distributions(0.5)[0], probabilities=(0.5,), values=(12.0,), n=1)
    zero = replace(point, values=(0.0,))
    assert plots.ecdf_chart([point], "c").startswith("<svg")
    assert plots.ecdf_chart([zero], "d").startswith("<svg")


def test_a_distribution_tells_its_quantiles_and_lets_the_keyboard_reach_the_marked_ones() -> None:
    """Median and p95 of each arm are stops; between them other points tell their value on hover."""
    chart = plots.ecdf_chart(distributions(0.5)[2:], "c")
    stops = re.findall(r'tabindex="0" role="img" aria-label="([^"]+)"', chart)
    assert [stop.partition(":")[0] for stop in stops] == [
        f"{arm}, ITL p{point}" for arm in ("baseline", "speculative") for point in (50, 95)
    ]
    assert "<title>speculative, ITL p25:" in chart


@pytest.mark.parametrize("quantity", ["tokens_per_s", "in_flight"])
def test_a_timeline_tells_mean_and_peak(quantity: str) -> None:
    """Both arms, in words."""
    chart = plots.timeline_chart(a_cell(4, 0.5).timelines, "in_flight" if quantity == "in_flight" else "tokens_per_s", "t")
    said = {"tokens_per_s": "baseline: 96.0 on average, 112 at most", "in_flight": "baseline: 4.00 on average, 4.00 at most"}
    assert said[quantity] in chart


def test_the_course_of_a_run_tells_its_span() -> None:
    """Acceptance has the speculative arm alone, the generator's lag both; pairs are counted from 1."""
    course = a_cell(4, 0.5).block_series
    acceptance = plots.course_chart(course, "acceptance_length", "a")
    assert "Acceptance length, block by block. speculative: 3.10 to 3.40 over 4 blocks." in acceptance
    lag = plots.course_chart(course, "read_lag_ms_p99", "b")
    assert "baseline: 0.500 to 1.25 over 4 blocks; speculative: 0.500 to 1.25 over 4 blocks." in lag


def test_ids_of_two_charts_never_meet_and_references_stay_inside() -> None:
    """Each id is used by its own chart alone, though both charts draw the same."""
    curve = curves(capped())[0]
    charts = [plots.theory_chart(curve, name) for name in ("one", "two")]
    ids = [set(re.findall(r' id="([^"]+)"', chart)) for chart in charts]
    assert ids[0]
    assert not ids[0] & ids[1]
    for chart, own in zip(charts, ids, strict=True):
        assert set(re.findall(r"url\(#([^)]+)\)", chart)) | set(re.findall(r'href="#([^"]+)"', chart)) <= own


def test_a_label_cannot_end_its_attribute() -> None:
    """A hostile slice name or unit is escaped, backslashes included."""
    curve = replace(_curve(Point(1, 1.0, 1.0, 1.0, None, None)), label=r'"><script>\1')
    chart = plots.theory_chart(curve, "x")
    assert "<script" not in chart
    assert r"&quot;&gt;&lt;script&gt;\1" in chart


def test_the_readers_own_matplotlib_settings_change_nothing() -> None:
    """A style of the user's, such as a dark one, is set aside while drawing and is back afterwards."""
    curve = curves(capped())[0]
    plain = plots.theory_chart(curve, "same")
    with matplotlib.rc_context({"axes.facecolor": "black", "lines.linewidth": 9, "font.size": 30, "svg.fonttype": "path"}):
        assert plots.theory_chart(curve, "same") == plain
        assert matplotlib.rcParams["font.size"] == 30
    assert not any(placeholder in plain for placeholder in VARIABLES)
