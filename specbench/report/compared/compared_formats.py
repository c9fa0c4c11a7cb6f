"""A comparison as text, Markdown, JSON and a page of its own. They show a `ComparedPage`; JSON holds all there is."""

from collections.abc import Callable
from html import escape

import msgspec

from specbench.errors import DataError, did_you_mean
from specbench.explain import numbers
from specbench.explain.imported.imported_names import DIFFERENCES, WHY_NOT, in_words
from specbench.model.data.imported_result import ImportedComparison, RunComparison
from specbench.model.metrics import METRICS
from specbench.report.compared.compared_table import ComparedPage, ComparedTable, page_of
from specbench.report.formats.markdown import literal

Compared = ImportedComparison | RunComparison
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}"
    "table{border-collapse:collapse;margin:1rem 0}th,td{padding:.2rem .7rem;text-align:left;border-bottom:1px solid #ccc}"
    "caption{text-align:left;font-weight:600}@media(prefers-color-scheme:dark){body{color:#e8e8e8;background:#161616}}"
)


def compared_as(found: Compared, format: str) -> str:
    """The comparison in that format.

    Raises:
        DataError: there is no such format for comparisons.
    """
    if format not in FORMATS_OF_COMPARISONS:
        known = ", ".join(FORMATS_OF_COMPARISONS)
        hint = did_you_mean(format, FORMATS_OF_COMPARISONS)
        raise DataError(f"a comparison has no format {format!r}; the formats are {known}{hint}")
    return FORMATS_OF_COMPARISONS[format](found)


def compared_text(found: Compared) -> str:
    """The comparison as text for a terminal."""
    page = page_of(found)
    parts = [page.headline, *page.sentences]
    for table in page.tables:
        parts += ["", *_text_table(table)]
    return "\n".join([*parts, *([""] if page.closing else []), *page.closing])


def _text_table(table: ComparedTable) -> list[str]:
    rows = [tuple(map(numbers.plain, row)) for row in (table.columns, *table.rows)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(table.columns))]
    lines = ["  ".join(f"{field:<{width}}" for field, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return [table.title, *(f"  {line}" for line in lines)]


def compared_markdown(found: Compared) -> str:
    """For a pull request or a job's summary."""
    page = page_of(found)
    parts = [f"**{literal(page.headline)}**", "", *(f"- {literal(one)}" for one in page.sentences)]
    for table in page.tables:
        head = [f"| {' | '.join(table.columns)} |", "|" + "---|" * len(table.columns)]
        parts += ["", literal(table.title), "", *head, *(f"| {' | '.join(map(literal, row))} |" for row in table.rows)]
    return "\n".join([*parts, "", *(f"- {literal(one)}" for one in page.closing)])


def compared_json(found: Compared) -> str:
    """For programs: every number, and the codes with their words."""
    document = msgspec.to_builtins(found)
    for cell in document.get("cells", ()):
        for metric in cell["metrics"]:
            known = METRICS.get(metric["ours"])
            metric["definition"] = None if known is None else known.definition
            metric["difference"] = in_words(DIFFERENCES, metric["difference"]) or None
    for one in document.get("not_compared", ()):
        one["message"] = in_words(WHY_NOT, one["reason"])
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode()


def compared_html(found: Compared) -> str:
    """A page that needs nothing else and runs nothing."""
    page = page_of(found)
    body = [f"<h1>{escape(page.headline)}</h1>", _list(page.sentences), *map(_html_table, page.tables), _list(page.closing)]
    head = f'<meta charset="utf-8"><title>{escape(_title(page))}</title><style>{_STYLE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>\n' + "\n".join(filter(None, body)) + "\n</body></html>"


def _title(page: ComparedPage) -> str:
    return f"specbench compare: {page.headline}"


def _list(lines: tuple[str, ...]) -> str:
    return "<ul>" + "".join(f"<li>{escape(one)}</li>" for one in lines) + "</ul>" if lines else ""


def _html_table(table: ComparedTable) -> str:
    head = "".join(f'<th scope="col">{escape(one)}</th>' for one in table.columns)
    rows = "".join("<tr>" + "".join(f"<td>{escape(field)}</td>" for field in row) + "</tr>" for row in table.rows)
    return f"<table><caption>{escape(table.title)}</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


FORMATS_OF_COMPARISONS: dict[str, Callable[[Compared], str]] = {
    "text": compared_text,
    "markdown": compared_markdown,
    "json": compared_json,
    "html": compared_html,
}
