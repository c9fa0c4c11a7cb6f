"""What a report says of whole verdicts is what the committed table says."""

import re
from pathlib import Path

import pytest

from specbench.explain.reader_questions import CALIBRATED, whole_verdicts
from tests.support.goldens import same_text

TABLE = Path("docs/calibration.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("verdict", ["PROMOTE", "CAPPED", "HOLD", "ROLLBACK"])
def test_the_counts_are_those_of_the_table(verdict: str) -> None:
    """Each row is there once, and the hits and runs of all of them add up to what is said."""
    known = CALIBRATED[verdict]
    shares = [re.findall(rf"\| {re.escape(row)} \|[^|]*\|[^|]*\| ([0-9]+) of ([0-9]+):", TABLE) for row in known.rows]

    assert all(len(found) == 1 for found in shares)
    assert sum(int(found[0][0]) for found in shares) == known.hits
    assert sum(int(found[0][1]) for found in shares) == known.runs


def test_a_verdict_says_how_often_its_like_was_wrong() -> None:
    """In one sentence, with where to read more."""
    same_text("rollback", whole_verdicts("ROLLBACK"))
