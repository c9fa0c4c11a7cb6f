"""The plan holds every pair of every cell once, arms adjacent and in balanced order."""

from collections import Counter
from itertools import pairwise

import pytest

from specbench.explain.notes import certainty_of
from specbench.plan.describe import describe
from specbench.plan.trials import cells_of, duration_s, trials_of
from specbench.scenario.parse import Overrides, parse_scenario
from tests.support.scenarios import CODE, code


def test_every_pair_has_both_arms_side_by_side() -> None:
    """The two blocks of a pair follow each other, so that drift hits both alike."""
    scenario = code()
    trials = trials_of(scenario, cells_of(scenario))

    assert len(trials) == 3 * 4 * 2
    for first, second in zip(trials[::2], trials[1::2], strict=True):
        assert (first.cell.id, first.pair) == (second.cell.id, second.pair)
        assert {first.arm, second.arm} == {"baseline", "speculative"}
    assert [trial.order for trial in trials] == list(range(24))


def test_each_arm_goes_first_in_one_of_a_cells_pairs_of_every_two_rounds() -> None:
    """ABBA or BAAB, so that drift cancels out."""
    scenario = code()
    leaders = [(t.cell.id, t.pair // 2, t.arm) for t in trials_of(scenario, cells_of(scenario))[::2]]

    assert set(Counter(leaders).values()) == {1}
    assert len(leaders) == 3 * 2 * 2


@pytest.mark.parametrize(("levels", "least"), [("[4]", 0.5), ("[1, 4]", 0.75), ("[1, 4, 16]", 0.83)])
def test_the_first_block_of_a_pair_follows_its_own_arm_but_where_two_rounds_meet(levels: str, least: float) -> None:
    """Whatever the cell; then the level of a pair tells what one arm leaves to the other (docs/adr/0034)."""
    scenario = code(("matrix.concurrency", levels), ("matrix.primary", "4"), profile="full")
    trials = trials_of(scenario, cells_of(scenario))
    alike = [before.arm == first.arm for before, first in zip(trials[1::2], trials[2::2], strict=False)]

    assert sum(alike) >= least * len(alike)
    assert all(same for same, first in zip(alike, trials[2::2], strict=True) if first.pair % 2 == 1)


def test_the_order_of_one_cell_has_no_rhythm() -> None:
    """Orders of two rounds come as often as each other and at random, so that nothing that comes and goes meets one arm alone."""
    orders = set()
    for seed in range(20):
        scenario = code(("matrix.concurrency", "[4]"), ("matrix.primary", "4"), ("seed", str(seed)), profile="standard")
        led = [trial.arm for trial in trials_of(scenario, cells_of(scenario))[::4]]
        assert sorted(Counter(led).values()) == [2, 3]
        orders.add(tuple(led))

    assert len(orders) > 5


def test_the_same_seed_gives_the_same_order_and_another_seed_another() -> None:
    """Order is random but repeatable."""
    one, again, other = (trials_of(s, cells_of(s)) for s in (code(), code(), code(("seed", "7"))))

    assert one == again
    assert [t.block_id for t in one] != [t.block_id for t in other]


def test_separate_traffic_makes_a_cell_of_each_bin_and_sampling() -> None:
    """2 bins x 2 samplings x 3 levels."""
    cells = cells_of(code(("matrix.traffic", "separate")))

    assert len(cells) == 12
    assert cells[0].id == "complete.greedy.c1"
    assert {(c.bin, c.sampling) for c in cells} == {(b, s) for b in ("complete", "edit") for s in ("greedy", "sampled")}


def test_a_longer_plan_takes_longer_and_says_its_limits() -> None:
    """The least time is the sum of the steady windows and ramps; the most is bounded."""
    scenario = code()
    least, most = duration_s(scenario, trials_of(scenario, cells_of(scenario)))

    assert least == 24 * (2 + 0.5)
    assert most == 24 * (3 * 2 + 30 + 1 + 36)


def test_the_description_fits_a_terminal_and_names_cells_and_rails() -> None:
    """No line is wider than 80 columns; every cell and guardrail is there."""
    scenario = code()
    text = describe(scenario, trials_of(scenario, cells_of(scenario)))

    assert max(map(len, text.splitlines())) <= 80
    assert "24 blocks" in text
    for word in ("c16", "primary", "ttft_p95", "error_rate", "draft_model"):
        assert word in text


def test_a_guardrail_of_some_loads_stands_with_them() -> None:
    """And the default with the others; long lists go on in the next line."""
    text = CODE.read_text().replace("worse_by_at_most: 15%", "worse_by_at_most: 30%, cells: [16]")
    scenario = parse_scenario(text, "code.yaml", Overrides(settings=(("matrix.rate", str([n + 0.25 for n in range(12)])),)))
    described = describe(scenario, trials_of(scenario, cells_of(scenario)))

    assert "\n  guardrail: ttft_paired worse by at most 30% at 16\n" in described
    assert "\n  guardrail: ttft_paired worse by at most 15% at 1, 4, 0.25," in described
    assert max(map(len, described.splitlines())) <= 80


def test_limits_are_told_as_they_were_asked() -> None:
    """Half percents are not rounded away."""
    text = CODE.read_text().replace("worse_by_at_most: 15%", "worse_by_at_most: 2.5%")
    scenario = parse_scenario(text, "code.yaml", Overrides(settings=(("success.improve_by", "7.5%"),)))
    described = describe(scenario, trials_of(scenario, cells_of(scenario)))

    assert "ttft_paired worse by at most 2.5%\n" in described
    assert "at least 7.5% better in the primary cell\n" in described


def test_pairs_are_not_always_led_by_the_same_arm_in_time() -> None:
    """Consecutive pairs of one cell do not all repeat the same order."""
    scenario = code(profile="standard")
    leaders = [t.arm for t in trials_of(scenario, cells_of(scenario))[::2] if t.cell.id == "c4"]

    assert any(a == b for a, b in pairwise(leaders))
    assert any(a != b for a, b in pairwise(leaders))


def test_under_restart_a_round_is_one_start_of_each_engine() -> None:
    """All blocks of one arm, then those of the other; both in the same order of cells; each pair is a launch of its own."""
    scenario = code(("matrix.schedule", "restart"))
    trials = trials_of(scenario, cells_of(scenario))

    for pair in range(4):
        first, second = trials[6 * pair : 6 * pair + 3], trials[6 * pair + 3 : 6 * pair + 6]
        assert {t.arm for t in first} | {t.arm for t in second} == {"baseline", "speculative"}
        assert len({t.arm for t in first}) == len({t.arm for t in second}) == 1
        assert [t.cell.id for t in first] == [t.cell.id for t in second]
        assert {(t.pair, t.launch) for t in (*first, *second)} == {(pair, pair)}
    assert Counter(trials[6 * pair].arm for pair in range(4)) == {"baseline": 2, "speculative": 2}


def test_pairs_that_run_at_once_take_half_the_time() -> None:
    """Two load children, one window."""
    one, both = (duration_s(s, trials_of(s, cells_of(s))) for s in (code(), code(("matrix.schedule", "simultaneous"))))

    assert both == (one[0] / 2, one[1] / 2)


def test_a_schedule_says_what_it_costs_in_certainty() -> None:
    """Nothing where engines that are up take turns; else a sentence for the report."""
    assert certainty_of(code()) == ()
    assert "started 4 times" in certainty_of(code(("matrix.schedule", "restart")))[0]
    assert "the hosts" in certainty_of(code(("matrix.schedule", "simultaneous")))[0]
