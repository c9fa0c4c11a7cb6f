"""The words of a page of runs. Values in, text out."""

from specbench.explain.numbers import one_of

NO_SUCH_RUN = "no run of this name is here"


def title(count: int, folder: str) -> str:
    """What the page lists."""
    return f"{one_of(count, 'run')} in {folder}"


def older(count: int) -> str:
    """How many runs the page leaves out; '' where none."""
    return f"and {one_of(count, 'older run')}: specbench list" if count > 0 else ""
