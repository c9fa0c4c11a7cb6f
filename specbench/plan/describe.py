"""What a plan is, as text: loads, arms, bins, limits and how long it takes. Which blocks run is `trials.py`'s."""

from textwrap import wrap

from specbench.explain.findings import stated_limit
from specbench.explain.numbers import columns
from specbench.model.records import Cell
from specbench.model.scenario import ARMS, Arm, ArmName, Guardrail, Scenario, Schedule
from specbench.plan.short_answers import never_shown
from specbench.plan.trials import Trial, cells_of, duration_s


def describe(scenario: Scenario, trials: tuple[Trial, ...]) -> str:
    """What would run, in lines of at most 80 columns, for `specbench plan`."""
    matrix, block = scenario.matrix, scenario.matrix.block
    cells = cells_of(scenario)
    least, most = duration_s(scenario, trials)
    lines = [
        f"{scenario.name}: {len(cells)} cells x {matrix.pairs} pairs x 2 arms = {len(trials)} blocks ({scenario.profile})",
        f"  each block counts for at least {block.min_s:g} s and {block.min_requests} requests, at most {block.max_s:g} s",
        f"  estimated duration: {_clock(least)} to {_clock(most)}{_starts(scenario)}",
        f"  schedule: {matrix.schedule}, {_SCHEDULES[matrix.schedule]}",
        "",
        *columns([("arm", "engine", "speculation"), *(_arm(name, scenario.arm(name)) for name in ARMS)], (12, 11, 0)),
        "",
        *columns([("bin", "prompt tokens", "output tokens", "share of requests"), *_bins(scenario)], (12, 16, 16, 0)),
        "",
        "  sampling     " + ", ".join(f"{s.name} (temperature {s.temperature:g})" for s in scenario.workload.sampling),
        "",
        *columns([("cell", "required"), *((cell.id, _required(scenario, cell)) for cell in cells)], (24, 0)),
        "",
        f"  success: {scenario.success.metric} at least {100 * scenario.success.improve_by:g}% better in the primary cell",
        *_rails(scenario),
        *never_shown(scenario),
    ]
    return "\n".join(lines)


def _starts(scenario: Scenario) -> str:
    if scenario.matrix.schedule != "restart":
        return ""
    return f", and {2 * (scenario.matrix.pairs + 1)} engine starts"


_SCHEDULES: dict[Schedule, str] = {
    "alternate": "the blocks of the two arms take turns",
    "simultaneous": "both blocks of a pair at once",
    "restart": "each engine is started for its blocks and stopped",
}


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


def _arm(name: ArmName, arm: Arm) -> tuple[str, str, str]:
    engine = "detected" if arm.recognise else arm.engine
    if arm.speculative is None:
        return name, engine, "none declared"
    return name, engine, ", ".join(f"{key} {value}" for key, value in arm.speculative.items())


def _bins(scenario: Scenario) -> list[tuple[str, str, str, str]]:
    total = sum(b.weight for b in scenario.workload.bins)
    rows = []
    for b in scenario.workload.bins:
        prompts, answers = (f"{low} to {high}" for low, high in (b.input_tokens, b.output_tokens))
        rows.append((b.name, prompts, answers, f"{b.weight / total:.0%}"))
    return rows


def _required(scenario: Scenario, cell: Cell) -> str:
    level = cell.concurrency if cell.concurrency is not None else cell.rate
    return "primary" if level == scenario.matrix.primary else "yes" if cell.required else "no"


def _rails(scenario: Scenario) -> list[str]:
    lines = []
    for rail in scenario.guardrails:
        line = f"{rail.role if rail.required else 'optional'}: {rail.metric} {stated_limit(rail)}{_where(rail)}"
        lines += wrap(line, width=80, initial_indent="  ", subsequent_indent="      ")
    return lines


def _where(rail: Guardrail) -> str:
    """The loads and bins that the guardrail is asked of; nothing where it is asked of all."""
    loads = "" if rail.cells is None else f" at {', '.join(f'{level:g}' for level in rail.cells)}"
    return loads + ("" if rail.bins is None else f" in {', '.join(rail.bins)}")
