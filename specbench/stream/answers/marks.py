"""What is wrong with the form of an answer, each a yes or no, so that nothing of its text need be kept. Pure."""

import re
from collections.abc import Iterator
from functools import lru_cache

from specbench.model.answers.answer_form import MARKS
from specbench.model.answers.kept_pairs import GeneratedAnswer, GeneratedToolCall
from specbench.stream.answers.asked_form import AskedForm
from specbench.stream.answers.json_forms import NotJsonError, fits, json_of
from specbench.stream.answers.scripts import HALF_CHARACTERS, REPLACEMENT, scripts_of

CAPPED = "length"
SPECIAL = re.compile(r"<｜[^\s<>｜]{1,60}｜>|<\|[^\s<>|]{1,60}\|>|\[/?INST\]|</s>|</?tool_call>|</?think>")
"""Tokens of chat templates; a parser takes them out of an answer, or they were never to be in it."""


def marks_of(answer: GeneratedAnswer, form: AskedForm, looping: bool) -> tuple[str, ...]:
    """The marks of an answer that ended well, in the order of `MARKS`.

    Args:
        answer: as it was generated.
        form: what was asked for.
        looping: whether its text ends in a loop.
    """
    found = {
        "looping": looping,
        "foreign": bool(foreign_scripts(answer, form)),
        "special_token": SPECIAL.search(answer.content) is not None,
        "past_stop": any(stop in answer.content for stop in form.stops),
        "bad_json": _is_bad_json(answer, form),
        "bad_tool_call": any(_is_bad_call(call, form) for call in answer.tool_calls),
        "no_tool_call": form.calls and not answer.tool_calls,
        "unfinished": form.natural and answer.finish_reason == CAPPED,
        "invalid": _is_invalid(answer, form),
    }
    return tuple(mark for mark in MARKS if found[mark])


def scripts_in(answer: GeneratedAnswer) -> frozenset[str]:
    """The scripts of the whole answer; the half character at which a limit cut it off is none."""
    return scripts_of(answer.text.rstrip(REPLACEMENT) if answer.finish_reason == CAPPED else answer.text)


def foreign_scripts(answer: GeneratedAnswer, form: AskedForm) -> frozenset[str]:
    """The scripts of the answer that its prompt lacks; of a prompt of token ids nothing is known but lost characters."""
    scripts = scripts_in(answer)
    return scripts & {HALF_CHARACTERS} if form.scripts is None else scripts - form.scripts


def _is_bad_json(answer: GeneratedAnswer, form: AskedForm) -> bool:
    schemas = list(_schemas(form))
    if not schemas or (answer.tool_calls and not answer.content.strip()):
        return False
    try:
        value = json_of(answer.content)
    except NotJsonError:
        return True
    return not all(fits(value, schema) for schema in schemas)


def _schemas(form: AskedForm) -> Iterator[object]:
    """Every schema that the answer must fit; True where it must only be JSON."""
    if form.json:
        yield True if form.schema is None else form.schema
    if form.valid is not None and form.valid.kind != "regex":
        yield True if form.valid.kind == "json" else form.valid.schema


def _is_bad_call(call: GeneratedToolCall, form: AskedForm) -> bool:
    if call.name not in form.tools or form.called not in (None, call.name):
        return True
    schema = form.tools[call.name]
    if schema is None and not call.arguments.strip().startswith("{"):
        return False  # a custom tool takes any text, a function without parameters none
    try:
        arguments = json_of(call.arguments) if call.arguments.strip() else {}
    except NotJsonError:
        return True
    return not isinstance(arguments, dict) or not fits(arguments, schema)


def _is_invalid(answer: GeneratedAnswer, form: AskedForm) -> bool:
    valid = form.valid
    return valid is not None and valid.regex is not None and _compiled(valid.regex).search(answer.content) is None


@lru_cache(maxsize=64)
def _compiled(expression: str) -> "re.Pattern[str]":
    return re.compile(expression)
