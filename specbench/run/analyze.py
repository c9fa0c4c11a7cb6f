"""Facts to result: reads a run folder, judges it, writes `result.json` and `report.html`. No server is needed."""

from pathlib import Path

from specbench import __version__
from specbench.analysis.judge import judge
from specbench.model.result import Result
from specbench.report import render, result_json
from specbench.store import REPORT, RESULT, read_run, write_atomically


def analyze(folder: Path) -> Result:
    """The result of the run in `folder`, written beside its facts; the same facts give the same bytes.

    Raises:
        DataError: the folder holds no readable run.
    """
    result = judge(read_run(folder), __version__)
    write_atomically(folder / RESULT, result_json(result))
    page = render(result, "html")
    write_atomically(folder / REPORT, page if isinstance(page, bytes) else page.encode())
    return result
