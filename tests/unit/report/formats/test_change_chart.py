"""The picture of the first screen: every load with its change, its bounds and its limit, in words too."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from specbench.report import read_result
from specbench.report.formats.change_chart import change_chart
from specbench.report.view.comparison_rows import load_tables
from specbench.report.view.load_groups import LoadGroup, LoadPoint, load_groups
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
    assert second == "16 streams: TPOT p50, ms: 22.4 → 28.3, +27 %, interval −0.4 .. +61 %"


def test_the_chart_as_a_whole_has_a_text_alternative() -> None:
    """Each load in one sentence."""
    chart = change_chart(example().panels[2].points, "cap 1", "a")
    label = re.findall(r'aria-label="([^"]+)"', chart)[0]

    assert label.startswith("Change of TTFT p50, ms by load, baseline to speculative. 1 stream: 26.5 → 28.2, +6.7 %")
    assert "16 streams: 65.2 → 170, +161 %" in label


def test_values_changes_limits_and_the_cap_are_written() -> None:
    """What a reader sees without touching anything."""
    chart = change_chart(example().panels[2].points, "cap 1", "a")
    written = re.findall(r">([^<>]+)</text>", chart)

    for text in ("✓ 1 stream", "✗ 16 streams", "26.5 → 28.2", "65.2 → 170", "+161 %", "limit +20 ms", "cap 1"):
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
