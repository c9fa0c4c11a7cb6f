"""The lines of a page's section on trust: checks, requests, stamps, and the facts of both arms. Values in, text out."""

from collections.abc import Mapping, Sequence

from specbench.explain import labels
from specbench.explain.numbers import count, one_of

NONE_FAILED = "none failed"
RUN = "The run"


def failed_check(message: str, place: str) -> str:
    """A check that failed, with the load at which it did."""
    return f"{place}: {message}" if place else message


def passed(checks: int) -> str:
    """How many checks passed."""
    return f"{one_of(checks, 'check')} passed"


def not_made(checks: int, names: Sequence[str]) -> str:
    """How many checks could not be made, and which."""
    return f"{checks} could not be made: {', '.join(names)}"


def stamped(sources: Mapping[str, int]) -> str:
    """Who took the times of arrival."""
    said = ", ".join(f"{count(number)} by the {source.replace('_', ' ')}" for source, number in sorted(sources.items()))
    return f"arrivals stamped: {said}"


def all_checks(checks: int) -> str:
    """The title of the list of every check."""
    return f"All {one_of(checks, 'check')}"


def other_facts(facts: int) -> str:
    """The title of the list of facts that do not differ."""
    return one_of(facts, "other fact")


def facts(state: str, names: Sequence[str]) -> str:
    """The facts of one state."""
    return f"{labels.FACT_STATES[state]} {', '.join(names)}"
