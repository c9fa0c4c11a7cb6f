"""Whether the figures can be trusted, in short lists: checks that failed or could not be made, requests, and how the arms differ."""

from collections.abc import Sequence
from dataclasses import dataclass

from specbench.explain import labels, numbers
from specbench.model import queries
from specbench.model.result import IntegrityCheck, Result
from specbench.report.view import rows
from specbench.report.view.fairness import FairnessRow, fairness


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
    lists = [CheckList("The run", tuple(map(rows.check_row, result.integrity)))] if result.integrity else []
    lists += [CheckList(places[cell.id], tuple(map(rows.check_row, cell.integrity))) for cell in result.cells if cell.integrity]
    return TrustView(
        integrity=(*_checks(checks, places), *_requests(result)),
        all_checks=tuple(lists),
        checks_title=f"All {numbers.one_of(len(checks), 'check')}",
        fairness=_facts(facts),
        different=different,
        alike=alike,
        alike_title=f"{numbers.one_of(len(alike), 'other fact')}",
    )


def _may_differ(row: FairnessRow) -> bool:
    return row.state == "may differ" and row.baseline != row.speculative


def _checks(found: Sequence[IntegrityCheck], places: dict[str, str]) -> list[TrustLine]:
    """Those that failed by their message, then how many passed and how many could not be made."""
    failed = [TrustLine("✗", f"{_at(one, places)}{one.message}", "fail") for one in found if one.ok is False]
    passed, unknown = (sum(one.ok is state for one in found) for state in (True, None))
    lines = [*failed, TrustLine("✓", f"{numbers.one_of(passed, 'check')} passed", "pass")]
    lines += [] if failed else [TrustLine("✓", "none failed", "pass")]
    names = dict.fromkeys(one.id.replace("_", " ") for one in found if one.ok is None)
    lines += [TrustLine("?", f"{unknown} could not be made: {', '.join(names)}", "inconclusive")] if unknown else []
    return lines


def _at(check: IntegrityCheck, places: dict[str, str]) -> str:
    return f"{places[check.cell]}: " if check.cell in places else ""


def _requests(result: Result) -> list[TrustLine]:
    arms = [arm for cell in result.cells for arm in (cell.counts.baseline, cell.counts.speculative)]
    if not arms:
        return []
    failed, total = sum(one.failed for one in arms), sum(one.requests for one in arms)
    stamps: dict[str, int] = {}
    for one in arms:
        for source, count in one.stamp_sources.items():
            stamps[source] = stamps.get(source, 0) + count
    requests = TrustLine("✗" if failed else "✓", f"{numbers.count(total)} requests, {numbers.count(failed)} failed", "fail" if failed else "pass")
    sources = ", ".join(f"{numbers.count(count)} by the {source.replace('_', ' ')}" for source, count in sorted(stamps.items()))
    kernel = set(stamps) == {"kernel"}
    return [requests, *([TrustLine("✓" if kernel else "?", f"arrivals stamped: {sources}", "pass" if kernel else "inconclusive")] if sources else [])]


def _facts(facts: Sequence[FairnessRow]) -> tuple[TrustLine, ...]:
    by_state: dict[str, list[str]] = {}
    for row in facts:
        by_state.setdefault(row.state, []).append(row.label)
    marks = {"differs": ("✗", "fail"), "accepted": ("!", "inconclusive"), "not known": ("?", "inconclusive"), "equal": ("✓", "pass")}
    return tuple(
        TrustLine(glyph, f"{labels.FACT_STATES[state]} {', '.join(by_state[state])}", tone)
        for state, (glyph, tone) in marks.items()
        if state in by_state
    )
