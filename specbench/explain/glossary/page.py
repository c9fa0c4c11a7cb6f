"""docs/glossary.md, made from the entries: `python -m specbench.explain.glossary.page > docs/glossary.md`."""

import sys
from collections.abc import Sequence

from specbench.explain.glossary.check_entries import CHECKS
from specbench.explain.glossary.code_entries import CODES
from specbench.explain.glossary.code_notes import ABSENCES, FLAGS, NOTES, OUTCOMES
from specbench.explain.glossary.entry import Entry
from specbench.explain.glossary.live_entries import LIVE_CODES, LIVE_EXITS, LIVE_NOTES
from specbench.explain.glossary.term_entries import EXIT_CODES, STATES, VERDICTS, WORDS
from specbench.model.metrics import METRICS

HEAD = (
    "# Glossary",
    "",
    "Every word, metric, state and code of the reports. `specbench explain WORD` prints one of these entries.",
    "This page is made from the same source (`make docs`), and a test holds both together.",
)


def glossary_page() -> str:
    """The page as Markdown."""
    metrics = [(one.id, one.unit, one.direction, one.definition) for one in METRICS.values()]
    parts: list[Sequence[str]] = [
        HEAD,
        _section("Words", ("word", "meaning"), [(_names(entry), entry.text) for entry in WORDS]),
        _section("Metrics", ("id", "unit", "better", "definition"), metrics),
        _section("States of a finding or a load", ("state", "mark", "meaning"), [(e.name, _mark(e), e.text) for e in STATES]),
        _section("Verdicts", ("verdict", "means", "do"), [(e.name, e.text, e.fix) for e in VERDICTS]),
        _section("Integrity checks", ("check", "holds when", "where it fails"), [(_code(e), e.text, e.fix) for e in CHECKS]),
        _section("Reason codes", ("code", "means", "do"), [(_code(e), e.text, e.fix) for e in CODES]),
        _section("Codes of live traffic", ("code", "means", "do"), [(_code(e), e.text, e.fix) for e in LIVE_CODES]),
        _section("Notes of findings", ("code", "means"), _coded((*NOTES, *LIVE_NOTES))),
        _section("Flags of requests", ("flag", "means"), _coded(FLAGS)),
        _section("Outcomes of requests", ("outcome", "means"), _coded(OUTCOMES)),
        _section("Why an engine's number is absent", ("reason begins with", "means"), _coded(ABSENCES)),
        _section("Exit codes", ("code", "name", "means"), [(e.name, e.title, e.text) for e in (*EXIT_CODES, *LIVE_EXITS)]),
    ]
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def _section(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"## {title}", "", _row(head), f"|{'---|' * len(head)}", *map(_row, rows)]


def _row(fields: Sequence[str]) -> str:
    return f"| {' | '.join(field.replace('|', chr(92) + '|') for field in fields)} |"


def _names(entry: Entry) -> str:
    return entry.name


def _mark(entry: Entry) -> str:
    return entry.also[0] if entry.also and len(entry.also[0]) == 1 else ""


def _code(entry: Entry) -> str:
    return f"`{entry.name}`"


def _coded(entries: Sequence[Entry]) -> list[tuple[str, str]]:
    return [(_code(entry), entry.text) for entry in entries]


if __name__ == "__main__":
    sys.stdout.write(glossary_page())
