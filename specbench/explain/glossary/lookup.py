"""All entries of the glossary, and those that a word means."""

import re
from collections.abc import Iterable

from specbench import errors
from specbench.explain import numbers
from specbench.explain.brief import table_words
from specbench.explain.findings import stated_limit
from specbench.explain.glossary.check_entries import CHECKS
from specbench.explain.glossary.code_entries import CODES
from specbench.explain.glossary.code_notes import ABSENCES, FLAGS, NOTES, OUTCOMES
from specbench.explain.glossary.entry import Entry
from specbench.explain.glossary.live_entries import LIVE_CODES, LIVE_EXITS, LIVE_NOTES
from specbench.explain.glossary.term_entries import EXIT_CODES, STATES, VERDICTS, WORDS
from specbench.model.guardrails import DEFAULTS
from specbench.model.metrics import METRICS, Metric

_BETTER = {"lower": "lower is better", "higher": "higher is better", "equal": "equal is better"}


def metric_entry(metric: Metric) -> Entry:
    """A metric as an entry: its definition, its unit, which way is better, and its default guardrail."""
    unit = "A share" if metric.unit == "share" else f"In {metric.unit}"
    parts = [f"{metric.definition[0].upper()}{metric.definition[1:]}.", f"{unit}; {_BETTER[metric.direction]}."]
    for rule in (rule for rule in DEFAULTS if rule.metric == metric.id):
        floor = f", or by {numbers.short(rule.floor)} {metric.unit} where that is more" if rule.floor else ""
        parts.append(f"Default {rule.role}: {stated_limit(rule).replace('%', ' %')}{floor}.")
    label = table_words.row_label(metric.id)
    return Entry("metric", metric.id, label, " ".join(parts), "", tuple(dict.fromkeys((metric.label, label))))


METRIC_ENTRIES: tuple[Entry, ...] = tuple(map(metric_entry, METRICS.values()))
ENTRIES: tuple[Entry, ...] = (
    *(
        *WORDS,
        *METRIC_ENTRIES,
        *STATES,
        *VERDICTS,
        *CHECKS,
        *CODES,
        *LIVE_CODES,
        *NOTES,
        *LIVE_NOTES,
        *FLAGS,
        *OUTCOMES,
        *ABSENCES,
        *EXIT_CODES,
        *LIVE_EXITS,
    ),
)


def entries_for(word: str) -> tuple[Entry, ...]:
    """The entries of this name, in whatever case and with blanks or hyphens for underscores; none where there is none."""
    wanted = _key(word)
    named = tuple(entry for entry in ENTRIES if _key(entry.name) == wanted)
    return named or tuple(entry for entry in ENTRIES if wanted in map(_key, entry.also))


def nearest(word: str, known: Iterable[str] | None = None) -> str | None:
    """The name that the word was probably meant to be; None where none is near."""
    names = [name for entry in ENTRIES for name in (entry.name, *entry.also)] if known is None else list(known)
    by_key = {_key(name): name for name in reversed(names)}
    found = errors.nearest(_key(word), by_key)
    return by_key[found] if found else None


def _key(word: str) -> str:
    """The word as it is compared: marks as they are, else lower case with underscores."""
    plain = re.sub(r"[\W_]+", "_", word.strip().casefold()).strip("_")
    return plain or word.strip()
