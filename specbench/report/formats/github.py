"""What a GitHub job reads line by line: annotations, and outputs for later steps. Its summary is `markdown`'s.

GitHub shows ten annotations of a kind per step; nine are made, and a tenth says how many more there were. That a run is a
demonstration is a notice of its own.
Source: workflow commands and limits in GitHub's documentation of Actions.
"""

from typing import Literal

from specbench.explain import numbers
from specbench.explain.brief import headline, next_step
from specbench.explain.brief.row_line import more_failed
from specbench.model import queries
from specbench.model.guardrails import SLOWS
from specbench.model.result import CellResult, IntegrityCheck, Result
from specbench.report.view.deciding_rows import line_of, rows_by_finding

SHOWN = 9
Level = Literal["error", "warning", "notice"]
LEVELS: dict[str, Level] = {"PROMOTE": "notice", "CAPPED": "warning", "HOLD": "warning", "ROLLBACK": "error", "INVALID": "error"}


def annotations(result: Result) -> str:
    """The verdict and each failed finding or check, as workflow commands of a line each; at most ten lines of a kind."""
    level = LEVELS[result.verdict]
    command = next_step.next_command(result)
    found = f"{headline.found(result)}. {next_step.action(result)}{f' Next: {command}' if command else ''}"
    lines = [_command(level, f"specbench {result.verdict}", found)]
    failed = [*_findings(result, level), *_checks(result, level)]
    if len(failed) + len(lines) > SHOWN:
        more = len(failed) + len(lines) - SHOWN
        failed = failed[: SHOWN - len(lines)]
        failed.append(_command(level, f"specbench {result.verdict}", more_failed(more)))
    demonstration = next_step.demonstration(result)
    notice = [_command("notice", "specbench: demonstration", demonstration)] if demonstration else []
    return "\n".join([*lines, *failed, *notice]) + "\n"


def _findings(result: Result, level: Level) -> list[str]:
    """The deciding findings that failed; of what is above a cap, too, as that is why there is one."""
    rows = rows_by_finding(result)
    places = {cell.id: _place(cell) for cell in result.cells if cell.required}
    return [
        _command(level, f"FAIL{places.get(one.cell or '', '')}", line_of(one, rows.get(id(one))))
        for one in queries.findings(result)
        if one.required and one.state == "FAIL" and (one.cell is None or one.cell in places)
    ]


def _checks(result: Result, level: Level) -> list[str]:
    places = {cell.id: _place(cell) for cell in result.cells if cell.required}
    return [
        _command(level, f"{'INVALID' if one.ok is False else 'HOLD'}{places.get(one.cell or '', '')}", one.message)
        for one in queries.integrity(result)
        if _is_broken(one) and (one.cell is None or one.cell in places)
    ]


def _is_broken(check: IntegrityCheck) -> bool:
    return check.ok is False or check.id == SLOWS


def _place(cell: CellResult) -> str:
    part = numbers.slice_name(cell.axes)
    return f" at {numbers.load(cell.axes)}{f', {part}' if part else ''}"


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
        "headline": headline.found(result),
    }
    return "".join(f"{key}={numbers.plain(value)}\n" for key, value in fields.items())
