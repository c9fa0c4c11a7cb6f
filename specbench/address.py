"""Whether an address can be asked, and what is wrong with it where it cannot. What may be a password is never repeated."""

import re
from urllib.parse import urlsplit

from specbench.errors import ScenarioError

EXAMPLE = "http://127.0.0.1:8000"
_LOGIN = re.compile(r"^((?:[^/?#@]*//)?).*@", re.DOTALL)


def address_fault(address: str) -> str | None:
    """What is wrong with the address, as the end of a sentence that begins with its name; None where it can be asked."""
    if not re.match(r"https?://[^/\s]", address):
        return "must start with http:// or https:// and a host"
    if re.match(r"https?://[^/?#]*@", address):
        return "must not hold a user name or password; name the environment variable of a key instead (api_key_env)"
    try:
        parts = urlsplit(address)
        readable = bool(parts.hostname) and parts.port != 0 and not re.search(r"\s", address)
    except ValueError:  # no number, or none of a port
        readable = False
    return None if readable else "is no address: after http:// comes a host, and perhaps : and a port from 1 to 65535"


def without_login(address: str) -> str:
    """The address as it may be shown: whatever stands before an @ is left out, since it may be a password."""
    return _LOGIN.sub(r"\1…@", address)


def check_address(address: str) -> None:
    """Nothing, where the address can be asked.

    Raises:
        ScenarioError: It cannot.
    """
    fault = address_fault(address)
    if fault is not None:
        raise ScenarioError(f"{without_login(address)}: {fault}; give an endpoint's address, such as {EXAMPLE}")
