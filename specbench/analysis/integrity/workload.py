"""Was the work the same in both arms, was there enough of it, and was it done in a steady state?

A looping model is the fastest arm there is; such excesses make a comparison void. Failures as such are `safety.py`'s.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from specbench.analysis.arrays.cell_arrays import CellArrays
from specbench.analysis.arrays.events import Floats
from specbench.analysis.cells import CellEvidence
from specbench.analysis.metrics.latency import e2e
from specbench.analysis.stats.paired import mean_with_t
from specbench.explain import integrity
from specbench.explain.phrases import place_of
from specbench.model.guardrails import PAIRS_KEPT
from specbench.model.records import RequestRecord
from specbench.model.result import IntegrityCheck, PerArm
from specbench.model.scenario import ARMS, ArmName
from specbench.units import NS_PER_MS

EXCESS_POINTS = 0.02  # fewer than 1 answer in 50 moves no p95 by a margin that anybody sets
EXCESS_ALPHA = 0.01  # three such checks in every cell of a matrix must not cry wolf
PROMPT_TOKENS_APART = 0.02
LEAST_TOKENS = 20  # in each half of a block, below which its mean is noise
REQUESTS_PER_HALF = 2  # in a shorter half, where requests happen to be in their lives looks like drift


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """How the time per token moved from the first half of a block to the second, over all blocks of one arm in one cell.

    `change` is a fraction, `p` its two-sided probability if there were none; None with fewer than two blocks long enough to tell.
    """

    cell: str
    place: str
    arm: ArmName
    change: float | None
    p: float | None


def same_prompts(cell: CellEvidence) -> tuple[IntegrityCheck, ...]:
    """Request i of a pair asked both arms for the same; where the endpoints count prompt tokens, they count alike."""
    before, after = (_asked(cell, arm) for arm in ARMS)
    common = sorted(before.keys() & after.keys())
    if not common:
        return (cell.check("same_prompts", None, None, 0.0, integrity.same_prompts(cell.cell, 0, 0, 0)),)
    unlike = sum(1 for key in common if _terms(before[key]) != _terms(after[key]))
    refused = sum(1 for key in common if _refused_by_one(before[key], after[key]))
    message = integrity.same_prompts(cell.cell, unlike, refused, len(common))
    checks = [cell.check("same_prompts", unlike + refused == 0, float(unlike + refused), 0.0, message)]
    counted = [(b, a) for key in common if (b := before[key].prompt_tokens) and (a := after[key].prompt_tokens)]
    if counted:
        ratio = sum(a for _, a in counted) / sum(b for b, _ in counted)
        ok = abs(ratio - 1) <= PROMPT_TOKENS_APART
        text = integrity.prompt_tokens(cell.cell, ratio, PROMPT_TOKENS_APART, ok)
        checks.append(cell.check("prompt_tokens", ok, ratio, PROMPT_TOKENS_APART, text))
    return tuple(checks)


def excess_checks(cell: CellEvidence) -> tuple[IntegrityCheck, ...]:
    """No arm breaks off or stays silent in significantly more of its answers than the other, nor does the baseline loop in more.

    A speculative arm that loops in more has changed its answers, which is a finding (`answers_form`).
    """
    return (
        _excess(cell, "looping", lambda record: record.looping, of_baseline=True),
        _excess(cell, "truncated", lambda record: record.outcome == "truncated_stream"),
        _excess(cell, "empty", lambda record: record.outcome == "empty_output"),
    )


def pairs_present(cell: CellEvidence, planned: int, *, whole: bool) -> IntegrityCheck:
    """At least four fifths of the planned pairs are there; in a run that ended early the missing ones are no fault."""
    windows = [{b.pair for b in cell.blocks.of(arm) if b.window_open_ns is not None} for arm in ARMS]
    share = len(windows[0] & windows[1]) / planned
    ok = None if not whole and share < PAIRS_KEPT else share >= PAIRS_KEPT
    message = integrity.pairs_present(cell.cell, len(windows[0] & windows[1]), planned, PAIRS_KEPT)
    return cell.check("pairs_present", ok, share, PAIRS_KEPT, message)


def drift_of(cell: CellEvidence, columns: CellArrays, arm: ArmName) -> Drift:
    """The mean over blocks of log(mean time per token in the second half of the window ÷ in the first), with t."""
    logs = _changes(columns)
    place = place_of(cell.cell)
    if len(logs) < 2:
        return Drift(cell=cell.cell.id, place=place, arm=arm, change=None, p=None)
    estimate = mean_with_t(logs)
    above, below = estimate.p_above(0.0), mean_with_t(-logs).p_above(0.0)
    p = None if above is None or below is None else min(1.0, 2 * min(above, below))
    return Drift(cell=cell.cell.id, place=place, arm=arm, change=float(np.expm1(estimate.mean)), p=p)


def _changes(columns: CellArrays) -> Floats:
    """How the time per token changed from half to half, a log ratio for each block that holds enough, and long enough, halves."""
    events, n_blocks = columns.events, len(columns.blocks)
    late = events.time_ns >= ((columns.open_ns + columns.close_ns) // 2)[columns.block[events.request]]
    # An interval across the middle is left out, as those across the window's ends are: it is likely to be a long one, and would
    # make the half that counts it look slower.
    whole = (events.request[1:] == events.request[:-1]) & (late[1:] == late[:-1])
    inside = whole & events.inside[1:] & events.inside[:-1]
    halves = 2 * columns.block[events.request[1:][inside]] + late[1:][inside]
    times = np.bincount(halves, np.diff(events.time_ns)[inside], 2 * n_blocks).reshape(n_blocks, 2)
    tokens = np.bincount(halves, events.tokens[1:][inside], 2 * n_blocks).reshape(n_blocks, 2)
    lasted_ms = [ms for ms in e2e(columns).values if np.isfinite(ms)]
    least_ns = REQUESTS_PER_HALF * NS_PER_MS * float(np.median(lasted_ms)) if lasted_ms else 0.0
    long = (columns.close_ns - columns.open_ns) / 2 >= least_ns
    enough = long & (tokens >= LEAST_TOKENS).all(axis=1) & (times > 0).all(axis=1)
    per_token = times[enough] / tokens[enough]
    return np.log(per_token[:, 1] / per_token[:, 0])


def _excess(
    cell: CellEvidence, name: str, is_so: Callable[[RequestRecord], bool], *, of_baseline: bool = False
) -> IntegrityCheck:
    """The difference of shares, pair by pair, with t: such answers come in bursts, which no test on requests allows for.

    With `of_baseline` only an excess of the baseline fails.
    """
    shares = [_shares(cell, arm, is_so) for arm in ARMS]
    pairs = sorted(shares[0].keys() & shares[1].keys())
    check = f"excess_{name}"
    if not pairs:
        return cell.check(check, None, None, EXCESS_POINTS, integrity.excess(cell.cell, name, None, EXCESS_POINTS, None))
    differences = np.array([shares[1][pair] - shares[0][pair] for pair in pairs])
    points = float(differences.mean())
    p = mean_with_t(np.sign(points) * differences).p_above(0.0)
    ok = not (abs(points) > EXCESS_POINTS and p is not None and 2 * p < EXCESS_ALPHA)  # either arm may be the one with more
    ok = ok or (of_baseline and points > 0)
    means = PerArm(*(float(np.mean([share[pair] for pair in pairs])) for share in shares))
    message = integrity.excess(cell.cell, name, means, EXCESS_POINTS, ok)
    return cell.check(check, ok, points, EXCESS_POINTS, message)


def _shares(cell: CellEvidence, arm: ArmName, is_so: Callable[[RequestRecord], bool]) -> dict[int, float]:
    """The share of such answers among those that ended by themselves, by pair."""
    pair_of = {block.id: block.pair for block in cell.blocks.of(arm)}
    told: dict[int, list[bool]] = {}
    for record in cell.records.of(arm):
        if record.outcome not in ("cut", "client_resource"):
            told.setdefault(pair_of[record.block], []).append(is_so(record))
    return {pair: sum(values) / len(values) for pair, values in told.items()}


def _asked(cell: CellEvidence, arm: ArmName) -> dict[tuple[int, int], RequestRecord]:
    """The records of an arm by pair and prompt."""
    pair_of = {block.id: block.pair for block in cell.blocks.of(arm)}
    return {(pair_of[record.block], record.index): record for record in cell.records.of(arm)}


def _terms(record: RequestRecord) -> tuple[str, str, int]:
    return record.bin, record.sampling, record.max_tokens


def _refused_by_one(before: RequestRecord, after: RequestRecord) -> bool:
    """Whether one arm alone called the prompt too long; a cut request never got as far as an answer."""
    outcomes = (before.outcome, after.outcome)
    return outcomes.count("prompt_too_long") == 1 and not {"cut", "unanswered"} & set(outcomes)
