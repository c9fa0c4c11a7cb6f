"""What a misspelt key was probably meant to be."""

import pytest

from specbench.scenario.text.spelling import unknown_key
from specbench.scenario.text.yaml_source import Path


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        (("nmae",), "name"),
        (("matrix", "concurency"), "concurrency"),
        (("matrix", "block", "min_request"), "min_requests"),
        (("arms", "baseline", "api_key_en"), "api_key_env"),
        (("arms", "speculative", "launch", "comand"), "command"),
        (("workload", "bins", 0, "weigt"), "weight"),
        (("workload", "sampling", 2, "temprature"), "temperature"),
        (("guardrails", 1, "worse_by"), "worse_by_at_most"),
    ],
)
def test_the_nearest_key_of_the_same_place_is_named(path: Path, meant: str) -> None:
    """In mappings, in lists, and in what may be left out."""
    assert unknown_key(path).endswith(f"did you mean {meant}?")


def test_where_none_is_near_all_are_named() -> None:
    """The keys of that place."""
    assert unknown_key(("success", "qqqq")).endswith("metric, improve_by")


def test_where_the_place_is_not_known_the_spelling_is_to_be_checked() -> None:
    """No guess."""
    assert "did you mean" not in unknown_key(("nowhere", "at", "all"))


def test_a_written_key_is_answered_by_how_to_name_it() -> None:
    """The value is never printed."""
    assert unknown_key(("arms", "baseline", "api_key")) == ("unknown key; a key is named, not written: api_key_env: VLLM_API_KEY")
