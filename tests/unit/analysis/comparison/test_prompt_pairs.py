"""TTFT prompt by prompt: the same request in both arms, and nothing that only one of them answered."""

from collections.abc import Sequence
from math import exp, log

import pytest

from specbench.analysis.arrays.cell_arrays import CellArrays, arrays_of
from specbench.analysis.comparison.compare import compare
from specbench.model.metrics import METRICS
from specbench.model.records import Outcome
from specbench.model.result import Comparison
from specbench.model.scenario import ArmName
from tests.support.records import a_block, a_record

Prompt = tuple[int, float, Outcome]  # its number, its TTFT in ms, how it ended


def _arm(arm: ArmName, *pairs: Sequence[Prompt]) -> CellArrays:
    records = [
        a_record([ms, ms + 10] if outcome == "ok" else [], block=f"{arm}-{pair}", index=index, outcome=outcome)
        for pair, prompts in enumerate(pairs)
        for index, ms, outcome in prompts
    ]
    return arrays_of([a_block(pair, arm=arm, window_ms=(0.0, 60_000.0)) for pair in range(len(pairs))], records)


def _ok(*times: tuple[int, float]) -> list[Prompt]:
    return [(index, ms, "ok") for index, ms in times]


def _found(baseline: CellArrays, speculative: CellArrays) -> Comparison:
    return compare(METRICS["ttft_paired"], baseline, speculative)


def test_the_ratio_is_the_geometric_mean_over_prompts_that_both_answered() -> None:
    """Prompts of 100 and 900 ms are each 10 % slower; the faster arm's third prompt has no other half and counts nowhere."""
    found = _found(
        _arm("baseline", _ok((0, 100), (1, 900)), _ok((0, 200), (1, 300))),
        _arm("speculative", _ok((0, 110), (1, 990), (2, 5000)), _ok((0, 240), (1, 360))),
    )

    assert found.ratio == pytest.approx((1.1 * 1.2) ** 0.5)
    assert found.value.baseline == pytest.approx(exp((log(300) + log(60_000**0.5)) / 2))
    assert (found.n.baseline, found.n.speculative, found.n_blocks) == (4, 4, 2)


def test_order_and_numbering_do_not_matter() -> None:
    """The speculative arm answered in another order, and its pair has other prompts between: numbers match, places do not."""
    plain = _arm("baseline", _ok((3, 100), (7, 400)), _ok((1, 100), (2, 200)))
    turned = _arm("speculative", _ok((7, 440), (5, 9), (3, 120)), _ok((2, 200), (1, 130)))

    assert _found(plain, turned).ratio == pytest.approx((1.2 * 1.1 * 1.3 * 1.0) ** 0.25)


def test_a_prompt_that_either_arm_failed_counts_in_neither() -> None:
    """Failures are for the error rate and the p95 to tell: a TTFT of +∞ has no ratio."""
    baseline = _arm("baseline", [(0, 100, "ok"), (1, 900, "http_error"), (2, 50, "ok")], _ok((0, 100)))
    speculative = _arm("speculative", [(0, 200, "ok"), (1, 100, "ok"), (2, 900, "timeout_first_token")], _ok((0, 200)))

    found = _found(baseline, speculative)

    assert found.ratio == pytest.approx(2.0)
    assert (found.n.speculative, found.unbounded.speculative) == (2, False)


def test_a_pair_without_a_prompt_in_common_is_missing() -> None:
    """It has no figure; without any there is no ratio, and the reason says so."""
    one = _found(
        _arm("baseline", _ok((0, 100)), _ok((0, 100)), _ok((0, 100))),
        _arm("speculative", _ok((0, 90)), _ok((1, 9)), _ok((0, 90))),
    )
    none = _found(_arm("baseline", _ok((0, 100))), _arm("speculative", _ok((1, 100))))

    assert one.n_blocks == 2
    assert (none.ratio, none.n_blocks) == (None, 0)
    assert none.reason is not None


def test_scatter_between_prompts_is_no_error_of_the_ratio() -> None:
    """TTFTs from 10 ms to 10 s, each 5 % longer with speculation, give 1.05 in each pair; the p95 knows no such thing."""
    times = [10.0 * 1.3**place for place in range(27)]
    pairs = [[(place, ms * (1 + pair / 50)) for place, ms in enumerate(times)] for pair in range(4)]
    slower = [[(place, 1.05 * ms * (1 + pair / 1e4)) for place, ms in prompts] for pair, prompts in enumerate(pairs)]

    found = _found(_arm("baseline", *[_ok(*p) for p in pairs]), _arm("speculative", *[_ok(*p) for p in slower]))

    assert found.ratio == pytest.approx(1.05, abs=0.001)
    assert found.se_log is not None
    assert found.se_log < 0.001
