"""Both endpoints' facts side by side, as strings. Whether a difference forbids a judgement is decided elsewhere."""

from dataclasses import dataclass

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
    """One fact of both endpoints; `state` is 'equal', 'differs', 'may differ' or 'not known', `source` where it was learnt."""

    label: str
    baseline: str
    speculative: str
    state: str
    source: str


def fairness(endpoints: PerArm[EndpointInfo]) -> tuple[FairnessRow, ...]:
    """Where each arm was reached and how it drafts, then every fact: those that must be equal first."""
    from specbench.telemetry.facts import FACTS  # only the page needs it, and text formats stay quick without

    base, spec = endpoints.baseline, endpoints.speculative
    rows = (
        FairnessRow(_LABELS["url"], base.url, spec.url, "may differ", "given"),
        FairnessRow("speculation", speculation(base) or "off", speculation(spec) or NOT_TOLD, "may differ", "read"),
    )
    told = {**base.facts, **spec.facts, "model": "", "engine": "", "engine_version": ""}
    kinds = {name: kind for name, (kind, _) in FACTS.items()}
    known = [name for name in FACTS if kinds[name] == "must_equal" or name in told]
    names = [name for name in (*known, *sorted(told.keys() - FACTS.keys())) if name != "speculation"]
    return (*rows, *(_row(name, endpoints, kinds.get(name)) for name in names))


def speculation(arm: EndpointInfo) -> str | None:
    """How the arm drafts, or on or off where that is all it tells; None where it tells nothing."""
    return arm.speculation or arm.facts.get("speculation")


def _row(name: str, endpoints: PerArm[EndpointInfo], kind: str | None) -> FairnessRow:
    arms = (endpoints.baseline, endpoints.speculative)
    left, right = (_value(arm, name) for arm in arms)
    sources = [arm.sources.get(name, "read" if _value(arm, name) else "not declared") for arm in arms]
    state = "equal" if left == right else "differs"
    if kind != "must_equal":
        state = "may differ"
    elif left is None or right is None:
        state = "not known"
    return FairnessRow(
        _LABELS.get(name, name.replace("_", " ")), left or NOT_TOLD, right or NOT_TOLD, state, ", ".join(dict.fromkeys(sources))
    )


def _value(arm: EndpointInfo, name: str) -> str | None:
    fixed = {"model": arm.model, "engine": arm.engine, "engine_version": arm.engine_version}
    return arm.facts.get(name) or fixed.get(name)
