"""What live traffic comes to, state by state; periods are literal counts of arms whose times are known."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from specbench.analysis.live.live_judge import LiveEvidence, judged
from specbench.model.live.live_period import LivePeriod
from specbench.model.live.watch_result import LiveLimit, WatchResult, WatchRules
from specbench.model.records import Telemetry
from tests.support.goldens import same_text
from tests.support.live import TOKENS, buckets, counts, period, run

RANDOM = WatchRules(assignment="random", errors="none")


def arms(windows: int, seed: int = 0, **speculative: Any) -> tuple[tuple[LivePeriod, ...], tuple[LivePeriod, ...]]:
    """Both arms over so many windows whose times scatter by 5 %; the baseline's TPOT is 10 ms."""
    rng = np.random.default_rng(seed)
    noise = np.exp(rng.normal(0, 0.05, (windows, 2)))
    fields = {"tpot_s": 0.010, "ttft_s": 0.120, **speculative}
    base = tuple(period(n, "baseline", tpot_s=0.010 * noise[n, 0], ttft_s=0.12 * noise[n, 0]) for n in range(windows))
    times = {"tpot_s", "ttft_s"}
    spec = tuple(
        period(n, **{name: value * noise[n, 1] if name in times else value for name, value in fields.items()})
        for n in range(windows)
    )
    return base, spec


def state(windows: int, rules: WatchRules = RANDOM, **fields: Any) -> WatchResult:
    """The state after so many windows of both arms, against a run that promoted."""
    base, spec = arms(windows, **fields)
    return judged(LiveEvidence(speculative=spec, baseline=base, run=run()), rules)


def codes(found: WatchResult) -> list[str]:
    """The codes of its reasons."""
    return [reason.code for reason in found.reasons]


def test_equal_arms_keep_and_confirm_the_run() -> None:
    """Every mean passes, so that a run that promoted may be promoted."""
    found = state(40)

    assert (found.state, found.exit_code, found.promote, found.rollback) == ("KEEP", 0, True, False)
    assert found.figures.speed_up_source == "measured"


def test_nothing_is_said_of_few_windows() -> None:
    """Neither of equal arms nor of harm."""
    assert (state(23).state, codes(state(23))) == ("HOLD", ["too_few_windows"])
    assert state(23, tpot_s=0.02).state == "HOLD"


def test_a_slower_arm_is_rolled_back() -> None:
    """+ 20 % in TPOT over 30 windows, with the policy emptied."""
    found = state(30, tpot_s=0.012)

    assert (found.state, found.exit_code, found.rollback, found.policy_empty) == ("ROLLBACK", 20, True, "live_harm")
    assert {reason.metric for reason in found.reasons} >= {"tpot_p95"}
    same_text("rollback", *(reason.message for reason in found.reasons))


def test_harm_within_the_margin_is_none() -> None:
    """+ 5 % of a tolerated 10 % over 60 windows."""
    assert state(60, tpot_s=0.0105).state == "KEEP"


@pytest.mark.parametrize("assignment", ["slices", "before-after"])
def test_arms_with_different_traffic_are_not_compared(assignment: Any) -> None:
    """Twice as slow, and every relative finding is NODATA by name."""
    found = state(40, WatchRules(assignment=assignment), tpot_s=0.02)

    assert found.state != "ROLLBACK"
    relative = [one for one in found.findings if one.metric == "tpot_p95"]
    assert [(one.state, one.code) for one in relative] == [("NODATA", "arms_have_different_traffic")]
    assert not found.promote


def test_what_counters_do_not_tell_is_named() -> None:
    """Pace, capacity and stalls are no live findings."""
    found = {one.metric: one.code for one in state(30).findings if one.state == "NODATA"}

    assert found["pace_p95"] == "not_told_by_counters"
    assert found["output_tps"] == "demand_not_capacity"


def test_errors_that_nobody_tells_hold() -> None:
    """Engines count none, and nothing passes for want of data."""
    found = state(30, WatchRules(assignment="random"))

    assert (found.state, codes(found), found.promote) == ("HOLD", ["errors_not_told"], False)


def test_errors_of_the_gateway_decide() -> None:
    """None in either arm passes; 3 % more in the speculative arm rolls back."""
    rules = WatchRules(assignment="random", errors="told")
    base, spec = arms(40)
    clean = [tuple(replace(one, failed_share=0.0) for one in arm) for arm in (base, spec)]
    failing = tuple(replace(one, failed_share=0.02 + 0.02 * (n % 2)) for n, one in enumerate(spec))

    assert judged(LiveEvidence(speculative=clean[1], baseline=clean[0], run=run()), rules).state == "KEEP"
    found = judged(LiveEvidence(speculative=failing, baseline=clean[0], run=run()), rules)
    assert (found.state, found.reasons[0].metric) == ("ROLLBACK", "error_rate")


REFUSED: dict[str, Callable[[LivePeriod], LivePeriod]] = {
    "load_not_alike": lambda one: replace(one, seconds=one.seconds / 2),
    "place_not_controlled": lambda one: replace(one, replicas=1, hosts=("gpu-z",), seconds=one.seconds),
    "traffic_not_alike": lambda one: replace(one, observed={**one.observed, "prompt_tokens": buckets([15.0] * 200, TOKENS)}),
    "slow_requests_vanish": lambda one: replace(one, running_rise=-20.0),
}


@pytest.mark.parametrize("code", REFUSED)
def test_arms_that_are_not_alike_are_refused_by_name(code: str) -> None:
    """Equal times, and still no word."""
    base, spec = arms(30)
    evidence = LiveEvidence(speculative=tuple(map(REFUSED[code], spec)), baseline=base, run=run(inputs=None))
    found = judged(evidence, RANDOM)

    assert (found.state, found.promote) == ("HOLD", False)
    assert code in codes(found)
    same_text(code, *(reason.message for reason in found.reasons))


def test_harm_is_shown_though_slow_requests_vanish() -> None:
    """What vanishes can only hide harm."""
    base, spec = arms(30, tpot_s=0.013)
    lossy = tuple(map(REFUSED["slow_requests_vanish"], spec))

    assert judged(LiveEvidence(speculative=lossy, baseline=base, run=run()), RANDOM).state == "ROLLBACK"


def test_a_tail_that_the_edges_hide_names_the_edges_that_would_show_it() -> None:
    """TTFT around 120 ms lies in one bucket from 100 to 250 ms."""
    found = [one for one in state(30).findings if one.basis == "tail" and one.metric == "ttft_p95"]

    assert [(one.state, one.code) for one in found] == [("INCONCLUSIVE", "buckets_too_wide")]
    assert found[0].remedy is not None
    assert found[0].remedy.startswith('{"time_to_first_token": [0.072, ')


def test_a_grown_load_alarms_though_acceptance_is_the_same() -> None:
    """At 15 requests a step the run's step cost asks for 3.8 tokens, and a step has 3.2."""
    spec = tuple(period(n, batch=15.0) for n in range(4))
    found = judged(LiveEvidence(speculative=spec, run=run()), WatchRules())

    assert (found.state, found.exit_code, codes(found)) == ("ALARM", 13, ["below_break_even"])
    same_text("below break-even by load", found.reasons[0].message)


def test_a_fallen_acceptance_alarms_at_the_same_load() -> None:
    """1.2 tokens a step do not pay at one request."""
    spec = tuple(period(n, batch=1.0, tokens_per_step=1.2, alpha=0.75) for n in range(4))
    found = judged(LiveEvidence(speculative=spec, run=run()), WatchRules())

    assert codes(found) == ["below_break_even"]
    same_text("below break-even by acceptance", found.reasons[0].message)


def test_one_good_window_ends_the_alarm() -> None:
    """Three in a row must lose."""
    spec = (*(period(n, batch=15.0) for n in range(4)), period(4, batch=2.0))

    assert judged(LiveEvidence(speculative=spec, run=run()), WatchRules()).state == "KEEP"


def test_a_limit_is_exact_at_an_edge_and_takes_two_windows() -> None:
    """A TPOT of 45 ms has a p99 above 50 ms; one window is none."""
    slow = [period(n, tpot_s=0.045) for n in range(2)]

    assert judged(LiveEvidence(speculative=(slow[0],), run=run()), WatchRules()).state == "KEEP"
    found = judged(LiveEvidence(speculative=tuple(slow), run=run()), WatchRules())
    assert (found.state, codes(found)) == ("ALARM", ["over_limit"])


def test_a_limit_that_the_baseline_breaks_too_is_not_speculations() -> None:
    """At random, alone it rolls back; shared it alarms as `both_arms`."""
    base, spec = arms(30, tpot_s=0.045)
    slow_base = tuple(period(n, "baseline", tpot_s=0.046 + 0.001 * (n % 3)) for n in range(30))

    alone = judged(LiveEvidence(speculative=spec, baseline=base, run=run()), RANDOM)
    shared = judged(LiveEvidence(speculative=spec, baseline=slow_base, run=run()), RANDOM)
    assert "over_limit" in codes(alone)
    assert alone.state == "ROLLBACK"
    assert (shared.state, codes(shared)[0]) == ("ALARM", "both_arms")


def test_a_limit_off_the_edges_is_decided_by_its_neighbours() -> None:
    """60 ms lies between 50 and 75: surely above where the p99 is above 75, unknown where it is between."""
    rules = WatchRules(limits=(LiveLimit(metric="tpot_p99", value=60.0, periods=1),))

    assert judged(LiveEvidence(speculative=(period(tpot_s=0.100),), run=run()), rules).state == "ALARM"
    unknown = judged(LiveEvidence(speculative=(period(tpot_s=0.040),), run=run()), rules)
    assert [one.state for one in unknown.findings if one.basis == "limit"] == ["NODATA"]


def test_a_low_alpha_warns_and_no_more() -> None:
    """Three windows below .7."""
    found = judged(LiveEvidence(speculative=tuple(period(n, alpha=0.6) for n in range(3)), run=run()), WatchRules())

    assert found.state == "KEEP"
    assert "low_alpha" in [warning.code for warning in found.warnings]


def test_an_arm_that_answers_and_drafts_nothing_alarms() -> None:
    """Two windows of answers without a draft."""
    silent = tuple(replace(one, told=replace(one.told, acceptance=counts(0.8, 0))) for one in (period(0), period(1)))

    assert codes(judged(LiveEvidence(speculative=silent, run=run()), WatchRules()))[0] == "not_drafting"


def test_a_full_cache_empties_the_policy_until_six_clean_windows() -> None:
    """Two windows with preemptions at 96 %."""

    def window(number: int, full: bool) -> LivePeriod:
        one = period(number)
        return replace(one, told=replace(one.told, kv_usage_peak=0.96 if full else 0.5, preemptions=3 if full else 0))

    full = [window(n, True) for n in range(2)]
    clean = [window(n, False) for n in range(2, 8)]

    def policy(*windows: LivePeriod) -> str | None:
        return judged(LiveEvidence(speculative=windows, run=run()), WatchRules()).policy_empty

    assert policy(*full) == "memory_short"
    assert policy(*full, *clean[:5]) == "memory_short"
    assert policy(*full, *clean) is None


@pytest.mark.parametrize(
    ("now", "code", "empties"),
    [
        ({"engine_version": "0.34.0"}, "engine_version_changed", True),
        ({"speculation_config": "8"}, "speculation_config_changed", False),
        ({"hardware": "L4"}, "hardware_changed", False),
    ],
)
def test_a_changed_fact_asks_for_another_run(now: dict[str, str], code: str, empties: bool) -> None:
    """A fact that must be equal takes the policy away as well."""
    found = judged(LiveEvidence(speculative=(period(0),), run=run(), facts={**run().facts, **now}), WatchRules())

    assert (found.state, found.exit_code, codes(found)) == ("RERUN", 12, [code])
    assert found.policy_empty == (code if empties else None)


def test_facts_that_nobody_tells_are_named() -> None:
    """Neither a change nor silence about it."""
    found = judged(LiveEvidence(speculative=(period(0),), run=run(), facts={"model": "m"}), WatchRules())

    assert found.state == "KEEP"
    assert "engine_version" in found.not_watched
    assert "model" not in found.not_watched


def test_answers_outside_the_tested_lengths_ask_for_another_run() -> None:
    """Answers of 100 tokens, where the run had 200 to 400."""
    found = judged(LiveEvidence(speculative=(period(0),), run=run(outputs=(200.0, 400.0))), WatchRules())

    assert codes(found) == ["traffic_not_as_tested"]


def test_a_load_beyond_the_tested_one_asks_for_another_run() -> None:
    """Thirty requests a step for two hours, 16 tested."""
    spec = tuple(period(n, batch=30.0) for n in range(24))

    assert codes(judged(LiveEvidence(speculative=spec, run=run()), WatchRules())) == ["load_beyond_test"]


def test_a_day_of_another_alpha_asks_for_another_run() -> None:
    """.70 for 24 hours, .80 in the run."""
    spec = tuple(period(12 * hour, alpha=0.72) for hour in range(25))

    assert "acceptance_not_as_tested" in codes(judged(LiveEvidence(speculative=spec, run=run()), WatchRules()))


def test_acceptance_that_falls_after_the_reference_week_asks_for_another_run() -> None:
    """From .80 to .70 in the eighth day."""
    spec = tuple(period(12 * hour, alpha=0.80 if hour < 168 else 0.70) for hour in range(200))
    found = judged(LiveEvidence(speculative=spec, run=run()), WatchRules())

    assert "acceptance_drift" in codes(found)
    assert found.figures.drift["alpha"] > 1


def test_without_a_run_limits_alone_are_watched() -> None:
    """It says so once, and never promotes."""
    base, spec = arms(30)
    found = judged(LiveEvidence(speculative=spec, baseline=base), RANDOM)

    assert (found.state, found.promote) == ("KEEP", False)
    assert [warning.code for warning in found.warnings].count("no_run") == 1


def test_a_demonstration_never_promotes() -> None:
    """Nor does a run that held."""
    base, spec = arms(30)
    for cited in (run(demonstration=True), run(verdict="HOLD")):
        assert not judged(LiveEvidence(speculative=spec, baseline=base, run=cited), RANDOM).promote


def test_no_traffic_holds() -> None:
    """Nineteen requests within the hour."""
    found = judged(LiveEvidence(speculative=(period(0, requests=19),), run=run()), WatchRules())

    assert (found.state, found.exit_code, codes(found)) == ("HOLD", 10, ["no_traffic"])


@pytest.mark.parametrize("problem", ["no_series", "unread", "several_models", "mixed_replicas", "no_replica_throughout"])
def test_what_cannot_be_read_is_invalid(problem: str) -> None:
    """With the reason, and with exit code 30."""
    nothing = LivePeriod(arm="speculative", start_s=0, end_s=300, replicas=0, problem=problem, told=Telemetry())
    found = judged(LiveEvidence(speculative=(nothing,), run=run()), WatchRules())

    assert (found.state, found.exit_code, codes(found)) == ("INVALID", 30, ["nothing_readable"])
    same_text(problem, found.reasons[0].message)


def test_replicas_that_are_left_out_are_counted() -> None:
    """A restart in the newest window is a note, no state."""
    spec = (period(0), replace(period(1), left_out={"restarted": 1}))
    found = judged(LiveEvidence(speculative=spec, run=run()), WatchRules())

    assert found.state == "KEEP"
    assert "replicas_left_out" in [warning.code for warning in found.warnings]


def test_harm_comes_before_a_change() -> None:
    """The first state that holds; the other's reason follows."""
    base, spec = arms(30, tpot_s=0.013)
    found = judged(LiveEvidence(speculative=spec, baseline=base, run=run(), facts={**run().facts, "model": "n"}), RANDOM)

    assert found.state == "ROLLBACK"
    assert codes(found)[-1] == "model_changed"
