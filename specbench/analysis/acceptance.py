"""How much of what was drafted was kept: acceptance of one arm in one cell or bin, and where each number comes from.

Theory that predicts these numbers is in `theory.py`. Source for the words: design of the vLLM counters, and arXiv 2302.01318
for alpha.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from specbench.analysis.cadence import tokens_per_step
from specbench.analysis.columns import NOT_TOLD, Columns
from specbench.analysis.events import Floats
from specbench.analysis.samples import Totals, summed
from specbench.analysis.stats_paired import t_quantile
from specbench.model.judged import AcceptanceSummary

# Drafts of uneven length leave open how many rounds were accepted whole; alpha is given while that moves it by no more than
# this.
ALPHA_TOLERANCE = 0.04
MIN_CLUSTERS = 4

PER_REQUEST = "per-request counts"
COUNTERS = "counter differences"
STREAM = "tokens per step"
NOWHERE = "none"


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Speculation as counted, one row per cluster (a unit, or a request where units are few), all (n_clusters,).

    `per_position` (n_clusters, n_positions) has no column where positions were not told. For `source` STREAM, `rounds` are
    decode steps, `accepted` the tokens beyond one a step, and nothing is known of `drafted`.
    """

    source: str
    rounds: Floats
    drafted: Floats | None
    accepted: Floats
    per_position: Floats
    reason: str | None


def counts_of(columns: Columns, by: str = "unit") -> Counts:
    """The best counts at hand: per request, else the engine's counter differences, else tokens per step of the stream.

    Args:
        by: "unit" for one row per unit; "request" for one row per request, where requests tell their own.
    """
    told = (columns.rounds != NOT_TOLD) & (columns.accepted != NOT_TOLD) & columns.is_outcome({"ok"}) & columns.started_inside()
    if told.any() and columns.rounds[told].sum() > 0:
        units = columns.unit_of_requests()[told] if by == "unit" else np.arange(int(told.sum()))
        n_rows = len(columns.pairs) if by == "unit" else int(told.sum())
        positions = [summed(column[told], units, n_rows) for column in columns.per_position.T]
        drafted = summed(columns.drafted[told], units, n_rows) if (columns.drafted[told] != NOT_TOLD).all() else None
        rounds = summed(columns.rounds[told], units, n_rows)
        accepted = summed(columns.accepted[told], units, n_rows)
        return Counts(PER_REQUEST, rounds, drafted, accepted, np.array(positions).reshape(len(positions), n_rows).T, None)
    counters = _counters(columns)
    return counters if counters is not None else _stream(columns)


def acceptance_of(columns: Columns, confidence: float = 0.95) -> AcceptanceSummary:
    """Acceptance length, rate and alpha of one arm, with the interval of the length.

    length = 1 + accepted ÷ rounds; rate = accepted ÷ drafted; alpha = accepted ÷ (accepted + rounds that ended in a rejection),
    for chains only: per position i, unconditional a_i ÷ rounds, conditional a_i ÷ a_(i-1).
    """
    counts = counts_of(columns)
    rounds, accepted = counts.rounds.sum(), counts.accepted.sum()
    if counts.reason is not None or rounds <= 0:
        reason = counts.reason or "no verification round was counted"
        return _nothing(counts.source, reason)
    low, high = _length_interval(columns, counts, confidence)
    drafted = None if counts.drafted is None else float(counts.drafted.sum())
    positions = counts.per_position.sum(axis=0)
    full, why = _whole_rounds(float(rounds), drafted, float(accepted), positions)
    before = np.concatenate(([rounds], positions[:-1]))
    return AcceptanceSummary(
        length=float(1 + accepted / rounds),
        length_low=low,
        length_high=high,
        rate=float(accepted / drafted) if drafted else None,
        alpha=None if full is None or accepted + rounds <= full else float(accepted / (accepted + rounds - full)),
        per_position=tuple(float(x) for x in positions / rounds) if len(positions) else None,
        conditional=tuple(float(a / b) for a, b in zip(positions, before, strict=True) if b > 0) if len(positions) else None,
        rejection_frequency=None if full is None else float((rounds - full) / rounds),
        rounds=int(rounds),
        source=counts.source,
        reason=why,
        length_by_request=_length_by_request(columns) if counts.source == PER_REQUEST else None,
    )


def acceptance_length(columns: Columns) -> Totals:
    """1 + accepted ÷ verification rounds per unit; no value in an arm that shows no sign of speculation."""
    counts = counts_of(columns)
    return Totals(counts.rounds + counts.accepted, counts.rounds, counts.reason)


def alpha(columns: Columns) -> Totals:
    """Accepted ÷ (accepted + rounds that ended in a rejection) per unit; chains whose whole rounds can be told only."""
    counts = counts_of(columns)
    n_units = len(counts.rounds)
    rejected, reasons = np.zeros(n_units), [counts.reason]
    for unit in range(n_units):
        drafted = None if counts.drafted is None else float(counts.drafted[unit])
        full, why = _whole_rounds(float(counts.rounds[unit]), drafted, float(counts.accepted[unit]), counts.per_position[unit])
        rejected[unit] = np.nan if full is None else counts.rounds[unit] - full
        reasons.append(why)
    known = ~np.isnan(rejected) & (counts.reason is None)
    denominator = np.where(known, counts.accepted + rejected, 0.0)
    return Totals(counts.accepted, denominator, None if denominator.any() else next((why for why in reasons if why), None))


def _counters(columns: Columns) -> Counts | None:
    if not columns.whole:
        return None
    told = [
        (unit, block.telemetry.acceptance)
        for unit, block in zip(columns.unit, columns.blocks, strict=True)
        if block.telemetry and block.telemetry.acceptance and not block.telemetry.reset
    ]
    kept = [(unit, a) for unit, a in told if a.rounds is not None and a.accepted is not None]
    if not any(a.rounds for _, a in kept):
        return None
    n_units = len(columns.pairs)
    units = np.array([unit for unit, _ in kept], dtype=np.int64)
    width = max(len(a.per_position or ()) for _, a in kept)
    rows = [(a.per_position or ()) + (0,) * (width - len(a.per_position or ())) for _, a in kept]
    positions = np.array([summed(np.array(column, dtype=np.float64), units, n_units) for column in zip(*rows, strict=True)])
    return Counts(
        COUNTERS,
        summed(np.array([a.rounds for _, a in kept], dtype=np.float64), units, n_units),
        None
        if any(a.drafted is None for _, a in kept)
        else summed(np.array([a.drafted for _, a in kept], dtype=np.float64), units, n_units),
        summed(np.array([a.accepted for _, a in kept], dtype=np.float64), units, n_units),
        positions.reshape(width, n_units).T,
        None,
    )


def _stream(columns: Columns) -> Counts:
    steps = tokens_per_step(columns)
    extra = steps.numerator - steps.denominator
    reason = steps.reason
    if reason is None and not steps.denominator.any():
        reason = "no step after the first one was seen"
    elif reason is None and not extra.any():
        reason = "no counts, and every step brought one token: no sign of speculation"
    source = STREAM if reason is None else NOWHERE
    return Counts(source, steps.denominator, None, extra, np.zeros((len(extra), 0)), reason)


def _length_by_request(columns: Columns) -> float:
    """The mean over requests of their own acceptance length: what a user sees, where length is what the engine does."""
    counts = counts_of(columns, by="request")
    used = counts.rounds > 0
    return float(1 + (counts.accepted[used] / counts.rounds[used]).mean())


def _length_interval(columns: Columns, counts: Counts, confidence: float) -> tuple[float | None, float | None]:
    """Interval of 1 + accepted ÷ rounds by the ratio estimator, over units where there are enough, else over requests.

    se = sqrt(sum (a_i - r d_i)^2 ÷ (n (n - 1))) ÷ mean d: tokens of a draft depend on each other, so that no binomial interval
    holds. Source: Cochran, Sampling Techniques, 3rd ed., section 6.4.
    """
    if int((counts.rounds > 0).sum()) < MIN_CLUSTERS and counts.source == PER_REQUEST:
        counts = counts_of(columns, by="request")
    used = counts.rounds > 0
    n = int(used.sum())
    if n < 2:
        return None, None
    rounds, accepted = counts.rounds[used], counts.accepted[used]
    ratio = accepted.sum() / rounds.sum()
    se = sqrt(float(((accepted - ratio * rounds) ** 2).sum()) / (n * (n - 1))) / float(rounds.mean())
    reach = t_quantile((1 + confidence) / 2, n - 1) * se
    return float(1 + ratio - reach), float(1 + ratio + reach)


def _whole_rounds(rounds: float, drafted: float | None, accepted: float, positions: Floats) -> tuple[float | None, str | None]:
    """How many rounds accepted their whole draft, or None and why not.

    Rounds that accepted the last position were whole. A round whose draft was shorter may have been whole too: there are at
    most as many as drafted tokens are missing, which bounds alpha from both sides; the middle is taken while the bounds are
    close.
    """
    if not len(positions):
        return None, "alpha needs counts per position, which were not told"
    if rounds <= 0 or drafted is None:
        return None, "alpha needs counts of rounds and drafted tokens"
    missing = rounds * len(positions) - drafted
    if missing < 0:
        return None, "alpha is for chains: more tokens were drafted than a chain of this depth has"
    least = float(positions[-1])
    most = min(least + missing, rounds)
    if accepted and accepted / (accepted + rounds - most) - accepted / (accepted + rounds - least) > ALPHA_TOLERANCE:
        return None, "alpha is not known: drafts differ in length"
    return (least + most) / 2, None


def _nothing(source: str, reason: str) -> AcceptanceSummary:
    return AcceptanceSummary(
        length=None,
        length_low=None,
        length_high=None,
        rate=None,
        alpha=None,
        per_position=None,
        conditional=None,
        rejection_frequency=None,
        rounds=None,
        source=source,
        reason=reason,
    )
