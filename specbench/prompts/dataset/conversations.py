"""Lists of turns, in every spelling, as requests: which question is sent, and what of the list goes with it.

A list that ends with a user's or a tool's turn is a request and is sent whole; one that ends with an answer is a conversation,
and its first question is the prompt. `turns` of a scenario decides otherwise.
"""

from collections.abc import Sequence
from typing import Any

from specbench.model.data.datasets import TurnChoice
from specbench.prompts.dataset.row import Found, Message, Row

EMPTY = "empty prompt"
_ROLES = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "prompter": "user",
    "assistant": "assistant",
    "gpt": "assistant",
    "model": "assistant",
    "bot": "assistant",
    "chatgpt": "assistant",
    "bing": "assistant",
    "bard": "assistant",
    "tool": "tool",
    "function": "function",
    "observation": "tool",
    "ipython": "tool",
}
_QUESTIONS = ("user", "tool", "function")
_ALSO_SENT = ("name", "tool_calls", "tool_call_id", "function_call")
_TEXT_PARTS = ("text", "input_text", "output_text")


class NotUsableError(Exception):
    """Why a list of turns makes no request."""


def text_of(content: Any) -> str:
    """The text of a message's content, which is text or a list of parts.

    Raises:
        NotUsableError: a part is no text.
    """
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        raise NotUsableError("a turn whose content is neither text nor parts")
    found: list[str] = []
    for part in content:
        if isinstance(part, str):
            found.append(part)
            continue
        kind = part.get("type", "text") if isinstance(part, dict) else type(part).__name__
        keys = ("text", "content") if kind in _TEXT_PARTS else ()
        held = next((part[key] for key in keys if isinstance(part.get(key), str)), None)
        if held is None:
            raise NotUsableError(f"holds more than text (a part of type {str(kind)[:40]})")
        found.append(held)
    return "".join(found)


def requests_in(turns: Sequence[Any], choice: TurnChoice | None, system: str | None = None) -> Found:
    """The requests that a list of turns makes; `system` is a system text that stands beside it.

    Of several requests (`each`) those that cannot be used are left out.
    """
    if choice != "each" and system is None and (plain := _plain(turns)) is not None:
        return plain
    messages: list[Message] = [{"role": "system", "content": system}] if system else []
    for turn in turns:
        try:
            message = _message(turn)
        except NotUsableError as reason:
            # What comes behind the first question of a conversation does not matter to it.
            first = choice == "first" or (choice is None and _answers(turns[-1]))
            if first and any(message["role"] == "user" for message in messages):
                break
            return str(reason)
        messages += [message] if message is not None else []
    ends = [place for place, message in enumerate(messages) if _asks(messages, place)]
    if not ends:
        strange = next((m["role"] for m in messages if m["role"] not in ("system", "user", "assistant")), None)
        return "no user turn" if strange is None else f"a turn of role {strange!r}"
    asked = not _answers(turns[-1])
    if choice == "each":
        rows = [row._replace(turn=turn) for turn, end in enumerate(ends) if (row := _up_to(messages, end)) is not None]
        return rows or EMPTY
    whole = choice == "last" or (choice is None and asked)
    one = _up_to(messages, ends[-1]) if whole else _first(messages)
    return [one] if isinstance(one, Row) else one or EMPTY


def _plain(turns: Sequence[Any]) -> Found | None:
    """The request of one question, with a system text or without, as most of a log are; None for any other list."""
    if not 1 <= len(turns) <= 2 or not all(isinstance(one, dict) and len(one) == 2 for one in turns):
        return None
    roles, texts = [one.get("role") for one in turns], [one.get("content") for one in turns]
    if not all(isinstance(text, str) for text in texts):
        return None
    if roles == ["user"]:
        return [Row(texts[0])] if texts[0].strip() else EMPTY
    if roles == ["system", "user"]:
        return [Row(texts[1], texts[0] or None)] if texts[1].strip() else EMPTY
    return None


def _answers(turn: Any) -> bool:
    """Whether the last turn of a list is an answer."""
    return isinstance(turn, dict) and _ROLES.get(str(turn.get("role", turn.get("from"))).casefold()) == "assistant"


def _message(turn: Any) -> Message | None:
    """The turn as an endpoint takes it; None for one that says nothing and calls nothing."""
    if not isinstance(turn, dict):
        raise NotUsableError("a turn that is no mapping")
    named = str(turn.get("role", turn.get("from")))
    role = _ROLES.get(named) or _ROLES.get(named.casefold())
    if role is None:
        raise NotUsableError(f"a turn of role {named[:40]!r}")
    content = turn.get("content")
    if content is None:
        content = next((turn[key] for key in ("value", "text", "parts") if key in turn), None)
    text = content if isinstance(content, str) else text_of(content)
    if len(turn) == 2 and text:
        return {"role": role, "content": text}
    also = {key: turn[key] for key in _ALSO_SENT if turn.get(key)}
    if role == "assistant" and not text and not also:
        return None
    return {"role": role, "content": text if text or not also else None, **also}


def _asks(messages: Sequence[Message], place: int) -> bool:
    """Whether an answer is due behind this turn: a user's, or the last of the tools' results."""
    role = messages[place]["role"]
    after = messages[place + 1]["role"] if place + 1 < len(messages) else "assistant"
    if role == "user":
        return after == "assistant"
    return role in _QUESTIONS and after == "assistant" and any(message["role"] == "user" for message in messages[:place])


def _up_to(messages: Sequence[Message], end: int) -> Row | None:
    """The request that ends with the turn at `end`, the history before it as it was recorded."""
    sent = messages[: end + 1]
    question = str(sent[-1]["content"] or "")
    if not question.strip():
        return None
    answer = messages[end + 1]["content"] if end + 1 < len(messages) else None
    plain = len(sent) == 1 or (len(sent) == 2 and sent[0]["role"] == "system")
    if plain and all(len(message) == 2 for message in sent):
        return Row(question, sent[0]["content"] if len(sent) == 2 else None, answer=answer)
    return Row(question, messages=tuple(sent), answer=answer)


def _first(messages: Sequence[Message]) -> Row | str | None:
    """The first question of a conversation, with the system text before it; what an answer before it said is left out."""
    place = next((place for place, message in enumerate(messages) if message["role"] not in ("system", "assistant")), 0)
    if messages[place]["role"] != "user":
        return f"a turn of role {messages[place]['role']!r}"
    system = next((message["content"] for message in messages[:place] if message["role"] == "system"), None)
    question = str(messages[place]["content"] or "")
    after = messages[place + 1] if place + 1 < len(messages) else {}
    answer = after.get("content") if after.get("role") == "assistant" else None
    return Row(question, system or None, answer=answer) if question.strip() else None
