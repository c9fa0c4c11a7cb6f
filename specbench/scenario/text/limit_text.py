"""An absolute limit of live traffic as it is written, such as `tpot_p99: 50ms` or `alpha: 0.7`; of a time it is kept in ms."""

import re
from typing import Any

from specbench.scenario.text.yaml_source import YamlSource
from specbench.units import MS_PER_S

EXAMPLES = "tpot_p99=50ms, ttft_p95=1s or alpha=0.7"
LONGEST_SHOWN = 60  # characters of what was written
_VALUE = re.compile(r"([0-9]*\.?[0-9]+)(ms|s)?")
_LIMITED = re.compile(r"(tpot|ttft|e2e)_p[1-9][0-9]?")
_METRICS = "there are percentiles of tpot, ttft and e2e, such as tpot_p99, and alpha"


def limit_value(metric: str, written: str) -> float:
    """The limit in ms, or of alpha itself; a time without a unit is in ms.

    Raises:
        ValueError: There is no such limit, or it is not written so.
    """
    if metric != "alpha" and not _LIMITED.fullmatch(metric):
        raise ValueError(f"nothing of that name can be limited; {_METRICS}")
    found = _VALUE.fullmatch(written.replace(" ", ""))
    if metric == "alpha":
        if found is None or found[2] or not 0 < float(found[1]) < 1:
            raise ValueError("must be a number between 0 and 1, such as 0.7")
        return float(found[1])
    if found is None or not float(found[1]):
        raise ValueError("must be a time above 0, such as 50ms or 1s")
    return float(found[1]) * (MS_PER_S if found[2] == "s" else 1)


def watch_limits(given: dict[str, Any], text: YamlSource) -> dict[str, float]:
    """The limits under `watch`.

    Raises:
        ScenarioError: one line with file, line and key path.
    """
    found = {}
    for metric, written in given.items():
        where = ("watch", "limits", metric)
        if metric != "alpha" and isinstance(written, int | float) and not isinstance(written, bool):
            raise text.error(where, f"must have a unit, such as {written:g}ms")
        try:
            found[metric] = limit_value(metric, str(written))
        except ValueError as error:
            raise text.error(where, f"{error} (it is {repr(written)[:LONGEST_SHOWN]})") from None
    return found
