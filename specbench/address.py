"""Whether an address can be asked, and what is wrong with it where it cannot. What may be a secret is never repeated."""

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

from specbench.errors import ScenarioError

PORTS = {"http": 80, "https": 443}
EXAMPLE = "http://127.0.0.1:8000"
_LOGIN = re.compile(r"^((?:[^/?#@]*//)?).*@", re.DOTALL)
_BEHIND_THE_PATH = re.compile(r"([?#]).+", re.DOTALL)


def address_fault(address: str, page: bool = False) -> str | None:
    """What is wrong with the address, as the end of a sentence that begins with its name; None where it can be asked.

    Args:
        page: It is one page and may have a query, unlike an endpoint, at whose end the paths are put that are asked.
    """
    if not re.match(r"https?://[^/\s]", address):
        return "must start with http:// or https:// and a host"
    if re.match(r"https?://[^/?#]*@", address):
        return "must not hold a user name or password; name the environment variable of a key instead (api_key_env)"
    if "#" in address or ("?" in address and not page):
        marks = "#" if page else "? or #"
        return f"must not hold {marks}; name the environment variable of a key instead (api_key_env)"
    try:
        parts = urlsplit(address)
        readable = bool(parts.hostname) and parts.port != 0 and not re.search(r"\s", address)
    except ValueError:  # no number, or none of a port
        readable = False
    return None if readable else "is no address: after http:// comes a host, and perhaps : and a port from 1 to 65535"


def is_loopback(host: str) -> bool:
    """Whether `host` is this machine, by name or address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def base_url(url: str) -> str:
    """The URL, or its path, without a trailing slash or `/v1`, as both forms are in use."""
    return url.rstrip("/").removesuffix("/v1").rstrip("/")


def without_secrets(address: str) -> str:
    """The address as it may be shown: whatever stands before an @ or behind a ? or # is left out, as it may be a secret."""
    return _BEHIND_THE_PATH.sub(r"\1…", _LOGIN.sub(r"\1…@", address))


def check_address(address: str) -> None:
    """Nothing, where the address can be asked.

    Raises:
        ScenarioError: It cannot.
    """
    fault = address_fault(address)
    if fault is not None:
        raise ScenarioError(f"{without_secrets(address)}: {fault}; give an endpoint's address, such as {EXAMPLE}")
