"""How an engine is asked what it thinks of given tokens: the questions of one engine as values, and readers that several share.

Which engine answers which question stands in each engine's own file. Only the baseline is ever asked.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from specbench.model.answers.token_probabilities import Token, TokenProbabilities
from specbench.telemetry.json_fields import object_in, objects_in

BEST = 20  # tokens that are asked for at each place; more than vLLM tells by default
IMPOSSIBLE = -9999
FEW_BEST = 5  # what servers with OpenAI's own limit tell

Question = tuple[str, dict[str, Any]]
"""The path behind the base URL, and the JSON body."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringRule:
    """How an engine scores a whole answer: its prompt's and its own ids in, the probabilities of each of its tokens out.

    `read(answer, ids)` is None where the engine told something else.
    """

    ask: Callable[[str, Sequence[int], Sequence[int]], Question]
    read: Callable[[Any, Sequence[int]], tuple[TokenProbabilities, ...] | None]


@dataclass(frozen=True, slots=True)
class NextToken:
    """One of the tokens that may come next: its text, its log probability, and its id where the engine goes by ids."""

    text: str
    log_p: float
    id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NextTokenRule:
    """How an engine is asked for the token that follows a prompt and the beginning of an answer.

    `pieces`: how its tokenizer is asked for the ids of a text and the text of each; then the beginning is given as ids, and the
    best tokens have theirs. Without it the beginning is text.
    """

    ask: Callable[[str, str, Sequence[int] | str], Question]
    read: Callable[[Any], tuple[NextToken, ...]]
    pieces: Callable[[str], Question] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruler:
    """What can be asked of one engine. `prompt_text`: how a chat becomes the text that can be continued, None where it cannot."""

    scoring: ScoringRule | None = None
    next_token: NextTokenRule | None = None
    prompt_text: Callable[[Mapping[str, Any]], Question] | None = None


def log_probability(value: Any) -> float | None:
    """A log probability as told; None for what is no number, or minus infinity, which vLLM writes as -9999."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value <= IMPOSSIBLE:
        return None
    return float(value)


def ranked(found: Sequence[tuple[Token, Any]]) -> tuple[tuple[Token, float], ...]:
    """The tokens whose log probability is a number, the most probable first; of equal ones the order stays."""
    known = [(token, log_p) for token, told in found if (log_p := log_probability(told)) is not None]
    return tuple(sorted(known, key=lambda one: -one[1]))


def next_tokens(found: Sequence[tuple[str, Any, int | None]]) -> tuple[NextToken, ...]:
    """Tokens of these texts, log probabilities and ids, the most probable first; of those with one text (half a letter) one."""
    known = [NextToken(text, log_p, token) for text, told, token in found if (log_p := log_probability(told)) is not None]
    first: dict[str, NextToken] = {}
    for one in sorted(known, key=lambda one: -one.log_p):
        first.setdefault(one.text, one)
    return tuple(first.values())


def pieces_in(answer: Any) -> tuple[tuple[int, bytes], ...] | None:
    """Ids with their bytes, in what llama.cpp answers to a text to be tokenised with pieces; None where there are none.

    A piece is text, or a list of bytes where it is a part of a character.
    """
    listed = answer.get("tokens") if isinstance(answer, dict) else None
    if not isinstance(listed, list):
        return None
    found = [(one.get("id"), _bytes_of(one.get("piece"))) for one in listed if isinstance(one, dict)]
    known = tuple((token, piece) for token, piece in found if isinstance(token, int) and piece is not None)
    return known if len(known) == len(listed) else None


def _bytes_of(piece: Any) -> bytes | None:
    if isinstance(piece, str):
        return piece.encode(errors="replace")
    if not isinstance(piece, list) or not all(isinstance(one, int) and 0 <= one < 256 for one in piece):
        return None
    return bytes(piece)


def completions_question(model: str, prompt: str, begun: Sequence[int] | str) -> Question:
    """One greedy token behind the prompt and the text that was begun, with OpenAI's `logprobs`."""
    text = prompt + str(begun)
    return "/v1/completions", {"model": model, "prompt": text, "max_tokens": 1, "temperature": 0, "logprobs": FEW_BEST}


def completions_best(answer: Any) -> tuple[NextToken, ...]:
    """The best tokens by their text, out of OpenAI's `logprobs`; none where there are none."""
    fields = answer if isinstance(answer, dict) else {}
    first = next(iter(objects_in(fields, "choices")), {})
    listed = object_in(first, "logprobs").get("top_logprobs")
    best = listed[0] if isinstance(listed, list) and listed and isinstance(listed[0], dict) else {}
    return next_tokens([(text, log_p, None) for text, log_p in best.items()])


COMPLETIONS = Ruler(next_token=NextTokenRule(ask=completions_question, read=completions_best))
"""A server of OpenAI's completions: it continues texts, and tells no probabilities of given ones."""
