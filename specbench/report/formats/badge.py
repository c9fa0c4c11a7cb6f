"""The verdict as the JSON that shields.io draws a badge from. Nothing else lives here.

Source: shields.io, endpoint badge, schema version 1.
"""

import json

from specbench.explain import numbers
from specbench.explain.rules.load_ranges import tops
from specbench.model import queries
from specbench.model.result import Result, VerdictWord

COLOURS: dict[VerdictWord, str] = {
    "PROMOTE": "brightgreen",
    "CAPPED": "green",
    "HOLD": "yellow",
    "ROLLBACK": "red",
    "INVALID": "lightgrey",
}


def badge(result: Result) -> str:
    """The badge's JSON: the scenario as label, the verdict and its cap as message."""
    found = queries.ranges(result)
    message = result.verdict.lower() + (f" at {tops(found)}" if result.verdict == "CAPPED" and found else "")
    label = f"speculation: {numbers.plain(result.run.name)}"
    return json.dumps({"schemaVersion": 1, "label": label, "message": message, "color": COLOURS[result.verdict]}) + "\n"
