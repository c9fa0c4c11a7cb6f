"""Prometheus text to finite values by name and labels, read by prometheus-client's parsers.

No engine's names, no differences, no sockets: `counters.py` subtracts, one file per engine knows what a name means.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

Labels = tuple[tuple[str, str], ...]
Key = tuple[str, Labels]

MOST_SERIES = 30_000
"""Series of one page that are read: some seconds' work. An engine with a hundred adapters shows half as many."""

LINES_PER_SERIES = 4
"""A metric of one series has two lines of comment before it, rarely a third."""

LONGEST_LINE = 65_536
"""Characters; a series' line has a few hundred."""

_END = re.compile(r"^# EOF(?=[ \t\r]*$)", re.MULTILINE)
_MONOTONE_SUFFIXES = ("_count", "_bucket", "_gcount", "_gbucket")


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposition:
    """One scrape as values by (stem, sorted labels), a counter's trailing `_total` removed.

    `monotone` holds the keys that only a restart can lower. `not_finite` are keys whose sample was NaN or infinite (never
    to be taken for absent ones), `created` the `_created` times, which are no data, and `unreadable` counts broken lines.
    """

    values: dict[Key, float]
    monotone: frozenset[Key]
    not_finite: frozenset[Key]
    created: dict[Key, float]
    unreadable: int


def parse(text: str) -> Exposition:
    """Every readable sample of `text`, in the text format 0.0.4 or OpenMetrics; one broken line costs that line alone.

    What stands behind OpenMetrics' end mark is no part of the page and is not read.
    """
    values: dict[Key, float] = {}
    created: dict[Key, float] = {}
    monotone: set[Key] = set()
    not_finite: set[Key] = set()
    page, ended = _until_its_end(text)
    short, too_long = _short_lines(page)
    families, unreadable = _families(short, ended)
    for family in families:
        for sample in family.samples:
            key = (_stem(sample.name), tuple(sorted(sample.labels.items())))
            if sample.name.endswith("_created"):
                created[key] = sample.value
            elif not math.isfinite(sample.value):
                not_finite.add(key)
            else:
                values[key] = sample.value
                if _is_monotone(family.type, sample.name):
                    monotone.add(key)
    return Exposition(
        values=values,
        monotone=frozenset(monotone),
        not_finite=frozenset(not_finite),
        created=created,
        unreadable=unreadable + too_long,
    )


def series_in(text: str) -> int:
    """How many series the page holds, or stands for: one of comments alone takes as long to read."""
    text, _ = _until_its_end(text)
    lines = text.count("\n") + (not text.endswith("\n"))
    comments = text.count("\n#") + text.startswith("#")
    return max(lines - comments, lines // LINES_PER_SERIES)


def _stem(name: str) -> str:
    # Only a sample that ends in `_total` loses it: histograms such as vLLM's `iteration_tokens_total` go on with `_sum`.
    return name.removesuffix("_total")


def _is_monotone(kind: str, name: str) -> bool:
    if kind in ("counter", "histogram", "summary"):
        return name.endswith(("_total", *_MONOTONE_SUFFIXES))
    return kind in ("untyped", "unknown") and name.endswith("_total")


def _short_lines(text: str) -> tuple[str, int]:
    """The text without lines of absurd length, which the parsers read over and over, and how many there were."""
    if len(text) <= LONGEST_LINE:
        return text, 0
    lines = text.split("\n")
    kept = [line for line in lines if len(line) <= LONGEST_LINE]
    return ("\n".join(kept), len(lines) - len(kept)) if len(kept) < len(lines) else (text, 0)


def _families(text: str, ended: bool) -> tuple[list[Metric], int]:
    parser = parse_openmetrics if ended else parse_text
    try:
        return list(parser(text)), 0
    except (ValueError, KeyError, IndexError):
        # The parsers give up at the first line they dislike; what the other lines say is still true.
        return _line_by_line(text)


def _until_its_end(text: str) -> tuple[str, bool]:
    """The text up to a line that is the end mark, and whether there is one."""
    mark = _END.search(text)
    return (text, False) if mark is None else (text[: mark.end()] + "\n", True)


def _line_by_line(text: str) -> tuple[list[Metric], int]:
    families: list[Metric] = []
    unreadable = 0
    for declaration, line in _samples_with_type(text):
        try:
            families.extend(parse_text(f"{declaration}\n{line}\n"))
        except (ValueError, KeyError, IndexError):
            unreadable += 1
    return families, unreadable


def _samples_with_type(text: str) -> Iterator[tuple[str, str]]:
    declaration = ""
    for line in text.split("\n"):
        stripped = line.strip()
        if stripped.startswith("# TYPE "):
            declaration = stripped if len(stripped.split()) == 4 else ""
        elif stripped and not stripped.startswith("#"):
            yield declaration, stripped
