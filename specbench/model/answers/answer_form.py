"""The form of an answer: what is asked of it, and the marks that say what is wrong with it."""

from dataclasses import dataclass
from typing import Any, Literal

MARKS = (
    "looping",  # it ends in a piece that repeats
    "foreign",  # letters of a script that its prompt lacks, or U+FFFD
    "special_token",  # a token of the template stands in the answer
    "past_stop",  # it holds a string at which it should have stopped
    "bad_json",  # JSON was asked for, and it is none or misses the schema
    "bad_tool_call",  # of a tool that there is not, or with arguments that it does not take
    "no_tool_call",  # one was required
    "unfinished",  # its limit cut it off although it was to end by itself
    "invalid",  # the bin's expression is not found in it
)
"""What a mark of `RequestRecord.marks` can be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidRule:
    """`json`: the answer parses as JSON; `json_schema`: it fits `schema` too; `regex`: the expression is found in it."""

    kind: Literal["json", "regex", "json_schema"]
    regex: str | None = None
    schema: dict[str, Any] | bool | None = None
