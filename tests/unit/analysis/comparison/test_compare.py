"""Two arms on one metric: the ratio, its interval, and what happens where there is none."""

from collections.abc import Sequence
from dataclasses import replace
from math import exp, inf, log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from specbench.analysis.arrays.cell_arrays import CellArrays, arrays_of
from specbench.analysis.comparison.compare import bin_results, cell_comparisons, compare
from specbench.analysis.metrics.latency import tpot
from specbench.analysis.stats.quantile import log_quantile_influence
from specbench.explain.absences import NO_SPREAD, OPEN_END
from specbench.model.metrics import METRICS
from specbench.model.records import RequestRecord, SpeculationCounts, Telemetry
from specbench.model.result import Comparison
from specbench.model.scenario import ARMS, ArmName
from tests.support.goldens import same_text
from tests.support.records import a_block, a_record, blocks_of


def _request(first_ms: float, gap_ms: float, n: int = 12, **fields: object) -> RequestRecord:
    return a_record([first_ms + gap_ms * i for i in range(n)], **fields)  # type: ignore[arg-type]


def _arm(arm: ArmName, gaps: Sequence[Sequence[float]]) -> CellArrays:
    """One block a pair, one request of TTFT 50 ms a gap."""
    return blocks_of(arm, [[_request(50.0, gap) for gap in held] for held in gaps])


def _random_arm(arm: ArmName, seed: int, pairs: int = 5, requests: int = 25, slower: float = 1.0) -> CellArrays:
    rng = np.random.default_rng(seed)
    return _arm(arm, (10.0 * slower * rng.lognormal(0, 0.2, (pairs, requests))).tolist())


def _by_id(comparisons: Sequence[Comparison]) -> dict[str, Comparison]:
    return {comparison.metric: comparison for comparison in comparisons}


def test_medians_are_compared_pair_by_pair() -> None:
    """tpot_p50: the mean of the log ratios of the blocks' medians, with t, as scipy computes it."""
    baseline = _arm("baseline", [[10, 11, 12], [9, 10, 11], [10, 10, 13]])
    speculative = _arm("speculative", [[5, 6, 7], [6, 6, 6], [4, 5, 9]])
    logs = np.log([6 / 11, 6 / 10, 5 / 10])
    oracle = stats.ttest_1samp(logs, 0.0).confidence_interval(0.95)

    found = compare(METRICS["tpot_p50"], baseline, speculative)

    assert (found.n_blocks, found.df, found.constant, found.reason) == (3, 2, False, None)
    assert found.ratio == pytest.approx(exp(logs.mean()))
    assert found.se_log == pytest.approx(logs.std(ddof=1) / sqrt(3))
    assert (found.ci_low, found.ci_high) == pytest.approx((exp(oracle.low), exp(oracle.high)))
    assert found.value.baseline is not None
    assert found.value.speculative is not None
    assert found.ratio == pytest.approx(found.value.speculative / found.value.baseline)


def test_a_p95_of_requests_is_pooled_with_the_largest_of_three_errors() -> None:
    """tpot_p95: numpy's percentile over all requests of an arm. Leaving out a pair, the spread of the pairs' own ratios, and the
    linearised error each say how sure it is; the largest holds."""
    before = np.array([[10.0, 11, 12, 13], [9, 10, 11, 20], [10, 10, 13, 16]])
    after = np.array([[5.0, 6, 7, 9], [6, 6, 6, 12], [4, 5, 9, 8]])

    def theta(kept: list[int]) -> float:
        return log(np.quantile(after[kept], 0.95)) - log(np.quantile(before[kept], 0.95))

    left_out = np.array([theta([1, 2]), theta([0, 2]), theta([0, 1])])
    own = np.array([theta([pair]) for pair in range(3)])
    pair_of = np.repeat(np.arange(3), 4)
    pulls = log_quantile_influence(after.ravel(), pair_of, 0.95) - log_quantile_influence(before.ravel(), pair_of, 0.95)
    errors = (
        sqrt(2 / 3 * ((left_out - left_out.mean()) ** 2).sum()),
        sqrt(((own - theta([0, 1, 2])) ** 2).sum() / 6),
        sqrt(3 / 2 * (pulls**2).sum()),
    )

    found = compare(METRICS["tpot_p95"], _arm("baseline", before.tolist()), _arm("speculative", after.tolist()))

    assert found.value.baseline == pytest.approx(np.quantile(before, 0.95))
    assert found.ratio == pytest.approx(exp(theta([0, 1, 2])))
    assert found.se_log == pytest.approx(max(errors))
    assert (found.n.baseline, found.n_blocks, found.df, found.low_n) == (12, 3, 2, True)


def test_a_pair_with_a_missing_side_drops_out_and_is_counted() -> None:
    """Three pairs where the speculative arm's last block holds nothing leave two."""
    baseline = _arm("baseline", [[10, 11], [9, 10], [50, 60]])
    speculative = _arm("speculative", [[5, 6], [6, 6], []])

    paired, pooled = (compare(METRICS[name], baseline, speculative) for name in ("tpot_p50", "tpot_p95"))

    assert (paired.n_blocks, pooled.n_blocks) == (2, 2)
    assert paired.value.baseline == pytest.approx(sqrt(10.5 * 9.5))
    assert pooled.value.baseline == pytest.approx(np.quantile([9, 10, 10, 11], 0.95))


def test_swapping_the_arms_inverts_every_ratio() -> None:
    """Ratio, interval and sign: everything about the difference turns around, nothing else changes."""
    a, b = _random_arm("baseline", 1), _random_arm("speculative", 2, slower=0.7)

    for there, back in zip(cell_comparisons(a, b), cell_comparisons(b, a), strict=True):
        assert (there.se_log is None) == (back.se_log is None)
        above = back.se_log if back.se_log_above is None else back.se_log_above
        assert (there.se_log or 0.0) == pytest.approx(above or 0.0, rel=1e-6)
        if there.ratio is not None and back.ratio is not None:
            assert there.ratio * back.ratio == pytest.approx(1.0, rel=1e-12)
        if there.ci_low is not None and back.ci_high is not None:
            assert there.ci_low * back.ci_high == pytest.approx(1.0, rel=1e-9)


def test_an_arm_against_itself_has_ratio_one_and_no_certainty() -> None:
    """Equal arms differ by exactly nothing, which is a spread of 0: suspect in a time, fine in a length."""
    same = _random_arm("baseline", 1)
    found = _by_id(cell_comparisons(same, same))

    assert (found["tpot_p50"].ratio, found["tpot_p50"].constant, found["tpot_p50"].ci_low) == (1.0, True, None)
    assert found["tpot_p50"].reason == NO_SPREAD
    assert (found["output_length"].ratio, found["output_length"].constant) == (1.0, False)
    assert (found["output_length"].ci_low, found["output_length"].ci_high) == (1.0, 1.0)


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10_000), scale=st.sampled_from([0.25, 3.0, 1000.0]))
def test_scaling_the_time_of_both_arms_changes_no_ratio(seed: int, scale: float) -> None:
    """Nothing depends on the unit of time: latencies scale, ratios stay."""

    def arm(name: ArmName, factor: float) -> CellArrays:
        rng = np.random.default_rng([seed, name == "baseline"])
        blocks = rng.lognormal(0, 0.2, (3, 4)).tolist()
        requests = [[_request(50.0 * factor, 10 * gap * factor) for gap in held] for held in blocks]
        return blocks_of(name, requests, window_ms=(0.0, 60_000.0 * factor))

    plain = _by_id(cell_comparisons(arm("baseline", 1.0), arm("speculative", 1.0)))
    slow = _by_id(cell_comparisons(arm("baseline", scale), arm("speculative", scale)))

    for name, metric in METRICS.items():
        if metric.unit != "ms" or plain[name].ratio is None:
            continue
        assert slow[name].ratio == pytest.approx(plain[name].ratio, rel=1e-5)
        assert slow[name].value.baseline == pytest.approx((plain[name].value.baseline or 0) * scale, rel=1e-5)


def test_failures_beyond_five_percent_leave_p95_unbounded_in_that_arm() -> None:
    """T-01: faster survivors do not make an improvement: the speculative p95 has no number, and p50 still has one."""
    good = [_request(50.0, 10.0) for _ in range(20)]
    some_failed = [_request(50.0, 9.0 + i / 100) for i in range(18)] + [a_record(outcome="http_error")] * 2
    baseline, speculative = blocks_of("baseline", [good] * 3), blocks_of("speculative", [some_failed] * 3)

    p95, p50 = (compare(METRICS[name], baseline, speculative) for name in ("e2e_p95", "e2e_p50"))

    assert (p95.unbounded.baseline, p95.unbounded.speculative) == (False, True)
    assert (p95.value.speculative, p95.ratio, p95.ci_high) == (None, None, None)
    assert p95.value.baseline == pytest.approx(160.0)
    assert p50.unbounded.speculative is False
    assert p50.value.speculative is not None


def test_both_arms_beyond_every_number_are_both_marked() -> None:
    """Unbounded on both sides is told apart from unbounded on one."""
    failing = [[_request(50.0, 10.0)] * 5 + [a_record(outcome="timeout_total")] * 5] * 3

    found = compare(METRICS["ttft_p95"], blocks_of("baseline", failing), blocks_of("speculative", failing))

    assert (found.unbounded.baseline, found.unbounded.speculative, found.ratio) == (True, True, None)


def test_an_arm_without_any_success_is_absent_not_unbounded() -> None:
    """T-09: with every request failed there is no latency at all, and the reason says so."""
    baseline = _arm("baseline", [[10, 11], [9, 10]])
    dead = blocks_of("speculative", [[a_record(outcome="connect_failed")] * 5] * 2)

    found = compare(METRICS["ttft_p95"], baseline, dead)

    assert (found.value.speculative, found.ratio, found.unbounded.speculative) == (None, None, False)
    assert found.reason == "speculative: no request succeeded"


def test_a_percentile_that_hangs_on_one_pair_has_no_interval() -> None:
    """With failures at just five percent, leaving a good pair out puts p95 among them: the point stands, its error is open."""
    good = [_request(50.0, 10.0 + i / 10) for i in range(20)]
    spotted = good[:-3] + [a_record(outcome="stalled")] * 2

    found = compare(METRICS["e2e_p95"], blocks_of("baseline", [good] * 3), blocks_of("speculative", [good, good, spotted]))

    assert found.ratio is not None
    assert (found.se_log, found.ci_high) == (None, None)
    same_text("one pair decides", found.reason or "")


def test_one_pair_gives_a_ratio_and_no_interval() -> None:
    """One pair has no spread; the comparison says that this is why there is no interval."""
    found = compare(METRICS["tpot_p50"], _arm("baseline", [[10, 11]]), _arm("speculative", [[5, 6]]))

    assert found.ratio == pytest.approx(5.5 / 10.5)
    assert (found.se_log, found.ci_low, found.df) == (None, None, None)
    assert found.reason is not None
    same_text("one pair", found.reason)


@pytest.mark.parametrize(("requests", "low"), [(19, True), (20, False)])
def test_a_p95_of_fewer_than_twenty_is_marked(requests: int, low: bool) -> None:
    """T-03: below 20 samples the 95th percentile is hardly more than the largest one."""
    baseline, speculative = (_random_arm(arm, 3, pairs=1, requests=requests) for arm in ARMS)

    assert compare(METRICS["tpot_p95"], baseline, speculative).low_n is low


def test_too_few_is_told_apart_from_none() -> None:
    """A metric without any sample has no data; it does not have little of it."""
    nothing = blocks_of("speculative", [[], [], []])

    found = compare(METRICS["tpot_p95"], nothing, nothing)

    assert found.low_n is False
    assert found.reason is not None
    same_text("no sample", found.reason)


def test_the_number_behind_a_value_counts_what_was_sampled() -> None:
    """Requests for latencies and shares, gaps for gaps, steps for steps, blocks for rates."""
    arm = _random_arm("baseline", 1, pairs=3, requests=4)
    found = _by_id(cell_comparisons(arm, arm))

    names = ("ttft_p50", "error_rate", "output_length", "chunk_gap_p50", "step_time", "output_tps", "completed_rps")
    assert [found[name].n.baseline for name in names] == [12, 12, 12, 132, 132, 3, 3]


def test_a_p99_needs_a_hundred_in_its_smallest_block() -> None:
    """Per-block percentiles are as good as their smallest block: 11 gaps a request, 9 requests are 99 gaps."""
    few, enough = _random_arm("baseline", 1, requests=9), _random_arm("speculative", 1, requests=10)

    assert compare(METRICS["chunk_gap_p99"], few, enough).low_n is True
    assert compare(METRICS["chunk_gap_p99"], enough, enough).low_n is False
    assert compare(METRICS["chunk_gap_p95"], few, enough).low_n is False


def test_error_rates_are_shares_of_all_blocks() -> None:
    """10 of 100 against 5 of 100 is a ratio of 2 without an interval; the bound is that of the share itself."""
    half = [_request(50.0, 10.0)] * 45
    baseline = blocks_of("baseline", [[*half, *[a_record(outcome="http_error")] * 5], [_request(50.0, 10.0)] * 50])
    speculative = blocks_of("speculative", [[*half, *[a_record(outcome="http_error")] * 5]] * 2)

    found = compare(METRICS["error_rate"], baseline, speculative)

    assert (found.value.baseline, found.value.speculative) == (0.05, 0.1)
    assert found.ratio == pytest.approx(2.0)
    assert (found.se_log, found.ci_low) == (None, None)
    assert found.bound.speculative == pytest.approx(stats.binomtest(10, 100).proportion_ci(0.9, "exact").high)


def test_counters_of_the_engine_are_judged_by_their_values() -> None:
    """Two preemptions a block over three blocks are six, and 0 has no ratio."""
    baseline = blocks_of("baseline", [[], [], []], Telemetry(preemptions=0))
    speculative = blocks_of("speculative", [[], [], []], Telemetry(preemptions=2))

    found = compare(METRICS["preemptions"], baseline, speculative)

    assert (found.value.baseline, found.value.speculative, found.ratio) == (0.0, 6.0, None)


def test_the_bound_of_a_gauge_is_its_worst_block() -> None:
    """A limit on a peak must hold in every block."""
    blocks = [a_block(pair, telemetry=Telemetry(kv_usage_peak=peak)) for pair, peak in enumerate((0.7, 0.97, 0.8))]
    arm = arrays_of(blocks, [])

    assert compare(METRICS["kv_peak"], arm, arm).bound.speculative == pytest.approx(0.97)


def test_a_count_is_of_the_same_pairs_in_both_arms() -> None:
    """10 blocks of 50 preemptions and 8 of 60: over the 8 pairs 400 and 480, a fifth more, not 500 and 480."""
    baseline = arrays_of([a_block(pair, telemetry=Telemetry(preemptions=50)) for pair in range(10)], [])
    speculative = arrays_of([a_block(pair, telemetry=Telemetry(preemptions=60)) for pair in range(8)], [])

    found = compare(METRICS["preemptions"], baseline, speculative)

    assert (found.value.baseline, found.value.speculative, found.n_blocks) == (400.0, 480.0, 8)
    assert found.ratio == pytest.approx(1.2)
    assert (found.bound.speculative, found.alone.value, found.alone.blocks) == (480.0, 480.0, 8)


def test_an_arm_alone_is_seen_in_all_of_its_blocks() -> None:
    """A peak that the baseline tells in two pairs only: the ratio is of those two, the speculative arm's own bound of all ten."""
    peaks = [0.50, 0.52, *[0.99] * 8]
    baseline = arrays_of([a_block(pair, telemetry=Telemetry(kv_usage_peak=0.5 if pair < 2 else None)) for pair in range(10)], [])
    speculative = arrays_of([a_block(pair, telemetry=Telemetry(kv_usage_peak=peak)) for pair, peak in enumerate(peaks)], [])

    found = compare(METRICS["kv_peak"], baseline, speculative)

    assert (found.n_blocks, found.bound.speculative) == (2, 0.52)
    assert (found.alone.blocks, found.alone.bound) == (10, 0.99)
    assert found.alone.value == pytest.approx(exp(np.log(peaks).mean()))


def test_a_pooled_percentile_of_an_arm_alone_is_of_all_of_its_requests() -> None:
    """The baseline has figures in 3 of 10 pairs, where the speculative arm takes 21 ms a token; in the others it takes 80."""
    baseline = _arm("baseline", [[20.0 + n / 50 for n in range(40)]] * 3 + [[]] * 7)
    speculative = _arm("speculative", [[(21.0 if pair < 3 else 80.0) + n / 50 for n in range(40)] for pair in range(10)])

    found = compare(METRICS["tpot_p95"], baseline, speculative)

    assert found.n_blocks == 3
    assert found.value.speculative == pytest.approx(21.75, abs=0.03)
    assert found.alone.blocks == 10
    assert found.alone.value == pytest.approx(80.75, abs=0.03)
    assert (found.alone.bound or 0.0) > 80.0


def test_one_block_shows_no_bound() -> None:
    """200 requests of one pair may all have come in one good moment of the engine, as may one peak of its cache."""
    gaps = [[10.0 + n / 50 for n in range(200)]]
    one = arrays_of([a_block(0, telemetry=Telemetry(kv_usage_peak=0.5))], [])

    times = compare(METRICS["tpot_p95"], _arm("baseline", gaps), _arm("speculative", gaps))
    peak = compare(METRICS["kv_peak"], one, one)

    assert (times.bound.speculative, times.alone.bound, times.alone.blocks) == (None, None, 1)
    assert (peak.bound.speculative, peak.alone.bound, peak.alone.blocks) == (None, None, 1)


def test_an_interval_beyond_every_number_is_open() -> None:
    """Two pairs at half and twice the baseline, at an early look's level: t(1 degree) reaches e to the 2,206 and more."""
    baseline, speculative = _arm("baseline", [[10, 10], [10, 10]]), _arm("speculative", [[5, 5], [20, 20]])

    found = compare(METRICS["tpot_p50"], baseline, speculative, alpha=0.0001)

    assert found.ratio == pytest.approx(1.0)
    assert (found.ci_low, found.ci_high, found.reason) == (None, None, OPEN_END)
    assert found.bound.speculative is None
    assert found.se_log == pytest.approx(log(2))


def _failing(failed: Sequence[int]) -> CellArrays:
    """Blocks of twelve requests each, of which so many fail."""
    return blocks_of(
        "speculative",
        [[_request(50.0, 9.0 + n / 100) for n in range(12 - bad)] + [a_record(outcome="http_error")] * bad for bad in failed],
    )


@pytest.mark.parametrize(
    ("failed", "p50", "p95"),
    [
        ([7] + [0] * 9, None, 0.5),  # one burst: one event among ten blocks, and nine have a median
        ([2] * 10, None, 0.0),  # every block fails a little: no median is lost, the p95 is
        ([7] * 10, 0.0, 0.0),
        ([7] * 6 + [0] * 4, 0.0, 0.0),
    ],
)
def test_failures_prove_something_where_chance_does_not_explain_them(
    failed: list[int], p50: float | None, p95: float | None
) -> None:
    """Fisher's exact p on counts shrunk to what bursts leave of them; none of a median that most blocks have."""
    baseline = blocks_of("baseline", [[_request(50.0, 10.0 + n / 100) for n in range(12)]] * 10)

    found = _by_id(cell_comparisons(baseline, _failing(failed)))

    assert found["ttft_p50"].p_unbounded == (None if p50 is None else pytest.approx(p50, abs=0.02))
    assert found["ttft_p95"].p_unbounded == (None if p95 is None else pytest.approx(p95, abs=0.02))
    assert found["ttft_p95"].alone.unbounded
    assert found["ttft_p95"].alone.p_unbounded == found["ttft_p95"].p_unbounded


def test_the_bound_of_a_time_is_one_sided_in_the_harmful_direction() -> None:
    """For a limit in milliseconds the arm's own mean log has an upper bound, for throughput a lower one."""
    arm = _random_arm("speculative", 5)
    found = _by_id(cell_comparisons(_random_arm("baseline", 4), arm))
    medians = np.log(_medians(arm))
    oracle = stats.ttest_1samp(medians, 0.0).confidence_interval(0.9)

    assert found["tpot_p50"].bound.speculative == pytest.approx(exp(oracle.high))
    tps = found["output_tps"]
    assert tps.bound.speculative is not None
    assert tps.value.speculative is not None
    assert tps.bound.speculative <= tps.value.speculative


def _medians(arm: CellArrays) -> list[float]:
    """The median TPOT of each block, by numpy alone."""
    samples = tpot(arm)
    return [float(np.median(samples.of_unit(unit))) for unit in range(len(arm.pairs))]


def test_acceptance_has_a_value_in_the_arm_that_speculates_only() -> None:
    """The baseline's absence is said in words, and makes no ratio."""
    counted = SpeculationCounts(rounds=10, drafted=40, accepted=22, per_position=(8, 6, 5, 3))
    baseline = _arm("baseline", [[10, 11], [9, 10]])
    speculative = blocks_of("speculative", [[_request(50.0, 5.0, acceptance=counted)]] * 2)

    found = _by_id(cell_comparisons(baseline, speculative))

    assert found["acceptance_length"].value.baseline is None
    assert found["acceptance_length"].value.speculative == pytest.approx(3.2)
    assert found["alpha"].value.speculative == pytest.approx(22 / 29)
    assert found["acceptance_length"].reason is not None
    same_text("acceptance of one arm", found["acceptance_length"].reason)


def test_the_sign_flip_check_counts_harm_in_the_metrics_direction() -> None:
    """All of five pairs slower: p is 2^-5 for a time, and for throughput, where lower is the harm."""
    slower = [[10.0 + pair / 10, 10.0] for pair in range(5)]
    faster = [[5.0 + pair / 7, 5.0] for pair in range(5)]

    found = _by_id(cell_comparisons(_arm("baseline", faster), _arm("speculative", slower)))
    back = _by_id(cell_comparisons(_arm("baseline", slower), _arm("speculative", faster)))

    assert found["tpot_p50"].p_sign_flip == 2**-5
    assert back["tpot_p50"].p_sign_flip == 1.0
    assert found["tpot_p95"].p_sign_flip is None


def test_every_metric_is_compared_once_in_the_order_of_the_table() -> None:
    """The comparisons of a cell are the rows of METRICS, each with its unit and definition."""
    found = cell_comparisons(_random_arm("baseline", 1), _random_arm("speculative", 2))

    assert [comparison.metric for comparison in found] == list(METRICS)
    for comparison in found:
        metric = METRICS[comparison.metric]
        assert (comparison.unit, comparison.definition, comparison.direction) == (
            metric.unit,
            metric.definition,
            metric.direction,
        )


def test_no_number_of_a_comparison_is_infinite_or_nan() -> None:
    """Whatever failed, what reaches result.json is a finite number or absent with a reason."""
    arms = [
        _random_arm("baseline", 1),
        blocks_of("speculative", [[a_record(outcome="stalled")] * 3, [a_record([1.0], [1])], []]),
        blocks_of("speculative", [[a_record([1.0, 1.0, 1.0])] * 2] * 3),
        blocks_of("speculative", [[], [], []]),
    ]
    for a in arms:
        for b in arms:
            for found in cell_comparisons(a, b):
                numbers = (
                    *(found.value.baseline, found.value.speculative, found.bound.baseline, found.bound.speculative),
                    *(found.ratio, found.ci_low, found.ci_high, found.se_log, found.design_effect, found.p_sign_flip),
                    *(found.alone.value, found.alone.bound, found.alone.p_unbounded, found.p_unbounded),
                )
                assert all(number is None or abs(number) < inf for number in numbers)
                assert found.reason is not None or found.ci_high is not None or found.se_log is None
                if found.ratio is None:
                    assert found.reason is not None


def test_bins_split_the_cell_and_add_up_to_it() -> None:
    """Each bin and sampling has its own comparisons; their requests add up to the cell's."""

    def arm(name: ArmName, gap: float) -> CellArrays:
        requests = [
            _request(50.0, gap * (i + 1), bin=("long", "short")[i % 2], sampling=("hot", "greedy")[i // 2]) for i in range(4)
        ]
        return blocks_of(name, [requests] * 3)

    bins = bin_results(arm("baseline", 10.0), arm("speculative", 5.0))

    assert [(each.bin, each.sampling) for each in bins] == [
        ("long", "greedy"),
        ("long", "hot"),
        ("short", "greedy"),
        ("short", "hot"),
    ]
    assert sum(each.requests.baseline for each in bins) == 12
    assert {comparison.metric for each in bins for comparison in each.metrics} == {
        metric.id for metric in METRICS.values() if not metric.engine
    }
    assert _by_id(bins[1].metrics)["tpot_p50"].value.baseline == pytest.approx(10.0)


def test_the_same_input_gives_the_same_answer_twice() -> None:
    """Nothing random stands in a comparison: equal records give equal comparisons, in any order."""
    first = cell_comparisons(_random_arm("baseline", 1), _random_arm("speculative", 2))
    again = cell_comparisons(_random_arm("baseline", 1), _random_arm("speculative", 2))

    assert first == again


def test_several_blocks_of_one_pair_are_one_observation() -> None:
    """Where one launch holds several blocks, as after a restart, they count once."""

    def arm(name: ArmName, gap: float) -> CellArrays:
        blocks = [replace(a_block(pair, arm=name, name=f"{name}-{pair}-{k}"), order=k) for pair in range(3) for k in range(2)]
        records = [_request(50.0, gap + pair / 10 + k, block=f"{name}-{pair}-{k}") for pair in range(3) for k in range(2)]
        return arrays_of(blocks, records)

    found = compare(METRICS["tpot_p50"], arm("baseline", 10.0), arm("speculative", 5.0))

    assert (found.n_blocks, found.n.baseline, found.df) == (3, 6, 2)
    assert found.value.baseline == pytest.approx(exp(np.log([10.5, 10.6, 10.7]).mean()))
