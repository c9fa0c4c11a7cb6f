"""The short words of the comparison table: labels with units, changes, limits, marks and the states of loads.

Values in, text out: every format prints these words, so that no two disagree. Sentences live in the other modules.
"""

from collections.abc import Collection, Sequence

from specbench.explain import labels
from specbench.explain.brief.changes import floor_decides
from specbench.explain.findings import COUNTED
from specbench.explain.numbers import BYTES_PER_GIB, number, one_of, percent, short
from specbench.model.metrics import METRICS
from specbench.model.result import CellResult, Finding, FindingState

NONE = "–"  # no such value
BY_PROMPT = "{}: p50 of both arms; its change is over the prompts that both answered"
PROMPT_BY_PROMPT = "TTFT by prompt"  # where a plain p50 stands beside it
_MEANINGS = {"✓": "passed", "✗": "failed", "?": "open"}
DECIDING_MARKS: dict[FindingState, str] = {"PASS": "✓", "FAIL": "✗", "INCONCLUSIVE": "?", "NODATA": NONE}
_LABELS = {"output_tps": "output tok/s", "completed_rps": "requests/s", "ttft_paired": "TTFT p50"}
_UNITS = {"ms": "ms", "s": "s", "bytes": "GiB"}  # that stand beside a label; the others are in it, or beside the value
_MOST = 99.99  # a change beyond it is no figure that anybody reads
_CELL_STATES = {
    "PASS": "pass",
    "FAIL": "FAIL",
    "INCONCLUSIVE": "open",
    "NODATA": "no data",
    "INVALID": "INVALID",
    "ADVISORY": "not judged",
}


def row_title(metric: str) -> str:
    """The metric at the head of a row, with its unit: 'TPOT p50, ms', 'output tok/s'."""
    known = METRICS.get(metric)
    unit = "ms" if metric == "ttft_paired" else _UNITS.get(known.unit, "") if known else ""
    return f"{row_label(metric)}, {unit}" if unit else row_label(metric)


def row_label(metric: str) -> str:
    """The metric at the head of a row without its unit: 'TPOT p50', 'output tok/s'."""
    return _LABELS.get(metric, labels.metric(metric))


def value(figure: float | None, unit: str, unbounded: bool = False) -> str:
    """One arm's figure, in the unit of its row; shares as percentages, '∞' beyond every number, '–' where there is none."""
    if unbounded:
        return "∞"
    if figure is None:
        return NONE
    if unit == "share":
        return percent(figure)
    shown = figure / BYTES_PER_GIB if unit == "bytes" else figure
    return number(shown) if shown == 0 or 1e-4 <= abs(shown) < 1e7 else f"{shown:.2e}"


def change(fraction: float | None, decimals: int | None = None) -> str:
    """A change in per cent with its sign: '−55 %', '+1.4 %', '0 %'; one decimal below 10 %."""
    if fraction is None:
        return NONE
    if fraction > _MOST:
        return ">9,999 %"
    value = 100 * fraction
    places = (0 if abs(value) >= 9.95 else 1) if decimals is None else decimals
    text = f"{abs(value):,.{places}f}"
    text = text.rstrip("0").rstrip(".") if "." in text and decimals is None else text
    sign = "" if not text.strip("0.") else "−" if value < 0 else "+"
    return f"{sign or ''}{text if sign else '0'} %"


def points(difference: float | None) -> str:
    """A difference of two shares in points with its sign: '+9.7 pt', '0 pt'."""
    return NONE if difference is None else change(difference).replace("%", "pt")


def interval(low: float | None, high: float | None) -> str:
    """Both ends of a change: '−63 .. −46 %'; one that lies beyond every number is left open; '' where there is none."""
    if low is None and high is None:
        return ""
    ends = "−100 %" if low is None else change(low), "∞" if high is None else change(high)
    return f"{ends[0].removesuffix(' %')} .. {ends[1]}"


def limit(finding: Finding, unit: str) -> str:
    """What was asked, as it decided here: '≤ +10 %', '≤ +20 ms' where the floor is the wider one, '≤ 50 ms', '±3 %'."""
    suffix = f" {_UNITS[unit]}" if unit in _UNITS else ""
    if finding.slo is not None:
        sign = "≥" if finding.direction == "higher" else "≤"
        bound = finding.slo / BYTES_PER_GIB if unit == "bytes" else finding.slo
        return (
            f"{sign} {percent(finding.slo)}"
            if unit == "share" and finding.metric != "alpha"
            else f"{sign} {short(bound)}{suffix}"
        )
    if COUNTED in finding.notes and finding.bound is not None:
        return f"≤ {short(finding.bound)}"
    if finding.margin is None:
        return "≤ baseline" if finding.role == "safety" else ""
    if finding.direction == "equal":
        return f"±{percent(finding.margin)}"
    known = METRICS.get(finding.metric)
    if known is not None and known.method == "share":
        return f"≤ +{100 * finding.margin:g} pt"
    falls = (finding.direction == "higher") != (finding.role == "success")
    sign = "≥ −" if falls and finding.role != "success" else "≤ −" if falls else "≥ +" if finding.role == "success" else "≤ +"
    if floor_decides(finding):
        return f"{sign}{short(finding.floor)}{suffix}"
    return f"{sign}{percent(finding.margin)}"


def limit_beside(finding: Finding, unit: str) -> str:
    """The limit for a table of changes: where the floor decides, with the change that it comes to: '≤ +20 ms (+36 %)'."""
    asked = limit(finding, unit)
    return f"{asked} ({change(finding.bound - 1)})" if finding.bound is not None and floor_decides(finding) else asked


def mark(finding: Finding | None, decides: bool) -> str:
    """'✓', '✗', '?' or '–' where the verdict rests on it, the same in brackets where it is only reported.

    '' without a limit, and where what is only reported has no figure.
    """
    if finding is None or (finding.state == "NODATA" and not decides):
        return ""
    sign = DECIDING_MARKS[finding.state]
    return sign if decides else f"({sign})"


def needs(pairs: int | None, decides: bool, brief: bool = False) -> str:
    """What settles an open check, behind its mark: ' needs 7 pairs', or ' needs 7'; '' where that is nobody's question."""
    if pairs is None or not decides:
        return ""
    return f" needs {pairs}" if brief else f" needs {one_of(pairs, 'pair')}"


def legend(marks: Collection[str], pairs: int, counted: bool) -> str:
    """What these marks mean, in a line: those that judged, then the brackets; '' without any.

    Args:
        marks: The marks of a table.
        pairs: How many pairs the run has at a load.
        counted: Whether a row names the pairs that it needs.
    """
    meanings = _MEANINGS | ({"?": f"open, needs N pairs in all ({pairs} run)"} if counted else {})
    judged = [f"{sign} {meaning}" for sign, meaning in meanings.items() if {sign, f"({sign})"} & set(marks)]
    return " · ".join([*judged, *(["( ) not judged"] if any(one.startswith("(") for one in marks) else [])])


def cell_state(cell: CellResult) -> str:
    """How a load came out, in a word or two; one that passes its limits without the gain that it must show says so."""
    benefit = next((found for found in cell.findings if found.role == "success" and found.required), None)
    if cell.state == "PASS" and benefit is not None and benefit.state != "PASS":
        return "no harm, no gain" if benefit.state == "FAIL" else "no harm, gain open"
    return _CELL_STATES[cell.state]


def acceptance(length: float | None, alpha: float | None, step_ratio: float | None) -> str:
    """What speculation yields and costs, as far as it is known: 'acceptance length 3.29 · a step takes 1.44 times as long'."""
    parts = [
        f"acceptance length {length:.2f}" if length is not None else "acceptance length not known",
        f"alpha {alpha:.2f}" if alpha is not None else "",
        f"a step takes {step_ratio:.2f} times as long" if step_ratio is not None else "",
    ]
    return " · ".join(part for part in parts if part)


def not_shown(names: Sequence[str]) -> str:
    """Which rows did not fit, the first three by name, and how to see them."""
    more = [f"{len(names) - 3} more"] if len(names) > 3 else []
    return f"not shown: {', '.join([*names[:3], *more])} (--verbose)"


def no_change(names: Sequence[str], reason: str) -> str:
    """Why these rows have no change."""
    return f"no change of {', '.join(names)}: {reason}"
