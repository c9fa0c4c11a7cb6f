"""Facts to result: reads a run folder, judges it, writes `result.json` and `report.html`. No server is needed."""

from dataclasses import replace
from pathlib import Path

from specbench import __version__
from specbench.analysis.judge import judge
from specbench.credentials import LONGEST_WORD, one_line
from specbench.errors import DataError
from specbench.model.result import Result
from specbench.report import read_result, render, result_json
from specbench.store import MANIFEST, REPORT, RESULT, facts_sha256, read_run, write_in_run


def analyze(folder: Path) -> Result:
    """The result of the run in `folder`, written beside its facts; the same facts give the same bytes.

    Raises:
        DataError: the folder holds no readable run, or one that cannot be judged.
    """
    result = replace(judged_facts(folder), facts_sha256=facts_sha256(folder))
    write_in_run(folder / RESULT, result_json(result))
    page = render(result, "html")
    write_in_run(folder / REPORT, page if isinstance(page, bytes) else page.encode())
    return result


def judged_facts(folder: Path) -> Result:
    """The result of the run in `folder`, which is written nowhere: of a run that goes on, by its facts so far.

    Raises:
        DataError: the folder holds no readable run, or one that cannot be judged.
    """
    evidence = read_run(folder)
    try:
        return judge(evidence, __version__)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:  # numbers that no run writes, in whatever field
        why = one_line(f"{type(error).__name__}: {error}", LONGEST_WORD)
        raise DataError(
            f"{folder}: its facts cannot be judged ({why}); copy the run again, or report it with the folder"
        ) from error


def facts_changed(folder: Path) -> str | None:
    """A sentence where the facts in `folder` are no longer those that its result was made of; else None.

    It finds mistakes, such as a copy of half a file. Who changes facts on purpose can change what names them too.
    """
    if not (folder / MANIFEST).is_file():
        return None  # nothing can be judged then, and that is what is to be said
    try:
        known = read_result(folder / RESULT).facts_sha256
    except DataError:
        return None
    if known is None or known == facts_sha256(folder):
        return None
    return f"{folder}: a file of its facts was changed, cut or copied since its result was made; judged as it is now"
