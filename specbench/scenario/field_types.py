"""Types of single fields that a scenario has: shares with their unit, numbers with their limits, names, addresses of pages."""

import re
from math import isfinite
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field

from specbench.net.urls import address_fault
from specbench.scenario.text.secret_detection import has_secret_query, is_secret_name

MOST_START_SD = 0.2
MOST_LEVELS = 100  # of loads, bins, settings: each takes minutes
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_OUR_HEADERS = ("host", "content-length", "content-type", "transfer-encoding")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e]*")
LEAST_DIFFERING, MOST_DIFFERING = 0.01, 0.5


def fraction(value: Any) -> Any:
    """`5%` as 0.05; a plain number is refused, as 5 could mean 5 % or a factor of 5."""
    if isinstance(value, str) and re.fullmatch(r"[0-9]+(\.[0-9]+)?\s*%", value.strip()):
        return float(value.strip().rstrip("% ")) / 100
    raise ValueError("write a share with its unit, such as 5%")


def _milliseconds(value: Any) -> Any:
    if isinstance(value, str):
        raise ValueError("write a plain number of milliseconds, such as 0.5")
    return value


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not isfinite(value):
        raise ValueError("contains a number that is not finite")
    for held in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _finite(held)
    return value


def page_fault(address: str) -> str | None:
    """What is wrong with the address of a metrics page, which may have a query."""
    fault = address_fault(address, page=True)
    if fault is not None or "?" not in address:
        return fault
    if has_secret_query(address):
        return "holds what looks like a secret in its query, and scenarios are stored: use options.metrics_api_key_env"
    if urlsplit(address).path in ("", "/v1"):
        return "must name the page that the query belongs to, such as /metrics?job=a"
    return None


def start_share(value: Any) -> Any:
    """A plain share as the mapping that it stands for; anything else as it is."""
    return value if isinstance(value, dict) else {"sd": value}


def _starts(value: float) -> float:
    if not 0 <= value <= MOST_START_SD:
        raise ValueError(f"lies outside 0% to {MOST_START_SD:.0%}; engines whose starts differ by more need schedule: restart")
    return value


def _differing(value: float) -> float:
    if not LEAST_DIFFERING <= value <= MOST_DIFFERING:
        raise ValueError(f"lies outside {LEAST_DIFFERING:.0%} to {MOST_DIFFERING:.0%}")
    return value


def _name(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", value):
        raise ValueError(
            "use letters from a to z, digits, '_', '-' and '.', at most 64 of them, as it becomes part of names of files"
        )
    return value


def _model_name(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be empty; leave it out where one model is served")
    return value


ModelName = Annotated[str, AfterValidator(_model_name)]
Fraction = Annotated[float, Field(allow_inf_nan=False), BeforeValidator(fraction)]
DifferingShare = Annotated[Fraction, AfterValidator(_differing)]
StartShare = Annotated[Fraction, AfterValidator(_starts)]
Milliseconds = Annotated[float, Field(ge=0, allow_inf_nan=False), BeforeValidator(_milliseconds)]
Seconds = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]
AnyFields = Annotated[dict[str, Any], AfterValidator(_finite)]
Name = Annotated[str, AfterValidator(_name)]
Tokens = Annotated[int, Field(ge=1, le=1_000_000)]


def _variable(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value):
        raise ValueError("must be the name of an environment variable, never a key itself")
    return value


Variable = Annotated[str, AfterValidator(_variable)]
Level = Annotated[int, Field(ge=1, le=10_000)]
Rate = Annotated[float, Field(gt=0, le=100_000, allow_inf_nan=False)]
Speed = Annotated[float, Field(gt=0, le=1_000, allow_inf_nan=False)]


def _band(value: tuple[Any, Any]) -> tuple[Any, Any]:
    if value[0] > value[1]:
        raise ValueError("the first number is the lower end, so it cannot be the larger one")
    return value


TokenBand = Annotated[tuple[Tokens, Tokens], Field(strict=False), AfterValidator(_band)]
Turns = Annotated[int, Field(ge=1, le=1_000)]
TurnBand = Annotated[tuple[Turns, Turns], Field(strict=False), AfterValidator(_band)]
Pause = Annotated[float, Field(ge=0, le=3_600, allow_inf_nan=False)]
ThinkBand = Annotated[tuple[Pause, Pause], Field(strict=False), AfterValidator(_band)]


def _sendable(value: dict[str, str]) -> dict[str, str]:
    for header, content in value.items():
        if not _HEADER_NAME.fullmatch(header) or not _HEADER_VALUE.fullmatch(content):
            raise ValueError(f"{header!r} cannot be sent: names and values of headers are plain ASCII text on one line")
        if is_secret_name(header):
            raise ValueError(
                f"{header} looks like a secret, and scenarios are stored: use api_key_env, or header_env ({header}: VARIABLE)"
            )
    return value


def _named(value: dict[str, str]) -> dict[str, str]:
    for header in value:
        if not _HEADER_NAME.fullmatch(header):
            raise ValueError(f"{header!r} cannot be sent: names of headers are plain ASCII words")
        if header.lower() in _OUR_HEADERS:
            raise ValueError(f"{header} is set by the client itself")
    return value


Headers = Annotated[dict[str, str], AfterValidator(_sendable)]
HeaderVariables = Annotated[dict[str, Variable], AfterValidator(_named)]
