"""The sentences of safety: requests that failed, answers that stalled, memory that ran out, engines that started anew.

Values in, text out; which state follows from them may not be decided here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from specbench.explain.brief.changes import p_value
from specbench.explain.numbers import figure, percentage
from specbench.explain.phrases import metric_words, sure
from specbench.model.result import FindingState, PerArm
from specbench.model.scenario import ArmName, Guardrail


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedCount:
    """What one arm's engine says of a count over its `blocks`, of which `silent` do not tell; `count` is None where unknown."""

    count: int | None
    silent: int
    blocks: int

    @property
    def ever(self) -> bool:
        """Whether any block tells."""
        return self.silent < self.blocks


@dataclass(frozen=True, slots=True, kw_only=True)
class Failures:
    """Failed requests of both arms (or answers that stalled), of how many, and where they were counted.

    `scope` begins the sentence: 'Over the run', 'At 16 streams'. `most_in_a_block`: of the speculative arm's, in its worst block.
    """

    failed: PerArm[int]
    requests: PerArm[int]
    scope: str = "Over the run"
    most_in_a_block: int = 0

    def words(self, arm: ArmName, guardrail: Guardrail | None = None) -> str:
        """'9 of 1,000 (0.9 %)', with what is counted where a guardrail says it: '9 of 1,000 requests (0.9 %)'."""
        failed, requests = self.failed.of(arm), self.requests.of(arm)
        noun = "" if guardrail is None else " answers" if guardrail.metric == "stalled_answers" else " requests"
        return f"{failed:,} of {requests:,}{noun} ({percentage(failed / requests)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class NeverAnswered:
    """How many of an arm's requests never got an answer's end, and of how many; `lost`: cut by an older version, fate unknown."""

    hung: int
    lost: int
    sent: int

    @property
    def unknown(self) -> int:
        """How many may never have been answered."""
        return self.hung + self.lost


def never_answered(found: PerArm[NeverAnswered], high: float | None, alpha: float) -> str:
    """How many requests hung, or are not accounted for; `high` is the bound of their share that forbids a pass, None without."""
    said = ""
    if found.baseline.hung or found.speculative.hung:
        hung = f"{found.speculative.hung:,} with speculation, {found.baseline.hung:,} without"
        may = "" if high is None else f" With {sure(alpha)} their share with speculation is at most {percentage(high)}."
        said += f" Never answered to the end: {hung}.{may}"
    if found.baseline.lost or found.speculative.lost:
        said += (
            f" Fate unknown: {found.speculative.lost:,} requests with speculation, {found.baseline.lost:,} without."
            " An older version made this run and cancelled them. Run again."
        )
    return said


def share_within(guardrail: Guardrail, failures: Failures, slo: float, state: FindingState, end: float, alpha: float) -> str:
    """The speculative arm's own share against its limit; `end` is that of the interval on which the state rests."""
    seen = f"{_over(guardrail, failures.scope)} {failures.words('speculative', guardrail)} {_verb(guardrail)} with speculation"
    seen += f" (limit {percentage(slo)})"
    return f"{seen}. With {sure(alpha)} the share is at {'least' if state == 'FAIL' else 'most'} {percentage(end)}."


def no_requests(guardrail: Guardrail, failures: Failures) -> str:
    """That one arm has no request to judge."""
    lacking = "the baseline" if not failures.requests.baseline else "the speculative arm"
    if guardrail.metric == "stalled_answers":
        return f"Stalled answers are not compared: every answer of {lacking} came in one piece."
    return f"Error rates are not compared: no request of {lacking} finished."


def share_against_baseline(
    guardrail: Guardrail,
    failures: Failures,
    state: FindingState,
    surplus: tuple[float, float, float],
    margin: float,
    alpha: float,
    in_bursts: bool,
) -> str:
    """The shares of failed requests; `surplus` is their difference, its upper bound and how probable it is by chance.

    `in_bursts`: a surplus as large would be proof if its failures had not come together.
    """
    difference, high, p_excess = surplus
    seen = (
        f"{_over(guardrail, failures.scope)} {failures.words('speculative', guardrail)} {_verb(guardrail)} with speculation,"
        f" {failures.words('baseline')} without"
    )
    points = f"{figure(100 * margin)} points"
    if state == "FAIL":
        return f"{seen} (limit: the baseline's share; {p_value(p_excess, adjusted=False)})."
    if difference <= 0:
        return f"{seen}: not more than the baseline."
    bound = f"With {sure(alpha)} the difference is at most {figure(100 * high)} points"
    if state == "PASS":
        return f"{seen} (limit +{points}). {bound}."
    burst = f" {failures.most_in_a_block:,} came in one block: one burst is one event and no proof." if in_bursts else ""
    return f"{seen} (limit +{points}). It is open. {bound}.{burst}"


def _verb(guardrail: Guardrail) -> str:
    return "stalled" if guardrail.metric == "stalled_answers" else "failed"


def without(places: Sequence[str]) -> str:
    """The scope of what is counted over the run but for these loads, whose surplus is counted apart."""
    named = [f"{place[0].lower()}{place[1:]}" for place in places]
    return f"Over the run, except {' and '.join(named)},"


def together(places: Sequence[str]) -> str:
    """The scope of what is counted over these loads, which lie above a range that passes without them."""
    return " and ".join([places[0], *(f"{place[0].lower()}{place[1:]}" for place in places[1:])])


def count_known(guardrail: Guardrail, reported: PerArm[ReportedCount]) -> str:
    """How often it went wrong in the engines of both arms."""
    before = reported.baseline.count
    limit = "the baseline's count" if guardrail.slo is None else figure(guardrail.slo)
    least = "at least " if reported.speculative.silent else ""
    without = "" if before is None else f", {before} without"
    after = f"{least}{reported.speculative.count} with speculation{without}"
    return f"{_over(guardrail)} {metric_words(guardrail.metric)}: {after} (limit: {limit})."


def count_unknown(guardrail: Guardrail, reported: PerArm[ReportedCount]) -> str:
    """Why a count is not known, which at least one arm does not tell whole."""
    words = metric_words(guardrail.metric)
    before, after = reported.baseline, reported.speculative
    if not before.ever and not after.ever:
        return f"{_over(guardrail)} {words}: not compared. Neither engine reports it."
    if before.count is None and after.count is None:
        gaps = f"in {before.silent} of {before.blocks} blocks, the speculative engine in {after.silent} of {after.blocks}"
        return f"{_over(guardrail)} {words}: not compared. The baseline engine did not report it {gaps}."
    name, arm = ("baseline engine", before) if before.count is None else ("speculative engine", after)
    gap = f"did not report it in {arm.silent} of {arm.blocks} blocks" if arm.ever else "does not report it"
    least = f"at least {after.count} with speculation, " if after.count else ""
    return f"{_over(guardrail)} {words}: {least}not compared. The {name} {gap}."


def _over(guardrail: Guardrail, scope: str = "Over the run") -> str:
    """Over what the guardrail counts: the run, or the loads and bins that it is asked of."""
    if scope != "Over the run":
        return scope if scope.endswith(",") else f"{scope},"
    loads = "" if guardrail.cells is None else f" at loads of {', '.join(map(figure, guardrail.cells))}"
    bins = "" if guardrail.bins is None else f" in {', '.join(guardrail.bins)}"
    return f"Over the run{loads}{bins},"
