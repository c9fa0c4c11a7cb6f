"""Which model an arm is asked for, whatever its endpoint answers to the question."""

import pytest

from specbench import preflight
from specbench.arms import Ready
from specbench.errors import RefusedError
from specbench.preflight import MODELS, served_model
from tests.support.evidence import an_arm
from tests.support.scrapes import answer


def _served(monkeypatch: pytest.MonkeyPatch, page: str) -> str:
    monkeypatch.setattr(preflight, "ask", lambda *asked: {MODELS: answer(page)})
    return served_model(Ready(an_arm("http://h"), "http://h", {}), "baseline")


def test_an_endpoint_that_lists_no_models_serves_what_the_scenario_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """A `data` that is no list is none."""
    assert _served(monkeypatch, '{"data": 5}') == "m"


def test_another_model_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what is served instead."""
    with pytest.raises(RefusedError, match=r"arms\.baseline: http://h serves other, not m"):
        _served(monkeypatch, '{"data": [{"id": "other"}]}')
