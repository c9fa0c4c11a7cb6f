"""What looks like a secret in a scenario, by its name: scenarios are stored with their runs and shared. Pure.

Names tell, so that a secret under an innocent name is not found, and what only resembles one has a way around (`header_env`,
`launch.secrets`).
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qsl, urlsplit

# The last word of a name tells what it holds: Subscription-Key holds a key, Keyspace and Token-Count do not.
_SECRET = re.compile(
    r"(?<![a-z0-9])(auth|authorization|authentication|key|tokens?|jwt|bearer|cookie|pass|pwd|passw(or)?d|passphrase|sig|signature"
    r"|assertion|secrets?|credentials?|hft)$|api-?keys?$|(?<![a-z])(secret|password|credential)s?(?![a-z])"
)
_NO_SECRET = re.compile(
    r"(^|-)(routing|cache|partition|idempotency|sort|group|hash)-key$"
    r"|(^|-)(bos|eos|pad|stop|start|begin|end|mask|unk|sep|image|special|think|draft|per|max|min|num|new|total|batched)-tokens?$"
    r"|^(no|enable|disable|require|use|allow|with|skip)-"
)
_KEY_FILE = re.compile(r"(^|-)(tls|ssl|ssh|private|client|server|cert)-key$")

_FLAG = re.compile(r"--?([A-Za-z][A-Za-z0-9._-]*)(?:=(.*))?")
_ASSIGNED = re.compile(r"(?:--?[A-Za-z][A-Za-z0-9-]*=)?([A-Za-z][A-Za-z0-9_]*)=(.*)")  # for a shell, env or docker run -e
_SAID_ELSEWHERE = re.compile(r"[-$`].*|[0-9.]*|true|false|yes|no|on|off|none|auto|empty", re.IGNORECASE)
_PATH = re.compile(r"[./~].*")
_QUOTES = "\"';"
_IN_THE_OPEN = (
    ("Bearer", re.compile(r"\bbearer\s+[^\s$`\"']", re.IGNORECASE)),
    ("the address", re.compile(r"://[^/\s:@]*:[^/\s@$]+@")),
    ("JSON", re.compile(r"\"\w*(api_?key|secret|password|(hf|auth|access)_token)\"\s*:\s*\"[^\"$]", re.IGNORECASE)),
)
# Keys that say themselves what they are, whatever the name: of OpenAI and who follows it, Hugging Face, GitHub, AWS, Google; JWT.
_KEY_ITSELF = re.compile(
    r"(?<![A-Za-z0-9])(sk-[A-Za-z0-9_-]{16,}|hf_[A-Za-z0-9]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|AKIA[A-Z0-9]{16}|AIza[\w-]{30,}"
    r"|eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.)"
)
_TELLING = (*(said for _, said in _IN_THE_OPEN), _KEY_ITSELF)


def is_secret_name(name: str) -> bool:
    """Whether a header, a query's key or an environment variable of this name holds a secret."""
    spelled = _spelled(name)
    return _SECRET.search(spelled) is not None and _NO_SECRET.search(spelled) is None


def has_secret_query(address: str) -> bool:
    """Whether the query of the address holds a secret."""
    return any(is_secret_name(key) for key, _ in parse_qsl(urlsplit(address).query.replace(";", "&"), keep_blank_values=True))


def secret_word(words: Sequence[str]) -> str | None:
    """What carries a secret in a command (a flag, a variable, or where it stands), never the secret; None where nothing does."""
    command = " ".join(words)
    parts = [part.strip(_QUOTES) for part in command.split()]  # a command for a shell is one word
    for part, following in pairwise((*parts, "")):
        flag, assigned = _FLAG.fullmatch(part), _ASSIGNED.fullmatch(part)
        if flag and _holds(flag[1], following if flag[2] is None else flag[2]):
            return part.partition("=")[0]
        if assigned and _holds(assigned[1], assigned[2]):
            return assigned[1]
    return next((where for where, said in _IN_THE_OPEN if said.search(command)), None)


def secret_field(value: Any) -> str | None:
    """What carries a secret in this mapping, however deep (a field's name), never the secret; None where nothing does."""
    if isinstance(value, list):
        return next((found for held in value if (found := secret_field(held)) is not None), None)
    for name, held in value.items() if isinstance(value, dict) else ():
        if isinstance(held, str) and (_holds(str(name), held) or any(said.search(held) for said in _TELLING)):
            return str(name)
        if (found := secret_field(held)) is not None:
            return found
    return None


def _holds(name: str, value: str) -> bool:
    """Whether this flag or variable holds a secret, and holds it here: no switch, number, variable or file of keys."""
    value = value.strip(_QUOTES)
    if not is_secret_name(name) or _SAID_ELSEWHERE.fullmatch(value):
        return False
    return not (_KEY_FILE.search(_spelled(name)) and _PATH.match(value))


def _spelled(name: str) -> str:
    """The name in small letters, its words apart by hyphens."""
    return re.sub(r"[_.]", "-", name.lower())
