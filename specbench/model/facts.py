"""The facts that tell one endpoint from another, and what it means where two arms differ in one: vocabulary, no run needed."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from specbench.model.scenario import ArmName

FactState = Literal["equal", "differs", "accepted", "may differ", "not known"]
Kind = Literal["must_equal", "follows"]

FACTS: dict[str, tuple[Kind, str]] = {
    "model": ("must_equal", "the weights that are served"),
    "revision": ("must_equal", "which version of those weights"),
    "tokenizer": ("must_equal", "the ids that a fixed text becomes"),
    "quantization": ("must_equal", "the format of the weights"),
    "kv_dtype": ("must_equal", "the format of the KV cache"),
    "context_length": ("must_equal", "the longest prompt and answer together, in tokens"),
    "chat_template": ("must_equal", "how messages become a prompt"),
    "engine": ("must_equal", "the kind of engine"),
    "engine_version": ("must_equal", "its version"),
    "sampling_defaults": ("must_equal", "how it samples where a request does not say"),
    "prefix_caching": ("must_equal", "whether prompts that begin alike share work"),
    # Another place is no refusal: the verdict weighs it (an A/A of the two places, or a swap of arms).
    "hardware": ("follows", "what it runs on"),
    "proxy": ("follows", "by which proxy it is reached"),
    "speculation": ("follows", "whether it drafts: the change under test"),
    "speculation_config": ("follows", "how it drafts"),
    "kv_capacity_tokens": ("follows", "how many tokens its KV cache holds"),
    "memory_share": ("follows", "the share of GPU memory it may take"),
    "max_running": ("follows", "how many requests it runs at once"),
    "graph_mode": ("follows", "whether it replays captured graphs"),
}
MUST_EQUAL = tuple(name for name, (kind, _) in FACTS.items() if kind == "must_equal")
NOT_FOR_FREE = ("graph_mode", "max_running", "memory_share")  # may differ, and may be what the figures come from


@dataclass(frozen=True, slots=True)
class FactPair:
    """One fact of both arms, None where it is neither told nor declared, and what its two values mean."""

    name: str
    baseline: str | None
    speculative: str | None
    state: FactState


def compare(baseline: Mapping[str, str], speculative: Mapping[str, str], accepted: Collection[str] = ()) -> tuple[FactPair, ...]:
    """Every fact of both arms: those of FACTS in their order, then those of the user's own naming.

    Args:
        accepted: Names of facts whose difference the scenario accepts.
    """
    names = [*FACTS, *sorted({*baseline, *speculative} - FACTS.keys())]
    values = [(name, baseline.get(name), speculative.get(name)) for name in names]
    return tuple(FactPair(*value, fact_state(*value, accepted)) for value in values)


def same_fact(one: str, other: str) -> bool:
    """Whether two values are one, as 0.9 and 0.90 are."""
    try:
        return float(one) == float(other)
    except ValueError:
        return one == other


def fact_state(name: str, baseline: str | None, speculative: str | None, accepted: Collection[str]) -> FactState:
    """What a fact's two values mean: 'differs' refuses the comparison, 'accepted' would, had the scenario not named it.

    A fact of the user's own naming is a remark about an arm: shown, not judged.
    """
    if name not in MUST_EQUAL:
        return "may differ"
    if baseline is None or speculative is None:
        return "not known"
    if baseline == speculative:
        return "equal"
    return "accepted" if name in accepted else "differs"


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedPrompt:
    """The time to first token of one prompt that an arm was asked twice before load, and again."""

    arm: ArmName
    first_ns: int
    again_ns: int
