"""The dashboard shows both arms, the run's values as lines, and nothing where there is no data."""

from dataclasses import replace

from specbench.cli.export.export_options import order_of
from specbench.export.grafana_dashboard import dashboard
from tests.support.goldens import same_text
from tests.unit.export.test_prometheus_rules import EXAMPLE, FULL


def test_twelve_panels_show_both_arms_and_the_run() -> None:
    """Each with its queries, in the golden file; four rows of three."""
    made = dashboard(order_of(FULL, EXAMPLE))
    shown = [
        f"{panel['title']}\n" + "\n".join(f"  {t['legendFormat']}: {t['expr']}" for t in panel["targets"])
        for panel in made["panels"]
    ]

    assert len(shown) == 12
    assert {tuple(panel["gridPos"].values()) for panel in made["panels"]} == {
        (8, 8, 8 * column, 8 * row) for column in range(3) for row in range(4)
    }
    same_text("panels", *shown)


def test_without_a_run_or_a_baseline_only_what_is_known_is_shown() -> None:
    """No alpha without a depth, no speed-up without the run's step cost."""
    made = dashboard(order_of(replace(FULL, baseline=None), None))
    legends = {target["legendFormat"] for panel in made["panels"] for target in panel["targets"]}

    assert len(made["panels"]) == 10
    assert not any("baseline" in legend or legend == "run" for legend in legends)


def test_no_panel_makes_up_a_value_where_there_is_none() -> None:
    """A constant is a line of its own, never a stand-in; no quantile is interpolated."""
    made = dashboard(order_of(FULL, EXAMPLE))
    for expr in (target["expr"] for panel in made["panels"] for target in panel["targets"]):
        assert " or " not in expr
        assert "histogram_quantile" not in expr
        assert "vector(" not in expr or expr.startswith("vector(")
