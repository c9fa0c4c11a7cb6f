"""The table of targets as Markdown: what was asked, of how many runs, what came out. Written by a command, never by hand.

No number is computed here.
"""

from collections.abc import Iterable, Sequence

from specbench.calibrate.answering_worlds.answer_cases import PROMPTS, TOKENS
from specbench.calibrate.answering_worlds.answer_rows import answer_rows
from specbench.calibrate.answering_worlds.decoding_arms import GAMMA
from specbench.calibrate.answering_worlds.token_models import SAMPLED, WORDS
from specbench.calibrate.campaigns import CAMPAIGNS
from specbench.calibrate.live_runs import PAIRS as REAL_PAIRS
from specbench.calibrate.live_runs import PAIRS_OF_A_CAP
from specbench.calibrate.simulators import PREFILL_SPAN, TTFT_SD
from specbench.calibrate.single_comparisons import COVERED
from specbench.calibrate.targets import (
    COVERAGE_SCENES,
    DECIDE_COVERAGE,
    Outcomes,
    TargetRow,
    capacity_rows,
    coverage_rows,
    engine_rows,
    looking_rows,
    other_rows,
    selection_rows,
    test_rows,
    verdict_rows,
)
from specbench.calibrate.watching.watch_rows import watch_rows
from specbench.calibrate.whole_runs import BINS, CLEAN, LEVELS, PAIRS, SCALE, SEED, SHIFTING
from specbench.calibrate.world_rows import world_rows

_INTRODUCTION = f"""# Error rates of the verdict

Made by `specbench calibrate`; do not edit. Runs with known effects go through the analysis that judges real runs, and the table
says how often it errs. The same code makes the same table (the seed is {SEED}): `specbench calibrate --out DIR`. Shares come with
their exact interval of 95 %. **Met** and **missed** compare a share with its target; *shown* rows have none.

## The simulated worlds

Their generators are one file, `specbench/calibrate/simulators.py`; worlds that mislead have a section of
their own. Streams ride on the steps of one machine, so that all of them
slow down together. The log of a step's time has a standard deviation of {CLEAN.step_sd} and a correlation of
{CLEAN.step_memory} with the step before; each block has a speed of its own, with a standard deviation of
{100 * CLEAN.block_sd:g} %, drawn anew for each arm. In every second run of the matrix, and in all other whole runs and single
tests, the machine also drifts by {100 * SHIFTING.drift:g} % from the first block to the last, and
{100 * SHIFTING.stall_share:g} % of its steps last {SHIFTING.stall_factor:g} times as long. Both arms get the same prompts: their
prefills take {PREFILL_SPAN[0]:.2f} to {PREFILL_SPAN[1]:.2f} times the usual time, evenly, with a deviation of
{100 * TTFT_SD:g} % of their own.

**Time is scaled down.** In whole runs and single tests one simulated step of 10 ms stands for {SCALE} engine steps: it varies as
their mean does, and remembers as much. A block of the standard profile (30 requests and 20 s, 2,000 steps of 10 ms) has 200 such
steps, or as many as 30 requests take. Answers are scaled alike; TTFT and the floors of guardrails are not. The matrix is
{len(BINS)} bins × {len(LEVELS)} concurrencies ({", ".join(map(str, LEVELS))}), {PAIRS} pairs. Coverage is not scaled: its blocks
have 2,000 single steps with a correlation of .95. There the number after a name is the concurrency, 4 where there is none; after
`icc` it is the share of a token's variance that its request explains. In the `speculation` scenarios the arms are of two kinds
(one token a step, and 1.2 times longer steps with alpha .65), and a long run stands for the truth; in all others one arm is 10 %
slower in everything, and 3 % of the steps of `stalls` last 2.5 times as long.
"""
_WORLDS = f"""
Worlds that mislead, made request by request in `specbench/calibrate/worlds/`; the rules of the verdict were not made in them, and
each row's number is what came out. Unless said otherwise: loads of 1 and 8 streams, {PAIRS} pairs in the order of a real plan,
blocks that differ by {100 * CLEAN.block_sd:g} %, first tokens whose log deviates by {TTFT_SD:g} beyond what the prompt explains,
both arms declared as plain. A block or a start that is slow is so in steps and prefills. Where something lasts seconds of its own
(silence, arrivals at a rate) nothing is scaled: a step takes 100 ms and a prefill 1 s. *Asked* follows from what is true of the
arms: equal ones may seldom be rolled back or enabled, harmful ones seldom enabled, tolerated harm and wins seldom rolled back.
Rows of *verdicts* count what each run ended in. `docs/adr/0026` says what the rows of outliers are for.
"""
_ANSWERS = f"""
Made in `specbench/calibrate/answering_worlds/`: a target and a draft over {WORDS} words, in which a token follows from the four
before it, anew for each run; {PROMPTS} prompts of {TOKENS} tokens a sampling; a chain of {GAMMA} drafts; sampled at temperature
{SAMPLED.temperature:g} and top_p {SAMPLED.top_p:g}. Every arithmetic (decode, verify, scoring) adds noise of its own to each log
probability, 0.1 nat where nothing is said. Everything but the answers passes, so that PROMOTE becomes what they make of it. The
baseline scores whole answers, or is asked at first differences alone, as engines are that score no given text.
"""
_READING = f"""
## How to read it

- Coverage above 97 % misses its target on the safe side: the interval is wider than it needs to be. The interval of a pooled
  percentile, such as the p95 of TPOT, comes from the number of slow requests (`docs/adr/0023`); where those are few, as at one
  stream, a whole number of them covers a little more than it says.
- Near stalls a percentile of a short block is no steady number, and two kinds of arms meet stalls differently. The rows with 200,
  500 and 1,000 steps say how coverage changes with the length of a block; `specbench plan` warns below 500.
- `pairs_needed` is an order of magnitude: ten pairs know their own spread within a quarter, and the need goes with its square.
- Runs over sockets are short and share their machine with both engines. On two cores a late generator makes some INVALID; such a
  run is made once more. Where a p95 stays open at the lowest load, no range is left to cap and the harm above it decides: with
  {REAL_PAIRS} pairs that was seen in two of 40 runs, so those that ask for a cap have {PAIRS_OF_A_CAP}.
- Simulated worlds are not your machine. `specbench calibrate` with the URLs of two equal endpoints measures the noise of yours.
"""


# Why a target is missed, by the beginning of its claim.
_REASONS = {
    "fault “none”: PROMOTE": "The test of what one block leaves to the next calls one sound run in a hundred INVALID.",
    "ttft_p95 truly at its margin": (
        "The test of shares errs in 5 of 100 where requests are many; with ten pairs of blocks it is one or two runs more."
    ),
    "A/A, starts differ by 3 %, stated: PROMOTE or CAPPED": (
        "Their test errs in 5 of 100, which 300 runs know to three points either way."
    ),
    "a win of 1.5, 0.5 % of requests never answered": (
        "In one such run of twenty nothing hung at all, and half a percent is what `error_rate` allows."
    ),
    "wins at 1 stream, loses at 32": (
        "Some stop at the tests of the order of blocks, as engines and generator share two busy cores."
    ),
}


ANSWERS = "Answers of both arms, simulated"
WORLDS = "Worlds in which the rules were not made"


def table_of(found: Outcomes) -> str:
    """The table of targets as a Markdown page, a section for each kind of campaign."""
    sections = {
        "Whole runs": verdict_rows(found),
        "Single tests, before Holm": test_rows(found),
        "Several looks (`--until resolved`)": looking_rows(found),
        "Faults, needs, determinism": other_rows(found),
        "Searches for capacity (`specbench capacity`), 8 blocks of 150 s around the crossing": capacity_rows(found),
        ANSWERS: answer_rows(found),
        WORLDS: world_rows(found),
        "Picks of a tune (`specbench tune`), up to 4 series": selection_rows(found),
        "The embedded engine's scheduler and roofline on a simulated clock: one cell, blocks of 200 steps": engine_rows(
            found, "engine"
        ),
        "Live traffic (`watch`): simulated weeks of windows of five minutes": watch_rows(found),
        f"Over real sockets, embedded engines, {REAL_PAIRS} pairs of 3 s, {PAIRS_OF_A_CAP} for a cap": engine_rows(
            found, "sockets"
        ),
    }
    covered = coverage_rows(found)
    return (
        _INTRODUCTION
        + _shortened(found)
        + _summary([*(row for rows in sections.values() for row in rows), *covered])
        + "".join(_section(title, rows) for title, rows in sections.items())
        + _coverage(covered)
        + _READING
    )


def _summary(rows: Sequence[TargetRow]) -> str:
    """How many targets are met, and every one that is not, by name."""
    met = sum(row.state == "met" for row in rows)
    missed = [row for row in rows if row.state == "missed"]
    judged = f"{met} of {met + len(missed)} targets that were run are met"
    if not missed:
        return f"\n**{judged}.**\n"
    return f"\n**{judged}.** Missed:\n\n" + "".join(
        f"- {row.id}, {row.claim}: {row.found}; asked: {row.asked}.{_reason(row)}\n" for row in missed
    )


def _reason(row: TargetRow) -> str:
    found = next((why for claim, why in _REASONS.items() if row.claim.startswith(claim)), None)
    return "" if found is None else f" {found}"


def _shortened(found: Outcomes) -> str:
    """A warning where campaigns were run less often than planned, those over sockets apart; nothing where none was."""
    planned = {campaign.name: campaign.count for campaign in CAMPAIGNS if not campaign.real}
    fewer = [name for name, count in planned.items() if len(found[name]) < count]
    if not fewer:
        return ""
    runs, whole = sum(len(found[name]) for name in planned), sum(planned.values())
    return (
        f"\n**Fewer runs than planned:** {runs:,} of {whole:,} simulated ones. The column *runs* has each row's own count;"
        " a coverage of 95 % in 400 runs is known to two points either way.\n"
    )


def _section(title: str, rows: Iterable[TargetRow]) -> str:
    about = {WORLDS: _WORLDS, ANSWERS: _ANSWERS}.get(title, "")
    head = f"\n## {title}\n{about}\n| target | what | asked | runs | found (95 %) | |\n|---|---|---|---|---|---|\n"
    return head + "".join(
        f"| {row.id} | {row.claim} | {row.asked} | {row.runs:,} | {row.found} | {_word(row)} |\n" for row in rows
    )


def _coverage(rows: Sequence[TargetRow]) -> str:
    """One line for each scenario, a column for each metric; `rows` are COVERED for each of COVERAGE_SCENES."""
    heads = [f"{metric} (93 to 97 % asked)" if metric in DECIDE_COVERAGE else metric for metric in COVERED]
    lines = ["", "## T3: coverage of intervals of 95 %", "", f"| scenario | steps a block | runs | {' | '.join(heads)} |"]
    lines.append("|---" * (3 + len(COVERED)) + "|")
    for place, (name, steps) in enumerate(COVERAGE_SCENES):
        held = rows[place * len(COVERED) : (place + 1) * len(COVERED)]
        cells = [f"{row.found} {_word(row)}" if row.state in ("met", "missed") else row.found or row.state for row in held]
        lines.append(f"| {name} | {steps:,} | {held[0].runs:,} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _word(row: TargetRow) -> str:
    return f"**{row.state}**" if row.state in ("met", "missed") else row.state
