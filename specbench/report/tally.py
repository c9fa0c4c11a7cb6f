"""Which checks passed, failed or stayed open at which load, in sentences: inside the cap, above it, and over the whole run.

Counts what was found; nothing is judged here.
"""

from collections.abc import Sequence

from specbench.model.judged import CellResult, Finding, FindingState, Result
from specbench.report import names, parts, wording

STATES: tuple[FindingState, ...] = ("PASS", "FAIL", "INCONCLUSIVE", "NODATA")
WORDS = {"FAIL": "FAIL", "INCONCLUSIVE": "open (INCONCLUSIVE)", "NODATA": "without data (NODATA)", "PASS": "PASS"}


def tally(result: Result) -> tuple[str, ...]:
    """The required findings, load by load; loads on the same side at which everything passed share one sentence."""
    groups: dict[tuple[str, str], list[CellResult]] = {}
    for cell in result.cells:
        if cell.required:
            found = _required(cell.findings)
            alike = "" if found and all(one.state == "PASS" for one in found) else cell.id
            groups.setdefault((place_words(result, cell), alike), []).append(cell)
    said = [
        f"At {_loads(cells)}{side}: {_states([f for cell in cells for f in cell.findings])}"
        for (side, _), cells in groups.items()
    ]
    run = _required(result.run_findings)
    return (*said, *([f"Over the whole run: {_states(run)}"] if run else []))


def place_words(result: Result, cell: CellResult) -> str:
    """', inside the cap' or ', above the cap' where the verdict has one; '' elsewhere."""
    if result.verdict != "CAPPED" or not parts.enabled(result):
        return ""
    return ", inside the cap" if cell in parts.enabled(result) else ", above the cap" if not cell.axes.bin else ", not enabled"


def _required(found: Sequence[Finding]) -> list[Finding]:
    return [one for one in found if one.required]


def _loads(cells: Sequence[CellResult]) -> str:
    """'1, 4 and 8 streams', or each cell by its own words where slices or axes differ."""
    if all(cell.axes.rate is None and not wording.slice_name(cell.axes) for cell in cells) and len(cells) > 1:
        loads = [f"{cell.axes.concurrency}" for cell in cells]
        return f"{', '.join(loads[:-1])} and {loads[-1]} streams"
    return ", ".join(_load(cell) for cell in cells)


def _load(cell: CellResult) -> str:
    part = wording.slice_name(cell.axes)
    return f"{wording.load(cell.axes)} of {part}" if part else wording.load(cell.axes)


def _states(found: Sequence[Finding]) -> str:
    benefit = [one for one in _required(found) if one.role == "success"]
    checks = [one for one in _required(found) if one.role != "success"]
    by_state = {state: [one for one in checks if one.state == state] for state in STATES}
    said = [
        f"{len(ones)} {WORDS[state]}" + ("" if state == "PASS" else f": {_named(ones)}")
        for state, ones in by_state.items()
        if ones
    ]
    said += dict.fromkeys(f"the benefit ({names.metric(one.metric)}) {WORDS[one.state]}" for one in benefit)
    return "; ".join(said) + "." if said else "nothing was judged."


def _named(found: Sequence[Finding]) -> str:
    return ", ".join(dict.fromkeys(names.metric(one.metric) for one in found))
