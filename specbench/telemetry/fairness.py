"""Whether two arms differ in nothing but the change under test: what both said, sorted into three lists.

Nothing is fetched here and nobody refused; the caller refuses where `refusals` is not empty.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from specbench.model.facts import FACTS, FactState, fact_state
from specbench.model.seen import Endpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One fact of both arms, None where it is neither told nor declared; a source is "read", "declared" or "not declared"."""

    name: str
    baseline: str | None
    speculative: str | None
    baseline_source: str
    speculative_source: str
    accepted: bool = False

    @property
    def state(self) -> FactState:
        """What the two values mean for the comparison."""
        return fact_state(self.name, self.baseline, self.speculative, (self.name,) if self.accepted else ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Fairness:
    """The facts of two arms in three lists; `warnings` are sentences to show.

    `must_equal`: known of both; a difference refuses the comparison unless it is accepted by name. `follows`: comes from the
    treatment, or is weighed elsewhere: shown, never a failure. `unknown`: should be equal, and at least one arm has no value.
    """

    must_equal: tuple[Fact, ...]
    follows: tuple[Fact, ...]
    unknown: tuple[Fact, ...]
    warnings: tuple[str, ...]

    @property
    def refusals(self) -> tuple[Fact, ...]:
        """The differences that make a comparison unfair."""
        return tuple(fact for fact in self.must_equal if fact.state == "differs")


def differences(baseline: Endpoint, speculative: Endpoint, accepted: Collection[str] = ()) -> Fairness:
    """The facts of both arms, sorted by what a difference would mean.

    Args:
        baseline: What the baseline's endpoint said, or the scenario declared of it.
        speculative: The same of the speculative arm's.
        accepted: Names of facts whose difference the scenario accepts.
    """
    names = [*FACTS, *sorted({*baseline.facts, *speculative.facts} - FACTS.keys())]
    facts = [_fact(name, baseline, speculative, name in accepted) for name in names]
    known = tuple(fact for fact in facts if fact.state in ("equal", "differs", "accepted"))
    unknown = tuple(fact for fact in facts if fact.state == "not known")
    told = [fact for fact in facts if fact.baseline is not None or fact.speculative is not None]
    follows = tuple(fact for fact in told if fact.state == "may differ")
    return Fairness(
        must_equal=known, follows=follows, unknown=unknown, warnings=_warnings(known, follows, unknown, sorted(accepted))
    )


def contradictions(endpoint: Endpoint, declared: Mapping[str, str]) -> tuple[str, ...]:
    """Sentences for what the scenario declares of an arm and the endpoint itself tells otherwise."""
    return tuple(
        f"arms.{endpoint.arm}.declare.{name}: declared {value}, but the endpoint says {endpoint.facts[name]}"
        for name, value in declared.items()
        if endpoint.sources.get(name) == "read" and endpoint.facts[name] != value
    )


def _fact(name: str, baseline: Endpoint, speculative: Endpoint, accepted: bool) -> Fact:
    return Fact(
        name=name,
        baseline=baseline.facts.get(name),
        speculative=speculative.facts.get(name),
        baseline_source=baseline.sources.get(name, "not declared"),
        speculative_source=speculative.sources.get(name, "not declared"),
        accepted=accepted,
    )


def _warnings(
    known: tuple[Fact, ...], follows: tuple[Fact, ...], unknown: tuple[Fact, ...], accepted: list[str]
) -> tuple[str, ...]:
    warnings: list[str] = []
    if unknown:
        names = ", ".join(fact.name for fact in unknown)
        warnings.append(f"Not told by at least one arm, so not compared: {names}; declare them in the scenario")
    speculation = next((fact for fact in follows if fact.name == "speculation"), None)
    if speculation is not None and speculation.baseline == speculation.speculative:
        warnings.append(f"Speculation is {speculation.baseline} in both arms: nothing is under test but what else differs")
    elif speculation is not None and speculation.baseline == "on":
        warnings.append("The baseline says that it speculates: are the arms swapped?")
    warnings += [
        f"Accepted as different: {fact.name} is {fact.baseline} in the baseline and {fact.speculative} in the speculative arm"
        for fact in known
        if fact.state == "accepted"
    ]
    idle = [name for name in accepted if not any(fact.name == name and fact.state == "accepted" for fact in known)]
    if idle:
        warnings.append(f"Accepted differences that do not exist: {', '.join(idle)}")
    return tuple(warnings)
