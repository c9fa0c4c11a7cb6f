"""Two paths to a comparison: both results of one foreign tool, or both runs of ours."""

import json
from pathlib import Path

from specbench.analysis.imported.imported_verdict import ArmNames, compare_imported
from specbench.analysis.imported.two_runs import compare_runs
from specbench.errors import DataError
from specbench.explain.imported.imported_sentences import exchanged, one_result_twice
from specbench.files import regular_bytes
from specbench.imports.known_tools import label_of, runs_at, same_run
from specbench.model.data.imported_result import ImportedComparison, RunComparison
from specbench.report import read_result
from specbench.store import MANIFEST, RESULT


def two_results(baseline: Path, speculative: Path, between: float) -> ImportedComparison | RunComparison:
    """The comparison of what lies at these two paths.

    Raises:
        DataError: nothing readable is there, the two are of different kinds, or they are exchanged.
    """
    ours = [is_run_of_ours(path) for path in (baseline, speculative)]
    names = (str(baseline), str(speculative))
    if all(ours):
        earlier, later = read_result(baseline), read_result(speculative)
        if earlier == later:
            raise DataError(one_result_twice(*names))
        return compare_runs(earlier, later, names)
    if any(ours):
        run, other = (baseline, speculative) if ours[0] else (speculative, baseline)
        raise DataError(f"{run} is a run of specbench and {other} is not; compare two runs, or two results of one tool")
    for path in (baseline, speculative):
        if not path.exists():
            raise DataError(f"{path}: is not there; name a result file or a folder of them")
    before, after = runs_at(baseline), runs_at(speculative)
    if any(same_run(one, other) for one in before for other in after):
        raise DataError(one_result_twice(*names))
    if any(run.speculated for run in before) and not any(run.speculated for run in after):
        raise DataError(exchanged(*names))
    tool = before[0].tool
    return compare_imported(before, after, ArmNames(*names, tool, label_of(tool)), between)


def is_run_of_ours(path: Path) -> bool:
    """Whether it is a run folder, or the result.json of one."""
    if not path.is_dir() and path.name != RESULT:
        return False
    folder = path if path.is_dir() else path.parent
    if (folder / MANIFEST).exists():
        return True
    try:
        held = json.loads(regular_bytes(folder / RESULT))
    except (OSError, ValueError, RecursionError, DataError):
        return False
    return isinstance(held, dict) and (held.get("tool_name") == "specbench" or held.get("kind") in ("imported", "runs"))
