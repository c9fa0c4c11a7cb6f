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


@dataclass(frozen=True, slots=True, kw_only=True)
class NextTokenRule:
    """How an engine is asked for the token that follows a prompt and the beginning of an answer.

    `by_ids`: the beginning is given as ids of the engine's own tokenizer, and tokens are told by id; else both are text.
    """

    ask: Callable[[str, str, Sequence[int] | str], Question]
    read: Callable[[Any], tuple[tuple[Token, float], ...]]
    by_ids: bool = False


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


def completions_question(model: str, prompt: str, begun: Sequence[int] | str) -> Question:
    """One greedy token behind the prompt and the text that was begun, with OpenAI's `logprobs`."""
    text = prompt + str(begun)
    return "/v1/completions", {"model": model, "prompt": text, "max_tokens": 1, "temperature": 0, "logprobs": FEW_BEST}


def completions_best(answer: Any) -> tuple[tuple[Token, float], ...]:
    """The best tokens by their text, out of OpenAI's `logprobs`; none where there are none."""
    fields = answer if isinstance(answer, dict) else {}
    first = next(iter(objects_in(fields, "choices")), {})
    listed = object_in(first, "logprobs").get("top_logprobs")
    best = listed[0] if isinstance(listed, list) and listed and isinstance(listed[0], dict) else {}
    return ranked(list(best.items()))


COMPLETIONS = Ruler(next_token=NextTokenRule(ask=completions_question, read=completions_best))
"""A server of OpenAI's completions: it continues texts, and tells no probabilities of given ones."""
