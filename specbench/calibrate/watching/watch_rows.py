"""What is asked of simulated weeks of live traffic, and whether they meet it. Nothing is simulated here."""

from collections.abc import Mapping, Sequence
from statistics import fmean, median

from specbench.calibrate.targets import TargetRow, at_least, at_most, share_of
from specbench.calibrate.watching.live_weeks import FALLS, LONG_H, LOOKS, MEMORIES
from specbench.calibrate.whole_runs import Outcome

LEAST_DAYS = 90


def watch_rows(found: Mapping[str, Sequence[Outcome]]) -> list[TargetRow]:
    """Equal arms over a week, harm within 40 windows, drift over 90 days."""
    rows = []
    for memory in MEMORIES:
        claim = f"a week of equal arms, windows correlated by {memory:g}: ROLLBACK at any of {len(LOOKS)} looks"
        share = share_of(found[f"watch-aa-{memory}"], lambda outcome: outcome["state"] == "ROLLBACK")
        rows.append(at_most("watch-aa", claim, share, 0.05))
    harm = share_of(found["watch-harm"], lambda outcome: outcome["at"] is not None)
    rows.append(at_least("watch-harm", "an arm 20 % slower: ROLLBACK within 40 windows", harm, 0.95))
    false = share_of(found["watch-drift-0"], lambda outcome: outcome["hours"] is not None)
    rows.append(at_most("drift", "no fall, a rhythm of ± .02 over the day: an alarm within 90 days", false, 0.05))
    rows.append(_run_length(found["watch-drift-run-length"]))
    for fall in FALLS:
        hours = [outcome["hours"] for outcome in found[f"watch-drift-{fall}"]]
        seen = [hour for hour in hours if hour is not None]
        told = f"median {median(seen):g} h, {len(seen)} of {len(hours)} seen" if seen else "none seen"
        claim = f"alpha falls by {fall:g} (.03 tolerated): until the alarm"
        rows.append(TargetRow("drift", claim, "shown", len(hours), told, "shown" if hours else "not run"))
    return rows


def _run_length(outcomes: Sequence[Outcome]) -> TargetRow:
    """How long it takes on average until an alarm that nothing caused; runs that end without one count as ending there."""
    claim = f"no fall: days until an alarm on average, runs of {LONG_H // 24} days counted to their end at most"
    if not outcomes:
        return TargetRow("drift", claim, f"at least {LEAST_DAYS}", 0, "", "not run")
    days = fmean(outcome["hours"] for outcome in outcomes) / 24
    alarmed = sum(outcome["alarmed"] for outcome in outcomes)
    told = f"{days:.0f} days, {alarmed} of {len(outcomes)} alarmed"
    return TargetRow(
        "drift", claim, f"at least {LEAST_DAYS} days", len(outcomes), told, "met" if days >= LEAST_DAYS else "missed"
    )
