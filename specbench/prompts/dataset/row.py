"""One request of a dataset, whatever shape its file has: the vocabulary of the readers beside this module."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

Message = dict[str, Any]
NO_FIELDS: Mapping[str, Any] = {}


class Row(NamedTuple):
    """One prompt, with the system text that belongs to it. A named tuple, as there may be millions, made in a third of the time.

    `messages`: the whole list of messages where the request is more than a question behind a system text; `text` is then its last
    question. `fields`: the body's other fields that are sent again. `input_tokens`, `output_tokens`: as its file recorded them.
    `at_s`: when it came, in seconds. `session`: the conversation that it belongs to, and `turn` which request of it it is.
    `made_up`: the file has no text for it, but its lengths alone; `blocks` are then the ids of the texts that it is made of.
    `number`: its line or element, 0 where that does not matter. `answer`: the recorded one, for its length.
    """

    text: str
    system: str | None = None
    messages: tuple[Message, ...] = ()
    fields: Mapping[str, Any] = NO_FIELDS
    input_tokens: int | None = None
    output_tokens: int | None = None
    at_s: float | None = None
    session: str | None = None
    turn: int = 0
    made_up: bool = False
    blocks: tuple[int, ...] = ()
    number: int = 0
    answer: str | None = None

    @property
    def whole_text(self) -> str:
        """All text that the request holds, in its order."""
        if self.messages:
            return "\n".join(str(message.get("content") or "") for message in self.messages)
        return f"{self.system}\n{self.text}" if self.system else self.text


Found = Sequence[Row] | str
"""The requests that a value makes, or the reason why it makes none."""

FoundSeveral = Sequence[Row | str] | str
"""The same of a value that holds several, each of which may be none."""


def whole_number(value: Any) -> int | None:
    """The count that a field holds, which tables write as text or with a fraction of zero; None where it is none."""
    if type(value) is int:
        return value if 0 <= value < 1 << 40 else None
    if not isinstance(value, float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return int(number) if number >= 0 and number.is_integer() and number < 1 << 40 else None


def field_at(value: Mapping[str, Any], path: str) -> Any:
    """What stands under this name, or where there is none under its parts, one inside the other."""
    if path in value:
        return value[path]
    found: Any = value
    for part in path.split("."):
        if not isinstance(found, Mapping) or part not in found:
            return None
        found = found[part]
    return found
