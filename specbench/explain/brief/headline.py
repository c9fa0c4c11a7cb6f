"""What a run found, in one line that begins with its result: up to which load it wins, where it hurts, what was not decided.

A finding, never an order: what to do is in `next_step.py`. Values in, text out.
"""

from specbench.explain import numbers
from specbench.explain.brief import table_words
from specbench.explain.glossary.check_entries import CHECKS
from specbench.explain.glossary.code_entries import CODES
from specbench.explain.rules.load_ranges import tops
from specbench.model import queries
from specbench.model.answers.answer_rules import ANSWERS
from specbench.model.guardrails import RUN_WIDE
from specbench.model.result import CellResult, Finding, LoadRange, Result
from specbench.model.scenario import ARMS

PAIRED = "ttft_paired"
_TITLES = {entry.name: entry.title for entry in (*CODES, *CHECKS)}
_UNSAFE = {
    "error_rate": "requests fail with speculation",
    "oom": "memory runs out with speculation",
    "restarts": "the engine restarts with speculation",
    "stalled_answers": "answers stall with speculation",
    **dict.fromkeys(ANSWERS, "speculation changes the answers"),
    "output_length": "answers change in length with speculation",
}


def found(result: Result) -> str:
    """What the run found: 'wins up to 4 streams, hurts at 16'."""
    return {"PROMOTE": _promote, "CAPPED": _capped, "HOLD": _hold, "ROLLBACK": _rollback, "INVALID": _invalid}[result.verdict](
        result
    )


def title_of(code: str) -> str:
    """What a reason's code or a check is called; a code that is not known, in its own words."""
    return _TITLES.get(code, code.replace("_", " "))


def both_values(cell: CellResult, metric: str) -> str:
    """Both arms' figures of a metric: 'TPOT p50 12.3 → 5.61 ms'; its name alone where there is no figure."""
    compared = queries.comparison(cell, "ttft_p50" if metric == PAIRED else metric)
    label = table_words.row_label(metric)
    if compared is None:
        return label
    before, after = (table_words.value(compared.value.of(arm), compared.unit, compared.unbounded.of(arm)) for arm in ARMS)
    return f"{label} {before} → {after}{' ms' if compared.unit == 'ms' else ''}"


def deciding_code(result: Result) -> str:
    """The code of the reason that decided: the first one that is no mere announcement; '' without reasons."""
    codes = [reason.code for reason in result.reasons if reason.code not in ("slices", "invalid")]
    return codes[0] if codes else next((reason.code for reason in result.reasons), "")


def _promote(result: Result) -> str:
    loads = [cell for cell in result.cells if cell.required and cell in queries.enabled(result)]
    where = "at every load tested" if len(loads) > 1 else f"at {numbers.load(loads[0].axes)}" if loads else "in every slice"
    return f"wins {where}{_gain(result)}"


def _gain(result: Result) -> str:
    """What was gained in the primary cell, in both arms' figures."""
    cell = queries.primary(result)
    if cell is None or queries.comparison(cell, result.config.success_metric) is None:
        return ""
    enabled = [one for one in result.cells if one.required]
    at = f" at {numbers.load(cell.axes)}" if len(enabled) > 1 else ""
    return f"; {both_values(cell, result.config.success_metric)}{at}"


def _capped(result: Result) -> str:
    ranges = queries.ranges(result)
    if ranges:
        above = [text for span in ranges if (text := _beyond(result, span))]
        span = "at" if all(one.low == one.high for one in ranges) else "up to"
        return ", ".join([f"wins {span} {tops(ranges)}", *above])
    on, capped = queries.slices_that(result, "PROMOTE"), queries.slices_that(result, "CAPPED")
    if not (on or capped):
        return title_of("capped")
    names = numbers.listed([numbers.slice_words(part) for part in (*on, *capped)])
    return f"wins for {len(on) + len(capped)} of {len(result.slices)} slices: {names}"


def _beyond(result: Result, span: LoadRange) -> str:
    """What the first load above the cap shows that did not pass; of several, the lowest where harm is proven."""
    places = [(at, cell) for cell in result.cells if cell.required and (at := queries.place(cell, span.by)) is not None]
    above = sorted((pair for pair in places if span.high is not None and pair[0] > span.high), key=lambda pair: pair[0])
    failed = [(at, cell) for at, cell in above if cell.state == "FAIL"]
    if span.beyond == "harm_beyond" and failed:
        return f"hurts at {_level(failed[0][0], span)}"
    return f"open at {_level(above[0][0], span)}" if above else ""


def _level(at: float, span: LoadRange) -> str:
    return f"{at:g} requests/s" if span.by == "rate" else f"{at:g}"


def _hold(result: Result) -> str:
    code = deciding_code(result)
    cell = queries.primary(result)
    if code == "no_benefit" and cell is not None:
        gain = next((one for one in cell.findings if one.role == "success"), None)
        target = f" (target {table_words.limit(gain, '')})" if gain is not None else ""
        return f"no gain: {both_values(cell, result.config.success_metric)}{target}"
    if code == "insufficient_evidence":
        unsettled = [one for one in queries.findings(result) if one.required and one.is_open]
        named = dict.fromkeys(table_words.row_label(one.metric) for one in unsettled)
        count = numbers.one_of(len(unsettled), "check")
        return f"not decided: {count} open ({_few(list(named))})" if unsettled else title_of(code)
    return title_of(code)


def _few(names: list[str], most: int = 3) -> str:
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")


def _rollback(result: Result) -> str:
    unsafe = next((one for one in _broken(result) if one.role == "safety"), None)
    if any(reason.code == "dead_arm" for reason in result.reasons):
        return title_of("dead_arm")
    with_it, without = (queries.share_failed(result, arm) for arm in ("speculative", "baseline"))
    if unsafe is not None and unsafe.metric == "error_rate" and with_it is not None and without is not None:
        return f"{numbers.percent(with_it)} of requests fail with speculation, {numbers.percent(without)} without"
    if unsafe is not None:
        return _UNSAFE.get(unsafe.metric, f"{table_words.row_label(unsafe.metric)} is past its limit with speculation")
    failed = [cell for cell in result.cells if cell.required and cell.state == "FAIL"]
    if not failed:
        return title_of(deciding_code(result))
    broken = [one for one in failed[0].findings if one.decides and one.state == "FAIL"]
    where = f"hurts at {_loads(failed)}"
    return f"{where}: {both_values(failed[0], max(broken, key=_clarity).metric)}" if broken else where


def _broken(result: Result) -> list[Finding]:
    """The deciding findings that failed, the run's first."""
    found = [*result.run_findings, *(one for cell in result.cells for one in cell.findings)]
    return sorted((one for one in found if one.decides and one.state == "FAIL"), key=lambda one: one.metric not in RUN_WIDE)


def _clarity(finding: Finding) -> float:
    p = finding.p_harm_adjusted if finding.p_harm_adjusted is not None else finding.p_harm
    return -(1.0 if p is None else p)


def _loads(cells: list[CellResult]) -> str:
    if len(cells) > 3:
        return f"{len(cells)} loads"
    if all(cell.axes.rate is None and not numbers.slice_name(cell.axes) for cell in cells) and len(cells) > 1:
        return f"{numbers.listed([f'{cell.axes.concurrency}' for cell in cells])} streams"
    return numbers.listed([" of ".join(filter(None, (numbers.load(cell.axes), numbers.slice_name(cell.axes)))) for cell in cells])


def _invalid(result: Result) -> str:
    return f"no decision: {_fault(result)}"


def _fault(result: Result) -> str:
    if not result.cells:
        return title_of("refused")
    broken = [check.id for check in queries.integrity(result) if check.ok is False]
    if broken:
        more = len(set(broken)) - 1
        return title_of(broken[0]) + (f", and {numbers.one_of(more, 'more check')} failed" if more else "")
    code = deciding_code(result)
    return title_of(code) if code in _TITLES else title_of("invalid")
