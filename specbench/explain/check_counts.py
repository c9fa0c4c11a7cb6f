"""Which checks passed, failed or stayed open at which load, and one line for each that passed inside the cap.

Counts what was found; nothing may be judged here.
"""

from collections.abc import Sequence

from specbench.explain import labels, numbers
from specbench.explain.brief import changes
from specbench.model import queries
from specbench.model.result import CellResult, Finding, FindingState, Result

SHOWN = 3  # loads inside the cap; of more, the lowest and the highest
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
    if result.verdict != "CAPPED" or not queries.enabled(result):
        return ""
    return ", inside the cap" if cell in queries.enabled(result) else ", above the cap" if not cell.axes.bin else ", not enabled"


def _required(found: Sequence[Finding]) -> list[Finding]:
    return [one for one in found if one.required]


def _loads(cells: Sequence[CellResult]) -> str:
    """'1, 4 and 8 streams', or each cell by its own words where slices or axes differ."""
    if all(cell.axes.rate is None and not numbers.slice_name(cell.axes) for cell in cells) and len(cells) > 1:
        loads = [f"{cell.axes.concurrency}" for cell in cells]
        return f"{', '.join(loads[:-1])} and {loads[-1]} streams"
    return ", ".join(_load(cell) for cell in cells)


def _load(cell: CellResult) -> str:
    part = numbers.slice_name(cell.axes)
    return f"{numbers.load(cell.axes)} of {part}" if part else numbers.load(cell.axes)


def _states(found: Sequence[Finding]) -> str:
    benefit = [one for one in _required(found) if one.role == "success"]
    checks = [one for one in _required(found) if one.role != "success"]
    by_state = {state: [one for one in checks if one.state == state] for state in STATES}
    said = [
        f"{len(ones)} {WORDS[state]}" + ("" if state == "PASS" else f": {_named(ones)}")
        for state, ones in by_state.items()
        if ones
    ]
    said += dict.fromkeys(f"gain ({labels.metric(one.metric)}) {WORDS[one.state]}" for one in benefit)
    return "; ".join(said) + "." if said else "nothing was judged."


def _named(found: Sequence[Finding]) -> str:
    return ", ".join(dict.fromkeys(labels.metric(one.metric) for one in found))


def cap_checks(result: Result) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """For each load inside the cap a title and its required checks in words; nothing where no whole traffic has a cap."""
    if result.verdict not in ("PROMOTE", "CAPPED") or not queries.ranges(result):
        return ()
    cells = [cell for cell in queries.enabled(result) if cell.required]
    shown = cells if len(cells) <= SHOWN else [cells[0], cells[-1]]
    return tuple((f"Checks at {numbers.load(cell.axes)}: all passed", _checks(cell)) for cell in shown)


def _checks(cell: CellResult) -> tuple[str, ...]:
    found = sorted((one for one in cell.findings if one.required), key=lambda one: one.role != "success")
    return tuple(check_words(cell, one) for one in found)


def check_words(cell: CellResult, found: Finding) -> str:
    """'TTFT p50 +5 % (up to +12 %, limit +20 ms, here +31 %)'; a reason where there is no ratio."""
    name = labels.metric(found.metric)
    if found.ratio is None or found.bound is None or found.slo is not None:
        return f"{name}: {found.reason}"
    compared = queries.comparison(cell, found.metric)
    up = found.upper is not None and found.upper > found.ratio
    beside = None if compared is None else compared.ci_high if up else compared.ci_low
    _, bound = changes.beside_limit(found.ratio, found.bound)
    limit = changes.limit_words(found, "" if compared is None else compared.unit, bound)
    reach = f"{changes.reach(found.upper, up=up, beside=beside)}, " if found.upper is not None else ""
    aim = "target" if found.role == "success" else "limit"
    return f"{name} {changes.signed(found.ratio - 1)} ({reach}{aim} {limit})"
