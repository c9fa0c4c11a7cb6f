"""What a misspelt key of a scenario was probably meant to be."""

from collections.abc import Iterator
from types import NoneType
from typing import Any, get_args

from pydantic import BaseModel

from specbench.errors import did_you_mean
from specbench.scenario.schema import ScenarioSchema
from specbench.scenario.text.yaml_source import Path

_KEYS_OF_SECRETS = ("api_key", "apikey", "api-key", "key", "token", "authorization")


def unknown_key(path: Path) -> str:
    """What is wrong with this key path, as the end of a sentence: the nearest name at its place, or those that there are."""
    if path[-1] in _KEYS_OF_SECRETS:
        return "unknown key; a key is named, not written: api_key_env: VLLM_API_KEY"
    known = list(_keys_at(ScenarioSchema, path[:-1]))
    if not known:
        return "unknown key; check its spelling"
    hint, others = did_you_mean(str(path[-1]), known), f"; there are {', '.join(known)}"
    return f"unknown key{hint or others}"


def _keys_at(kind: Any, path: Path) -> Iterator[str]:
    """The keys of the mapping that stands at this path, as far as the schema names them."""
    for model in _models(kind):
        if not path:
            yield from model.model_fields
        elif isinstance(path[0], int):  # an entry of a list: the list's own kind says what its entries are
            yield from _keys_at(model, path[1:])
        elif (field := model.model_fields.get(path[0])) is not None:
            yield from _keys_at(field.annotation, path[1:])


def _models(kind: Any) -> Iterator[type[BaseModel]]:
    """The schemas among a type and its parts, in lists and unions too."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        yield kind
        return
    for part in get_args(kind):
        if part is not NoneType:
            yield from _models(part)
