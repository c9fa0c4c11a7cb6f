"""The sentences of the three findings on answers: what was compared, what was found, what would have been seen.

Values in, text out; which state follows may not be decided here. A pass never says that answers are the same: it says what was
compared, and how large a difference would have shown.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from specbench.explain.numbers import figure, one_of, percentage
from specbench.explain.phrases import load_words, sure
from specbench.model.answers import answer_rules as rules
from specbench.model.answers.shown_answers import GreedyAtLoad, GreedyCounts, MarkCounts, SampledShift
from specbench.model.result import FindingState

ALPHA = 0.05
ALL_ZERO = "the baseline reports a log probability of 0 for every token"
NO_GREEDY = "no greedy prompt was answered by both arms"
NO_SAMPLED = "no sampled prompt was answered by both arms"
NO_PAIRED = "no prompt was answered by both arms"
NOT_ASKED = "the baseline was not asked about them"
OLDER = "run made by an older version"
SWITCHED_OFF = "switched off"
NOTHING = "nothing was measured"
ENDED_EARLY = "the run ended before the baseline was asked"
SUBJECTS = {rules.GREEDY: "greedy answers", rules.SAMPLED: "sampled answers", rules.FORM: "form of answers"}
# What a mark says of an answer: of several, and what is counted where it is no plain answer.
_MARKS = {
    "looping": "answers loop",
    "foreign": "answers have letters of a foreign script",
    "special_token": "answers hold a special token",
    "past_stop": "answers run past their stop string",
    "bad_json": "answers are no valid JSON",
    "bad_tool_call": "tool calls are invalid",
    "no_tool_call": "answers lack the required tool call",
    "unfinished": "answers end at the token limit",
    "invalid": "answers do not match what the bin requires",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GreedyLimits:
    """What greedy counts are held against: `allowed` clear ones by chance, `most` for a pass, `high` the bound of their share.

    `needed`: prompts that would settle an open finding, None where it is not open, or none would. `contradicts`: the baseline
    contradicts itself.
    """

    allowed: float
    most: float
    high: float
    widest_near_tie: float | None
    needed: int | None
    contradicts: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FormLimits:
    """How many answers there are, the upper bound of the worst mark's excess, its limit, and how many answers would settle it."""

    answers: int
    high: float
    margin: float
    needed: int | None


def not_compared(metric: str, why: str) -> str:
    """That these answers were not compared, and why."""
    subject = SUBJECTS[metric]
    return f"{subject[0].upper()}{subject[1:]} not compared: {why.rstrip('.')}."


def misaligned(ruler: float) -> str:
    """That the baseline, asked, does not put its own tokens first."""
    if not isfinite(ruler):
        return "asked again, the baseline gave none of its own tokens"
    return f"asked again, the baseline ranks its own token first at {percentage(ruler)} of positions, not at 90 %"


def too_few_sampled(prompts: int) -> str:
    """That too few prompts have two answers long enough."""
    few = f"only {one_of(prompts, 'prompt')}" if prompts else "no prompt"
    return f"{few} of one sampling scored, not {rules.LEAST_PROMPTS} of at least {rules.LEAST_TOKENS} tokens"


def greedy(state: FindingState, counts: GreedyCounts, loads: Sequence[GreedyAtLoad], limits: GreedyLimits) -> str:
    """How many greedy answers part from the baseline's, at near-ties and clearly, and at which loads."""
    own = f"it contradicts itself in {counts.clear_baseline:,}"
    split = f" {_by_load(loads)}" if len(loads) > 1 and counts.clear else ""
    if state == "FAIL":
        seen = f"{counts.clear:,} of {counts.compared:,} greedy answers leave the baseline's where the baseline is sure"
        return f"{seen} (allowed: {percentage(limits.allowed)}); {own}.{split}"
    seen = f"{greedy_counts(counts, limits.widest_near_tie)}."
    if limits.contradicts:
        return f"{seen} The baseline contradicts itself, so its answers prove nothing."
    bound = f" With {sure(ALPHA)} the share of clear ones is at most {percentage(limits.high)} (limit {percentage(limits.most)})."
    if state == "PASS":
        return f"{seen}{bound if counts.clear or counts.unknown else ''}{split}"
    settled = f" About {limits.needed:,} prompts settle it (`answers.prompts`)." if limits.needed is not None else ""
    return f"{seen} It is open.{bound}{settled}{split}"


def greedy_counts(counts: GreedyCounts, widest_near_tie: float | None) -> str:
    """'256 greedy answers: 61 equal, 195 part at near-ties (at most 0.31 nat), none clearly'."""
    widest = f" (at most {figure(widest_near_tie)} nat)" if counts.near_ties and widest_near_tie is not None else ""
    near = f"{counts.near_ties:,} part at near-ties{widest}"
    own = counts.compared - counts.equal - counts.near_ties - counts.clear - counts.unknown
    more = f", {own:,} where the baseline contradicts itself" if own else ""
    more += f", {counts.unknown:,} where the baseline gave no answer" if counts.unknown else ""
    return f"{counts.compared:,} greedy answers: {counts.equal:,} equal, {near}, {counts.clear or 'none'} clearly{more}"


def contradicts_itself(beyond: int, compared: int, broken: bool) -> str:
    """How many of its own greedy answers the baseline contradicts by a wide margin."""
    seen = f"The baseline contradicts {beyond:,} of {compared:,} greedy answers of its own by more than 2 nats"
    limit = f" (limit {percentage(rules.CLEAR_SHARE)}, beyond chance)."
    return seen + limit + (" It is no reference. Check its prefix cache and its batching." if broken else "")


def sampled(state: FindingState, shift: SampledShift, *, several: bool, baseline_off: bool) -> str:
    """By how much sampled answers differ from the baseline's own, and what would have been found."""
    which = f" ({shift.sampling})" if several else ""
    p = f"two-sided p {'< 0.0001' if shift.p < 0.0001 else '= ' + figure(float(f'{shift.p:.1g}'))}"
    found = f"{figure(_two_digits(shift.detectable_nats))} would have been found 9 times in 10"
    if state == "FAIL":
        return f"Sampled answers{which} {_difference(shift)} ({p}); {found}."
    reach = 1.65 * shift.surprise_se
    low, high = _signed(shift.surprise_nats - reach), _signed(shift.surprise_nats + reach)
    seen = (
        f"Sampled answers{which} of {shift.prompts:,} prompts differ by {_signed(shift.surprise_nats)} nat a token"
        f" (90 % interval {low} to {high}, limit ±{figure(rules.ALIKE_NATS)}); {found}."
    )
    if baseline_off:
        return f"{seen} The baseline's own answers fit its probabilities worse, so they prove nothing."
    if state == "PASS":
        return seen
    unlike = shift.p < rules.SHIFT_ALPHA
    return f"{seen} It is open{f': {p}' if unlike else ''}. More prompts settle it (`answers.prompts`)."


def form(state: FindingState, marks: Sequence[MarkCounts], limits: FormLimits) -> str:
    """Which marks are more frequent with speculation; `marks` are the failed ones, the open ones, or all, the worst first."""
    if state == "FAIL":
        return " ".join(f"{_mark(one)}." for one in marks)
    bound = f"with {sure(ALPHA)} the excess is at most {_points(limits.high)} (limit {_points(limits.margin)})"
    if state == "PASS":
        return f"Form of {limits.answers:,} answers: no mark is more frequent with speculation; {bound}."
    settled = "" if limits.needed is None else f" About {limits.needed:,} prompts settle it (`answers.prompts`)."
    return f"Form of {limits.answers:,} answers is open: {_mark(marks[0])}; {bound}.{settled}"


def _by_load(loads: Sequence[GreedyAtLoad]) -> str:
    """'At 16 streams 31 of 64, at 1 stream 0 of 64.'"""
    parts = [f"{_place(one)} {one.counts.clear:,} of {one.counts.compared:,}" for one in loads]
    text = ", ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def _place(one: GreedyAtLoad) -> str:
    if one.concurrency is not None:
        return f"at {load_words(one.concurrency, by_rate=False)}"
    return f"at {one.cell}" if one.cell is not None else "apart from the load"


def _difference(shift: SampledShift) -> str:
    """The clearest of the three differences that is large enough to matter, in words."""
    if abs(shift.surprise_nats) >= rules.LEAST_SURPRISE:
        how = "less" if shift.surprise_nats < 0 else "more"
        return f"are {figure(_two_digits(abs(shift.surprise_nats)))} nat a token {how} likely than the baseline's own"
    if abs(shift.rank) >= rules.LEAST_RANK:
        how = "less" if shift.rank < 0 else "more"
        return f"take the most probable token {_points(abs(shift.rank))} {how} often than the baseline's"
    how = "more" if shift.outside > 0 else "fewer"
    return f"hold {_points(abs(shift.outside))} {how} tokens that the sampling rules out than the baseline's"


def _mark(one: MarkCounts) -> str:
    words = _MARKS.get(one.mark, f"answers are marked {one.mark}")
    return (
        f"{one.only_speculative:,} of {one.answers:,} {words} with speculation only,"
        f" {one.only_baseline:,} without only (`{one.mark}`)"
    )


def _points(share: float) -> str:
    points = figure(_two_digits(100 * share))
    return f"{points} point{'' if points == '1' else 's'}"


def _two_digits(value: float) -> float:
    return float(f"{value:.2g}")


def _signed(value: float) -> str:
    rounded = round(value, 3)
    return f"{'−' if rounded < 0 else ''}{figure(abs(rounded))}"
