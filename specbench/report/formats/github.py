"""What a GitHub job reads line by line: annotations, and outputs for later steps. Its summary is `markdown`'s.

GitHub shows ten annotations of a kind per step; nine are made, and a tenth says how many more there were. That a run is a
demonstration is a notice of its own.
Source: workflow commands and limits in GitHub's documentation of Actions.
"""

from typing import Literal

from specbench.explain import notes, numbers, verdict
from specbench.model import queries
from specbench.model.guardrails import SLOWS
from specbench.model.result import CellResult, Result

SHOWN = 9
Level = Literal["error", "warning", "notice"]
LEVELS: dict[str, Level] = {"PROMOTE": "notice", "CAPPED": "warning", "HOLD": "warning", "ROLLBACK": "error", "INVALID": "error"}


def annotations(result: Result) -> str:
    """The verdict and each cell that did not pass, as workflow commands; at most ten lines of a kind."""
    level = LEVELS[result.verdict]
    first = result.reasons[0].message if result.reasons else verdict.headline(result)
    lines = [_command(level, f"specbench {result.verdict}", first)]
    lines += [_cell(cell, level) for cell in result.cells if cell.required and cell.state not in ("PASS", "ADVISORY")]
    more = len(lines) - SHOWN
    if more > 0:
        lines = [
            *lines[:SHOWN],
            _command(level, f"specbench {result.verdict}", f"{numbers.one_of(more, 'more cell')} did not pass; see the report"),
        ]
    demonstration = notes.demonstration(result)
    lines += [_command("notice", "specbench: a demonstration", demonstration)] if demonstration else []
    return "\n".join(lines) + "\n"


def _cell(cell: CellResult, level: Level) -> str:
    part = numbers.slice_name(cell.axes)
    where = f"{numbers.load(cell.axes)}{f', {part}' if part else ''}"
    worst = [
        found
        for state in ("FAIL", "INCONCLUSIVE", "NODATA")
        for found in cell.findings
        if found.required and found.state == state
    ]
    broken = [check.message for check in cell.integrity if check.ok is False]
    broken += [check.message for check in cell.integrity if check.id == SLOWS and not worst]
    why = broken[0] if broken else worst[0].reason if worst else cell.state
    return _command(level, f"{cell.state} at {where}", why)


def _command(level: Level, title: str, message: str) -> str:
    return f"::{level} title={_property(title)}::{_data(message)}"


def _data(text: str) -> str:
    return numbers.plain(text).replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def outputs(result: Result) -> str:
    """Lines for the file that `GITHUB_OUTPUT` names: verdict, exit code, promote, rollback, the range's top, the run."""
    tops = {one.by: f"{one.high:g}" for one in queries.ranges(result) if one.high is not None}
    fields = {
        "verdict": result.verdict,
        "exit_code": str(result.exit_code),
        "promote": str(result.promote).lower(),
        "rollback": str(result.rollback).lower(),
        "max_concurrency": tops.get("concurrency", ""),
        "max_rate": tops.get("rate", ""),
        "run": result.run.id,
        "headline": verdict.headline(result),
    }
    return "".join(f"{key}={numbers.plain(value)}\n" for key, value in fields.items())
