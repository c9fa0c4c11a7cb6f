"""The checks of the loads inside the cap, one line each: what was seen, how far the truth may lie, what is allowed.

Nothing is judged here.
"""

from specbench.analysis.words import apart, outward
from specbench.model.judged import CellResult, Finding, Result
from specbench.report import names, parts, wording

SHOWN = 3  # loads; of more, the lowest and the highest


def cap_checks(result: Result) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """For each load inside the cap a title and its required checks in words; nothing where no whole traffic has a cap."""
    if result.verdict not in ("PROMOTE", "CAPPED") or not parts.ranges(result):
        return ()
    cells = [cell for cell in parts.enabled(result) if cell.required]
    shown = cells if len(cells) <= SHOWN else [cells[0], cells[-1]]
    return tuple((f"Checks at {wording.load(cell.axes)}: all passed", _checks(cell)) for cell in shown)


def _checks(cell: CellResult) -> tuple[str, ...]:
    found = sorted((one for one in cell.findings if one.required), key=lambda one: one.role != "success")
    return tuple(check_words(cell, one) for one in found)


def check_words(cell: CellResult, found: Finding) -> str:
    """'TTFT p50 ×1.05, at most ×1.12, limit ×1.31 (+15 %, at least 20 ms)'; a reason where there is no ratio."""
    name = names.metric(found.metric)
    if found.ratio is None or found.bound is None or found.slo is not None:
        return f"{name}: {found.reason}"
    compared = parts.comparison(cell, found.metric)
    up = found.upper is not None and found.upper > found.ratio
    beside = None if compared is None else compared.ci_high if up else compared.ci_low
    ratio, bound = apart(found.ratio, found.bound)
    reach = f", {'at most' if up else 'at least'} ×{outward(found.upper, up, beside)}" if found.upper is not None else ""
    aim = "target" if found.role == "success" else "limit"
    return f"{name} ×{ratio}{reach}, {aim} ×{bound}{_margin(found, '' if compared is None else compared.unit)}"


def _margin(found: Finding, unit: str) -> str:
    """The limit as it was asked for: a share, and the floor that widens it where there is one."""
    if found.margin is None or found.bound is None:
        return ""
    floor = f", at least {found.floor:g} {unit}" if found.floor and unit else ""
    return f" ({'+' if found.bound > 1 else '−'}{wording.percent(found.margin)}{floor})"
