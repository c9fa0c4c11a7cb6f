"""Keys come from environment variables, by name, and no key is ever written anywhere: what others say is freed of them here.

What others say (a server, an engine's log) is made fit for files and terminals here too: one line, no control characters.
"""

import base64
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from html import unescape
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies

from specbench.errors import ScenarioError

LEAST_KEY = 4
"""Characters: a shorter one protects nothing, and stands in any text."""

WHOLE_KEY = 8
"""Below so many characters a key is only taken out where it stands alone: "none" and "code" are words too."""

LONGEST_WORD = 200
"""Characters of one thing that an endpoint says of itself; what tells it apart comes long before that."""

HIDDEN = "*"
_ENTITIES = {"&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos"}
_INSIDE = r"[\w:.-]"  # what goes on on either side of a short key where it is no word of its own
_COMMAND = re.compile(r"##(?=\w*\[)")  # Azure, TeamCity and an older GitHub take `##word[` for a command anywhere in a line
_UNICODE = re.compile(r"\\u([0-9a-fA-F]{4})")
_UNFIT = re.compile("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


def key_header(variable: str | None, where: str) -> dict[str, str]:
    """The header that carries the key of the environment variable; none where no variable is named or it is empty.

    Raises:
        ScenarioError: the variable is not set; `where` says who names it.
    """
    key = "" if variable is None else secret(variable, where)
    return {"Authorization": f"Bearer {key}"} if key else {}


def secret(variable: str, where: str) -> str:
    """What the environment variable holds, without white space around it.

    Raises:
        ScenarioError: the variable is not set; `where` says who names it.
    """
    held = os.environ.get(variable)
    if held is None:
        raise ScenarioError(f"{where}: the environment variable {variable} is not set; export it first")
    return held.strip()


@dataclass(frozen=True, slots=True)
class Secrets:
    """Values that may stand in no file and on no screen, in whatever form a server echoes them."""

    values: tuple[str, ...] = ()

    def out_of(self, text: str) -> str:
        """The text with asterisks, as many as there were characters, in place of each secret.

        Forms: as it is, percent-encoded, escaped for JSON or HTML (whole or in part), in hexadecimal, and in base64, alone or
        within a longer text such as `user:password`.
        """
        found = [value for value in self.values if _may_hold(text, value)]
        return _pattern(tuple(found)).sub(_hidden, text) if found else text

    def out_of_bytes(self, data: bytes) -> bytes:
        """The bytes with each secret covered by as many asterisks, so that offsets in them stay as they are."""
        return self.out_of(data.decode("latin-1")).encode("latin-1") if self.values else data

    def out_of_all(self, value: object) -> object:
        """The value with the secrets taken out of every text in it, be it a list or a mapping."""
        if isinstance(value, str):
            return self.out_of(value)
        if isinstance(value, Mapping):
            return {self.out_of(str(key)): self.out_of_all(held) for key, held in value.items()}
        return [self.out_of_all(held) for held in value] if isinstance(value, list | tuple) else value


NO_SECRETS = Secrets()


def secrets_in(values: Iterable[str]) -> Secrets:
    """These values and the passwords of the environment's proxies; a header's `Bearer` is no part of the secret."""
    bare = [value.strip().removeprefix("Bearer ").strip() for value in values]
    return Secrets(tuple(dict.fromkeys(value for value in (*bare, *_proxy_passwords()) if len(value) >= LEAST_KEY)))


def one_line(text: str, longest: int | None = None) -> str:
    """The text on one line without control characters (colours, cursor, direction of writing), cut to so many characters."""
    if longest is not None and len(text) > 4 * longest:
        text = text[: 4 * longest]  # what stays is looked at, not what goes
    flat = " ".join("".join(character if character.isprintable() else " " for character in text).split())
    return flat if longest is None or len(flat) <= longest else flat[:longest] + "…"


def printable(text: str) -> str:
    """The text line by line, as a terminal and the log of a CI system may see it: no control characters, no commands."""
    return "\n".join(map(_printable_line, text.split("\n")))


def escaped(json_text: bytes) -> bytes:
    """The JSON text, in which a terminal finds no control character: those that JSON lets stand are escaped."""
    text = json_text.decode("utf-8", "surrogatepass")
    return _UNFIT.sub(lambda match: f"\\u{ord(match[0]):04x}", text).encode("utf-8", "surrogatepass")


def printable_line(text: str) -> str:
    """The text on one line, whatever line breaks are in it, and printable as `printable` has it."""
    return printable(" ".join(text.splitlines()))


def _printable_line(line: str) -> str:
    kept = "".join(character if character.isprintable() else " " for character in line)
    start = len(kept) - len(kept.lstrip())
    if kept.startswith("::", start):  # GitHub looks past blanks for `::command::`
        kept = f"{kept[:start]}: :{kept[start + 2 :]}"
    return _COMMAND.sub("# #", kept)


def _hidden(match: re.Match[str]) -> str:
    return HIDDEN * len(match[0])


def _proxy_passwords() -> list[str]:
    """The passwords of the proxies that the environment names, as they stand there and as they are sent."""
    found: list[str] = []
    for address in getproxies().values():
        try:
            password = urlsplit(address if "://" in address else f"http://{address}").password
        except ValueError:
            continue
        found += [password, unquote(password)] if password else []
    return found


def _may_hold(text: str, value: str) -> bool:
    """Whether to look closely, which takes a hundred times longer: the longest part of a form stands in the text."""
    parts = _parts(value)
    if not parts or any(part in text for part in parts):
        return True
    plain = unquote(text, "latin-1") if "%" in text else text
    plain = _UNICODE.sub(lambda match: chr(int(match[1], 16)), plain) if "\\u" in plain else plain
    plain = unescape(plain) if "&#" in plain else plain
    return plain is not text and any(part in plain for part in parts)


@lru_cache(maxsize=32)
def _parts(value: str) -> tuple[str, ...]:
    """Of each form the longest run of letters and digits, which no escape need touch; none where one form has no such run."""
    raw = value.encode("utf-8", "surrogatepass")
    forms = [value, raw.hex(), raw.hex().upper(), *_packed(raw)]
    runs = [max(re.findall("[A-Za-z0-9]+", form), key=len, default="") for form in forms]
    return tuple(runs) if all(runs) else ()


@lru_cache(maxsize=32)
def _pattern(values: tuple[str, ...]) -> re.Pattern[str]:
    """What finds each form of these; the longest first, as one may begin as another does."""
    return re.compile("|".join(form for value in sorted(values, key=len, reverse=True) for form in _forms(value)))


def _forms(value: str) -> Iterable[str]:
    plain = "".join(map(_character, value))
    yield plain if len(value) >= WHOLE_KEY else f"(?<!{_INSIDE}){plain}(?!{_INSIDE})"
    raw = value.encode("utf-8", "surrogatepass")
    yield "".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in raw.hex())
    for core in _packed(raw):
        spelled = "".join({"+": "(?:[+-]|%2[bBdD])", "/": r"(?:\\?/|_|%2[fF])"}.get(one, one) for one in core)
        yield f"{spelled}[A-Za-z0-9+/_-]?"


def _packed(raw: bytes) -> list[str]:
    """What stands in base64 for these bytes, whatever stands before and behind them in the same groups of three."""
    cores = []
    for before, start in enumerate((0, 2, 3)):
        packed = base64.b64encode(b"\0" * before + raw).decode("ascii").rstrip("=")
        cores.append(packed[start : len(packed) - bool((before + len(raw)) % 3)])
    return cores


def _character(one: str) -> str:
    """This character of a key as it is, or as an address, JSON or a page writes it."""
    forms = [re.escape(one)]
    octets = one.encode("utf-8", "surrogatepass")
    if not one.isascii():  # as bytes that were read one by one
        forms.append(re.escape(octets.decode("latin-1")))
    forms.append("".join(f"%{_either(f'{octet:02x}')}" for octet in octets))
    forms.append(rf"\\u{_either(f'{ord(one):04x}')}" if ord(one) < 0x10000 else re.escape(one))
    forms.append(f"&#(?:0*{ord(one)}|[xX]0*{_either(f'{ord(one):x}')});")
    if one in '"/\\':
        forms.append(re.escape("\\" + one))
    if one in _ENTITIES:
        forms.append(f"&{_ENTITIES[one]};")
    if one == " ":
        forms.append(r"\+")
    return f"(?:{'|'.join(forms)})"


def _either(digits: str) -> str:
    return "".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in digits)
