"""Which Unicode scripts the letters of a text are of, by the names of its characters. Pure."""

import re
import unicodedata
from functools import lru_cache

REPLACEMENT = "\ufffd"
HALF_CHARACTERS = "U+FFFD"
"""Stands among the scripts for what was no character at all."""

_LETTER = re.compile("[A-Za-z]")
_FORMS = frozenset({"FULLWIDTH", "HALFWIDTH"})
# Letters that are signs of every script: units, numerals, mathematics.
_SIGNS = frozenset(
    (
        *("MATHEMATICAL", "DOUBLE-STRUCK", "BLACK-LETTER", "SCRIPT", "TURNED", "PLANCK", "EULER", "INFORMATION"),
        *("MICRO", "OHM", "KELVIN", "ANGSTROM", "FEMININE", "MASCULINE", "ALEF", "BET", "GIMEL", "DALET"),
    )
)


def scripts_of(text: str) -> frozenset[str]:
    """The scripts of all letters, such as Latin, Cyrillic, CJK; with U+FFFD where a character was lost."""
    if text.isascii():
        return frozenset({"Latin"}) if _LETTER.search(text) else frozenset()
    return frozenset(script for script in map(_script_of, set(text)) if script is not None)


@lru_cache(maxsize=65_536)
def _script_of(character: str) -> str | None:
    if character == REPLACEMENT:
        return HALF_CHARACTERS
    if unicodedata.category(character) not in ("Lu", "Ll", "Lt", "Lo"):
        return None
    words = unicodedata.name(character, "").split()
    first = next((word for word in words if word not in _FORMS), "")
    if not first or first in _SIGNS:
        return None
    script = first.split("-")[0]
    return script if script == "CJK" else script.capitalize()
