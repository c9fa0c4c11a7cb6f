"""One request of a dataset, whatever shape its file has: the vocabulary of the readers beside this module."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Row:
    """One prompt, with the system text that belongs to it.

    `messages`: the whole list of messages where the request is more than a question behind a system text; `text` is then its last
    question. `fields`: the body's other fields that are sent again. `input_tokens`, `output_tokens`: as its file recorded them.
    `at_s`: when it came, in seconds. `session`: the conversation that it belongs to, and `turn` which request of it it is.
    `made_up`: the file has no text for it, but its lengths alone; `blocks` are then the ids of the texts that it is made of.
    """

    text: str
    system: str | None = None
    messages: tuple[Message, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)
    input_tokens: int | None = None
    output_tokens: int | None = None
    at_s: float | None = None
    session: str | None = None
    turn: int = 0
    made_up: bool = False
    blocks: tuple[int, ...] = ()
    number: int = field(default=0, compare=False)
    answer: str | None = field(default=None, compare=False)

    def recorded(self, before: int | None, after: int | None) -> "Row":
        """The same request with its recorded lengths. Written out, as `replace` takes ten times as long."""
        return Row(
            self.text,
            self.system,
            self.messages,
            self.fields,
            before,
            after,
            self.at_s,
            self.session,
            self.turn,
            self.made_up,
            self.blocks,
            self.number,
            self.answer,
        )

    @property
    def whole_text(self) -> str:
        """All text that the request holds, in its order."""
        if self.messages:
            return "\n".join(str(message.get("content") or "") for message in self.messages)
        return f"{self.system}\n{self.text}" if self.system else self.text


Found = Sequence[Row] | str
"""The requests that a value makes, or the reason why it makes none."""


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
