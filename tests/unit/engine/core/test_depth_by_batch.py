"""The depth of each step follows the rows of its batch, as vLLM's does."""

from typing import Any

from specbench.engine.core.output_text import OutputLimits
from specbench.engine.options import TABLE
from tests.support.engines import PROMPTS, generation, small_engine

ROWS = [[1, 1, 4], [2, 3, 1], [4, 8, 0]]


def _drafted(requests: int, rows: list[list[int]] | None = None, **faults: Any) -> set[int]:
    """The depths of all rounds of so many requests that run together from the first step to the last."""
    table = {} if rows is None else {TABLE: rows}
    engine = small_engine(speculative={"method": "draft_model", "num_speculative_tokens": 4, **table}, faults=faults)
    inside = [engine.submit(str(i), generation(PROMPTS[i % 4], seed=i, limits=OutputLimits(24))) for i in range(requests)]
    for _ in range(5):  # all are inside, whatever is accepted
        engine.step()
    return {depth for sequence in inside for depth in sequence.drafted_by_round}


def test_each_batch_has_the_depth_of_its_row() -> None:
    """One request drafts 4 tokens, three draft 1 each, five none; without a table it is always 4."""
    assert (_drafted(1, ROWS), _drafted(3, ROWS), _drafted(5, ROWS), _drafted(5)) == ({4}, {1}, set(), {4})


def test_beyond_the_last_row_its_depth_goes_on() -> None:
    """The table ends at 8; nine requests draft as eight do."""
    assert (_drafted(9, ROWS), _drafted(9, [[1, 4, 2]])) == (set(), {2})


def test_an_engine_that_ignores_its_table_drafts_the_most() -> None:
    """The fault that a tuned setting is checked for."""
    assert _drafted(5, ROWS, ignore_schedule=1) == {4}


def test_drafting_nothing_still_costs_the_drafts_first_pass() -> None:
    """A step without drafts of a table takes longer than one of an engine that has no draft model at all."""
    seconds = []
    for speculative in ({"method": "draft_model", "num_speculative_tokens": 4, TABLE: [[1, 8, 0]]}, None):
        engine = small_engine(speculative=speculative)
        engine.submit("a", generation(PROMPTS[0], limits=OutputLimits(24)))
        steps = [engine.step() for _ in range(3)]
        seconds.append(steps[-1].seconds if steps[-1] is not None else 0.0)

    assert seconds[0] > seconds[1] > 0
