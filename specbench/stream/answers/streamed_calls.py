"""Tool calls put together from the fragments that a stream brings."""

from typing import Any

from specbench.model.answers.kept_pairs import GeneratedToolCall
from specbench.stream.chunks import Delta


class ToolCallParts:
    """Tool calls as they grow. Fragments of one call share an index; one without an index continues the last call.

    A new id or, without an index, a new name begins another call, as some servers number every call 0 or none at all.
    """

    def __init__(self) -> None:
        self._calls: list[_Parts] = []

    def take(self, delta: Delta) -> str:
        """The text of the fragments in a delta, names and arguments, which are taken in."""
        fragments = [(call.index, call.id, call.function) for call in delta.tool_calls or ()]
        text = ""
        for index, identity, function in (*fragments, (None, None, delta.function_call)):
            if function is not None:
                self._add(index, identity, function.name, function.arguments)
                text += (function.name or "") + (function.arguments or "")
        return text

    def _add(self, index: Any, identity: Any, name: str | None, arguments: str | None) -> None:
        call = self._continued(index, identity, name)
        if call is None:
            call = _Parts(index, identity)
            self._calls.append(call)
        call.identity = call.identity or identity
        if name and name != call.name:  # some gateways repeat the whole name in every fragment
            call.name += name
        call.arguments += arguments or ""

    def _continued(self, index: Any, identity: Any, name: str | None) -> "_Parts | None":
        """The call that a fragment belongs to; None where it begins another."""
        open_calls = self._calls if index is None else [call for call in self._calls if call.index == index]
        if not open_calls:
            return None
        last = open_calls[-1]
        if identity and last.identity and identity != last.identity:
            return None
        begins = index is None and bool(name) and bool(last.name) and identity is None
        return None if begins else last

    @property
    def joined(self) -> tuple[GeneratedToolCall, ...]:
        """All calls in the order in which they began."""
        return tuple(GeneratedToolCall(call.name, call.arguments) for call in self._calls)


class _Parts:
    __slots__ = ("arguments", "identity", "index", "name")

    def __init__(self, index: Any, identity: Any) -> None:
        self.index, self.identity = index, identity
        self.name = self.arguments = ""
