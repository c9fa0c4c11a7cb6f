"""A plan in one screen: loads with their blocks and minutes, and the change that it detects by metric against its limit."""

from collections.abc import Sequence
from textwrap import wrap

from specbench.explain import labels, numbers
from specbench.explain.answers.asking_reasons import planned
from specbench.explain.numbers import columns, tenths
from specbench.model.metrics import METRICS
from specbench.model.records import Cell
from specbench.model.result import CellCoordinates, PerArm
from specbench.model.scenario import Guardrail, Scenario
from specbench.plan.answer_requests import added_requests
from specbench.plan.power import Power, plan_advice, power_of
from specbench.plan.trials import Trial, cells_of, duration_s
from specbench.plan.variance import PairVariance
from specbench.units import S_PER_MIN

MOST_COLUMNS = 4  # loads that have a column of their own
METRIC, LIMIT, LOAD = 15, 18, -12  # columns of the terminal; numbers to the right


def plan_line(scenario: Scenario, trials: tuple[Trial, ...]) -> str:
    """The plan in one line: its blocks, and how long they take."""
    least, most = duration_s(scenario, trials)
    return f"{_size(scenario, trials)}, {_minutes(least)} to {_minutes(most)} min"


def plan_table(scenario: Scenario, trials: tuple[Trial, ...], spreads: PairVariance) -> str:
    """The loads, the duration and the smallest change that the run detects, in lines of at most 80 columns."""
    matrix, cells = scenario.matrix, cells_of(scenario)
    least, most = duration_s(scenario, trials)
    lines = [
        f"{_size(scenario, trials)} ({scenario.profile}, {matrix.schedule})",
        f"time: {_minutes(least)} to {_minutes(most)} min",
        *_answers(scenario),
        "",
        *columns([("load", "blocks", "minutes", ""), *_loads(scenario, cells, trials)], (24, -8, -14, 0), gap="  "),
        "",
        *_detectable(scenario, cells, spreads),
        *plan_advice(scenario, spreads),
    ]
    wrapped = (wrap(line, 80, subsequent_indent="    ") if len(line) > 80 else [line] for line in lines)
    return "\n".join(line.rstrip() for found in wrapped for line in found)


def _answers(scenario: Scenario) -> list[str]:
    added = added_requests(scenario)
    return [planned(added.answers_per_arm, added.questions)] if added.questions else []


def _size(scenario: Scenario, trials: tuple[Trial, ...]) -> str:
    noun = "load" if scenario.matrix.traffic == "mixed" else "cell"
    pairs = numbers.one_of(scenario.matrix.pairs, "pair")
    return f"{scenario.name}: {numbers.one_of(len(cells_of(scenario)), noun)} x {pairs} x 2 arms = {len(trials)} blocks"


def _minutes(seconds: float) -> str:
    return f"{max(seconds / S_PER_MIN, 0.1):.1f}" if seconds < 10 * S_PER_MIN else f"{seconds / S_PER_MIN:.0f}"


def _loads(scenario: Scenario, cells: Sequence[Cell], trials: Sequence[Trial]) -> list[tuple[str, str, str, str]]:
    rows = []
    for cell in cells:
        own = tuple(trial for trial in trials if trial.cell.id == cell.id)
        least, most = duration_s(scenario, own)
        level = cell.concurrency if cell.concurrency is not None else cell.rate
        role = "must show the gain" if level == scenario.matrix.primary else "" if cell.required else "not required"
        rows.append((_name(cell), str(len(own)), f"{_minutes(least)} to {_minutes(most)}", role))
    return rows


def _name(cell: Cell) -> str:
    axes = CellCoordinates(
        concurrency=cell.concurrency, rate=cell.rate, bin=cell.bin, sampling=cell.sampling, running_mean=PerArm(None, None)
    )
    return " ".join(part for part in (numbers.load(axes), numbers.slice_words(axes)) if part)


def _detectable(scenario: Scenario, cells: Sequence[Cell], spreads: PairVariance) -> list[str]:
    """By metric: its limit, and the smallest change that is found in four of five runs at each load."""
    found = power_of(scenario, spreads)
    if not found:
        return []
    names = {cell.id: _name(cell) for cell in cells}
    loads = list(dict.fromkeys(one.cell for one in found))
    metrics = list(dict.fromkeys(one.metric for one in found))
    by_place = {(one.metric, one.cell): one for one in found}
    alike = all(len({_detects(by_place.get((metric, load))) for load in loads}) == 1 for metric in metrics)
    heads, groups = _columns_of(loads, names, alike)
    rows = [("metric", "limit", *heads)]
    for metric in metrics:
        shown = [_worst([by_place.get((metric, load)) for load in group]) for group in groups]
        rows.append((labels.metric(metric), _limit(scenario, metric), *shown))
    return [
        "  smallest change detected with 80 % power",
        *columns(rows, (METRIC, LIMIT, *[LOAD] * len(heads)), gap=" "),
        *(["  ! the limit is within the noise: a harmless arm may not pass it"] if any(one.is_lost for one in found) else []),
        f"  variance: {spreads.source}",
        *_missing(cells, names, loads),
    ]


def _missing(cells: Sequence[Cell], names: dict[str, str], known: Sequence[str]) -> list[str]:
    """The loads that decide and of which the earlier run knows nothing."""
    missing = [names[cell.id] for cell in cells if cell.required and cell.id not in known]
    return wrap(f"variance unknown: {', '.join(missing)}", 80, initial_indent="  ", subsequent_indent="    ") if missing else []


def _columns_of(loads: Sequence[str], names: dict[str, str], alike: bool) -> tuple[list[str], list[list[str]]]:
    """The heads of the columns, and the loads that each stands for."""
    if alike and len(loads) > 1:
        return ["every load"], [list(loads)]
    if len(loads) <= MOST_COLUMNS and all(len(names[load]) < -LOAD for load in loads):
        return [names[load] for load in loads], [[load] for load in loads]
    return ["worst load"], [list(loads)]


def _detects(one: Power | None) -> str:
    return "–" if one is None else f"{tenths(one.detects)}{' !' if one.is_lost else ''}"


def _worst(found: Sequence[Power | None]) -> str:
    known = [one for one in found if one is not None]
    return _detects(max(known, key=lambda one: one.detects) if known else None)


def _limit(scenario: Scenario, metric: str) -> str:
    """The limit as asked, the harmful way: '+15 % or +20 ms'; for the benefit the gain."""
    sign = "−" if METRICS[metric].direction == "higher" else "+"
    rules = [
        rule for rule in scenario.guardrails if rule.metric == metric and rule.margin is not None and rule.role == "guardrail"
    ]
    if not rules:
        gain = "+" if sign == "−" else "−"
        return f"{gain}{100 * scenario.success.improve_by:g} % (gain)" if metric == scenario.success.metric else "–"
    return ", ".join(dict.fromkeys(_asked(rule, sign) for rule in rules)) if len(rules) < 3 else "several"


def _asked(rule: Guardrail, sign: str) -> str:
    floor = f" or {rule.floor:g} {METRICS[rule.metric].unit}" if rule.floor else ""
    return f"{sign}{100 * (rule.margin or 0.0):g} %{floor}"
