"""Slow unit tests compute; none of them rests on timing, so all of them may run beside others."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The mark `beside` on each slow test of this folder, before any is chosen by its marks."""
    for item in items:
        if item.path.is_relative_to(HERE) and item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.beside)
