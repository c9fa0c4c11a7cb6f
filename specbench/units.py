"""The only place where one unit of time becomes another.

Facts are whole nanoseconds (`_ns`), what people read is milliseconds (`_ms`), rates and limits are in seconds (`_s`).
"""

NS_PER_MS = 1_000_000
NS_PER_S = 1_000_000_000
MS_PER_S = 1_000


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
