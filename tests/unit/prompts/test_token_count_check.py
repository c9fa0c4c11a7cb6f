"""Where prompt tokens are counted otherwise by the endpoint, its count holds and the reader is told the ratio."""

import pytest

from specbench.prompts.token_estimate import disagreement


def test_the_ratio_is_told() -> None:
    """D-08: the client counts 1000, the server 1480; answers that tell nothing are in neither sum."""
    said = disagreement([600.0, 400.0, 50.0], [900, 580, None])

    assert said is not None
    assert said.startswith(
        "The endpoint counts 1.48 times the prompt tokens that were drawn: its count is the one in this report"
    )
    assert (disagreement([1000.0], [700]) or "").startswith("The endpoint counts 0.70 times")
    assert (disagreement([1000.0], [700], {"complete": (16, 48)}) or "").endswith(
        "the bins' bands are as drawn (complete 16 to 48 as drawn, about 11 to 34 as the endpoint counts)."
    )


@pytest.mark.parametrize(
    ("counted", "told"),
    [([200.0], [212]), ([24.0, 30.0], [60, 70]), ([200.0], [181]), ([200.0], [None]), ([], []), ([0.0], [5])],
)
def test_a_template_s_few_tokens_or_silence_are_no_disagreement(counted: list[float], told: list[int | None]) -> None:
    """A chat template adds some to each prompt, which weighs in short ones."""
    assert disagreement(counted, told) is None
