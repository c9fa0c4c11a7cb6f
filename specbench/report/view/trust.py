"""Whether the figures can be trusted, in short lists: checks, requests, and how the arms differ. No sentence lives here."""

from collections.abc import Sequence
from dataclasses import dataclass

from specbench.explain.brief import trust_sentences as said
from specbench.explain.brief.first_sentences import answered
from specbench.model import queries
from specbench.model.result import IntegrityCheck, Result
from specbench.report.view import rows
from specbench.report.view.fairness import FairnessRow, fairness
from specbench.report.view.first_screen import request_counts


@dataclass(frozen=True, slots=True)
class TrustLine:
    """One fact of a short list: its mark, what it says, and the state that colours it."""

    glyph: str
    text: str
    state: str


@dataclass(frozen=True, slots=True)
class CheckList:
    """The checks of one place."""

    place: str
    checks: tuple[rows.CheckRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustView:
    """Integrity and fairness, each as a short list and in full; `different` are the facts in which the arms differ."""

    integrity: tuple[TrustLine, ...]
    all_checks: tuple[CheckList, ...]
    checks_title: str
    fairness: tuple[TrustLine, ...]
    different: tuple[FairnessRow, ...]
    alike: tuple[FairnessRow, ...]
    alike_title: str


def trust_view(result: Result, places: dict[str, str]) -> TrustView:
    """Both lists of the result; `places` names its cells."""
    checks = queries.integrity(result)
    facts = fairness(result.endpoints, result.config.accept_differences)
    different = tuple(row for row in facts if row.state in ("differs", "accepted") or _may_differ(row))
    alike = tuple(row for row in facts if row not in different)
    lists = [CheckList(said.RUN, tuple(map(rows.check_row, result.integrity)))] if result.integrity else []
    lists += [CheckList(places[cell.id], tuple(map(rows.check_row, cell.integrity))) for cell in result.cells if cell.integrity]
    return TrustView(
        integrity=(*_checks(checks, places), *_requests(result)),
        all_checks=tuple(lists),
        checks_title=said.all_checks(len(checks)),
        fairness=_facts(facts),
        different=different,
        alike=alike,
        alike_title=said.other_facts(len(alike)),
    )


def _may_differ(row: FairnessRow) -> bool:
    return row.state == "may differ" and row.baseline != row.speculative


def _checks(found: Sequence[IntegrityCheck], places: dict[str, str]) -> list[TrustLine]:
    """Those that failed by their message, then how many passed and how many could not be made."""
    failed = [
        TrustLine("✗", said.failed_check(one.message, places.get(one.cell or "", "")), "fail") for one in found if one.ok is False
    ]
    lines = [*failed, TrustLine("✓", said.passed(sum(one.ok is True for one in found)), "pass")]
    lines += [] if failed else [TrustLine("✓", said.NONE_FAILED, "pass")]
    unknown = [one.id.replace("_", " ") for one in found if one.ok is None]
    named = list(dict.fromkeys(unknown))
    lines += [TrustLine("?", said.not_made(len(unknown), named), "inconclusive")] if unknown else []
    return lines


def _requests(result: Result) -> list[TrustLine]:
    arms = [arm for cell in result.cells for arm in (cell.counts.baseline, cell.counts.speculative)]
    if not arms:
        return []
    counts = request_counts(arms)
    text, failed = answered(counts), counts.failed
    lines = [TrustLine("✗", text, "fail") if failed else TrustLine("✓", text, "pass")]
    stamps: dict[str, int] = {}
    for one in arms:
        for source, count in one.stamp_sources.items():
            stamps[source] = stamps.get(source, 0) + count
    if stamps:
        by_kernel = set(stamps) == {"kernel"}
        lines.append(TrustLine("✓" if by_kernel else "?", said.stamped(stamps), "pass" if by_kernel else "inconclusive"))
    return lines


_FACT_MARKS = {
    "differs": ("✗", "fail"),
    "accepted": ("!", "inconclusive"),
    "not known": ("?", "inconclusive"),
    "equal": ("✓", "pass"),
}


def _facts(facts: Sequence[FairnessRow]) -> tuple[TrustLine, ...]:
    by_state: dict[str, list[str]] = {}
    for row in facts:
        by_state.setdefault(row.state, []).append(row.label)
    return tuple(
        TrustLine(glyph, said.facts(state, by_state[state]), tone)
        for state, (glyph, tone) in _FACT_MARKS.items()
        if state in by_state
    )
