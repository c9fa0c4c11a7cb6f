"""What the campaigns must show, target by target, and whether they do: a row is a share with its exact interval, held against
what was asked.

Nothing is simulated here, and nothing is written: a row is words and a state. Thresholds are targets, not results.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Literal

from specbench.analysis.stats.rates import share_upper_bound
from specbench.calibrate.campaigns import FULL_BLOCK, SHORTER_BLOCKS, SHORTER_SCENE, covering
from specbench.calibrate.faults import FAULTS
from specbench.calibrate.single_comparisons import COVERED, GUARDED, NEED_GRID, SCENARIOS
from specbench.calibrate.whole_runs import PAIRS, Outcome
from specbench.explain.numbers import tenths

State = Literal["met", "missed", "not run", "shown"]
Event = Callable[[Outcome], bool]


@dataclass(frozen=True, slots=True)
class TargetRow:
    """One target: what was asked, of how many runs, what came out, and whether that meets it."""

    id: str
    claim: str
    asked: str
    runs: int
    found: str
    state: State


@dataclass(frozen=True, slots=True)
class ErrorRate:
    """`hits` of `runs`, with the exact interval of 95 % (Clopper and Pearson 1934)."""

    hits: int
    runs: int

    @property
    def value(self) -> float:
        """The share itself."""
        return self.hits / self.runs

    @property
    def low(self) -> float:
        """The lower end of the share's exact 95 % interval."""
        return 1.0 - ErrorRate(self.runs - self.hits, self.runs).high

    @property
    def high(self) -> float:
        """The upper end of the share's exact 95 % interval."""
        bound = share_upper_bound(self.hits, self.runs, 0.025)
        assert bound is not None
        return bound

    def __str__(self) -> str:
        return f"{self.hits} of {self.runs}: {percent(self.value)} ({percent(self.low)} to {percent(self.high)})"


def percent(share: float) -> str:
    """The share in percent, one decimal where it is not whole."""
    return tenths(share).replace(".0 %", " %")


def share_of(outcomes: Sequence[Outcome], event: Event) -> ErrorRate | None:
    """How often the event was seen; None where nothing was run."""
    return ErrorRate(sum(1 for outcome in outcomes if event(outcome)), len(outcomes)) if outcomes else None


def at_most(id: str, claim: str, share: ErrorRate | None, limit: float, upper: float | None = None) -> TargetRow:
    """A row that is met where the share is at most `limit`, and the upper end of its interval at most `upper` if one is asked."""
    asked = f"at most {percent(limit)}" + (f", upper end at most {percent(upper)}" if upper is not None else "")
    return _row(id, claim, asked, share, lambda seen: seen.value <= limit and (upper is None or seen.high <= upper))


def at_least(id: str, claim: str, share: ErrorRate | None, limit: float) -> TargetRow:
    """A row that is met where the share is at least `limit`."""
    return _row(id, claim, f"at least {percent(limit)}", share, lambda seen: seen.value >= limit)


def shown(id: str, claim: str, share: ErrorRate | None) -> TargetRow:
    """A row without a target."""
    return _row(id, claim, "shown", share, None)


def _row(id: str, claim: str, asked: str, share: ErrorRate | None, met: Callable[[ErrorRate], bool] | None) -> TargetRow:
    if share is None:
        return TargetRow(id, claim, asked, 0, "", "not run")
    state: State = "shown" if met is None else "met" if met(share) else "missed"
    return TargetRow(id, claim, asked, share.runs, str(share), state)


Outcomes = Mapping[str, Sequence[Outcome]]
COVERAGE_SCENES = (*((name, FULL_BLOCK) for name in SCENARIOS), *((SHORTER_SCENE, steps) for steps in SHORTER_BLOCKS))
DECIDE_COVERAGE = ("itl_p95", "tpot_p50", "tpot_p95")  # the others are shown beside them
POWER_NEEDED = 0.8
NEAR = 0.3


def verdict_is(*words: str) -> Event:
    """Whether a verdict is one of these words."""
    return lambda outcome: outcome["verdict"] in words


def verdict_rows(found: Outcomes) -> list[TargetRow]:
    """T1, T2, T5, the cap, ITL and the default guardrails: whole runs through the judge."""
    aa, win, itl = found["matrix-aa"], found["matrix-win"], found["itl"]
    clear, edge = found["cap-clear"], found["cap-edge"]
    clean = [outcome for outcome in aa if outcome["clean"]]
    rows = [
        at_most("T1", "A/A over 12 cells ends in ROLLBACK", share_of(aa, verdict_is("ROLLBACK")), 0.05, 0.07),
        at_most("T2", "A/A over 12 cells ends in PROMOTE or CAPPED", share_of(aa, verdict_is("PROMOTE", "CAPPED")), 0.05),
        shown("", "A/A over 12 cells ends in HOLD", share_of(aa, verdict_is("HOLD"))),
        at_most("", "A/A over 12 cells is called INVALID", share_of(aa, verdict_is("INVALID")), 0.02),
        at_least("T5", "a true win in 12 cells (TPOT −25 %, TTFT +2 %): PROMOTE", share_of(win, verdict_is("PROMOTE")), 0.9),
        at_most("", "the same win ends in ROLLBACK or INVALID", share_of(win, verdict_is("ROLLBACK", "INVALID")), 0.05),
        at_least("cap", "wins to 8 streams, +30 % at 16: CAPPED at 8", share_of(clear, _capped_at(8)), 0.9),
        at_most("cap", "wins to 8 streams, +30 % at 16: enabled at 16", share_of(clear, _enabled_beyond_8), 0.05),
        at_least("cap", "wins to 8, at the margin of +10 % at 16: CAPPED at 8", share_of(edge, _capped_at(8)), 0.9),
        at_most("cap", "wins to 8, at the margin of +10 % at 16: enabled at 16", share_of(edge, _enabled_beyond_8), 0.06),
        at_most(
            "ITL",
            "TPOT ratio at most .6, alpha .5 to .7: ROLLBACK blamed on ITL",
            share_of(itl, lambda outcome: outcome["itl_blamed"]),
            0.0,
        ),
        at_most("ITL", "the same arms end in ROLLBACK at all", share_of(itl, verdict_is("ROLLBACK")), 0.0),
    ]
    rows += [at_least("A/A", f"clean A/A: {rule.metric} passes in a cell", _passes(clean, rule.metric), 0.9) for rule in GUARDED]
    return rows


def test_rows(found: Outcomes) -> list[TargetRow]:
    """T2 at the margin, and T4: single tests before Holm."""
    tails = ("tpot_p95", "pace_p95", "e2e_p95", "ttft_p95")
    edges = [("slower-10", name, "+10 %") for name in ("tpot_p95", "pace_p95", "e2e_p95")]
    edges += [
        ("edge-15", "ttft_paired", "+15 %"),
        ("edge-40", "ttft_p95", "+40 %"),
        ("edge-5", "output_tps", "−5 %"),
        ("edge-5", "completed_rps", "−5 %"),
    ]
    rows = [
        at_most("T2", f"{metric} truly at its margin of {margin} passes", share_of(found[name], _of(metric, "pass")), 0.06)
        for name, metric, margin in edges
    ]
    for name, effect, least in (("slower-5", "+5 %", 0.4), ("slower-10", "+10 %", 0.85), ("slower-20", "+20 %", 0.99)):
        rows += [
            at_least("T4", f"{metric} truly {effect}: harm significant", share_of(found[name], _of(metric, "harm")), least)
            for metric in tails
        ]
    rows.append(
        at_least("T4", "output_tps truly −10 %: harm significant", share_of(found["fewer-10"], _of("output_tps", "harm")), 0.95)
    )
    return rows


def coverage_rows(found: Outcomes) -> list[TargetRow]:
    """T3, and from which block length it holds: a row for each of COVERED in each of COVERAGE_SCENES."""
    return [_coverage(found, name, steps, metric) for name, steps in COVERAGE_SCENES for metric in COVERED]


def looking_rows(found: Outcomes) -> list[TargetRow]:
    """T6: several looks."""
    aa, twice, win = found["until-aa"], found["until-twice"], found["until-win"]
    rows = [
        at_most("T6", "A/A, looks at 4, 6, 8, 10 pairs: ROLLBACK at any", share_of(aa, verdict_is("ROLLBACK")), 0.05),
        at_most("T6", "A/A, the same looks: PROMOTE or CAPPED", share_of(aa, verdict_is("PROMOTE", "CAPPED")), 0.05),
        at_least("T6", "steps twice as long: stopped by the second look", share_of(twice, _stopped_by_the_second), 0.95),
    ]
    for name, outcomes in (("steps twice as long", twice), ("TPOT −25 %", win)):
        saved = f"{percent(1 - fmean(o['pairs'] for o in outcomes) / PAIRS)} of the pairs" if outcomes else ""
        rows.append(
            TargetRow("T6", f"{name}: saved by looking", "shown", len(outcomes), saved, "shown" if outcomes else "not run")
        )
    return rows


def other_rows(found: Outcomes) -> list[TargetRow]:
    """The rows of T7, T9 and T10."""
    rows = [
        at_least("T7", f"fault “{name}”: {wanted}", share_of(found[f"fault-{name}"], verdict_is(wanted)), 0.99)
        for name, (_, wanted) in FAULTS.items()
    ]
    rows += _need_rows(found["need"])
    hold = share_of(found["matrix-aa"], lambda outcome: outcome["without_detectable"] == 0)
    rows.append(at_least("T9", "every INCONCLUSIVE guardrail states the detectable effect", hold, 1.0))
    same = share_of(found["determinism"], lambda outcome: outcome["same_bytes"])
    rows.append(at_least("T10", "the same facts in another order: the same bytes", same, 1.0))
    return rows


def capacity_rows(found: Outcomes) -> list[TargetRow]:
    """Searches for capacity: how often the interval of 90 % holds the true rate."""
    usual = [outcome for server in ("ttft", "tpot") for outcome in found[f"capacity-{server}"] if outcome["found"]]
    slow = [outcome for outcome in found["capacity-slow"] if outcome["found"]]
    every = [outcome for server in ("ttft", "tpot") for outcome in found[f"capacity-{server}"]]
    covered = share_of(usual, lambda outcome: outcome["covers"])
    claim = "the interval of 90 % holds the true rate, TTFT and TPOT searches together"
    rows = [TargetRow("capacity", claim, "85 to 95 %", 0, "", "not run")]
    if covered is not None:
        off = median(abs(outcome["off"]) for outcome in usual)
        state: State = "met" if 0.85 <= covered.value <= 0.95 else "missed"
        rows = [TargetRow("capacity", claim, "85 to 95 %", covered.runs, f"{covered}; median error {percent(off)}", state)]
    ended = share_of(every, lambda outcome: outcome["found"])
    few = share_of(slow, lambda outcome: outcome["covers"])
    return [
        *rows,
        shown("capacity", "searches that end with a rate", ended),
        shown("capacity", "the same of a server that takes one request a second", few),
    ]


def selection_rows(found: Outcomes) -> list[TargetRow]:
    """The picks of `tune`, and how many engine starts they take."""
    tunes = found["selection"]
    claim = "5 depths at 1, 4 and 16 streams, starts scatter by 1 %: every pick within 2 % of the best"
    starts = f"{fmean(tune['starts'] for tune in tunes):.1f} on average" if tunes else ""
    return [
        at_least("selection", claim, share_of(tunes, lambda tune: tune["good"]), 0.9),
        TargetRow("selection", "engine starts of a tune", "shown", len(tunes), starts, "shown" if tunes else "not run"),
    ]


def engine_rows(found: Outcomes, kind: str) -> list[TargetRow]:
    """The embedded engine: `kind` "engine" on a simulated clock, "sockets" over real ones."""
    both = [*found[f"{kind}-aa"], *found.get(f"{kind}-aa-drafting", ())]
    real = kind == "sockets"
    wrong, right = (0.0, 0.9) if real else (0.05, 0.9)
    slower, faster, capped = (found[f"{kind}-{name}"] for name in ("slower", "faster", "capped"))
    again = share_of([*both, *slower, *faster, *capped], lambda outcome: outcome["again"]) if real else None
    return [
        at_most(kind, "A/A ends in ROLLBACK", share_of(both, verdict_is("ROLLBACK")), wrong),
        at_most(kind, "A/A ends in PROMOTE or CAPPED", share_of(both, verdict_is("PROMOTE", "CAPPED")), wrong),
        at_most(kind, "A/A is called INVALID", share_of(both, verdict_is("INVALID")), 0.05),
        at_least(kind, "steps 20 % longer: ROLLBACK", share_of(slower, verdict_is("ROLLBACK")), right),
        at_least(kind, "steps 25 % shorter: PROMOTE", share_of(faster, verdict_is("PROMOTE")), right),
        at_least(kind, f"wins at 1 stream, loses at {32 if real else 16}: CAPPED at 1", share_of(capped, _capped_at(1)), right),
        *((shown(kind, "runs that are second ones, as the first was INVALID", again),) if real else ()),
    ]


def _need_rows(outcomes: Sequence[Outcome]) -> list[TargetRow]:
    """T9: what a pilot says that it takes, against the number of pairs at which four of five runs pass."""
    claim = f"`pairs_needed` of a pilot of {PAIRS} pairs that did not settle it, within 30 % of the realised need"
    if not outcomes:
        return [TargetRow("T9", claim, "shown", 0, "", "not run")]
    told = [outcome["told"] for outcome in outcomes if outcome["told"] is not None]
    enough = [n for n in NEED_GRID if sum(n in outcome["passes"] for outcome in outcomes) >= POWER_NEEDED * len(outcomes)]
    if not told or not enough:
        return [TargetRow("T9", claim, "shown", len(told), "no pilot told a need, or none was realised", "shown")]
    near = ErrorRate(sum(abs(pairs / enough[0] - 1) <= NEAR for pairs in told), len(told))
    found = f"{near}; realised {enough[0]}, median told {median(told):g}"
    return [TargetRow("T9", claim, "shown", len(told), found, "shown")]


def _coverage(found: Outcomes, scenario: str, steps: int, metric: str) -> TargetRow:
    share = share_of(found[covering(scenario, steps)], lambda outcome: outcome[metric])
    claim = f"{scenario}, {steps} steps a block: {metric}"
    decides = metric in DECIDE_COVERAGE and steps == FULL_BLOCK
    if share is None:
        return TargetRow("T3", claim, "93 to 97 %", 0, "", "not run")
    state: State = "met" if 0.93 <= share.value <= 0.97 else "missed"
    wide = "; wider than needed" if share.value > 0.97 else ""
    short = f"{percent(share.value)} ({percent(share.low)} to {percent(share.high)}){wide}"
    return TargetRow("T3", claim, "93 to 97 %" if decides else "shown", share.runs, short, state if decides else "shown")


def _passes(outcomes: Sequence[Outcome], metric: str) -> ErrorRate | None:
    states = [outcome["states"].get(metric, {}) for outcome in outcomes]
    cells = sum(sum(state.values()) for state in states)
    return ErrorRate(sum(state.get("PASS", 0) for state in states), cells) if cells else None


def _of(metric: str, what: str) -> Event:
    return lambda outcome: bool(outcome[metric][what])


def _capped_at(level: int) -> Event:
    return lambda outcome: bool(outcome["verdict"] == "CAPPED" and outcome["cap"] == level)


def _enabled_beyond_8(outcome: Outcome) -> bool:
    return bool(outcome["verdict"] == "PROMOTE" or (outcome["cap"] or 0) > 8)


def _stopped_by_the_second(outcome: Outcome) -> bool:
    return bool(outcome["verdict"] == "ROLLBACK" and outcome["looks"] <= 2)
