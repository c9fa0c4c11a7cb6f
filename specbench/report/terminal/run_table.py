"""A list of runs as lines of a screen."""

from collections.abc import Sequence

from specbench.explain import labels
from specbench.report.runs import RunSummary
from specbench.report.terminal.screen import Screen, padded, widths

HEAD = ("started (UTC)", "verdict", "change", "run")
NARROW = 60


def run_lines(runs: Sequence[RunSummary], screen: Screen, more: int = 0) -> str:
    """Two lines a run: when, verdict, change and folder; below it what was found. Where it has no verdict, why."""
    rows = [[screen.fit(text) for text in _texts(run)] for run in runs]
    columns = widths([list(HEAD[:3]), *[row[:3] for row in rows]])
    lines = [] if screen.columns < NARROW else [_line(HEAD, columns)]
    for run, texts in zip(runs, rows, strict=True):
        if screen.columns < NARROW:
            lines += screen.paragraph(" ".join(filter(None, texts)), "  ", "")
        else:
            lines.append(_painted(run, texts, columns, screen))
        lines += screen.paragraph(run.problem or f"{run.name}, {run.profile}: {run.found}", "    ", "  ")
    lines += screen.paragraph(f"and {more} older: --limit {len(runs) + more}") if more > 0 else []
    return "\n".join(lines)


def _texts(run: RunSummary) -> tuple[str, str, str, str]:
    change = f"{run.metric} {run.changed}" if run.changed else ""
    return run.started[:16].replace("T", " ") or "unknown", run.verdict or "none", change, str(run.folder)


def _line(texts: Sequence[str], columns: Sequence[int]) -> str:
    return "  ".join([*(padded(text, width) for text, width in zip(texts, columns, strict=False)), texts[3]]).rstrip()


def _painted(run: RunSummary, texts: Sequence[str], columns: Sequence[int], screen: Screen) -> str:
    tone = next((name.tone for word, name in labels.VERDICTS.items() if word == run.verdict), "")
    fields = [padded(text, width) for text, width in zip(texts, columns, strict=False)]
    fields[1] = screen.paint(fields[1], tone)
    return "  ".join([*fields, texts[3]]).rstrip()
