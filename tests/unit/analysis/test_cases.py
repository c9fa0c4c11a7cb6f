"""Hard inputs from public bug reports (class 4 and its neighbours): the verdict that each of them must lead to."""

import json
from dataclasses import replace
from typing import Any

import pytest

from specbench.analysis.judge import judge
from specbench.model.records import Block, Telemetry
from specbench.model.result import Comparison, Finding, Result
from specbench.model.scenario import Scenario, Success
from specbench.report import result_json
from tests.support.evidence import Answer, Effect, a_scenario, evidence, literal_run, with_guardrails
from tests.support.goldens import same_text
from tests.support.judging import a_guardrail

PLAIN = a_scenario([4], pairs=10)


def _metric(result: Result, metric: str) -> Comparison:
    return next(m for m in result.cells[0].metrics if m.metric == metric)


def _finding(result: Result, metric: str) -> Finding:
    return next(f for f in result.cells[0].findings if f.metric == metric)


def _only(rule_metric: str, slo: float) -> Scenario:
    """The scenario with this one absolute guardrail."""
    return with_guardrails(PLAIN, a_guardrail(rule_metric, None, slo=slo), defaults=False)


def test_t01_dropping_the_slow_requests_is_no_improvement() -> None:
    """90 at 1000 ms and 10 at 4000, all good, against 90 at 1100 and the 10 slow ones answered 503: 0 % against 10 % failures."""
    before = [[Answer(e2e_ms=1000)] * 9 + [Answer(e2e_ms=4000)]] * 10
    after = [[Answer(e2e_ms=1100)] * 9 + [Answer(e2e_ms=4000, outcome="http_error")]] * 10

    result = judge(literal_run(PLAIN, before, after), "0")
    e2e = _metric(result, "e2e_p95")

    assert (e2e.value.baseline, e2e.value.speculative, e2e.unbounded.speculative, e2e.ratio) == (4000.0, None, True, None)
    assert _finding(result, "e2e_p95").state == "FAIL"
    assert [(f.metric, f.state) for f in result.run_findings if f.metric == "error_rate"] == [("error_rate", "FAIL")]
    assert result.verdict == "ROLLBACK"
    same_text("t01", result.run_findings[0].reason)


def test_t02_fast_failures_stay_out_of_the_latency_of_answers() -> None:
    """25 answers of 1000 ms and 5 refusals after 3 ms: the median is 1000 (pooled 833.8), the failures are 16.7 %."""
    answers = [[Answer(e2e_ms=1000)] * 25 + [Answer(e2e_ms=3, outcome="http_error")] * 5] * 10

    result = judge(literal_run(PLAIN, [[Answer(e2e_ms=1000)] * 30] * 10, answers), "0")

    assert _metric(result, "e2e_p50").value.speculative == 1000.0
    assert _metric(result, "error_rate").value.speculative == pytest.approx(1 / 6)
    assert result.cells[0].counts.speculative.failed == 50
    assert result.verdict == "ROLLBACK"


def test_t03_a_percentile_of_six_values_decides_nothing() -> None:
    """100 to 600 ms: the p95 is shown as 575 (linear), flagged, and a guardrail on it is inconclusive."""
    scenario = replace(PLAIN, matrix=replace(PLAIN.matrix, pairs=2))
    answers = [Answer(e2e_ms=1000.0, ttft_ms=100.0 * n) for n in (1, 2, 3, 4, 5, 6)]
    blocks = [answers[:3], answers[3:]]

    result = judge(literal_run(with_guardrails(scenario, a_guardrail("ttft_p95", None, slo=1e6)), blocks, blocks), "0")

    assert _metric(result, "ttft_p95").value.baseline == pytest.approx(575.0)
    assert _metric(result, "ttft_p95").low_n
    assert _finding(result, "ttft_p95").state == "INCONCLUSIVE"
    same_text("t03", _finding(result, "ttft_p95").reason)
    assert result.verdict == "HOLD"


def test_t04_a_cold_first_wave_is_a_phase_and_no_part_of_the_window() -> None:
    """Ten requests of 40 s sent before the window opens, 90 of 700 ms inside: p95 is 700, and both phases are counted."""
    cold = [Answer(e2e_ms=41_000, ttft_ms=40_000, sent_ms=-50_000)] * 10
    warm = [Answer(e2e_ms=1700, ttft_ms=700)] * 90
    blocks = [cold + warm] * 2

    result = judge(literal_run(replace(PLAIN, matrix=replace(PLAIN.matrix, pairs=2)), blocks, blocks), "0")

    assert _metric(result, "ttft_p95").value.baseline == 700.0
    assert _metric(result, "ttft_p95").n.baseline == 180
    assert result.cells[0].counts.baseline.requests == 200


def test_t05_a_cache_warmed_by_the_first_arm_voids_the_comparison() -> None:
    """Hit rates of 0.01 and 0.93: INVALID under `cache_imbalance`, both rates in the sentence, with what to do."""

    def telling(block: object, _: object) -> Telemetry:
        return Telemetry(prefix_queries=1000, prefix_hits=930 if getattr(block, "arm", "") == "speculative" else 10)

    result = judge(evidence(Effect(ttft=0.075), PLAIN, requests=24, telling=telling), "0")
    reason = next(reason for reason in result.reasons if reason.code == "cache_imbalance")

    assert result.verdict == "INVALID"
    same_text("t05", reason.message)


def test_t06_latency_counts_from_the_schedule_where_there_is_one() -> None:
    """One request per 100 ms, one sender, number 50 takes 2010 ms: 23 requests exceed 10 ms, the largest is 2010 ms."""
    scheduled = [100.0 * n for n in range(100)]
    sent, free = [], 0.0
    for n, moment in enumerate(scheduled):
        sent.append(max(moment, free))
        free = sent[-1] + (2010.0 if n == 50 else 10.0)

    def answer(n: int) -> Answer:
        took = 2010.0 if n == 50 else 10.0
        opened = {"scheduled_ns": round(scheduled[n] * 1e6)}
        return Answer(e2e_ms=took, ttft_ms=took, tokens=1, sent_ms=sent[n], fields=opened)

    run = literal_run(PLAIN, [[answer(n) for n in range(100)]] * 2, [[answer(n) for n in range(100)]] * 2)
    opened = {block.id: block.window_open_ns or 0 for block in run.blocks}
    shifted = tuple(replace(r, scheduled_ns=(r.scheduled_ns or 0) + opened[r.block]) for r in run.records)

    result = judge(replace(run, records=shifted), "0")
    e2e = next(d for d in result.cells[0].distributions if d.metric == "ttft")

    assert max(e2e.values) == pytest.approx(2010.0)
    assert _metric(result, "e2e_p50").value.baseline == pytest.approx(10.0)
    assert _metric(result, "e2e_p95").value.baseline == pytest.approx(1564.5)  # linear over both blocks; 1560 by nearest rank


def test_t07_percentiles_of_blocks_are_merged_from_their_values() -> None:
    """1000 of 10 ms and 10 of 2000 ms: the p95 of all is 10, neither 1005 nor 2000."""
    quick, slow = [Answer(e2e_ms=10, ttft_ms=10, tokens=1)] * 1000, [Answer(e2e_ms=2000, ttft_ms=2000, tokens=1)] * 10

    result = judge(literal_run(PLAIN, [quick, slow], [quick, slow]), "0")

    assert _metric(result, "e2e_p95").value.baseline == pytest.approx(10.0)
    assert max(next(d for d in result.cells[0].distributions if d.metric == "ttft").values) == 2000.0


def test_t08_throughput_is_of_the_steady_window_alone() -> None:
    """Tokens that arrive in the ramp or after the window are not in its rate: 20 s hold 200 answers of 11 tokens, whole."""
    ramp = [Answer(e2e_ms=500, sent_ms=-2000.0)] * 50
    inside = [Answer(e2e_ms=500, sent_ms=50.0 + 90.0 * n) for n in range(200)]
    drain = [Answer(e2e_ms=500, sent_ms=25_000.0)] * 10
    blocks = [ramp + inside + drain] * 2

    result = judge(literal_run(PLAIN, blocks, blocks), "0")

    assert _metric(result, "output_tps").value.baseline == pytest.approx(200 * 11 / 20)
    assert _metric(result, "completed_rps").value.baseline == pytest.approx(200 / 20)


def test_t09_a_guardrail_without_samples_does_not_pass() -> None:
    """Every request failed, the limit is 200 ms; and a limit on acceptance that nobody tells: exit code not 0, with reasons."""
    failed = [[Answer(e2e_ms=5, outcome="http_error")] * 50] * 10
    good = [[Answer(e2e_ms=1000)] * 50] * 10

    dead = judge(literal_run(_only("ttft_p95", 200.0), failed, failed), "0")
    silent = judge(literal_run(_only("acceptance_length", 2.0), good, good), "0")

    assert (dead.verdict, dead.exit_code) == ("INVALID", 30)
    assert _finding(dead, "ttft_p95").state != "PASS"
    assert (_finding(silent, "acceptance_length").state, silent.verdict) == ("NODATA", "HOLD")
    assert silent.exit_code != 0
    same_text("t09", _finding(silent, "acceptance_length").reason)


def test_t10_the_result_is_strict_json() -> None:
    """One-token answers, a model called BaNaNa, a ratio over 0: null with a reason, and the name is untouched."""
    one = [[Answer(e2e_ms=210, ttft_ms=210, tokens=1)] * 3] * 2
    run = literal_run(PLAIN, one, one)
    endpoints = tuple(replace(endpoint, model="BaNaNa") for endpoint in run.manifest.endpoints)

    text = result_json(judge(replace(run, manifest=replace(run.manifest, endpoints=endpoints)), "0"))

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    parsed = json.loads(text, parse_constant=refuse)
    tpot = next(m for m in parsed["cells"][0]["metrics"] if m["metric"] == "tpot_p50")
    assert parsed["endpoints"]["baseline"]["model"] == "BaNaNa"
    assert tpot["ratio"] is None
    assert tpot["reason"]


def test_one_burst_of_failures_is_no_proof() -> None:
    """10 pairs of 12 requests, 7 failures in one speculative block: neither the median nor the p95 is called a harm for it."""
    good = [Answer(e2e_ms=1000.0 + n) for n in range(12)]
    burst = good[:5] + [Answer(e2e_ms=5, outcome="http_error")] * 7

    result = judge(literal_run(PLAIN, [good] * 10, [burst] + [good] * 9), "0")

    assert [_finding(result, metric).state for metric in ("ttft_p95", "tpot_p95", "e2e_p95")] == ["INCONCLUSIVE"] * 3
    assert [f.state for f in result.run_findings if f.metric == "error_rate"] == ["INCONCLUSIVE"]
    assert result.verdict == "HOLD"


def test_failures_in_most_blocks_are_proof() -> None:
    """The same seven of twelve in each block."""
    good = [Answer(e2e_ms=1000.0 + n) for n in range(12)]
    bad = good[:5] + [Answer(e2e_ms=5, outcome="http_error")] * 7

    result = judge(literal_run(PLAIN, [good] * 10, [bad] * 10), "0")

    assert [_finding(result, metric).state for metric in ("tpot_p95", "e2e_p95")] == ["FAIL"] * 2
    assert result.verdict == "ROLLBACK"


def test_a_limit_holds_in_the_blocks_of_which_the_baseline_is_silent_too() -> None:
    """The KV cache filled to at most 95 %: .50 and .52 where the baseline tells it as well, .99 in the eight other blocks."""

    def told(block: Block, _: object) -> Telemetry:
        peak = 0.50 + 0.02 * block.pair if block.pair < 2 else None
        return Telemetry(kv_usage_peak=0.99 if block.arm == "speculative" and peak is None else peak)

    result = judge(evidence(Effect(), _only("kv_peak", 0.95), requests=24, telling=told), "0")

    assert (_finding(result, "kv_peak").state, _finding(result, "kv_peak").upper) == ("INCONCLUSIVE", 0.99)
    assert result.verdict == "HOLD"


def test_a_gain_that_an_engine_tells_of_some_blocks_only_is_not_shown() -> None:
    """Half the wait in the queue, told in 9 of 10 pairs by the speculative engine: the tenth may be the bad one."""

    def telling(silent: tuple[int, ...]) -> Result:
        def told(block: Block, _: object) -> Telemetry:
            if block.arm == "speculative" and block.pair in silent:
                return Telemetry()
            return Telemetry(queue_time_s_mean=(0.010 if block.arm == "speculative" else 0.020) * (1 + 0.01 * block.pair**1.5))

        asked = replace(PLAIN, success=Success(metric="queue_time", improve_by=0.05))
        return judge(evidence(Effect(), asked, requests=24, telling=told), "0")

    def gain(result: Result) -> Finding:
        return next(f for f in result.cells[0].findings if f.role == "success")

    assert gain(telling(())).state != "NODATA"
    assert (gain(telling((9,))).state, gain(telling((9,))).notes) == ("INCONCLUSIVE", ("withheld",))
    same_text("nine of ten blocks", gain(telling((9,))).reason)


def test_c11_an_answer_without_a_token_has_no_ttft() -> None:
    """TTFTs of 100 and 120 and one empty answer: the median is 110 of two, and the empty one is counted."""
    block = [Answer(e2e_ms=500, ttft_ms=100), Answer(e2e_ms=500, ttft_ms=120), Answer(e2e_ms=130, outcome="empty_output")]

    result = judge(literal_run(PLAIN, [block] * 2, [block] * 2), "0")

    assert _metric(result, "ttft_p50").value.baseline == pytest.approx(110.0)
    assert _metric(result, "ttft_p50").n.baseline == 4
    assert result.cells[0].counts.baseline.by_outcome == {"empty_output": 2, "ok": 4}


def test_c13_shorter_answers_are_not_faster_ones() -> None:
    """256 tokens in 5200 ms against 64 in 1360: TPOT 20 and 20, and whole answers are not compared (0.25 times as long)."""
    long = [[Answer(e2e_ms=5200, tokens=256)] * 30] * 10
    short = [[Answer(e2e_ms=1360, tokens=64)] * 30] * 10

    result = judge(literal_run(PLAIN, long, short), "0")

    assert _metric(result, "tpot_p50").value.baseline == pytest.approx(20.0, rel=1e-6)
    assert _metric(result, "tpot_p50").value.speculative == pytest.approx(20.0, rel=1e-6)
    assert _metric(result, "output_length").ratio == pytest.approx(0.25)
    for metric in ("e2e_p95", "completed_rps"):
        assert _finding(result, metric).state == "INCONCLUSIVE"
        same_text(f"c13 {metric}", _finding(result, metric).reason)
    assert result.cells[0].counts.speculative.finish_reasons == {"stop": 300}


@pytest.mark.parametrize("health", [{"cpu_share": 0.95}, {"achieved_concurrency": 0.75}])
def test_l02_l08_a_client_that_cannot_keep_up_voids_the_cell(health: dict[str, Any]) -> None:
    """A busy core, or a lost worker with a quarter of the users: INVALID, and what was received is still in the result."""
    blocks = [[Answer(e2e_ms=1000)] * 30] * 10

    result = judge(literal_run(PLAIN, blocks, blocks, **health), "0")

    assert (result.verdict, result.exit_code) == ("INVALID", 30)
    assert result.cells[0].counts.speculative.ok == 300


def test_d10_prompts_that_represent_nothing_are_named_beside_the_verdict() -> None:
    """What was found in the prompts before load stands in the notes of the result."""
    run = evidence(Effect(), PLAIN, requests=24)
    found = "unrepresentative_prompts: the text compresses 107 to 1"

    result = judge(replace(run, manifest=replace(run.manifest, notes=(found,))), "0")

    assert result.notes[0] == found
