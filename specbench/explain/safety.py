"""The sentences of safety: requests that failed, answers that stalled, memory that ran out, engines that started anew.

Values in, text out; which state follows from them may not be decided here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from specbench.explain.numbers import figure, percentage
from specbench.explain.phrases import chance, metric_words, sure
from specbench.model.result import FindingState, PerArm
from specbench.model.scenario import ArmName, Guardrail


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldCount:
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

    def words(self, arm: ArmName) -> str:
        """'9 of 1,000 (0.9 %)'."""
        failed, requests = self.failed.of(arm), self.requests.of(arm)
        return f"{failed:,} of {requests:,} ({percentage(failed / requests)})"


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
        hung = f"{found.speculative.hung:,} with speculation and {found.baseline.hung:,} without"
        may = "" if high is None else f"; with speculation their share is only known to lie below {percentage(high)}"
        said += f" Of them {hung} were never answered to the end{may}{f' with {sure(alpha)}' if may else ''}."
    if found.baseline.lost or found.speculative.lost:
        said += (
            f" What became of {found.speculative.lost:,} requests with speculation and {found.baseline.lost:,} without is not"
            " known, as the version that made this run cut them: run again."
        )
    return said


def share_within(guardrail: Guardrail, failures: Failures, slo: float, state: FindingState, end: float, alpha: float) -> str:
    """The speculative arm's own share against its limit; `end` is that of the interval on which the state rests."""
    seen = f"{_over(guardrail, failures.scope)} {failures.words('speculative')} {_what(guardrail)} with speculation"
    seen += f" (allowed: {percentage(slo)})"
    bound = f"the true share lies {'above' if state == 'FAIL' else 'below'}"
    return f"{seen}; {bound} {percentage(end)} with {sure(alpha)}."


def no_requests(guardrail: Guardrail, failures: Failures) -> str:
    """That one arm has no request to judge."""
    lacking = "the baseline" if not failures.requests.baseline else "the speculative arm"
    if guardrail.metric == "stalled_answers":
        return f"No answer of {lacking} came in more than one piece, so the shares of answers that stalled cannot be compared."
    return f"No request of {lacking} ended by itself, so the shares of failed requests cannot be compared."


def share_against_baseline(
    guardrail: Guardrail,
    failures: Failures,
    state: FindingState,
    surplus: tuple[float, float, float],
    margin: float,
    alpha: float,
    in_bursts: bool = False,
) -> str:
    """The shares of failed requests; `surplus` is their difference, its upper bound and how probable it is by chance.

    `in_bursts`: a surplus as large would be proof if its failures had not come together.
    """
    difference, high, p_excess = surplus
    seen = (
        f"{_over(guardrail, failures.scope)} {failures.words('speculative')} {_what(guardrail)} with speculation"
        f" and {failures.words('baseline')} without"
    )
    points = f"{figure(100 * margin)} points"
    if state == "FAIL":
        by_chance = chance(p_excess)
        return f"{seen} (allowed: no more than without); if speculation changed nothing, it would look this bad in {by_chance}."
    if difference <= 0:
        return f"{seen}: no larger a share than the baseline's."
    bound = f"{figure(100 * high)} points with {sure(alpha)}"
    if state == "PASS":
        return f"{seen} (allowed: at most {points} more); the true surplus lies below {bound}."
    burst = (
        f"; {failures.most_in_a_block:,} of them fell into one block, and what comes in one burst is one event: no proof yet"
        if in_bursts
        else ""
    )
    return f"{seen} (allowed: at most {points} more), but the true surplus is only known to lie below {bound}{burst}."


def _what(guardrail: Guardrail) -> str:
    return "answers stalled" if guardrail.metric == "stalled_answers" else "requests failed"


def without(places: Sequence[str]) -> str:
    """The scope of what is counted over the run but for these loads, whose surplus is counted apart."""
    named = [f"{place[0].lower()}{place[1:]}" for place in places]
    return f"Over the run, except {' and '.join(named)},"


def together(places: Sequence[str]) -> str:
    """The scope of what is counted over these loads, which lie above a range that passes without them."""
    return " and ".join([places[0], *(f"{place[0].lower()}{place[1:]}" for place in places[1:])])


def count_known(guardrail: Guardrail, told: PerArm[ToldCount]) -> str:
    """How often it went wrong in the engines of both arms."""
    before = told.baseline.count
    limit = "no more than without" if guardrail.slo is None else f"at most {figure(guardrail.slo)}"
    least = "at least " if told.speculative.silent else ""
    without = "" if before is None else f" and {before} without"
    after = f"{least}{told.speculative.count} with speculation{without}"
    return f"{_over(guardrail)} {metric_words(guardrail.metric)} was {after} (allowed: {limit})."


def count_unknown(guardrail: Guardrail, told: PerArm[ToldCount]) -> str:
    """Why a count is not known, which at least one arm does not tell whole."""
    words = metric_words(guardrail.metric)
    before, after = told.baseline, told.speculative
    so = "so the arms cannot be compared in it"
    if not before.ever and not after.ever:
        return f"Neither engine tells {words}."
    if before.count is None and after.count is None:
        gaps = f"in {before.silent} of {before.blocks} blocks and the speculative one in {after.silent} of {after.blocks}"
        return f"The baseline's engine was silent {gaps} about {words}, {so}."
    name, arm = ("baseline's engine", before) if before.count is None else ("speculative engine", after)
    gap = f"was silent in {arm.silent} of {arm.blocks} blocks about" if arm.ever else "does not tell"
    if after.count:
        return f"{_over(guardrail)} {words} was at least {after.count} with speculation; the {name} {gap} it, {so}."
    return f"The {name} {gap} {words}, {so}."


def _over(guardrail: Guardrail, scope: str = "Over the run") -> str:
    """Over what the guardrail counts: the run, or the loads and bins that it is asked of."""
    if scope != "Over the run":
        return scope
    loads = "" if guardrail.cells is None else f" at loads of {', '.join(map(figure, guardrail.cells))}"
    bins = "" if guardrail.bins is None else f" in {', '.join(guardrail.bins)}"
    return f"Over the run{loads}{bins}{':' if loads or bins else ''}"
