"""Prometheus text to finite values by name and labels, read by prometheus-client's parsers.

No engine's names, no differences, no sockets: `counters.py` subtracts, one file per engine knows what a name means.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

Labels = tuple[tuple[str, str], ...]
Key = tuple[str, Labels]

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
    """Every readable sample of `text`, in the text format 0.0.4 or OpenMetrics; one broken line costs that line alone."""
    values: dict[Key, float] = {}
    created: dict[Key, float] = {}
    monotone: set[Key] = set()
    not_finite: set[Key] = set()
    families, unreadable = _families(text)
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
        unreadable=unreadable,
    )


def _stem(name: str) -> str:
    # Only a sample that ends in `_total` loses it: histograms such as vLLM's `iteration_tokens_total` go on with `_sum`.
    return name.removesuffix("_total")


def _is_monotone(kind: str, name: str) -> bool:
    if kind in ("counter", "histogram", "summary"):
        return name.endswith(("_total", *_MONOTONE_SUFFIXES))
    return kind in ("untyped", "unknown") and name.endswith("_total")


def _families(text: str) -> tuple[list[Metric], int]:
    parser = parse_openmetrics if text.rstrip().endswith("# EOF") else parse_text
    try:
        return list(parser(text)), 0
    except (ValueError, KeyError, IndexError):
        # The parsers give up at the first line they dislike; what the other lines say is still true.
        return _line_by_line(text)


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
