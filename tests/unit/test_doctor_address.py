"""Which model is served at an address; what lists none is told in one line."""

import pytest

from specbench.doctor import address
from specbench.doctor.address import MODELS, model_at
from specbench.errors import RefusedError
from tests.support.scrapes import answer


def test_a_list_that_is_none_names_no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """And what to do."""
    monkeypatch.setattr(address, "ask", lambda *asked: {MODELS: answer('{"data": 5}')})
    with pytest.raises(RefusedError, match=r"answers /v1/models with no list of models .*name the model \(--model\)"):
        model_at("http://h", {}, None)


def test_the_only_model_is_the_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has to name it."""
    monkeypatch.setattr(address, "ask", lambda *asked: {MODELS: answer('{"data": [{"id": "m"}]}')})
    assert model_at("http://h", {}, None) == "m"
