"""Which model an endpoint is asked for, whatever it answers to the question; what lists none is told in one line."""

import pytest

from specbench.errors import RefusedError
from specbench.telemetry import endpoint
from specbench.telemetry.endpoint import MODELS, served_model
from tests.support.scrapes import answer


def _lists(monkeypatch: pytest.MonkeyPatch, page: str) -> None:
    monkeypatch.setattr(endpoint, "get_all", lambda *asked: {MODELS: answer(page)})


def test_a_list_that_is_none_names_no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """And what to do; what the scenario names is asked for."""
    _lists(monkeypatch, '{"data": 5}')
    with pytest.raises(RefusedError, match=r"answers /v1/models with no list of models .*name the model \(--model\)"):
        served_model("http://h", {}, None)
    assert served_model("http://h", {}, "m", "baseline").name == "m"


def test_the_only_model_is_the_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has to name it."""
    _lists(monkeypatch, '{"data": [{"id": "m"}]}')
    assert served_model("http://h", {}, None).name == "m"


def test_a_model_that_is_not_listed_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A list is a hint: servers resolve names that they do not list."""
    _lists(monkeypatch, '{"data": [{"id": "m:latest"}]}')
    served = served_model("http://h", {}, "m", "baseline")

    assert (served.name, served.listed_instead) == ("m", ("m:latest",))
