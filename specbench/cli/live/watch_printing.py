"""How `watch` prints windows and states, and judges recorded ones again."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from specbench.errors import DataError
from specbench.run.output import deliver, say

if TYPE_CHECKING:
    from specbench.live.state_folder import Recorded
    from specbench.model.live.watch_result import WatchResult
    from specbench.model.result import Result

Format = Literal["text", "json", "emf"]


class WindowPrinter:
    """Prints each window as it is asked for, and in text the state where it changes."""

    def __init__(self, format: Format, run: str | None) -> None:
        self._format, self._run = format, run
        self._printed: object = None

    def print(self, one: "Recorded", result: "WatchResult") -> None:
        """Prints a period of both arms, and in text the state after it where it is another one."""
        import json

        from specbench.credentials import escaped
        from specbench.explain.live.live_lines import state_block, window_line
        from specbench.report.live.window_objects import emf_line, window_object

        for period in (one.baseline, one.speculative):
            if period is None:
                continue
            if self._format == "emf":
                deliver(escaped(emf_line(period, result).encode()) + b"\n")
            elif self._format == "json":
                deliver(escaped(json.dumps(window_object(period, result), ensure_ascii=False).encode()) + b"\n")
            else:
                say(window_line(window_object(period, result)))
        block = (result.state, [reason.code for reason in result.reasons], [reason.code for reason in result.warnings])
        if self._format == "text" and block != self._printed:
            say("\n".join(state_block(result, self._run)))
        self._printed = block


def rejudged(folder: Path, run: "Result | None", format: Format) -> int:
    """The exit code of a folder's periods, judged again; with a run against that one."""
    from specbench.analysis.live.run_reference import cited_run
    from specbench.live.state_folder import read_recorded, read_settings
    from specbench.live.watch import conclusion

    settings = read_settings(folder)
    if run is not None and settings.run is not None and run.run.id != settings.run:
        raise DataError(f"{folder}: is of the run {settings.run}, not {run.run.id}; name that one")
    recorded = list(read_recorded(folder))
    if not recorded:
        raise DataError(f"{folder}: no window is recorded there yet; nothing can be judged")
    result = conclusion(recorded, settings, None if run is None else cited_run(run))
    WindowPrinter(format, settings.run).print(recorded[-1], result)
    return result.exit_code
