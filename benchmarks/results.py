"""RESULTS.md: one section per campaign, each written by its own script and left alone by the others."""

from pathlib import Path

RESULTS = Path(__file__).parent / "RESULTS.md"


def write_section(title: str, body: str, page: Path = RESULTS) -> None:
    """The page has this section under its title, in the place of an earlier one or at its end."""
    sections = _sections(page.read_text(encoding="utf-8")) if page.exists() else {}
    sections[title] = body.strip()
    page.write_text("\n".join(f"# {name}\n\n{text}\n" for name, text in sections.items()), encoding="utf-8")


def _sections(text: str) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith("# "):
            found[line[2:]] = []
        elif found:
            found[list(found)[-1]].append(line)
    return {title: "\n".join(lines).strip() for title, lines in found.items()}
