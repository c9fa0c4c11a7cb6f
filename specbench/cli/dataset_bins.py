"""Bins for a person's own prompts in a first scenario: up to two bands of estimated lengths that hold nearly all of them."""

from pathlib import Path

from specbench.cli.scenario_draft import LengthBin
from specbench.errors import DataError
from specbench.prompts.dataset import read_dataset
from specbench.prompts.token_estimate import DEFAULT_ESTIMATOR

ANSWERS = (32, 256)  # tokens, where the file tells of no answers
FEWEST = 40  # prompts, below which one band is enough
MOST_READ = 5000  # rows, which tell lengths as well as all do


def bins_of(dataset: Path) -> tuple[LengthBin, ...]:
    """One band for few prompts, two of half the prompts each for more; the shortest and longest 1 % are left outside.

    Raises:
        DataError: the file has no prompt.
    """
    lengths = sorted(round(DEFAULT_ESTIMATOR.of(row.text)) for row in read_dataset(dataset).rows[:MOST_READ])
    low, middle, high = (lengths[min(len(lengths) - 1, round(share * (len(lengths) - 1)))] for share in (0.01, 0.5, 0.99))
    if high < 1:
        raise DataError(f"{dataset}: its prompts are empty; give a file with prompts")
    low = max(1, low)
    if len(lengths) < FEWEST or middle <= low or high <= middle + 1:
        return (LengthBin("all", (low, max(high, low)), ANSWERS, 1),)
    return (LengthBin("short", (low, middle), ANSWERS, 1), LengthBin("long", (middle + 1, high), ANSWERS, 1))
