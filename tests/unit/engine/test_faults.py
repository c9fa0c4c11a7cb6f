"""Faults hit the requests that they should."""

import pytest

from specbench.engine.http.endpoint import fault_of


@pytest.mark.parametrize(
    ("faults", "expected"),
    [
        ({}, [None] * 6),
        ({"error_share": 1.0}, ["error"] * 6),
        ({"error_share": 0.5}, [None, "error", None, "error", None, "error"]),
        ({"exit_after_requests": 4}, [None, None, None, None, "exit", "exit"]),
        ({"error_share": 1.0, "exit_after_requests": 2}, ["error", "error", "exit", "exit", "exit", "exit"]),
    ],
    ids=str,
)
def test_faults_hit_by_number(faults: dict[str, float], expected: list[str | None]) -> None:
    """The first six requests."""
    assert [fault_of(number, faults) for number in range(1, 7)] == expected


def test_a_share_is_kept_exactly() -> None:
    """Of a thousand requests 37 % fail."""
    assert sum(fault_of(number, {"error_share": 0.37}) == "error" for number in range(1, 1001)) == 370
