"""Pairs of answers on their way to the baseline: what is known of each before it is asked, and what comes back. Pure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from specbench.analysis.answers.comparison import compared, compares_by_ids
from specbench.analysis.answers.token_scores import RequestShape
from specbench.explain.answers import asking_reasons as reasons
from specbench.model.answers.compared_answers import ComparedAnswers
from specbench.model.answers.kept_pairs import KeptPair
from specbench.model.result import PerArm

# Fields by which a request forbids or favours tokens: the best raw token need not be the one that greedy decoding takes.
_LIMITING = (
    *("response_format", "guided_json", "guided_regex", "guided_choice", "guided_grammar", "structured_outputs", "grammar"),
    *("json_schema", "regex", "ebnf", "logit_bias", "min_tokens", "bad_words", "allowed_token_ids", "dry_multiplier"),
)
_PENALTIES = {"presence_penalty": 0.0, "frequency_penalty": 0.0, "repetition_penalty": 1.0, "repeat_penalty": 1.0}
_FREE_CHOICE = (None, "auto", "none")


@dataclass(frozen=True, slots=True)
class AskedPair:
    """Two answers and how they compare; `reason`: why the baseline need not be asked about them, as it could not answer."""

    pair: KeptPair
    compared: ComparedAnswers
    reason: str | None = None

    @property
    def is_greedy(self) -> bool:
        """Whether the request takes the most probable token always."""
        return self.pair.temperature == 0


@dataclass(frozen=True, slots=True)
class Ruled:
    """What the baseline thinks of the pairs, in their order; or, for each question, why it cannot be asked.

    `ruler`: the share of its own greedy tokens that it puts first. `best_log_p`: by place, the best log probability where two
    greedy answers part.
    """

    compared: tuple[ComparedAnswers, ...]
    ruler: float | None = None
    unanswerable: str | None = None
    best_log_p: Mapping[int, float] = field(default_factory=dict)


def asked_pair(pair: KeptPair, marks: PerArm[tuple[str, ...]] | None = None) -> AskedPair:
    """The pair compared, and whether the baseline can say something of it."""
    body = json.loads(pair.body)
    found = replace(compared(pair), marks=marks)
    if pair.temperature == 0 and limits_tokens(body):
        return AskedPair(pair, found, reasons.SHAPED)
    by_ids = found.equal or compares_by_ids(pair.answers)
    unlike = pair.answers.baseline.token_ids and pair.answers.speculative.token_ids and not by_ids
    return AskedPair(pair, found, reasons.OTHER_IDS if pair.temperature == 0 and unlike else None)


def limits_tokens(body: Mapping[str, Any]) -> bool:
    """Whether the request forbids or favours tokens, so that its greedy answer is not that of the raw probabilities."""
    penalised = any(body.get(name, usual) not in (usual, None) for name, usual in _PENALTIES.items())
    plain = body.get("response_format") in (None, {"type": "text"})
    limited = any(body.get(name) not in (None, 0, {}, []) for name in _LIMITING if name != "response_format")
    return penalised or limited or not plain or body.get("tool_choice") not in _FREE_CHOICE


def shape_of(pair: KeptPair) -> RequestShape:
    """How its request shaped the distribution, as the body says it."""
    body = json.loads(pair.body)
    told = {name: body.get(name) for name in ("temperature", "top_p", "top_k")}
    return RequestShape(
        temperature=_number(told["temperature"]) or pair.temperature,
        top_p=_number(told["top_p"]),
        top_k=int(top_k) if (top_k := _number(told["top_k"])) is not None else None,
    )


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
