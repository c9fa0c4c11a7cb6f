"""Both endpoints' facts side by side, as strings, and as a table in 80 columns for a run that was refused as its arms differ.

What a difference means is decided by `model/facts.py`.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from textwrap import wrap

from specbench.explain import labels
from specbench.explain.labels import NOT_REPORTED
from specbench.explain.numbers import columns, plain
from specbench.model.facts import MUST_EQUAL, FactPair, compare
from specbench.model.result import PerArm, Result
from specbench.model.run_info import EndpointInfo

NAME, VALUE = 20, 26  # columns of the terminal, with two spaces before each


@dataclass(frozen=True, slots=True)
class FairnessRow:
    """One fact of both endpoints; `state` is what the two values mean, `source` where they were learnt."""

    label: str
    baseline: str
    speculative: str
    state: str
    source: str


def fairness(endpoints: PerArm[EndpointInfo], accepted: Collection[str] = ()) -> tuple[FairnessRow, ...]:
    """Where each arm was reached and how it drafts, then every fact: those that must be equal first.

    Args:
        endpoints: What is known of both.
        accepted: Names of facts whose difference the scenario accepts.
    """
    base, spec = endpoints.baseline, endpoints.speculative
    sources = _joined(_speculation_source(base), _speculation_source(spec))
    rows = (
        FairnessRow(labels.FACTS["url"], base.url, spec.url, "may differ", "given"),
        FairnessRow("speculation", speculation(base) or NOT_REPORTED, speculation(spec) or NOT_REPORTED, "may differ", sources),
    )
    shown = [
        fact
        for fact in compare(_told(base), _told(spec), accepted)
        if fact.name != "speculation" and (fact.name in MUST_EQUAL or fact.baseline is not None or fact.speculative is not None)
    ]
    return (*rows, *(_row(fact, base, spec) for fact in shown))


def speculation(arm: EndpointInfo) -> str | None:
    """How the arm drafts, or on or off where that is all it tells; None where it tells nothing."""
    return arm.speculation or arm.facts.get("speculation")


def _row(fact: FactPair, base: EndpointInfo, spec: EndpointInfo) -> FairnessRow:
    values = ((base, fact.baseline), (spec, fact.speculative))
    sources = _joined(*(arm.sources.get(fact.name, "read" if value else "not declared") for arm, value in values))
    label = labels.FACTS.get(fact.name, fact.name.replace("_", " "))
    return FairnessRow(label, fact.baseline or NOT_REPORTED, fact.speculative or NOT_REPORTED, fact.state, sources)


def _speculation_source(arm: EndpointInfo) -> str:
    """Where it was learnt how the arm drafts: 'given' by the scenario's own `speculative`, else as facts are."""
    if arm.speculation is not None and arm.speculation != arm.facts.get("speculation_config"):
        return "given"
    name = "speculation" if arm.speculation is None else "speculation_config"
    return arm.sources.get(name, "read") if name in arm.facts else "not declared"


def _joined(*sources: str) -> str:
    return ", ".join(dict.fromkeys(sources))


def _told(arm: EndpointInfo) -> dict[str, str]:
    fixed = {"model": arm.model, "engine": arm.engine, "engine_version": arm.engine_version}
    return {name: value for name, value in {**fixed, **arm.facts}.items() if value}


def side_by_side(result: Result) -> list[str]:
    """The lines of the table, those that must be equal and are not first; none where it does not or load was sent."""
    rows = fairness(result.endpoints, result.config.accept_differences)
    if result.cells or not any(row.state == "differs" for row in rows):
        return []
    lines = ["The arms side by side", *_columns([("", "baseline", "speculative")])]
    for state in ("differs", "accepted", "may differ"):
        shown = [row for row in rows if row.state == state and (state != "may differ" or row.baseline != row.speculative)]
        lines += [f"  {labels.FACT_STATES[state]}", *(line for row in shown for line in _lines(row))] if shown else []
    for state in ("not known", "equal"):
        lines += _named(labels.FACT_STATES[state], [row for row in rows if row.state == state])
    return lines


def _lines(row: FairnessRow) -> list[str]:
    """A row of the table; what is too long goes on below, as two long values may differ at their ends."""
    fields = [wrap(row.label, NAME), wrap(plain(row.baseline), VALUE), wrap(plain(row.speculative), VALUE)]
    height = max(map(len, fields))
    filled = [[*column, *[""] * (height - len(column))] for column in fields]
    return _columns(zip(*filled, strict=True))


def _columns(rows: Iterable[Sequence[str]]) -> list[str]:
    return [line.rstrip() for line in columns(rows, (NAME, VALUE, 0), gap="  ", indent="    ")]


def _named(heading: str, rows: Sequence[FairnessRow]) -> list[str]:
    if not rows:
        return []
    return [f"  {heading}", *wrap(", ".join(row.label for row in rows), 80, initial_indent="    ", subsequent_indent="    ")]
