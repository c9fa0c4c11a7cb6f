"""Simulated tunes pick as `tune` does, and their row says how often that is right."""

from statistics import fmean

from specbench.calibrate.targets import selection_rows
from specbench.calibrate.worlds.selections import selection


def test_twenty_tunes_pick_within_2_percent_of_the_best() -> None:
    """Of each acceptance five; between two and four series of up to six starts."""
    tunes = [selection(index) for index in range(20)]

    assert sum(tune["good"] for tune in tunes) >= 18
    assert all(8 <= tune["starts"] <= 24 for tune in tunes)
    assert fmean(tune["loss"] for tune in tunes) < 0.02
    assert selection(3) == tunes[3]


def test_the_row_has_a_target_and_the_starts() -> None:
    """Nine of ten meet nine of ten; eight miss; nothing is not run."""
    tunes = [{"good": index > 0, "starts": 12 + index} for index in range(10)]
    good, starts = selection_rows({"selection": tunes})

    assert (good.state, starts.found, starts.state) == ("met", "16.5 on average", "shown")
    assert selection_rows({"selection": [{"good": False, "starts": 12}, *tunes[:9]]})[0].state == "missed"
    assert [row.state for row in selection_rows({"selection": []})] == ["not run", "not run"]
