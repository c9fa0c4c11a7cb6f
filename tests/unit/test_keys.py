"""Keys come from the environment by name, and an empty one is no key."""

import pytest

from specbench.credentials import key_header
from specbench.errors import ScenarioError


def test_a_key_becomes_a_bearer_header(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable's value, trimmed."""
    monkeypatch.setenv("SOME_KEY", " sk-1 \n")

    assert key_header("SOME_KEY", "here") == {"Authorization": "Bearer sk-1"}


@pytest.mark.parametrize("value", ["", "  "])
def test_an_empty_key_sends_no_header(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    """`Bearer` without a key, or `Bearer None`, is refused by servers that want none."""
    monkeypatch.setenv("SOME_KEY", value)

    assert key_header("SOME_KEY", "here") == {}
    assert key_header(None, "here") == {}


def test_a_variable_that_is_not_set_is_named_with_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says who asked for which variable."""
    monkeypatch.delenv("SOME_KEY", raising=False)

    with pytest.raises(ScenarioError, match=r"arms.baseline.api_key_env: the environment variable SOME_KEY is not set"):
        key_header("SOME_KEY", "arms.baseline.api_key_env")
