"""Slices: rules 3 to 6 for each bin and sampling alone, and one word over all of them."""

from itertools import product

import pytest

from specbench.analysis.verdict.slices import slice_verdict
from specbench.analysis.verdict.verdict import verdict_of
from specbench.model.cell_assessment import CellAssessment, RunConditions
from specbench.model.result import CellState, VerdictWord
from tests.support.goldens import same_text
from tests.support.judging import a_finding, an_assessment

SAFE = a_finding("PASS", "error_rate", role="safety", cell=None)
# What two cells (at 1 and 16 streams) must be for a slice to say each word on its own.
MAKING: dict[VerdictWord, tuple[CellState, CellState]] = {
    "PROMOTE": ("PASS", "PASS"),
    "CAPPED": ("PASS", "FAIL"),
    "HOLD": ("INCONCLUSIVE", "PASS"),
    "ROLLBACK": ("FAIL", "PASS"),
}


def _slice(name: str, word: VerdictWord) -> list[CellAssessment]:
    low, high = MAKING[word]
    gain = a_finding("PASS", "tpot_p50", role="success")
    return [
        an_assessment(low, 1.0, id=f"{name}.greedy.c1", slice=(name, "greedy"), primary=True, benefit=gain),
        an_assessment(high, 16.0, id=f"{name}.greedy.c16", slice=(name, "greedy")),
    ]


@pytest.mark.parametrize("word", list(MAKING))
def test_a_slice_alone_says_what_its_cells_imply(word: VerdictWord) -> None:
    """The same rules as for a whole run."""
    assert slice_verdict(_slice("edit", word), [SAFE], RunConditions()).word == word


@pytest.mark.parametrize(("first", "second"), list(product(MAKING, repeat=2)))
def test_two_slices_combine(first: VerdictWord, second: VerdictWord) -> None:
    """All PROMOTE: PROMOTE. Some PROMOTE or CAPPED: CAPPED with those that are. Else the worst."""
    verdict = verdict_of([*_slice("edit", first), *_slice("complete", second)], [SAFE], [], RunConditions())

    words = {first, second}
    if words == {"PROMOTE"}:
        expected: VerdictWord = "PROMOTE"
    elif words & {"PROMOTE", "CAPPED"}:
        expected = "CAPPED"
    else:
        expected = "ROLLBACK" if "ROLLBACK" in words else "HOLD"
    assert verdict.word == expected
    assert [(part.bin, part.sampling, part.verdict) for part in verdict.slices] == [
        ("edit", "greedy", first),
        ("complete", "greedy", second),
    ]
    assert [part.enable_range is not None for part in verdict.slices] == [w in ("PROMOTE", "CAPPED") for w in (first, second)]


def test_the_eligible_slices_are_named() -> None:
    """A router needs to know which."""
    verdict = verdict_of([*_slice("edit", "CAPPED"), *_slice("complete", "ROLLBACK")], [SAFE], [], RunConditions())

    same_text("eligible slices", *(reason.message for reason in verdict.reasons))


def test_safety_is_one_for_all_slices() -> None:
    """A run-wide safety that is not settled leaves no slice eligible; one that failed stops the run."""
    cells = [*_slice("edit", "PROMOTE"), *_slice("complete", "PROMOTE")]
    unsettled = a_finding("INCONCLUSIVE", "error_rate", role="safety", cell=None)
    failed = a_finding("FAIL", "error_rate", role="safety", cell=None)

    assert verdict_of(cells, [unsettled], [], RunConditions()).word == "HOLD"
    assert verdict_of(cells, [failed], [], RunConditions()).word == "ROLLBACK"
