"""The six questions that a reader brings to a report, each with one answer, from the result alone. No layout lives here."""

from dataclasses import dataclass
from shlex import quote

from specbench.explain import costs, labels, numbers
from specbench.explain.brief.changes import compared, end, p_value, signed
from specbench.explain.check_counts import tally
from specbench.explain.next_run import next_run
from specbench.explain.rules.load_ranges import caps, mix, range_sentence, range_words, tops
from specbench.model import queries
from specbench.model.result import Comparison, Finding, Result

TALLIED = 6  # sentences, one for each group of loads; the cells themselves say the rest
VOID = "Unknown"
DEMONSTRATION = "Demo, no decision about a real server"


@dataclass(frozen=True, slots=True)
class Calibrated:
    """How often whole verdicts erred in simulated runs with known effects: `hits` of `runs`, over these rows of the table.

    The counts are those of docs/calibration.md, which a command makes; a test holds both together. `said` puts them into words.
    """

    said: str
    hits: int
    runs: int
    rows: tuple[str, ...]


CALIBRATED = {
    "PROMOTE": Calibrated(
        "{hits} of {runs} simulated runs of equal arms ended in PROMOTE or CAPPED",
        0,
        150,
        ("A/A over 12 cells ends in PROMOTE or CAPPED",),
    ),
    "CAPPED": Calibrated(
        "{hits} of {runs} simulated runs with harm at the highest load had a cap that let it through",
        0,
        600,
        ("wins to 8 streams, +30 % at 16: enabled at 16", "wins to 8, at the margin of +10 % at 16: enabled at 16"),
    ),
    "HOLD": Calibrated(
        "{hits} of {runs} simulated runs with a true gain of 25 % ended in PROMOTE",
        298,
        300,
        ("a true win in 12 cells (TPOT −25 %, TTFT +2 %): PROMOTE",),
    ),
    "ROLLBACK": Calibrated(
        "{hits} of {runs} simulated runs of equal arms ended in ROLLBACK",
        0,
        150,
        ("A/A over 12 cells ends in ROLLBACK",),
    ),
}


@dataclass(frozen=True, slots=True)
class ReaderQuestion:
    """One question, its answer in a few words, the sentences behind it, and where there are any the command that acts on it and
    what it rests on, point by point.
    """

    question: str
    short: str
    text: str
    command: str = ""
    points: tuple[str, ...] = ()


def reader_questions(result: Result) -> tuple[ReaderQuestion, ...]:
    """Enable it? For which traffic? Up to what load? How confident? What next? What does it cost?"""
    enable, why = _enable(result)
    if queries.virtual(result):
        enable = f"{DEMONSTRATION}. {enable}"
    return (
        ReaderQuestion("Enable it?", enable, why, command=confirmation(result)),
        ReaderQuestion("For which traffic?", *_traffic(result)),
        ReaderQuestion("Up to what load?", *_load(result)),
        ReaderQuestion("How confident?", *_certainty(result), points=_points(result)),
        ReaderQuestion("What increases confidence?", *next_run(result)),
        ReaderQuestion("What does it cost?", *costs.cost(result)),
    )


def _enable(result: Result) -> tuple[str, str]:
    short = {"PROMOTE": "Yes", "CAPPED": "Yes, up to a cap", "HOLD": "Not yet", "ROLLBACK": "No", "INVALID": VOID}
    no_benefit = queries.no_benefit(result)
    text = labels.VERDICTS[result.verdict].meaning
    if no_benefit:
        metric = labels.metric(result.config.success_metric)
        text = f"A gain of {numbers.percent(result.config.improve_by)} in {metric} is ruled out."
    if result.verdict == "CAPPED" and result.slices:
        return _enable_slices(result)
    found = queries.ranges(result)
    if result.verdict == "CAPPED" and found:
        return f"Not yet: confirm the cap of {tops(found)}", (
            f"Run the tested loads up to the cap with the command below, {_own(result)}. If it says PROMOTE, enable speculation"
            f" up to {tops(found)}. Else keep it off and read that report."
        )
    return "No: no gain" if no_benefit else short[result.verdict], text


def _enable_slices(result: Result) -> tuple[str, str]:
    """Which slices may be switched on, and which of them only once their cap is confirmed."""
    on, capped = queries.slices_that(result, "PROMOTE"), queries.slices_that(result, "CAPPED")
    said = [f"It wins for {numbers.listed([numbers.slice_words(part) for part in on])}."] if on else []
    if capped:
        how = "up to the cap with the command below" if queries.unconfirmed(result) else "up to each cap"
        said.append(f"Confirm {caps(capped)}: run the tested loads {how}, {_own(result)}.")
        said.append("If it says PROMOTE for a slice, enable speculation for it up to its cap. Else keep it off.")
    if len(on) + len(capped) < len(result.slices):
        said.append("Keep it off for the other slices.")
    return "Yes, for some slices" if on else f"Not yet: confirm {caps(capped)}", " ".join(said)


def _own(result: Result) -> str:
    """With what to run the confirming command: what was a demo is replaced, the rest stays as it was."""
    prompts = "your own prompts (workload.source.dataset)"
    arms = "your own endpoints (--baseline URL --speculative URL)" if queries.virtual(result) else "the same arms"
    return f"with {prompts} and {arms}" if result.config.built_in else f"with {arms}"


def confirmation(result: Result) -> str:
    """The command that tests a cap: the run as it was asked, up to the cap alone; '' where there is none, or more than one."""
    found = [one for one in queries.unconfirmed(result) if one.high is not None]
    if not found:
        return ""
    profile = "standard" if result.run.profile == "smoke" else result.run.profile
    words = ["specbench", "run", result.run.scenario or f"{result.run.name}.yaml", "--profile", profile, *result.run.flags]
    words += [] if result.config.design == "plain" else [f"--{result.config.design}"]
    for one in found:
        words += ["--rate-up-to" if one.by == "rate" else "--up-to", f"{one.high!r}".removesuffix(".0")]
    return " ".join(map(quote, words))


def _traffic(result: Result) -> tuple[str, str]:
    if not result.cells:
        return "Nothing measured", "No request was counted."
    if result.verdict == "INVALID":
        return VOID, "The run is INVALID, so it judges no traffic."
    if result.slices:
        return _slices(result)
    short = "The mix as tested" if result.verdict in ("PROMOTE", "CAPPED") else "No traffic"
    return short, f"Tested as one mix: {mix(result)}. To judge its parts, use `traffic: separate`."


def _slices(result: Result) -> tuple[str, str]:
    on, capped = queries.slices_that(result, "PROMOTE"), queries.slices_that(result, "CAPPED")
    spans = [
        ", ".join(f"{numbers.slice_words(part)} ({range_words(queries.ranges(part))})" for part in some) for some in (on, capped)
    ]
    rest = [f"{numbers.slice_words(part)} ({part.verdict})" for part in result.slices if part not in (*on, *capped)]
    said = [f"Eligible: {spans[0] or 'none'}."]
    said += [f"Once the cap is confirmed: {spans[1]}."] if capped else []
    short = [numbers.slice_words(part) for part in on]
    short += [f"{numbers.slice_words(part)} once its cap is confirmed" for part in capped]
    return ", ".join(short) or "No traffic", " ".join((*said, f"Not: {', '.join(rest) or 'none'}."))


def _load(result: Result) -> tuple[str, str]:
    found = queries.ranges(result)
    if result.verdict == "INVALID":
        return VOID, "The run is INVALID, so it judges no load."
    if not found or result.verdict not in ("PROMOTE", "CAPPED"):
        tested = ", ".join(dict.fromkeys(numbers.load(cell.axes) for cell in result.cells)) or "nothing"
        return "As each slice says" if queries.enabled(result) else "No load", f"Tested: {tested}."
    return f"Up to {tops(found)}", " ".join(range_sentence(result, one) for one in found)


def _certainty(result: Result) -> tuple[str, str]:
    cell = queries.primary(result)
    if cell is None:
        return "Not at all", "Nothing was measured."
    if result.verdict == "INVALID":
        return "Not at all", "The figures are as measured and prove nothing."
    error = numbers.percent(result.config.alpha)
    text = f"Error rate: at most {error} for each PASS, {error} for all FAILs together. {whole_verdicts(result.verdict)}"
    if result.verdict == "ROLLBACK":
        return _harm(result, text)
    success = queries.comparison(cell, result.config.success_metric)
    judged = next((one for one in cell.findings if one.role == "success"), None)
    if judged is not None and judged.state == "FAIL" and judged.upper is None:
        return "Gain ruled out", f"{judged.reason} {text}"
    if success is None or success.ratio is None:
        return "Gain not measured", text
    name, part = labels.metric(success.metric), numbers.slice_words(cell.axes)
    place = f"{numbers.load(cell.axes)} of {part}," if part else numbers.load(cell.axes)
    where = f"At {place.rstrip(',')}, {name} is {compared(success.ratio)} ({numbers.one_of(success.n_blocks, 'pair')})."
    if judged is not None and judged.state == "FAIL":
        where += f" A gain of {numbers.percent(result.config.improve_by)} is ruled out."
    return f"{_benefit(judged, success)}{f', for {part}' if part else ''}", f"{where} {text}"


def _benefit(judged: Finding | None, success: Comparison) -> str:
    """The benefit, or that there is none, with the end of the interval on which that rests; that it is open, where it is."""
    name, falls = labels.metric(success.metric), success.direction == "lower"
    if judged is None or judged.upper is None or judged.state not in ("PASS", "FAIL"):
        return f"{name} {signed((success.ratio or 1.0) - 1)}, open"
    up = falls == (judged.state == "PASS")
    shown = f"{name} {end(judged.upper, below=up, beside=success.ci_high if up else success.ci_low)}"
    if judged.state == "FAIL":
        shown = f"no such gain, {shown}"
    return f"{numbers.percent(success.ci_level)}: {shown}"


def _points(result: Result) -> tuple[str, ...]:
    """The checks by load; nothing where no figure proves anything."""
    if result.verdict == "INVALID" or queries.primary(result) is None:
        return ()
    found = tally(result)
    return found if len(found) <= TALLIED else (*found[: TALLIED - 1], "Other loads: see their tables.")


def _harm(result: Result, tally: str) -> tuple[str, str]:
    """How sure the harm is: by the clearest of the failed checks; of a dead arm there are none."""
    failed = [one for one in queries.findings(result) if one.decides and one.state == "FAIL"]
    if not failed:
        dead = [one.message for one in result.reasons if one.code == "dead_arm"]
        return "The speculative arm was dead", " ".join((*dead, tally))
    chances = [finding.p_harm_adjusted if finding.p_harm_adjusted is not None else finding.p_harm for finding in failed]
    clearest = min((chance for chance in chances if chance is not None), default=None)
    said = ""
    if clearest is not None:
        said = f"The clearest has {p_value(clearest, adjusted=True)}. "
    return f"{numbers.one_of(len(failed), 'check')} failed", said + tally


def whole_verdicts(verdict: str) -> str:
    """How often runs of the standard profile came out as this verdict though they should not have, or as they should."""
    known = CALIBRATED[verdict]
    said = known.said.format(runs=numbers.count(known.runs), hits=numbers.count(known.hits))
    return f"Whole verdicts, standard profile: {said} (docs/calibration.md)."
