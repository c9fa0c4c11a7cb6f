"""The badge: what shields.io's endpoint schema asks for, for each verdict."""

import json

import pytest

from specbench.model.result import VerdictWord
from specbench.report.formats.badge import badge
from tests.support.json_schema import violations
from tests.support.results import every_verdict, hostile

SCHEMA = {
    "type": "object",
    "required": ["schemaVersion", "label", "message", "color"],
    "additionalProperties": False,
    "properties": {
        "schemaVersion": {"const": 1},
        "label": {"type": "string"},
        "message": {"type": "string"},
        "color": {"enum": ["brightgreen", "green", "yellow", "red", "lightgrey"]},
    },
}


@pytest.mark.parametrize(
    ("verdict", "message", "colour"),
    [
        ("PROMOTE", "promote", "brightgreen"),
        ("CAPPED", "capped at 4 streams", "green"),
        ("HOLD", "hold", "yellow"),
        ("ROLLBACK", "rollback", "red"),
        ("INVALID", "invalid", "lightgrey"),
    ],
)
def test_each_verdict_has_its_message_and_colour(verdict: VerdictWord, message: str, colour: str) -> None:
    """The message holds the cap where there is one."""
    document = json.loads(badge(every_verdict()[verdict]))
    assert violations(document, SCHEMA) == []
    assert (document["message"], document["color"]) == (message, colour)


def test_a_hostile_name_stays_a_string() -> None:
    """The label is plain text whatever the scenario is called."""
    assert json.loads(badge(hostile()))["label"] == "speculation: a</script><script>alert(1)</script>"
