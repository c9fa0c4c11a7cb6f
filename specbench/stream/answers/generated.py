"""What a whole stream brought, without its times: text, token ids, tool calls."""

from typing import Any

from specbench.model.answers.kept_pairs import GeneratedAnswer
from specbench.stream.parse_stream import ParsedStream


def generated_of(answer: ParsedStream, tokens: int | None) -> GeneratedAnswer:
    """The whole answer; its token ids only where every content event told some."""
    ids = _whole_numbers(answer.token_ids) if answer.ids and None not in answer.ids else None
    return GeneratedAnswer(
        text=answer.text,
        content="".join(answer.contents),
        finish_reason=answer.finish_reason,
        tool_calls=answer.calls.joined,
        token_ids=ids,
        prompt_token_ids=_whole_numbers(answer.prompt_ids) if answer.prompt_ids else None,
        tokens=len(ids) if ids is not None else tokens or 0,
    )


def _whole_numbers(told: list[Any]) -> tuple[int, ...] | None:
    """These ids; None where one of them is none, as some servers send null."""
    return tuple(told) if all(type(one) is int and one >= 0 for one in told) else None
