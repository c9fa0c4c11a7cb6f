"""YAML text as plain values, each with the line it stands on. What the values mean does not live here.

Scalars follow YAML 1.2's core schema: `1e3` is a number, and `no`, `off`, `on`, `yes` are text, so that nobody's
language code becomes `False`. Digits may be grouped (`1_000`). Duplicate keys and tabs are errors that name their lines.
"""

import re
from dataclasses import dataclass
from typing import Any

import yaml

from specbench.errors import ScenarioError

Path = tuple[str | int, ...]

_CORE_TAGS = {
    f"tag:yaml.org,2002:{kind}" for kind in ("str", "int", "float", "bool", "null", "timestamp", "value", "merge", "seq", "map")
}


class _PlainLoader(yaml.SafeLoader):
    """Composes nodes, but follows no references: a scenario needs none, and they can make a small file endless."""

    def compose_node(self, parent: Any, index: Any) -> yaml.Node | None:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]  # the stubs leave the parser's methods open
        if isinstance(event, yaml.AliasEvent):
            problem = f"the reference *{event.anchor} is not allowed; write the value out"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=event.start_mark)  # type: ignore[arg-type]  # either Mark will do
        return super().compose_node(parent, index)


_FIRST_LINE = re.compile(r"^[ \t]*(?![ \t]*(?:#|$))(.*)$", re.MULTILINE)
_BEGINS_YAML = re.compile(r"(?:---|%|[{\[]|-[ ]|['\"]?[\w.-]+['\"]?\s*:)")
CONTEXT = 24  # characters of a line, before and behind a fault
_INT = re.compile(r"[-+]?[0-9]+(_[0-9]+)*")
_MOST_DIGITS = 100  # more are no number that anybody means, and Python refuses to read thousands
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(_[0-9]+)*(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_WORDS: dict[str, Any] = {"": None, "~": None, "null": None, "Null": None, "NULL": None}
_WORDS |= dict.fromkeys(("true", "True", "TRUE"), True) | dict.fromkeys(("false", "False", "FALSE"), False)


@dataclass(frozen=True, slots=True)
class YamlSource:
    """The plain value of a YAML text and the line of every key path in it; `flags`: what the command line put at which path."""

    name: str
    value: Any
    lines: dict[Path, int]
    flags: tuple[tuple[Path, str], ...] = ()

    def where(self, path: Path) -> str:
        """`file:line` of that key path, or of its nearest parent that stands in the file; the flag, where one gave it."""
        if (flag := self._flag(path)) is not None:
            return flag[1]
        while path not in self.lines and path:
            path = path[:-1]
        return f"{self.name}:{self.lines.get(path, 1)}"

    def error(self, path: Path, message: str) -> ScenarioError:
        """What is wrong at that key path, to be raised: file, line, key path, message."""
        flag = self._flag(path)
        said = message if flag is not None and flag[0] == path else f"{key_path(path)}: {message}"
        return ScenarioError(f"{self.where(path)}: {said}")

    def _flag(self, path: Path) -> tuple[Path, str] | None:
        return next((flag for flag in reversed(self.flags) if path[: len(flag[0])] == flag[0]), None)


def read_text(content: str, name: str) -> YamlSource:
    """The plain value of YAML `content`; `name` is what errors call the file.

    Raises:
        ScenarioError: not YAML, a duplicate key, a tab as indent, a tag, a reference or half of a character; with file and line.
    """
    try:
        node = yaml.compose(content, Loader=_PlainLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        first = _FIRST_LINE.search(content)
        if first is not None and not _BEGINS_YAML.match(first[1]):
            raise ScenarioError(f"{name}: is not a scenario; a scenario is YAML that starts with `name:`") from None
        raise ScenarioError(f"{name}:{line}: not valid YAML: {_plain_problem(error, content, line)}") from None
    except yaml.YAMLError as error:
        raise ScenarioError(f"{name}: not valid YAML: {str(error).splitlines()[0]}") from None
    except RecursionError:
        raise ScenarioError(f"{name}:1: brackets or indents are nested too deeply; a scenario needs about five levels") from None
    if node is None:
        raise ScenarioError(f"{name}:1: the file is empty; copy a shipped scenario, or let `specbench demo` write one")
    lines: dict[Path, int] = {}
    return YamlSource(name, _value(node, (), lines, name), lines)


def scalar(text: str) -> Any:
    """What a plain scalar means: null, true or false, a number, else the text itself."""
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text) and len(text) <= _MOST_DIGITS:
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text.replace("_", ""))
    return text


def lone_surrogate(text: str) -> str | None:
    """What to say of text that no file could hold, as it has half of a surrogate pair; None where it has none."""
    found = _SURROGATE.search(text)
    return None if found is None else f"contains an unpaired surrogate ({found[0]!a})"


def _plain_problem(error: yaml.MarkedYAMLError, content: str, line: int) -> str:
    rows = content.splitlines()
    if 0 < line <= len(rows) and rows[line - 1].lstrip(" ").startswith("\t"):
        return "a tab is used as indent; use spaces"
    problem = (error.problem or "cannot be read").splitlines()[0]
    if "another document" in problem:
        problem = "the file holds several documents; keep one"
    mark = error.problem_mark
    if mark is None or not 0 < line <= len(rows):
        return problem
    return f"{problem}, at {_around(rows[line - 1], mark.column)}"


def _around(row: str, column: int) -> str:
    """The place in the line, with a caret before the character that cannot stand there."""
    before, after = row[max(0, column - CONTEXT) : column].lstrip(), row[column : column + CONTEXT].rstrip()
    return f"'{before}^{after}'"


def _value(node: yaml.Node, path: Path, lines: dict[Path, int], name: str) -> Any:
    lines[path] = node.start_mark.line + 1
    if node.tag not in _CORE_TAGS and node.tag != "!":
        raise ScenarioError(f"{name}:{lines[path]}: the tag {node.tag} is not allowed; write a plain value")
    if isinstance(node, yaml.ScalarNode):
        _refuse_half(node, name)
        return scalar(node.value) if node.style is None else node.value
    if isinstance(node, yaml.SequenceNode):
        return [_value(item, (*path, place), lines, name) for place, item in enumerate(node.value)]
    assert isinstance(node, yaml.MappingNode)
    return _mapping(node, path, lines, name)


def _mapping(node: yaml.MappingNode, path: Path, lines: dict[Path, int], name: str) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    first_line: dict[Any, int] = {}
    for key_node, value_node in node.value:
        line = key_node.start_mark.line + 1
        if not isinstance(key_node, yaml.ScalarNode):
            raise ScenarioError(f"{name}:{line}: a key must be plain text")
        _refuse_half(key_node, name)
        key: Any = key_node.value
        if key in found:
            raise ScenarioError(
                f"{name}:{line}: {key_path((*path, key))}: duplicate key, first at line {first_line[key]}; keep one"
            )
        first_line[key] = line
        found[key] = _value(value_node, (*path, key), lines, name)
        lines[(*path, key)] = line
    return found


def _refuse_half(node: yaml.ScalarNode, name: str) -> None:
    if (half := lone_surrogate(node.value)) is not None:
        raise ScenarioError(f"{name}:{node.start_mark.line + 1}: {half}; write the character itself")


def in_yaml(value: Any) -> str:
    """The value as a scenario writes it."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, list):
        return f"[{', '.join(map(in_yaml, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}: {in_yaml(held)}' for key, held in value.items())}}}"
    return repr(value)


def key_path(path: Path) -> str:
    """A key path as people write it: `workload.bins[0].weight`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text
