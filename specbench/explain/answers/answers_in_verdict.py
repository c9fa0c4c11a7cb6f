"""What a verdict says of the answers beside its own rules: the end of its headline, and a note on what was compared."""

from collections.abc import Sequence

from specbench.explain.answers.answer_sentences import SUBJECTS
from specbench.explain.numbers import figure, listed, streams
from specbench.model.answers.answer_rules import ANSWERS
from specbench.model.answers.shown_answers import GreedyCounts, SampledShift, ShownAnswers
from specbench.model.result import Finding, Result

LOSSY = "lossy by declaration"
NOTE = "Answers: "
_Z90 = 1.645  # of the 90 % interval


def beside(findings: Sequence[Finding]) -> str:
    """The end of a headline: which answers were not compared and why, and that speculation is declared to change them."""
    by_why: dict[str, list[str]] = {}
    for one in findings:
        if one.state == "NODATA" and one.metric in ANSWERS:
            _, _, why = one.reason.removesuffix(".").partition(": ")
            by_why.setdefault(why, []).append(SUBJECTS[one.metric])
    parts = [f"{_named(names, len(findings))} not compared ({why})" for why, names in by_why.items()]
    parts += [LOSSY] if any(one.role == "advisory" for one in findings) else []
    return "".join(f"; {part}" for part in parts)


def answers_notes(shown: ShownAnswers | None, findings: Sequence[Finding]) -> tuple[str, ...]:
    """What was compared, in counts: one note, none where nothing was, or where a finding that failed says it."""
    if shown is None or any(one.state == "FAIL" for one in findings):
        return ()
    parts = [_greedy(shown.greedy)] if shown.greedy is not None else []
    parts += [_sampled(one) for one in shown.sampled]
    return (f"{NOTE}{'; '.join(parts)}.",) if parts else ()


def _named(names: Sequence[str], all_of_them: int) -> str:
    return "answers" if len(names) == all_of_them else listed(names)


def _greedy(counts: GreedyCounts) -> str:
    unknown = f", {counts.unknown:,} unknown" if counts.unknown else ""
    return (
        f"{counts.equal:,} of {counts.compared:,} greedy ones equal, {counts.near_ties:,} part at near-ties,"
        f" {counts.clear:,} clearly{unknown}"
    )


def _sampled(shift: SampledShift) -> str:
    widest = abs(shift.surprise_nats) + _Z90 * shift.surprise_se
    return f"{shift.sampling} ones alike within {figure(float(f'{widest:.1g}'))} nat a token"


def answers_line(result: Result) -> str:
    """What a report says of the answers in one line: what failed or is open, else what was compared; '' where nothing is said."""
    findings = [one for one in result.run_findings if one.metric in ANSWERS]
    if any(one.state == "FAIL" for one in findings):
        return " ".join(one.reason for one in findings if one.state == "FAIL")
    said = [one.reason for one in findings if one.state == "INCONCLUSIVE"]
    said += [note.removeprefix(NOTE) for note in answers_notes(result.answers, findings)] if not said else []
    without = beside(findings).removeprefix("; ").removeprefix("answers ")
    return " ".join([*said, *([f"{without[0].upper()}{without[1:]}."] if without else [])])


def load_title(concurrency: int | None, cell: str | None) -> str:
    """The load of some answers at the head of a row."""
    return streams(concurrency) if concurrency is not None else cell or "after the load"


def mark_title(mark: str) -> str:
    """A mark at the head of a row."""
    return mark.replace("_", " ")
