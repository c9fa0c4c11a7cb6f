"""Facts of a search to its result: reads the folder, writes `capacity.json` and `capacity.html`. No server is needed."""

from pathlib import Path

import msgspec

from specbench import __version__
from specbench.analysis.capacity.capacity_result import capacity_of
from specbench.credentials import LONGEST_WORD, one_line
from specbench.errors import DataError
from specbench.model.capacity.capacity_values import CapacityResult
from specbench.report.capacity.capacity_file import CAPACITY, capacity_json
from specbench.report.capacity.capacity_page import PAGE, capacity_page
from specbench.store import MANIFEST, read_manifest, read_run, write_in_run


def is_search(folder: Path) -> bool:
    """Whether the folder holds a search for capacity, and no comparison.

    Raises:
        DataError: it is damaged, or of another version.
    """
    return (folder / MANIFEST).exists() and read_manifest(folder).capacity is not None


def analyze_capacity(folder: Path) -> CapacityResult:
    """The capacity by the facts in `folder`, written beside them; the same facts give the same bytes.

    Raises:
        DataError: the folder holds no readable search, or one that cannot be judged.
    """
    evidence = read_run(folder)
    if evidence.manifest.capacity is None:
        raise DataError(f"{folder}: holds no search for capacity; name a folder that `specbench capacity` wrote")
    try:
        result = capacity_of(evidence, evidence.manifest.capacity, __version__)
        content = capacity_json(result)
    except (ArithmeticError, LookupError, TypeError, ValueError, msgspec.MsgspecError) as error:
        why = one_line(f"{type(error).__name__}: {error}", LONGEST_WORD)
        raise DataError(f"{folder}: its facts cannot be judged ({why}); copy the search again") from error
    write_in_run(folder / CAPACITY, content)
    write_in_run(folder / PAGE, capacity_page(result).encode())
    return result
