"""A PromQL selector of labels, such as {job="vllm",arm="spec"}: its matchers, and labels that it lets through."""

import re
from dataclasses import dataclass

from specbench.errors import ScenarioError

_MATCHER = re.compile(r'\s*([a-zA-Z_]\w*)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"\s*(?:,|$)')


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelSelector:
    """Matchers as (label, operator, value), in their order; values as they are written between the quotes."""

    matchers: tuple[tuple[str, str, str], ...]

    @property
    def text(self) -> str:
        """The matchers as they stand between braces."""
        return ",".join(f'{label}{operator}"{value}"' for label, operator, value in self.matchers)

    @property
    def labels(self) -> dict[str, str] | None:
        """Labels that it lets through; None where an expression is not understood well enough to say."""
        found = {label: value for label, operator, value in self.matchers if operator == "="}
        for label, operator, value in self.matchers:
            if operator == "=~" and label not in found:
                guess = re.sub(r"\.[*+]", "x", value.strip("^$()").split("|")[0])
                if not _lets_through(value, guess):
                    return None
                found[label] = guess
        return found

    def covers(self, other: "LabelSelector") -> bool:
        """Whether it surely lets through whatever the other one does."""
        return set(self.matchers) <= set(other.matchers)


def label_selector(text: str, option: str) -> LabelSelector:
    """The selector as it is written: labels in braces.

    Raises:
        ScenarioError: It is none, with what to write.
    """
    written = text.strip()
    inner = written[1:-1] if written.startswith("{") and written.endswith("}") else None
    found: list[tuple[str, str, str]] = []
    at = 0
    while inner is not None and inner[at:].strip():
        matcher = _MATCHER.match(inner, at)
        if matcher is None:
            inner = None
        else:
            found.append((matcher[1], matcher[2], matcher[3]))
            at = matcher.end()
    if inner is None or not found:
        raise ScenarioError(f'{option}: {text} is no selector of labels; write it as {{job="vllm",arm="spec"}}')
    return LabelSelector(matchers=tuple(found))


def _lets_through(expression: str, value: str) -> bool:
    try:
        return re.fullmatch(expression, value) is not None and not re.search(r"[\\\[\]{}?]", value)
    except re.error:
        return False
