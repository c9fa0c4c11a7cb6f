"""Selectors of labels: what is one, what it lets through, and which covers which."""

import pytest

from specbench.errors import ScenarioError
from specbench.export.selectors import label_selector


def test_a_selector_keeps_its_matchers() -> None:
    """With spaces, a comma at the end, and quotes within a value."""
    found = label_selector(' { job = "vllm" , arm=~"spec|new",} ', "-")

    assert found.text == 'job="vllm",arm=~"spec|new"'
    assert label_selector(r'{a="say \"x\", y"}', "-").text == r'a="say \"x\", y"'


@pytest.mark.parametrize(
    "wrong", ["", "{}", "spec", '{arm="spec"', "{arm=spec}", '{arm=="spec"}', 'up{arm="spec"}', '{a="b" c="d"}']
)
def test_what_is_no_selector_is_refused(wrong: str) -> None:
    """In one line."""
    with pytest.raises(ScenarioError, match="selector"):
        label_selector(wrong, "--speculative")


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ('{a="b",c!="d"}', {"a": "b"}),
        ('{a=~"b|c"}', {"a": "b"}),
        ('{a=~"vllm-.*"}', {"a": "vllm-x"}),
        ('{a=~"(b|c)"}', {"a": "b"}),
        ('{a=~"b[0-9]+"}', None),
        ('{a=~"b("}', None),
    ],
)
def test_labels_that_it_lets_through(text: str, labels: dict[str, str] | None) -> None:
    """None where an expression is not understood."""
    assert label_selector(text, "-").labels == labels


def test_a_selector_with_fewer_matchers_covers_one_with_more() -> None:
    """The order does not matter."""
    wide, narrow = label_selector('{a="b"}', "-"), label_selector('{c="d",a="b"}', "-")

    assert wide.covers(narrow)
    assert not narrow.covers(wide)
