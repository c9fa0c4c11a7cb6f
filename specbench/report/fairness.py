"""Both endpoints' facts side by side, as strings. Whether a difference forbids a judgement is decided elsewhere."""

from dataclasses import dataclass

from specbench.model.judged import EndpointInfo, PerArm

UNDER_TEST = ("speculation", "url")  # these may differ: one is what is tried, the other where it runs
NOT_TOLD = "not told"


@dataclass(frozen=True, slots=True)
class FairnessRow:
    """One fact of both endpoints; `state` is 'equal', 'differs' or 'under test', `source` where it was learnt."""

    label: str
    baseline: str
    speculative: str
    state: str
    source: str


def fairness(endpoints: PerArm[EndpointInfo]) -> tuple[FairnessRow, ...]:
    """Address, model, engine and every fact that either endpoint told, in a fixed order."""
    base, spec = endpoints.baseline, endpoints.speculative
    fixed = (
        ("url", base.url, spec.url),
        ("model", base.model, spec.model),
        ("engine", base.engine, spec.engine),
        ("engine_version", base.engine_version, spec.engine_version),
        ("speculation", base.speculation or "off", spec.speculation),
    )
    told = [_row(name, left, right, "read") for name, left, right in fixed]
    for name in sorted({*base.facts, *spec.facts}):
        sources = dict.fromkeys(arm.sources.get(name, "not declared") for arm in (base, spec))
        told.append(_row(name, base.facts.get(name), spec.facts.get(name), ", ".join(sources)))
    return tuple(told)


def _row(name: str, baseline: str | None, speculative: str | None, source: str) -> FairnessRow:
    state = "under test" if name in UNDER_TEST else "equal" if baseline == speculative else "differs"
    return FairnessRow(name.replace("_", " "), baseline or NOT_TOLD, speculative or NOT_TOLD, state, source)
