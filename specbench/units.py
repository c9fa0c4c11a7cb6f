"""The only place where one unit of time becomes another.

Facts are whole nanoseconds (`_ns`), what people read is milliseconds (`_ms`), rates and limits are in seconds (`_s`).
"""

import re

NS_PER_MS = 1_000_000
NS_PER_S = 1_000_000_000
MS_PER_S = 1_000
S_PER_MIN = 60
_S_PER = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def ms(ns: float) -> float:
    """The same time in milliseconds."""
    return ns / NS_PER_MS


def seconds(ns: float) -> float:
    """The same time in seconds."""
    return ns / NS_PER_S


def ns_of_ms(milliseconds: float) -> int:
    """The same time in whole nanoseconds, rounded to the nearest."""
    return round(milliseconds * NS_PER_MS)


def ns_of_s(value_s: float) -> int:
    """The same time in whole nanoseconds, rounded to the nearest."""
    return round(value_s * NS_PER_S)


def s_of_span(text: str) -> float:
    """The seconds that people mean by 90s, 30m, 6h, 2d, or by a number alone.

    Raises:
        ValueError: it is no such span, or none that is above 0.
    """
    found = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,9})?) ?([smhd]?)", text.strip())
    span_s = float(found[1]) * _S_PER[found[2]] if found else 0.0
    if not span_s:
        raise ValueError(f"{text}: write a span above 0, as 90s, 30m, 6h or 2d")
    return span_s
