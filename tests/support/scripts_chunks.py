"""Scripts of what events say: which of them hold tokens, how many, and how an answer ends, or does not."""

from typing import Any

from tests.support.scripts import DONE, ROLE, STEP_MS, Script, Write, counts, delta, ended, event, one_by_one, said

PINGS = 60
PING_MS = 100.0


def _reasoning() -> Script:
    thoughts = [Write(event(delta(reasoning_content=letter)), (1,)) for letter in "abc"]
    return Script(writes=(*thoughts, *one_by_one("de"), Write(ended(5))))


def _running(*tokens: int) -> tuple[Write, ...]:
    """Events of so many tokens each, with the count so far."""
    return tuple(
        Write(said("x " * count, usage=sum(tokens[: place + 1])), (count,), after_ms=2 * STEP_MS)
        for place, count in enumerate(tokens)
    )


def _running_usage() -> Script:
    """The count begins at 0 with the role, and is told once more at the end."""
    opening = event(delta(role="assistant", content="", usage=0))
    return Script(writes=(Write(opening, after_ms=2.0), *_running(1, 3, 1, 4), Write(ended(9))))


def _late_usage() -> Script:
    last = event(delta(finish="stop"))
    usage = event({"choices": [], "usage": counts(3)})
    return Script(
        writes=(*one_by_one("abc"), Write(last, after_ms=1.0), Write(usage, after_ms=4 * STEP_MS), Write(DONE, after_ms=1.0))
    )


def _usage(usage: dict[str, int] | None, told: bool = True) -> Script:
    """Three events of several words, and a usage that says nothing, or none."""
    extra: dict[str, Any] = {"usage": usage} if told else {}
    pieces = [Write(event(delta(content=text) | extra), (1,)) for text in ("one two three", " four five", " six seven")]
    return Script(writes=(*pieces, Write(event(delta(finish="stop") | extra) + DONE)))


def _silent_tokens() -> Script:
    """Two tokens are bytes of a character that the third makes whole."""
    texts = ("", "", "日")
    pieces = [Write(said(text, usage=place + 1), (1,)) for place, text in enumerate(texts)]
    return Script(writes=(*pieces, Write(ended(3))))


def _error_in_stream() -> Script:
    error = event({"error": {"message": "engine stopped", "code": 500}})
    return Script(writes=(*one_by_one("ab"), Write(error + DONE)))


def _stall() -> Script:
    return Script(writes=(*one_by_one("ab"), *(Write(b": ping\n\n", after_ms=PING_MS) for _ in range(PINGS))), stays_open=True)


def _tool_calls() -> Script:
    def call(**function: str) -> bytes:
        return event(delta(tool_calls=[{"index": 0, "function": function}]))

    named = Write(call(name="lookup", arguments=""), (1,))
    parts = [Write(call(arguments=text), (count,)) for text, count in (('{"c', 3), ('ity":', 3), ('"X"}', 2))]
    return Script(writes=(named, *parts, Write(ended(9, "tool_calls"))))


CHUNKS: dict[str, Script] = {
    "role_first": Script(
        writes=(Write(ROLE, after_ms=2.0), Write(said("Hi"), (1,), after_ms=3 * STEP_MS), *one_by_one("!"), Write(ended(2)))
    ),
    "reasoning": _reasoning(),
    "several_tokens": Script(writes=(*_running(1, 4, 3, 4), Write(ended(12)))),
    "many_at_first": Script(writes=(*_running(4, 4, 4, 4), Write(ended(16)))),
    "late_usage": _late_usage(),
    "running_usage": _running_usage(),
    "no_usage": _usage(None, told=False),
    "null_usage": _usage(None),
    "zero_usage": _usage(counts(0)),
    "silent_tokens": _silent_tokens(),
    "error_in_stream": _error_in_stream(),
    "one_token": Script(writes=(*one_by_one("Y"), Write(ended(1)))),
    "no_token": Script(writes=(Write(ROLE), Write(ended(0)))),
    "stall": _stall(),
    "short_answer": Script(writes=(*one_by_one("abcd"), Write(ended(4)))),
    "tool_calls": _tool_calls(),
    "early_end": Script(writes=one_by_one("ab")),
}
