"""The six questions that a reader brings to a report, each with one answer, from the result alone. No layout lives here."""

from collections.abc import Sequence
from dataclasses import dataclass
from shlex import quote

from specbench.analysis.words import outward
from specbench.model.judged import Finding, Result
from specbench.report import costs, names, parts, wording
from specbench.report.calibrated import whole_verdicts
from specbench.report.ranges import range_sentence, range_words, tops
from specbench.report.surer import surer
from specbench.report.tally import tally
from specbench.report.traffic import mix

TALLIED = 6  # sentences, one for each group of loads; the cells themselves say the rest
RARELY = 0.001
VOID = "Cannot be said"
DEMONSTRATION = "A demonstration, no decision about a real server"


@dataclass(frozen=True, slots=True)
class Answer:
    """One question, its answer in a few words, the sentences behind it, and where there are any the command that acts on it and
    what it rests on, point by point.
    """

    question: str
    short: str
    text: str
    command: str = ""
    points: tuple[str, ...] = ()


def answers(result: Result) -> tuple[Answer, ...]:
    """Enable it? For which traffic? Up to what load? How sure? What would make us surer? What does it cost?"""
    enable, why = _enable(result)
    if parts.virtual(result):
        enable = f"{DEMONSTRATION}. {enable}"
    return (
        Answer("Enable it?", enable, why, command=confirmation(result)),
        Answer("For which traffic?", *_traffic(result)),
        Answer("Up to what load?", *_load(result)),
        Answer("How sure?", *_certainty(result), points=_points(result)),
        Answer("What would make us surer?", *surer(result)),
        Answer("What does it cost?", *costs.cost(result)),
    )


def _enable(result: Result) -> tuple[str, str]:
    short = {"PROMOTE": "Yes", "CAPPED": "Yes, up to a cap", "HOLD": "Not yet", "ROLLBACK": "No", "INVALID": VOID}
    no_benefit = result.verdict == "HOLD" and any(reason.code == "no_benefit" for reason in result.reasons)
    text = names.VERDICTS[result.verdict].meaning
    if no_benefit:
        metric = names.metric(result.config.success_metric)
        text = f"A benefit of {wording.percent(result.config.improve_by)} in {metric} is ruled out."
    if result.verdict == "CAPPED" and result.slices:
        return "Yes, for some slices", "It wins for the slices named here; for the others it is not shown to be safe and useful."
    found = parts.ranges(result)
    if result.verdict == "CAPPED" and found:
        return f"Not yet: first confirm the cap of {tops(found)}", (
            f"Run the tested loads up to the cap alone, by the command here, {_own(result)}. If that run says PROMOTE, switch"
            f" speculation on up to {tops(found)} and keep it off above; else keep it off and read that run's report."
        )
    return "No: no benefit" if no_benefit else short[result.verdict], text


def _own(result: Result) -> str:
    """With what to run the confirming command: what was a demonstration is replaced, the rest stays as it was."""
    prompts = "your own prompts (workload.source.dataset)"
    arms = "your own endpoints (--baseline URL --speculative URL)" if parts.virtual(result) else "the same arms"
    return f"with {prompts} and {arms}" if parts.built_in(result) else f"with {arms}"


def confirmation(result: Result) -> str:
    """The command that tests a cap: the run as it was asked, up to the cap alone; '' where no cap holds for the whole traffic."""
    found = [one for one in parts.ranges(result) if one.max_concurrency is not None]
    if result.verdict != "CAPPED" or not found:
        return ""
    profile = "standard" if result.run.profile == "smoke" else result.run.profile
    words = ["specbench", "run", result.run.scenario or f"{result.run.name}.yaml", "--profile", profile, *result.run.flags]
    words += [] if result.config.design == "plain" else [f"--{result.config.design}"]
    for one in found:
        words += ["--rate-up-to" if one.by == "rate" else "--up-to", f"{one.max_concurrency!r}".removesuffix(".0")]
    return " ".join(map(quote, words))


def _traffic(result: Result) -> tuple[str, str]:
    if not result.cells:
        return "Nothing measured", "No request was counted, so nothing can be said of any traffic."
    if result.verdict == "INVALID":
        return VOID, "The measurement carries no judgement of any traffic."
    if result.slices:
        eligible = [found for found in result.slices if found.verdict in ("PROMOTE", "CAPPED")]
        named = ", ".join(f"{found.bin} ({range_words(parts.ranges(found))})" for found in eligible) or "none"
        rest = ", ".join(f"{found.bin} ({found.verdict})" for found in result.slices if found not in eligible) or "none"
        return ", ".join(found.bin for found in eligible) or "No traffic", f"Eligible: {named}. Not: {rest}."
    short = "The mix as tested" if result.verdict in ("PROMOTE", "CAPPED") else "No traffic"
    return short, f"Tested as one mix: {mix(result)}. Its parts were not judged apart; `traffic: separate` does that."


def _load(result: Result) -> tuple[str, str]:
    found = parts.ranges(result)
    if result.verdict == "INVALID":
        return VOID, "The measurement carries no judgement of any load."
    if not found or result.verdict not in ("PROMOTE", "CAPPED"):
        tested = ", ".join(dict.fromkeys(wording.load(cell.axes) for cell in result.cells)) or "nothing"
        return "As each slice says" if parts.enabled(result) else "No load", f"Tested: {tested}."
    return f"Up to {tops(found)}", " ".join(range_sentence(result, one) for one in found)


def _certainty(result: Result) -> tuple[str, str]:
    cell = parts.primary(result)
    if cell is None:
        return "Not at all", "Nothing was measured."
    if result.verdict == "INVALID":
        return "Not at all", "The figures are shown as measured, but with this fault they prove nothing."
    error = wording.percent(result.config.alpha)
    text = f"Each PASS errs in at most {error} of runs, all FAILs together in at most {error}. {whole_verdicts(result.verdict)}"
    if result.verdict == "ROLLBACK":
        return _harm([finding for finding in parts.findings(result) if finding.required], text)
    success = parts.comparison(cell, result.config.success_metric)
    if success is None or success.ratio is None:
        return "Benefit not measured", text
    name = names.metric(success.metric)
    where = f"At {wording.load(cell.axes)} {name} was {wording.ratio(success.ratio)} times the baseline's"
    where += f" ({wording.one_of(success.n_blocks, 'pair')} of blocks)"
    judged = next((one for one in cell.findings if one.role == "success" and one.state == "PASS"), None)
    if judged is None or judged.upper is None:
        return f"{name} ×{wording.ratio(success.ratio)}, not settled", f"{where}. {text}"
    side = "below" if success.direction == "lower" else "above"
    end = outward(judged.upper, side == "below", success.ci_high if side == "below" else success.ci_low)
    return f"{wording.percent(success.ci_level)} sure: {name} {side} ×{end}", f"{where}. {text}"


def _points(result: Result) -> tuple[str, ...]:
    """The checks by load; nothing where no figure proves anything."""
    if result.verdict == "INVALID" or parts.primary(result) is None:
        return ()
    found = tally(result)
    return found if len(found) <= TALLIED else (*found[: TALLIED - 1], "The other loads: see the cells.")


def _harm(required: Sequence[Finding], tally: str) -> tuple[str, str]:
    """How sure the harm is: by the clearest of the findings that failed."""
    failed = [finding for finding in required if finding.state == "FAIL"]
    chances = [finding.p_harm_adjusted if finding.p_harm_adjusted is not None else finding.p_harm for finding in failed]
    clearest = min((chance for chance in chances if chance is not None), default=None)
    said = ""
    if clearest is not None:
        rarely = "less than 0.1 %" if clearest < RARELY else f"about {wording.percent(clearest)}"
        said = f"Chance alone would show the clearest of them in {rarely} of such runs. "
    return f"{wording.one_of(len(failed), 'check')} failed", said + tally
