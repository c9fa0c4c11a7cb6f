"""Whether two arms may be compared, before any load is sent, and what to know of them besides: refusals and notes."""

from collections.abc import Collection, Mapping, Sequence

from specbench.arms.arms import shares_server
from specbench.errors import RefusedError
from specbench.model.facts import FactPair, compare
from specbench.model.records import Endpoint
from specbench.model.scenario import ARMS, Scenario

ONE_ENDPOINT = (
    "Both arms are one endpoint, told apart by what their requests ask for: what it says of its speculation holds for the"
    " endpoint, not for an arm."
)
_DESIGNS = {
    "aa": "This run is an A/A: both arms run what the baseline runs, so whatever differs is noise or their places.",
    "swap": "The arms stand in each other's place: the speculative arm runs where the baseline ran.",
}


def check_comparable(endpoints: Sequence[Endpoint], scenario: Scenario) -> None:
    """Nothing, where the arms differ in nothing but what the scenario and its design put under test.

    Raises:
        RefusedError: they differ in more, an arm of an A/A speculates, or swapped arms still stand where they stood.
    """
    baseline, speculative = endpoints
    if not shares_server(scenario):  # one endpoint says that it can speculate, not which arm's requests ask for it
        for endpoint in endpoints:
            _refuse_design(endpoint, scenario)
    differing = [
        f"{fact.name} is {fact.baseline} against {fact.speculative}"
        for fact in compare(baseline.facts, speculative.facts, scenario.accept_differences)
        if fact.state == "differs"
    ]
    if differing:
        unequal = "; ".join(differing)
        raise RefusedError(
            f"the arms differ in more than speculation: {unequal}; make them equal, or name it in accept_differences"
        )


def fairness_notes(scenario: Scenario, endpoints: Sequence[Endpoint]) -> tuple[str, ...]:
    """What to know of the arms besides a refusal: the design, unknown facts, accepted differences, contradictions, proxies."""
    notes = [_DESIGNS[scenario.design]] if scenario.design != "plain" else []
    if scenario.design == "aa" and scenario.place_runs:
        notes.append(f"An A/A is what other runs cite: what `place:` names was not read ({', '.join(scenario.place_runs)}).")
    if len(endpoints) < len(ARMS):
        return tuple(notes)
    baseline, speculative = endpoints
    accepted = scenario.accept_differences
    facts = compare(baseline.facts, speculative.facts, accepted)
    notes += [ONE_ENDPOINT] if shares_server(scenario) else comparison_notes(facts, accepted)
    for endpoint in endpoints:
        notes += contradictions(endpoint, scenario.arm(endpoint.arm).declare)
        notes += _unknown_speculation(endpoint, scenario)
        notes += proxy_notes(endpoint)
    return tuple(notes)


def proxy_notes(endpoint: Endpoint) -> tuple[str, ...]:
    """A sentence where the arm is reached by a proxy, which may hold a stream back; none where it is reached directly."""
    proxy = endpoint.facts.get("proxy", "none")
    if proxy == "none":
        return ()
    return (f"arms.{endpoint.arm}: {endpoint.url} is reached by the proxy {proxy}: times are those of arrival behind it",)


def comparison_notes(facts: Sequence[FactPair], accepted: Collection[str]) -> list[str]:
    """What to know of two arms' facts besides refusals: what is unknown, who speculates, which differences are accepted."""
    notes: list[str] = []
    unknown = [fact.name for fact in facts if fact.state == "not known"]
    if unknown:
        notes.append(f"Not told by at least one arm, so not compared: {', '.join(unknown)}; declare them in the scenario")
    baseline, speculative = next((fact.baseline, fact.speculative) for fact in facts if fact.name == "speculation")
    if baseline == speculative and baseline is not None:
        notes.append(f"Speculation is {baseline} in both arms: nothing is under test but what else differs")
    elif baseline == "on":
        notes.append("The baseline says that it speculates: are the arms swapped?")
    agreed = [fact for fact in facts if fact.state == "accepted"]
    notes += [
        f"Accepted as different: {fact.name} is {fact.baseline} in the baseline and {fact.speculative} in the speculative arm"
        for fact in agreed
    ]
    idle = sorted({*accepted} - {fact.name for fact in agreed})
    if idle:
        notes.append(f"Accepted differences that do not exist: {', '.join(idle)}")
    return notes


def contradictions(endpoint: Endpoint, declared: Mapping[str, str]) -> tuple[str, ...]:
    """Sentences for what the scenario declares of an arm and the endpoint itself tells otherwise."""
    return tuple(
        f"arms.{endpoint.arm}.declare.{name}: declared {value}, but the endpoint says {endpoint.facts[name]}"
        for name, value in declared.items()
        if endpoint.sources.get(name) == "read" and endpoint.facts[name] != value
    )


def _refuse_design(endpoint: Endpoint, scenario: Scenario) -> None:
    """Nothing, where the endpoint speculates or not as the design asks, as far as it tells."""
    speculates = endpoint.facts.get("speculation")
    where = f"arms.{endpoint.arm}: {endpoint.url}"
    if scenario.design == "aa" and speculates == "on":
        raise RefusedError(
            f"{where} speculates, and in an A/A (--aa) neither arm may: serve there what the baseline serves, and run again"
        )
    if scenario.design == "swap" and speculates == ("on" if endpoint.arm == "baseline" else "off"):
        serves = "still speculates" if speculates == "on" else "does not speculate"
        raise RefusedError(
            f"{where} {serves}, though the arms are to be swapped (--swap): serve the baseline where speculation was, and"
            " speculation where the baseline was, and run again"
        )


def _unknown_speculation(endpoint: Endpoint, scenario: Scenario) -> list[str]:
    if scenario.design == "plain" or "speculation" in endpoint.facts:
        return []
    wanted = "speculates" if (scenario.design, endpoint.arm) == ("swap", "speculative") else "does not speculate"
    return [f"{endpoint.url} does not say whether it speculates: that it {wanted}, as this run needs, is for you to see to."]
