"""How commands print what a search for capacity found."""

from pathlib import Path
from typing import TYPE_CHECKING

from specbench.cli.printing import ColorWhen, this_screen
from specbench.run.output import deliver, say

if TYPE_CHECKING:
    from specbench.model.capacity.capacity_values import CapacityResult


def print_capacity(result: "CapacityResult", folder: Path, *, as_json: bool, color: ColorWhen) -> None:
    """Print what a search found, as text or as JSON."""
    from specbench.report.capacity.capacity_file import capacity_json
    from specbench.report.capacity.capacity_text import capacity_text

    if as_json:
        deliver(capacity_json(result))
        return
    screen = this_screen(color)
    say(capacity_text(result, folder, screen), styled=screen.color)
