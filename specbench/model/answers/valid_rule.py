"""What an answer of a bin must be to be valid, as the scenario says it."""

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidRule:
    """`json`: the answer parses as JSON; `json_schema`: it fits `schema` too; `regex`: the expression is found in it."""

    kind: Literal["json", "regex", "json_schema"]
    regex: str | None = None
    schema: dict[str, Any] | bool | None = None
