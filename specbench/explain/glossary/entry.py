"""One entry of the glossary. No entry and no format lives here."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "word", "metric", "state", "verdict", "check", "reason code", "finding note", "flag", "outcome", "absence", "exit code"
]


@dataclass(frozen=True, slots=True)
class Entry:
    """What one word or code means.

    `name` is the word as it is written in results and reports, `also` what else it goes by. `title` is its name in a few words,
    `fix` what to do where it is a problem, '' where there is nothing to do.
    """

    kind: Kind
    name: str
    title: str
    text: str
    fix: str = ""
    also: tuple[str, ...] = ()
