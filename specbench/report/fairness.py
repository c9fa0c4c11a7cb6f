"""Both endpoints' facts side by side, as strings. What a difference means is decided by `model/facts.py`."""

from collections.abc import Collection
from dataclasses import dataclass

from specbench.model.facts import FACTS, MUST_EQUAL, fact_state
from specbench.model.judged import EndpointInfo, PerArm

NOT_TOLD = "not told"
_LABELS = {
    "url": "URL",
    "kv_dtype": "KV cache format",
    "kv_capacity_tokens": "KV cache, tokens",
    "memory_share": "GPU memory share",
    "max_running": "requests at once",
}


@dataclass(frozen=True, slots=True)
class FairnessRow:
    """One fact of both endpoints; `state` is what the two values mean, `source` where they were learnt."""

    label: str
    baseline: str
    speculative: str
    state: str
    source: str


def fairness(endpoints: PerArm[EndpointInfo], accepted: Collection[str] = ()) -> tuple[FairnessRow, ...]:
    """Where each arm was reached and how it drafts, then every fact: those that must be equal first.

    Args:
        endpoints: What is known of both.
        accepted: Names of facts whose difference the scenario accepts.
    """
    base, spec = endpoints.baseline, endpoints.speculative
    sources = _joined(_speculation_source(base), _speculation_source(spec))
    rows = (
        FairnessRow(_LABELS["url"], base.url, spec.url, "may differ", "given"),
        FairnessRow("speculation", speculation(base) or NOT_TOLD, speculation(spec) or NOT_TOLD, "may differ", sources),
    )
    told = {**base.facts, **spec.facts, "model": "", "engine": "", "engine_version": ""}
    known = [name for name in FACTS if name in MUST_EQUAL or name in told]
    names = [name for name in (*known, *sorted(told.keys() - FACTS.keys())) if name != "speculation"]
    return (*rows, *(_row(name, endpoints, accepted) for name in names))


def speculation(arm: EndpointInfo) -> str | None:
    """How the arm drafts, or on or off where that is all it tells; None where it tells nothing."""
    return arm.speculation or arm.facts.get("speculation")


def _row(name: str, endpoints: PerArm[EndpointInfo], accepted: Collection[str]) -> FairnessRow:
    arms = (endpoints.baseline, endpoints.speculative)
    left, right = (_value(arm, name) for arm in arms)
    sources = _joined(*(arm.sources.get(name, "read" if _value(arm, name) else "not declared") for arm in arms))
    label = _LABELS.get(name, name.replace("_", " "))
    return FairnessRow(label, left or NOT_TOLD, right or NOT_TOLD, fact_state(name, left, right, accepted), sources)


def _speculation_source(arm: EndpointInfo) -> str:
    """Where it was learnt how the arm drafts: 'given' by the scenario's own `speculative`, else as facts are."""
    if arm.speculation is not None and arm.speculation != arm.facts.get("speculation_config"):
        return "given"
    name = "speculation" if arm.speculation is None else "speculation_config"
    return arm.sources.get(name, "read") if name in arm.facts else "not declared"


def _joined(*sources: str) -> str:
    return ", ".join(dict.fromkeys(sources))


def _value(arm: EndpointInfo, name: str) -> str | None:
    fixed = {"model": arm.model, "engine": arm.engine, "engine_version": arm.engine_version}
    return arm.facts.get(name) or fixed.get(name)
