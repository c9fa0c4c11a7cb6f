"""What the first screen says: the headline, the sentences with both arms' figures, the next command, how far to trust it.

Chooses which rows get a sentence; the sentences are in `explain/brief/first_sentences.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from specbench.explain import labels
from specbench.explain.brief import first_sentences as said
from specbench.explain.brief import headline, next_step, table_words
from specbench.explain.brief.first_sentences import RequestCounts, RowTexts
from specbench.model import queries
from specbench.model.result import ArmCounts, Result
from specbench.report.view.comparison_rows import ComparisonRow
from specbench.report.view.load_tables import LoadTable

MOST_SENTENCES = 3
NAMED_AT_ONCE = 2  # failed rows of a load that a sentence names


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstScreen:
    """The first screen but for its picture."""

    verdict: str
    tone: str
    headline: str
    sentences: tuple[str, ...]
    demonstration: str
    advice: str
    command: str
    own_command: str
    sure: tuple[str, ...]


def first_screen(result: Result, tables: Sequence[LoadTable]) -> FirstScreen:
    """The first screen of the result."""
    return FirstScreen(
        verdict=result.verdict,
        tone=labels.VERDICTS[result.verdict].tone,
        headline=_sentence(headline.found(result)),
        sentences=_sentences(result, tables),
        demonstration=next_step.demonstration(result),
        advice=next_step.action(result),
        command=next_step.next_command(result),
        own_command=next_step.own_command(result),
        sure=_sure(result),
    )


def _sentence(finding: str) -> str:
    return f"{finding[:1].upper()}{finding[1:]}"


def _sure(result: Result) -> tuple[str, ...]:
    checks = queries.integrity(result)
    counts = [arm for cell in result.cells for arm in (cell.counts.baseline, cell.counts.speculative)]
    made = [said.first_look(result.config.pairs, result.run.profile)] if result.cells else []
    broken = sum(one.ok is False for one in checks)
    return (*made, f"{said.trust(len(checks), broken, request_counts(counts))}.")


def request_counts(counts: Sequence[ArmCounts]) -> RequestCounts:
    """The requests of these arms together."""
    cut = sum(one.cut for one in counts)
    return RequestCounts(sum(one.requests for one in counts) - cut, sum(one.failed for one in counts), cut)


def _sentences(result: Result, tables: Sequence[LoadTable]) -> tuple[str, ...]:
    """What the gain is, then what failed, else what is open, else what got worse; of no judgement the reasons."""
    if result.verdict == "INVALID" or not tables:
        action = next_step.action(result)  # which may be the first of them
        reasons = [reason.message for reason in result.reasons if reason.code != "invalid"]
        return tuple(one for one in dict.fromkeys(reasons) if one.rstrip(".") != action.rstrip("."))[:MOST_SENTENCES]
    gains = [line for table in _primary_first(result, tables) if (line := _gain(table)) is not None][:1]
    safety = [reason.message for reason in result.reasons if reason.code in ("safety", "dead_arm")][:1]
    bad = [line for table in tables if (line := _failed(table)) is not None]
    waiting = [table for table in tables if table.required and table.state != "FAIL"]  # beside harm what is open does not matter
    unsettled = [line for table in waiting if (line := _open(table)) is not None]
    found = [*gains, *safety, *bad[:1], *unsettled[:1]]
    if not safety and not bad:
        found += _highest(result, tables) if not unsettled else []
        known = any(row.decides and row.change is not None for table in tables for row in table.rows)
        found += [one for one in (_worse(tables), said.NOTHING_WORSE if known else "") if one][:1]
    elif not safety and (line := _worse([table for table in tables if table.state == "PASS"])):
        found.append(line)
    return tuple(found[:MOST_SENTENCES])


def _primary_first(result: Result, tables: Sequence[LoadTable]) -> list[LoadTable]:
    first = queries.primary(result)
    return sorted(tables, key=lambda table: first is None or table.id != first.id)


def row_texts(row: ComparisonRow) -> RowTexts:
    """The row's texts, for a sentence."""
    return RowTexts(
        metric=row.metric,
        label=row.label,
        before=row.before,
        after=row.after,
        changed=row.changed,
        assured=_assured(row),
        limit=row.limit_text,
        state=row.state,
    )


def _assured(row: ComparisonRow) -> str:
    """The harmful end of the interval, as a change; '' where it has none."""
    if row.comparison is None or row.effect != "better":
        return ""
    end = row.high if row.comparison.direction == "lower" else row.low
    return "" if end is None else table_words.change(end)


def _gain(table: LoadTable) -> str | None:
    row = next((row for row in table.rows if row.role == "success"), None)
    return None if row is None or row.change is None else said.gain(table.title, row_texts(row))


def _highest(result: Result, tables: Sequence[LoadTable]) -> list[str]:
    """The same metric at the highest load, where it is another one."""
    last, first = tables[-1], queries.primary(result)
    row = next((row for row in last.rows if row.metric == result.config.success_metric), None)
    if row is None or row.change is None or first is None or last.id == first.id:
        return []
    return [said.also(last.title, row_texts(row))]


def _failed(table: LoadTable) -> str | None:
    """What decides and failed; where the gain failed too, its own sentence says so."""
    rows = [row for row in table.rows if row.decides and row.state == "FAIL" and row.role != "success"]
    rows = sorted(rows, key=lambda row: not row.core)
    named = [row for row in rows if row.change is not None][:NAMED_AT_ONCE]
    others = [row.label for row in rows if row not in named]
    return said.failed(table.title, [row_texts(row) for row in named], others) if named else None


def _open(table: LoadTable) -> str | None:
    rows = [row for row in table.rows if row.decides and row.state in ("INCONCLUSIVE", "NODATA") and row.role != "success"]
    known = [row for row in rows if row.change is not None]
    if known:
        return said.open_checks(table.title, row_texts(known[0]), [row.label for row in rows if row is not known[0]])
    return said.without_figure(table.title, rows[0].label, [row.label for row in rows[1:]]) if rows else None


def _worse(tables: Sequence[LoadTable]) -> str:
    """The largest change for the worse that failed nothing: a deciding one first, then what is shown always; '' without one."""
    found = [
        (table, row)
        for table in tables
        for row in table.rows
        if row.effect == "worse" and row.change is not None and (row.decides or row.core or row.state == "FAIL")
    ]
    if not found:
        return ""
    table, row = max(found, key=lambda pair: (not pair[1].decides, abs(pair[1].change or 0.0)))
    return said.worse(table.title, row_texts(row), row.decides)
