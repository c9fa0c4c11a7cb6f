"""What to do with a verdict: one sentence, and the command that does it. Values in, text out; nothing is judged here."""

from collections.abc import Sequence
from dataclasses import replace
from shlex import quote

from specbench.explain.brief.headline import deciding_code
from specbench.explain.glossary.check_entries import CHECKS
from specbench.explain.glossary.code_entries import CODES
from specbench.explain.next_run import DECISION_PAIRS
from specbench.explain.numbers import listed, one_of, slice_words, streams
from specbench.explain.reader_questions import confirmation
from specbench.explain.rules.load_ranges import caps, tops
from specbench.model import queries
from specbench.model.guardrails import MIN_LAUNCHES
from specbench.model.result import Reason, Result
from specbench.model.tuning.tune_values import Confirmation

DEMO = "Demo: embedded engine, virtual time. It decides nothing about a real server."
HALF_DEMO = "Demo: one arm is the embedded engine, in virtual time. It decides nothing about a real server."
PARTIAL = "Partial run: only what was measured before it ended is shown."
MORE_PROMPTS = 512  # twice the default
CONFIRM = "Do not enable yet: confirm the cap first. The command below must say PROMOTE."
_FIXES = {entry.name: entry.fix for entry in (*CODES, *CHECKS)}
_PAIRS, _HISTORY = "matrix.pairs=", "workload.sessions.history="
_NOT_SPECULATING = ("not_speculating", "speculation_speculative")


def demonstration(result: Result) -> str:
    """That the run is a demonstration, where an arm runs the embedded engine; else ''."""
    arms = [result.endpoints.baseline.engine, result.endpoints.speculative.engine].count("embedded")
    return ("", HALF_DEMO, DEMO)[arms]


def own_command(result: Result) -> str:
    """The command that measures real servers with the scenario of a demonstration; '' where the run is none."""
    scenario = quote(result.run.scenario or f"{result.run.name}.yaml")
    words = f"specbench run {scenario} --baseline URL --speculative URL --model NAME"
    return words if demonstration(result) and result.verdict != "INVALID" else ""


def few_pairs(result: Result) -> bool:
    """Whether the run is too small to act on: a first look."""
    return result.config.pairs < DECISION_PAIRS


def action(result: Result) -> str:
    """What to do now, in a sentence or two."""
    return {"PROMOTE": _promote, "CAPPED": _capped, "HOLD": _hold, "ROLLBACK": _rollback, "INVALID": _invalid}[result.verdict](
        result
    )


def next_command(result: Result) -> str:
    """The command that does it; '' where no run of this program does."""
    if result.run.confirms is not None:
        return _confirm_again(result, result.run.confirms)
    if result.verdict == "CAPPED" and (command := confirmation(result)):
        return command
    if result.verdict in ("PROMOTE", "CAPPED"):
        return run_again(result, pairs=DECISION_PAIRS) if few_pairs(result) else ""
    if result.verdict == "INVALID":
        failed = [check.id for check in queries.integrity(result) if check.ok is False]
        spec = result.endpoints.speculative
        if failed and failed[0] in _NOT_SPECULATING and spec.engine != "embedded":
            return f"specbench doctor {quote(spec.url)}"
        return run_again(result)
    if result.verdict == "HOLD":
        return _held_command(result)
    return run_again(result)


def _confirm_again(result: Result, confirms: Confirmation) -> str:
    """The next try: of the cap that this run proposes, else of what it was to confirm; '' once it has."""
    if result.verdict == "PROMOTE" and not few_pairs(result):
        return ""
    by_router = _off_still_costs(result, confirms)
    proposes = result.verdict == "CAPPED" and (by_router or not few_pairs(result))
    source = f"reports/{result.run.id}" if proposes else confirms.source
    who = "router" if by_router else confirms.enforced_by
    return " ".join(map(quote, ["specbench", "confirm", source, "--enforce", who]))


def _off_still_costs(result: Result, confirms: Confirmation) -> bool:
    """Whether the engine's table fails only at loads where it drafts nothing: a lower cap in it would change nothing there."""
    found, off_above = result.enable_range, confirms.off_above
    if result.verdict != "CAPPED" or confirms.enforced_by != "engine" or off_above is None:
        return False
    return found is not None and found.high is not None and found.high >= off_above


def run_again(result: Result, pairs: int | None = None, *words: str) -> str:
    """The command that ran this, with at least so many pairs and these words besides."""
    flags = list(result.run.flags)
    profile = result.run.profile
    more: list[str] = []
    if pairs is not None and pairs > result.config.pairs:
        if profile == "smoke" and pairs <= DECISION_PAIRS and not _sets_pairs(flags):
            profile = "standard"
        else:
            flags = _without(flags, _PAIRS)
            more = ["--set", f"matrix.pairs={pairs}"]
    design = [] if result.config.design == "plain" else [f"--{result.config.design}"]
    command = ["specbench", "run", result.run.scenario or f"{result.run.name}.yaml", *design, "--profile", profile]
    return " ".join(map(quote, [*command, *flags, *more, *words]))


def _sets_pairs(flags: list[str]) -> bool:
    return any(flag.startswith(_PAIRS) for flag in flags)


def _without(flags: Sequence[str], setting: str) -> list[str]:
    """The flags but for this setting, with the `--set` before it."""
    at = {index for index, flag in enumerate(flags) if flag.startswith(setting)}
    return [flag for index, flag in enumerate(flags) if index not in at and index + 1 not in at]


def _promote(result: Result) -> str:
    if few_pairs(result):
        had = one_of(result.config.pairs, "pair")
        return f"A first look ({had} a load): repeat it with {_larger(result)} before you enable it."
    if demonstration(result):
        return "Measure your own endpoints before you enable it there."
    ranges = queries.ranges(result)
    return f"Enable it for this traffic, up to {tops(ranges)}." if ranges else "Enable it for this traffic."


def _larger(result: Result) -> str:
    return "--profile standard" if result.run.profile == "smoke" else f"{DECISION_PAIRS} pairs"


def _capped(result: Result) -> str:
    if queries.ranges(result):
        return " ".join(filter(None, (CONFIRM, _untested_above(result))))
    on, capped = queries.slices_that(result, "PROMOTE"), queries.slices_that(result, "CAPPED")
    said = []
    if on:
        names = listed([slice_words(part) for part in on])
        first = f"Repeat it with {_larger(result)} before you enable it for" if few_pairs(result) else "Enable it only for"
        said.append(f"{first} {names}.")
    if capped:
        said.append(f"Do not enable yet: confirm {caps(capped)} first.")
    return " ".join(said)


def _untested_above(result: Result) -> str:
    """The loads between each cap and the next load that was tested, as a sentence; '' where there are none."""
    said = []
    for found in queries.ranges(result):
        above = [at for cell in result.cells if (at := queries.place(cell, found.by)) is not None and at > (found.high or at)]
        if above and found.by == "rate":
            said.append(f"rates between {found.high:g} and {min(above):g} requests/s")
        elif above and found.high is not None and min(above) - found.high > 1:
            first, last = found.high + 1, min(above) - 1
            said.append(f"{first:g} to {streams(last)}" if last > first else streams(first))
    return f"Not tested: {' and '.join(said)}." if said else ""


def _hold(result: Result) -> str:
    code = deciding_code(result)
    if code == "insufficient_evidence":
        pairs = _pairs(result)
        if pairs is not None:
            return f"Keep it off. About {pairs} pairs a load settle what is open; this run had {result.config.pairs}."
        if _unsettled(result):
            return "Keep it off. More pairs do not settle what is open: use longer blocks."
    fix = _FIXES.get(code) or _short_reason(result) or "Read the reasons."
    return fix if fix.startswith("Keep it off") else f"Keep it off. {fix}"


def _held_command(result: Result) -> str:
    code = deciding_code(result)
    if code == "place_not_controlled":
        return run_again(result, None, "--aa") if result.config.design == "plain" else run_again(result)
    if code == "answers_not_shown":
        return run_again(result, None, "--set", f"answers.prompts={MORE_PROMPTS}")
    if code == "own_history":
        flags = tuple(_without(result.run.flags, _HISTORY))
        return run_again(replace(result, run=replace(result.run, flags=flags)), None, "--set", f"{_HISTORY}dataset")
    if code == "too_few_launches":
        return run_again(result, MIN_LAUNCHES)
    return run_again(result, _pairs(result)) if code == "insufficient_evidence" else run_again(result)


def _unsettled(result: Result) -> list[int | None]:
    return [one.pairs_needed for one in queries.findings(result) if one.required and one.is_open]


def _pairs(result: Result) -> int | None:
    return max((pairs for pairs in _unsettled(result) if pairs is not None), default=None)


def _rollback(_: Result) -> str:
    return "Turn speculation off at every load. Fix the cause before you run it again."


def _invalid(result: Result) -> str:
    failed = [check for check in queries.integrity(result) if check.ok is False]
    if result.cells and failed:
        return _FIXES.get(failed[0].id) or failed[0].message
    return _short_reason(result) if not result.cells else _FIXES.get(deciding_code(result)) or _short_reason(result)


def _short_reason(result: Result) -> str:
    """The first reason that is no mere announcement."""
    named: list[Reason] = [reason for reason in result.reasons if reason.code != "invalid"] or list(result.reasons)
    return named[0].message if named else "Fix the failed checks, then run again."
