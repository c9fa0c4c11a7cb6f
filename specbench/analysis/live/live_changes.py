"""What is no longer as the cited run had it: facts of the endpoint, lengths of prompts and answers, load, acceptance.

A change is no harm: it says that the run no longer speaks of what is live, and should be repeated.
"""

from collections.abc import Mapping, Sequence

from specbench.analysis.buckets import added, share_outside
from specbench.analysis.live import live_figures as figures
from specbench.analysis.live.live_drift import REFERENCE_HOURS, hours_of
from specbench.explain.live import live_reasons
from specbench.model.facts import FACTS, MUST_EQUAL, same_fact
from specbench.model.live.cited_run import CitedRun
from specbench.model.live.live_period import LivePeriod
from specbench.model.result import Reason

WATCHED_FACTS = (*MUST_EQUAL, "hardware", "speculation_config")
OUTSIDE = 0.20  # of a day's prompts or answers may lie outside the tested lengths
BEYOND = 0.05  # of a day's windows may run more than was tested
LEAST_WINDOWS_OF_A_DAY = 24
ALPHA_APART = 0.05
DAY_S = 86400.0
OLD_DAYS = 30.0


def changed_facts(then: Mapping[str, str], now: Mapping[str, str]) -> tuple[Reason, ...]:
    """One reason for each watched fact whose two values are known and differ."""
    return tuple(
        live_reasons.fact_changed(name, then[name], now[name])
        for name in WATCHED_FACTS
        if name in then and name in now and not same_fact(then[name], now[name])
    )


def breaks_equality(reasons: Sequence[Reason]) -> Reason | None:
    """The first change of a fact that must be equal, which takes the run's policy away; None where there is none."""
    return next((one for one in reasons if one.code.removesuffix("_changed") in MUST_EQUAL), None)


def not_watched(then: Mapping[str, str], now: Mapping[str, str] | None) -> tuple[str, ...]:
    """The facts that are not compared, as the run or the endpoint does not tell them."""
    return tuple(name for name in FACTS if name in WATCHED_FACTS and (name not in then or name not in (now or {})))


def not_as_tested(windows: Sequence[LivePeriod], run: CitedRun) -> tuple[Reason, ...]:
    """Lengths and load of the last day, where they are outside what the run tested."""
    day = last_day(windows)
    found: list[Reason] = []
    for what, name, band in (("prompts", "prompt_tokens", run.inputs), ("answers", "answer_tokens", run.outputs)):
        counts = added(window.observed[name] for window in day if name in window.observed)
        share = None if band is None or counts is None else share_outside(counts, *band)
        if share is not None and share > OUTSIDE and band is not None:
            found.append(live_reasons.traffic_not_as_tested("prompts" if what == "prompts" else "answers", share, band))
    batches = [batch for window in day if (batch := figures.batch_size(window)) is not None]
    if run.highest_batch is not None and len(batches) >= LEAST_WINDOWS_OF_A_DAY:
        beyond = sum(batch > run.highest_batch * 1.05 for batch in batches) / len(batches)
        if beyond > BEYOND:
            found.append(live_reasons.load_beyond_test(beyond, run.highest_batch))
    return tuple(found)


def acceptance_not_as_tested(periods: Sequence[LivePeriod], run: CitedRun) -> Reason | None:
    """Alpha of a full day against the run's, before the reference week of the drift is full."""
    hours = hours_of(periods)
    if run.alpha is None or not 24 <= len(hours) <= REFERENCE_HOURS:
        return None
    now = figures.alpha(figures.added_up(hours[-24:]))
    return None if now is None or abs(now - run.alpha) <= ALPHA_APART else live_reasons.acceptance_not_as_tested(run.alpha, now)


def run_age(run: CitedRun, at_s: float) -> Reason | None:
    """A warning where the run ended more than OLD_DAYS ago."""
    days = None if run.ended_s is None else (at_s - run.ended_s) / DAY_S
    return live_reasons.run_is_old(days) if days is not None and days > OLD_DAYS else None


def last_day(windows: Sequence[LivePeriod]) -> list[LivePeriod]:
    """The windows that ended within a day of the newest one's end."""
    return [window for window in windows if window.end_s > windows[-1].end_s - DAY_S]
