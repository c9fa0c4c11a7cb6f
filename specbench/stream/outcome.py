"""How one request ended, in the words of `Outcome`, with a reason in a sentence. Pure."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from specbench.model.captures import Capture
from specbench.model.records import Outcome
from specbench.stream.parse_stream import ParsedStream

EXCERPT = 200
LONGEST_MESSAGE = 1000  # an engine's own words; what follows is what it was sent
_SAYING = frozenset({"code", "detail", "error", "error_type", "errors", "message", "msg", "reason", "type"})
TOO_LONG_CODES = ("400", "413", "422")
_TOO_LONG = re.compile(r"context[ _](length|size|window)|exceed_context|(prompt|input) is too long", re.IGNORECASE)

WITHOUT_BODY = (204, 205)

FAILED_FINISHES = ("abort", "error", "repetition")
"""Finish reasons of engines that gave up on a request."""


def outcome_of(capture: Capture, answer: ParsedStream) -> tuple[Outcome, str | None]:
    """The outcome of an event stream and why, None where it ended well."""
    if answer.error is not None:
        return _told_error(answer.error)
    if capture.problem is not None and not answer.done:
        return capture.problem, capture.problem_text
    if answer.broken is not None:
        return ("truncated_stream" if answer.cut_short else "protocol_error"), f"an event is not readable: {answer.broken}"
    if not answer.ended:
        return "truncated_stream", "the stream ended without [DONE] and without a finish reason"
    if answer.finish_reason in FAILED_FINISHES:
        return "in_band_error", f"finish reason {answer.finish_reason!r}"
    if answer.choices > 1:
        return "protocol_error", f"{answer.choices} choices came although one was requested; their tokens cannot be separated"
    if not answer.ends:
        unread = f"; text came under a name that is not read ({answer.unread_names})" if answer.unread else ""
        return "empty_output", f"no token came (finish reason {answer.finish_reason!r}){unread}"
    return "ok", None


def succeeded(status: int) -> bool:
    """Whether an answer of this status can be one (RFC 9110, 15.3): any 2xx, but for those that have no body."""
    return 200 <= status < 300 and status not in WITHOUT_BODY


def outcome_of_status(status: int, body: bytes, location: str | None) -> tuple[Outcome, str]:
    """The outcome of an answer whose status says that it failed; `location` is where a redirect points to."""
    if 300 <= status < 400 and location is not None:
        return "http_error", f"HTTP {status}: redirects are not followed under load; use {excerpt(location)}"
    if status in WITHOUT_BODY:
        return "http_error", f"HTTP {status}: an answer without a body"
    text = body.decode("utf-8", "replace")
    return ("prompt_too_long" if _too_long(status, _said_by(text)) else "http_error"), f"HTTP {status}: {excerpt(text)}"


def outcome_of_document(told: Any) -> tuple[Outcome, str]:
    """The outcome of one JSON document (or of None: another text) where a stream was asked for."""
    if isinstance(told, dict) and told.get("error"):
        return _told_error(told["error"])
    if isinstance(told, dict) and told.get("object") == "error":
        return _told_error(told)
    return "not_streamed", "the whole answer came as one document although a stream was requested"


def excerpt(text: str) -> str:
    """The beginning of a text, in one line."""
    flat = " ".join(text.split())
    return flat if len(flat) <= EXCERPT else flat[:EXCERPT] + "…"


def _told_error(error: Any) -> tuple[Outcome, str]:
    """An error object of any engine: `code` or `http_status_code`, `message`, or a bare text."""
    if not isinstance(error, dict):
        return ("prompt_too_long" if _too_long(None, _said(error)) else "in_band_error"), excerpt(_words(error))
    code = error.get("code", error.get("http_status_code"))
    message = _words(error.get("message") or error)
    too_long = _too_long(code, _said(error))
    reason = excerpt(message) if code is None else f"{excerpt(_words(code))}: {excerpt(message)}"
    return ("prompt_too_long" if too_long else "in_band_error"), reason


def _too_long(code: Any, texts: Iterable[str]) -> bool:
    """Whether one of these texts says that the prompt does not fit, and a code that is a number, also as text, allows it."""
    is_word = code is None or (isinstance(code, str) and not code.isdecimal())
    return (is_word or _words(code) in TOO_LONG_CODES) and any(_TOO_LONG.search(text[:LONGEST_MESSAGE]) for text in texts)


def _said_by(body: str) -> Iterable[str]:
    """What the body of a refusal says; of a text that is no JSON the beginning, as it may go on to repeat the prompt."""
    try:
        return _said(msgspec.json.decode(body))
    except (msgspec.DecodeError, RecursionError):
        return (excerpt(body),)


def _said(error: Any, depth: int = 8) -> Iterator[str]:
    """The words of an error's own fields, a few levels deep: not those of a prompt that it repeats (`input`, as FastAPI does)."""
    if isinstance(error, str):
        yield error
    inner = (
        error if isinstance(error, list) else [error[name] for name in _SAYING & error.keys()] if isinstance(error, dict) else ()
    )
    for one in inner if depth else ():
        yield from _said(one, depth - 1)


def _words(told: Any) -> str:
    """A value as text; what is nested too deep for that is said to be."""
    try:
        return str(told)
    except RecursionError:
        return "an error nested too deep to be shown"
