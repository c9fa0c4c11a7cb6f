"""What looks like a secret in a scenario, by its name: scenarios are stored with their runs and shared. Pure."""

import re
from collections.abc import Sequence
from itertools import pairwise
from urllib.parse import parse_qsl, urlsplit

_WORD = r"auth(?!ors?\b)|key|token(?!s|i[sz])|cookie|secret|passw|passphrase|credential|signature"
_HEADER = re.compile(_WORD, re.IGNORECASE)
_QUERY_KEY = re.compile(rf"{_WORD}|^(pass|pwd|sig)$", re.IGNORECASE)
_VARIABLE = re.compile(r"(TOKEN|KEY|SECRET|PASSWORD)S?$", re.IGNORECASE)

# Only the end of a flag's name counts: --api-key holds a key, --api-key-file and --api-key-env say where it is.
_FLAG_END = re.compile(r"(key|api-?keys|token|secrets?|passw(or)?d|passphrase|credentials?|auth|bearer)$|^(hft|pass|pwd)$")
_FLAG_OF_THE_VOCABULARY = re.compile(r"(^|-)(bos|eos|pad|stop|end|mask|unk|sep|image|special|per)-token$")
_FLAG = re.compile(r"--?([A-Za-z][A-Za-z0-9._-]*)(?:=(.*))?")
_ASSIGNED = re.compile(r"(?:--?[A-Za-z][A-Za-z0-9-]*=)?([A-Z][A-Z0-9_]*)=(.*)")  # for a shell, env or docker run -e
_NO_SECRET = re.compile(r"|[-$/~.].*|true|false|yes|no|on|off|none|auto", re.IGNORECASE)  # a flag, variable, path or choice
_QUOTES = "\"';"


def is_secret_header(name: str) -> bool:
    """Whether a header of this name holds a secret; counts of tokens and names of authors are none."""
    return _HEADER.search(name) is not None


def is_secret_variable(name: str) -> bool:
    """Whether an environment variable of this name holds a secret."""
    return _VARIABLE.search(name) is not None


def has_secret_query(address: str) -> bool:
    """Whether the query of the address holds a secret."""
    keys = [key for key, _ in parse_qsl(urlsplit(address).query.replace(";", "&"), keep_blank_values=True)]
    return any(_QUERY_KEY.search(key) for key in keys)


def secret_word(words: Sequence[str]) -> str | None:
    """The flag or variable by which a command carries a secret, without the secret; None where it carries none."""
    parts = [part.strip(_QUOTES) for part in " ".join(words).split()]  # a command for a shell is one word
    for part, following in pairwise((*parts, "")):
        flag, assigned = _FLAG.fullmatch(part), _ASSIGNED.fullmatch(part)
        if flag and _is_secret(flag[1], following if flag[2] is None else flag[2]):
            return part.partition("=")[0]
        if assigned and _is_secret(assigned[1], assigned[2]):
            return assigned[1]
    return None


def _is_secret(name: str, value: str) -> bool:
    spelled = re.sub(r"[_.]", "-", name.lower())
    named = _FLAG_END.search(spelled) is not None and _FLAG_OF_THE_VOCABULARY.search(spelled) is None
    return named and _NO_SECRET.fullmatch(value.strip(_QUOTES)) is None
