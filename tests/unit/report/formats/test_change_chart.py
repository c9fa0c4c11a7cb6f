"""The picture of the first screen: every load with its change, its bounds and its limit, in words too."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from specbench.report import read_result
from specbench.report.formats.change_chart import change_chart
from specbench.report.view.load_groups import LoadGroup, LoadPoint, load_groups
from specbench.report.view.load_tables import load_tables
from tests.support.results import capped, large


def example() -> LoadGroup:
    """The loads of the committed example."""
    result = read_result(Path("reports/example/result.json"))
    return load_groups(result, load_tables(result))[0]


def titles(chart: str) -> list[str]:
    """What the marks that the keyboard reaches say."""
    return re.findall(r'tabindex="0" role="img" aria-label="([^"]+)"', chart)


def test_each_mark_says_load_values_change_bounds_limit_and_state() -> None:
    """On hover, by keyboard, and for those who hear the page."""
    panel = example().panels[0]
    first, second = dict.fromkeys(titles(change_chart(panel.points, "cap 1", "a")))

    assert first == "1 stream: TPOT p50, ms: 12.3 → 5.61, −54 %, interval −60 .. −47 %, goal ≤ −5 %, PASS"
    assert second == "16 streams: TPOT p50, ms: 22.4 → 28.3, +27 %, interval −0.2 .. +61 %"


def test_the_chart_as_a_whole_has_a_text_alternative() -> None:
    """Each load in one sentence."""
    chart = change_chart(example().panels[2].points, "cap 1", "a")
    label = re.findall(r'aria-label="([^"]+)"', chart)[0]

    assert label.startswith("Change of TTFT p95, ms by load, baseline to speculative. 1 stream: 55.9 → 57.2, +2.4 %")
    assert "16 streams: 128 → 205, +60 %" in label


def test_values_changes_limits_and_the_cap_are_written() -> None:
    """What a reader sees without touching anything."""
    chart = change_chart(example().panels[2].points, "cap 1", "a")
    written = re.findall(r">([^<>]+)</text>", chart)

    for text in ("✓ 1 stream", "✗ 16 streams", "55.9 → 57.2", "128 → 205", "+60 %", "limit +20 ms", "cap 1"):
        assert text in written


def test_of_many_loads_only_what_has_room_is_written() -> None:
    """Twelve loads keep their marks, and lose values and changes."""
    result = large(12)
    panel = load_groups(result, load_tables(result))[0].panels[0]
    chart = change_chart(panel.points, "", "a")
    written = re.findall(r">([^<>]+)</text>", chart)

    assert len(dict.fromkeys(titles(chart))) == 12
    assert [text for text in written if "→" in text] == []
    assert "streams" in written


def lines(chart: str) -> list[tuple[float, float, float, float]]:
    """Both ends of each straight line that is drawn, but for the grid's."""
    found = re.findall(r'd="M ([\d.]+) ([\d.]+) L ([\d.]+) ([\d.]+) "[^>]*stroke: var\(--(?!line)', chart)
    return [(float(a), float(b), float(c), float(d)) for a, b, c, d in found]


@pytest.mark.parametrize("panel", range(4))
def test_no_line_joins_loads_between_which_nobody_tested(panel: int) -> None:
    """Each line is upright or level."""
    drawn = lines(change_chart(example().panels[panel].points, "cap 1", "a"))

    assert len(drawn) > 4
    assert [one for one in drawn if one[0] != one[2] and one[1] != one[3]] == []


@pytest.mark.parametrize("panel", range(4))
def test_no_line_strikes_a_change_through(panel: int) -> None:
    """Zero and limit pass above or below what is written: the middle of its letters is 4 points above their foot."""
    chart = change_chart(example().panels[panel].points, "cap 1", "a")
    feet = [
        (float(x), float(y)) for x, y in re.findall(r'font-size: 11px[^>]*x="([\d.]+)" y="([\d.]+)"[^>]*>[−+][\d.]+ %', chart)
    ]
    level = [one for one in lines(chart) if one[1] == one[3]]

    assert len(feet) == 2
    assert [(foot, one) for foot in feet for one in level if one[0] <= foot[0] < one[2] and abs(foot[1] - 4 - one[1]) < 5] == []


def test_the_bar_of_the_range_ends_at_the_caps_own_load() -> None:
    """Above the mark of 1 stream, not midway to the next load."""
    chart = change_chart(example().panels[0].points, "cap 1", "a")
    (at,) = [float(x) for x in re.findall(r'x="([\d.]+)" y="[\d.]+"[^>]*>✓ 1 stream<', chart)]
    tops = min(one[1] for one in lines(chart))
    (bar,) = [one for one in lines(chart) if one[1] == one[3] == tops]

    assert bar[2] == pytest.approx(at, abs=0.2)


@pytest.mark.parametrize(
    "changes",
    [
        {"change": None, "low": None, "high": None, "bounds": "", "changed": "–"},
        {"change": -1.0, "low": -1.0, "high": -1.0},
        {"change": 1e6, "low": 1e5, "high": None},
        {"change": 0.0, "low": 0.0, "high": 0.0, "limit": 0.0},
        {"limit": -1.5, "comparison": None},
    ],
)
def test_a_chart_survives_every_row(changes: dict[str, object]) -> None:
    """No figure, a loss of everything, a change without an end, none at all, an odd limit."""
    points = [
        LoadPoint(one.load, one.level, one.mark, replace(one.row, **changes), one.inside)  # type: ignore[arg-type]
        for one in example().panels[0].points
    ]

    for shown in (points, points[:1]):
        assert change_chart(shown, "cap 1", "a").startswith("<svg")


def test_the_cap_stands_after_the_last_load_of_the_range() -> None:
    """Of three loads two are enabled."""
    result = capped()
    group = load_groups(result, load_tables(result))[0]

    assert group.cap == "cap 4"
    assert [point.inside for point in group.panels[0].points] == [True, True, False]
