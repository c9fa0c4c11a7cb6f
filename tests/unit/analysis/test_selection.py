"""A pick is the smallest depth that hardly loses to the best; off competes; harm rules a candidate out."""

from math import log

import pytest

from specbench.analysis.selection import (
    Selection,
    SelectionRules,
    StartFigure,
    hopeless,
    level_of,
    screened,
    select,
)

DEPTHS = {"off": 0, "d1": 1, "d2": 2, "d4": 4}


def _figures(ratios: dict[str, float], scatter: float = 0.002, series: int = 2, load: float = 1.0) -> list[StartFigure]:
    """Starts of each candidate, whose figures are so many times the baseline's, above and below by the scatter in turn."""
    signs = {name: 1 if place % 2 else -1 for place, name in enumerate(ratios)}
    return [
        StartFigure(load, one, name, log(ratio) + signs[name] * (scatter if one % 2 else -scatter) + 0.1 * one)
        for one in range(series)
        for name, ratio in ratios.items()
    ]


def _select(figures: list[StartFigure], out: frozenset[tuple[str, float]] = frozenset()) -> Selection:
    return select(figures, SelectionRules(depths=DEPTHS, within=0.02, sure=0.9, out=out))


def test_the_best_is_picked_where_it_is_surely_better() -> None:
    """Depth 2 is 8 % better than depth 4 and 15 % better than depth 1; what a series is slower by is in all of it alike."""
    found = _select(_figures({"off": 1.0, "d1": 0.70, "d2": 0.60, "d4": 0.65})).loads[0]

    assert (found.pick, found.leader, found.next_best) == ("d2", "d2", "d4")
    assert found.sure is not None
    assert found.sure > 0.99
    assert {name: round(mean, 3) for name, mean in found.means.items()} == pytest.approx(
        {"off": 0.0, "d1": log(0.70), "d2": log(0.60), "d4": log(0.65)}, abs=0.005
    )


def test_of_two_that_hardly_differ_the_smaller_depth_is_picked() -> None:
    """Depth 4 leads by half a percent, and depth 2 loses surely less than 2 %."""
    found = _select(_figures({"off": 1.0, "d1": 0.70, "d2": 0.603, "d4": 0.600}, scatter=0.0005)).loads[0]

    assert (found.pick, found.leader) == ("d2", "d4")


def test_off_is_picked_where_speculation_gains_less_than_2_percent() -> None:
    """The baseline is a candidate like any other, of depth 0."""
    assert _select(_figures({"off": 1.0, "d1": 0.995, "d2": 1.1, "d4": 1.3}, scatter=0.0005)).loads[0].pick == "off"


def test_a_candidate_with_shown_harm_is_no_pick_there() -> None:
    """Depth 2 leads, and is out at 1 stream; at 4 streams it is picked."""
    ratios = {"off": 1.0, "d1": 0.70, "d2": 0.60, "d4": 0.65}
    figures = _figures(ratios) + _figures(ratios, load=4.0)
    found = _select(figures, frozenset({("d2", 1.0)}))

    assert [one.pick for one in found.loads] == ["d4", "d2"]
    assert [one.pick for one in _select(figures, frozenset((name, 1.0) for name in DEPTHS)).loads] == ["d2"]


def test_one_series_says_nothing_of_how_far_starts_differ() -> None:
    """No variance, no certainty, and nothing is settled or given up."""
    found = _select(_figures({"off": 1.0, "d1": 0.70, "d2": 0.60}, series=1))

    assert (found.loads[0].pick, found.loads[0].sure, found.start_sd, found.df) == ("d2", None, None, 0)
    assert not found.settled(0.9)
    assert hopeless(found, ["d1", "d2"], "off") == ()


def test_noise_leaves_a_tune_unsettled() -> None:
    """Starts that scatter by 5 % cannot tell depths that differ by 1 %; two loads must be surer than one."""
    found = _select(_figures({"off": 1.0, "d1": 0.62, "d2": 0.60, "d4": 0.61}, scatter=0.05))

    assert not found.settled(0.9)
    assert found.start_sd == pytest.approx(0.05 * (8 / 3) ** 0.5, rel=0.2)
    assert (level_of(0.9, 1), level_of(0.9, 4)) == pytest.approx((0.9, 0.975))


def test_what_cannot_be_the_best_anywhere_is_started_no_more() -> None:
    """Depth 4 loses at both loads; depth 1 only at one of them; the baseline stays whatever it does."""
    low = _figures({"off": 1.0, "d1": 0.70, "d2": 0.60, "d4": 0.80})
    high = _figures({"off": 1.0, "d1": 0.90, "d2": 0.95, "d4": 1.20}, load=8.0)

    assert hopeless(_select(low + high), ["d1", "d2", "d4"], "off") == ("d4",)
    assert "off" not in hopeless(_select(low + high), ["off", "d4"], "off")


def test_a_candidate_that_came_or_went_is_compared_over_the_series_it_shares() -> None:
    """Series 2 is 10 % slower for all; depth 4 is not in it, and is not made better by that."""
    figures = _figures({"off": 1.0, "d2": 0.60, "d4": 0.60}, series=3)
    found = _select([one for one in figures if not (one.candidate == "d4" and one.series == 2)]).loads[0]

    assert found.means["d4"] == pytest.approx(found.means["d2"], abs=0.01)


def test_of_many_candidates_three_a_load_are_left() -> None:
    """Eight depths: the three best at each load, if they are within 12 % of the best; one of which nothing is known stays."""
    flat = {"off": 0.0} | {f"d{depth}": log(0.5 + 0.02 * depth) for depth in range(1, 9)}
    steep = {"off": 0.0} | {f"d{depth}": log(0.2 * depth) for depth in range(1, 9)}
    names = [name for name in flat if name != "off"]

    assert screened([flat], names, "off") == ("d1", "d2", "d3")
    assert screened([steep], names, "off") == ("d1",)
    assert screened([flat, {"off": 0.0, "d8": log(0.9)}], names, "off") == ("d1", "d2", "d3", "d8")
    assert screened([flat], [*names, "unknown"], "off") == ("d1", "d2", "d3", "unknown")


def test_a_load_whose_pick_is_sure_is_measured_no_more() -> None:
    """At 8 streams depths 1 and 2 cannot be told apart; at one stream it is sure, so that depth 4 need not be started for it."""
    low = _figures({"off": 1.0, "d1": 0.70, "d2": 0.66, "d4": 0.60})
    high = _figures({"off": 1.0, "d1": 0.80, "d2": 0.83, "d4": 1.20}, scatter=0.03, load=8.0)
    found = _select(low + high)

    assert found.settled_loads(0.9) == (1.0,)
    assert not found.settled(0.9)
    assert hopeless(found, ["d1", "d2", "d4"], "off") == ()
    assert hopeless(found, ["d1", "d2", "d4"], "off", {1.0}) == ("d4",)
    assert hopeless(found, ["d1", "d2", "d4"], "off", {1.0, 8.0}) == ()
