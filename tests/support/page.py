"""An HTML page taken apart: its elements, its text, and what is not closed. No test lives here."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "br", "img", "input", "hr"}
HIDDEN = {"style", "script", "title"}


@dataclass
class Page(HTMLParser):
    """The page as parsed: `elements` in order with their attributes, `texts` that a reader sees, `problems` of its tags."""

    source: str
    elements: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    _open: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.feed(self.source)
        self.close()
        self.problems += [f"<{tag}> is never closed" for tag in self._open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.problems.append(f"</{tag}> closes something else")

    def handle_data(self, data: str) -> None:
        if not HIDDEN & set(self._open):
            self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        self.problems.append(f"a comment: {data}")

    def all(self, tag: str) -> list[dict[str, str]]:
        """The attributes of every element of that name."""
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def text(self) -> str:
        """What a reader sees, blanks collapsed."""
        return " ".join(" ".join(self.texts).split())
