"""How many requests comparing answers adds to a run: none where it is off, more answers where the load brings too few."""

from pathlib import Path

import pytest

from specbench.plan.answer_requests import AddedRequests, added_requests
from specbench.scenario.parse import Overrides, parse_scenario

CODE = Path("scenarios/code.yaml").read_text()
ONE_SERVER = ("http://127.0.0.1:1", "http://127.0.0.1:1")


@pytest.mark.parametrize(
    ("profile", "settings", "added"),
    [
        # 3 loads x 4 pairs x 12 requests, half of them greedy: 72 prompts of each setting, and 128 are compared.
        ("smoke", (), AddedRequests(answers_per_arm=2 * 59, questions=2 * 2 * 128)),
        ("standard", (), AddedRequests(answers_per_arm=0, questions=2 * 2 * 256)),
        ("standard", (("answers.prompts", "64"),), AddedRequests(answers_per_arm=0, questions=2 * 2 * 64)),
        ("smoke", (("answers.check", "off"),), AddedRequests(answers_per_arm=0, questions=0)),
    ],
)
def test_the_load_brings_most_of_them(profile: str, settings: tuple[tuple[str, str], ...], added: AddedRequests) -> None:
    """For 20 missing prompts one more is asked."""
    assert added_requests(parse_scenario(CODE, "code.yaml", Overrides(profile=profile, settings=settings))) == added


def test_where_both_arms_share_one_server_all_are_asked_after_the_load() -> None:
    """Their prompts differ in every block, so that none of the load's answers can be compared."""
    overrides = Overrides(baseline_url=ONE_SERVER[0], speculative_url=ONE_SERVER[1], design="aa")

    assert added_requests(parse_scenario(CODE, "code.yaml", overrides)) == AddedRequests(2 * 135, 2 * 2 * 128)
