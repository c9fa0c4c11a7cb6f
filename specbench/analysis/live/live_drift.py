"""Whether acceptance has fallen for good: hours of the first week are the reference, and evidence is gathered hour by hour.

Hours, and a spread that the reference measured: with windows of minutes and an assumed spread the evidence alarms at every rhythm
of the day.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from specbench.analysis.live import live_figures as figures
from specbench.analysis.stats.anytime import alarm_level, drift_evidence
from specbench.explain.live import live_reasons
from specbench.model.live.live_period import LivePeriod
from specbench.model.result import Reason

HOUR_S = 3600.0
REFERENCE_HOURS = 168
LEAST_ROUNDS = 5000
RUN_LENGTH_HOURS = 2160.0  # one false alarm in 90 days at most, on average
LEAST_SD = 0.01
DETECTORS: tuple[live_reasons.Quantity, ...] = ("alpha", "acceptance_length")


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptanceDrift:
    """One watched quantity: `evidence` is the log evidence ÷ that of an alarm; None while the reference is not full.

    `alarm_after`: the hours after which it first was an alarm.
    """

    quantity: live_reasons.Quantity
    evidence: float | None
    alarm: Reason | None = None
    alarm_after: int | None = None


def hours_of(periods: Sequence[LivePeriod]) -> list[LivePeriod]:
    """Hours of the clock that are over, with enough verification rounds, each as one period."""
    over = int(max((period.end_s for period in periods), default=0.0) // HOUR_S)
    by_hour: dict[int, list[LivePeriod]] = {}
    for period in figures.usable(periods):
        by_hour.setdefault(int(period.start_s // HOUR_S), []).append(period)
    whole = [figures.added_up(by_hour[hour]) for hour in sorted(by_hour) if hour < over]
    return [hour for hour in whole if hour.told.acceptance is not None and (hour.told.acceptance.rounds or 0) >= LEAST_ROUNDS]


def drifts(periods: Sequence[LivePeriod], tolerance: float) -> tuple[AcceptanceDrift, ...]:
    """Alpha and acceptance length (relative to its reference) over the hours of these periods."""
    hours = hours_of(periods)
    return tuple(drift_of(quantity, _values(hours, quantity), tolerance) for quantity in DETECTORS)


def drift_of(quantity: live_reasons.Quantity, values: Sequence[float], tolerance: float) -> AcceptanceDrift:
    """The drift of one quantity by its hourly values; once it has alarmed, the alarm stands."""
    if len(values) <= REFERENCE_HOURS:
        return AcceptanceDrift(quantity=quantity, evidence=None)
    scale = 1.0 if quantity == "alpha" else fmean(values[:REFERENCE_HOURS])
    scaled = [value / scale for value in values]
    reference, later = scaled[:REFERENCE_HOURS], scaled[REFERENCE_HOURS:]
    middle, sd = fmean(reference), max(stdev(reference), LEAST_SD)
    level = alarm_level(RUN_LENGTH_HOURS, len(DETECTORS))
    evidence = drift_evidence(later, middle, sd, tolerance)
    alarm = None
    alarm_after = next((hour for hour, held in enumerate(evidence, start=REFERENCE_HOURS + 1) if held >= level), None)
    if alarm_after is not None:
        alarm = live_reasons.acceptance_drift(quantity, middle * scale, fmean(later[-24:]) * scale, REFERENCE_HOURS)
    now = max(evidence[-1], 0.0) / level
    return AcceptanceDrift(quantity=quantity, evidence=now, alarm=alarm, alarm_after=alarm_after)


def _values(hours: Sequence[LivePeriod], quantity: live_reasons.Quantity) -> list[float]:
    read = figures.alpha if quantity == "alpha" else figures.acceptance_length
    return [value for hour in hours if (value := read(hour)) is not None]
