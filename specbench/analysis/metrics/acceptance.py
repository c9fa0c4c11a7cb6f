"""How much of what was drafted was kept: acceptance of one arm in one cell or bin, and where each number comes from.

Theory that predicts these numbers is in `theory.py`; what engines call their counters is known to `telemetry/` alone.
"""

from math import sqrt

import numpy as np

from specbench.analysis.arrays.cell_arrays import CellArrays
from specbench.analysis.arrays.events import Floats
from specbench.analysis.arrays.samples import Totals
from specbench.analysis.metrics.speculation_counts import PER_REQUEST, Counts, counts_of
from specbench.analysis.stats.paired import t_quantile
from specbench.explain import absences
from specbench.model.records import SpeculationCounts
from specbench.model.result import AcceptanceSummary

ALPHA_TOLERANCE = 0.04  # alpha is given while what drafts of uneven length leave open moves it by no more than this
POSITIONS_TOLERANCE = 0.005  # counts per position add up to the accepted tokens, but for a scrape that fell between two
MIN_CLUSTERS = 4


def acceptance_of(columns: CellArrays, confidence: float = 0.95) -> AcceptanceSummary:
    """Acceptance length, rate and alpha of one arm, with the interval of the length.

    length = 1 + accepted ÷ rounds; rate = accepted ÷ drafted; alpha = accepted ÷ (accepted + rounds that ended in a rejection),
    for chains only: per position i, unconditional a_i ÷ rounds, conditional a_i ÷ a_(i-1).
    """
    counts = counts_of(columns)
    rounds, accepted = counts.rounds.sum(), counts.accepted.sum()
    if counts.reason is not None or rounds <= 0:
        reason = counts.reason or absences.NO_ROUND
        return _nothing(counts.source, reason)
    low, high = _length_interval(columns, counts, confidence)
    drafted = None if counts.drafted is None else float(counts.drafted.sum())
    positions = counts.per_position.sum(axis=0)
    full, why = _whole_rounds(float(rounds), drafted, float(accepted), positions)
    if not _adds_up(positions, float(accepted)):
        positions = positions[:0]
    before = np.concatenate(([rounds], positions))[:-1]
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


def alpha_of(counts: SpeculationCounts) -> float | None:
    """Alpha of one set of counts, such as an engine's over a period; None where they do not tell how many rounds were whole."""
    if counts.rounds is None or counts.accepted is None or not counts.rounds:
        return None
    drafted = None if counts.drafted is None else float(counts.drafted)
    positions = np.asarray(counts.per_position or (), dtype=float)
    full, _ = _whole_rounds(float(counts.rounds), drafted, float(counts.accepted), positions)
    return (
        None
        if full is None or counts.accepted + counts.rounds <= full
        else counts.accepted / (counts.accepted + counts.rounds - full)
    )


def acceptance_length(columns: CellArrays) -> Totals:
    """1 + accepted ÷ verification rounds per unit; no value in an arm that shows no sign of speculation.

    Source: the bonus token counts, as vLLM's `vllm/v1/spec_decode/metrics.py` has it.
    """
    counts = counts_of(columns)
    return Totals(counts.rounds + counts.accepted, counts.rounds, counts.reason)


def alpha(columns: CellArrays) -> Totals:
    """Accepted ÷ (accepted + rounds that ended in a rejection) per unit; for chains whose whole rounds can be told only.

    Source: the per-token acceptance probability of Leviathan et al. 2022, arXiv 2211.17192, section 3, as a censored count.
    """
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


def _length_by_request(columns: CellArrays) -> float:
    """The mean over requests of their own acceptance length: what a user sees, where length is what the engine does."""
    counts = counts_of(columns, by="request")
    used = counts.rounds > 0
    return float(1 + (counts.accepted[used] / counts.rounds[used]).mean())


def _length_interval(columns: CellArrays, counts: Counts, confidence: float) -> tuple[float | None, float | None]:
    """Interval of 1 + accepted ÷ rounds by the ratio estimator, over units where there are enough, else over requests.

    se = sqrt(sum (a_i - r d_i)^2 ÷ (n (n - 1))) ÷ mean d: tokens of a draft depend on each other, so that no binomial interval
    holds.

    Source: Cochran, Sampling Techniques, 3rd ed., section 6.4.
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
        return None, absences.ALPHA_WITHOUT_POSITIONS
    if not _adds_up(positions, accepted):
        return None, absences.ALPHA_OF_ODD_COUNTS
    if rounds <= 0 or drafted is None:
        return None, absences.ALPHA_WITHOUT_ROUNDS
    missing = rounds * len(positions) - drafted
    if not accepted:
        return 0.0, None  # a whole round has an accepted token
    if missing < 0:
        return None, absences.ALPHA_OF_TREES
    least = float(positions[-1])
    most = min(least + missing, rounds)
    if accepted / (accepted + rounds - most) - accepted / (accepted + rounds - least) > ALPHA_TOLERANCE:
        return None, absences.ALPHA_OF_UNEQUAL_DRAFTS
    return (least + most) / 2, None


def _adds_up(positions: Floats, accepted: float) -> bool:
    return abs(float(positions.sum()) - accepted) <= POSITIONS_TOLERANCE * accepted


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
