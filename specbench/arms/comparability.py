"""Whether two arms may be compared, before any load is sent, and what to know of them besides: refusals and notes."""

from collections.abc import Collection, Mapping, Sequence
from shlex import quote

from specbench.arms.arms import shares_server
from specbench.errors import RefusedError
from specbench.model.facts import FactPair, compare
from specbench.model.records import Endpoint
from specbench.model.request_fields import accepted_fields, differing_fields, refused_fields
from specbench.model.scenario import ARMS, Scenario

ONE_ENDPOINT = (
    "Both arms are one endpoint, and their requests differ. What it reports of speculation holds for the endpoint,"
    " not for an arm."
)
_DESIGNS = {
    "aa": "This run is an A/A: both arms run the baseline, so every difference is noise or the hosts'.",
    "swap": "The arms are swapped: the speculative arm runs where the baseline ran.",
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
        if scenario.design == "plain" and baseline.facts.get("speculation") == "on":
            _refuse_exchanged(baseline, speculative, scenario)
    differing = [
        f"{fact.name} is {fact.baseline} against {fact.speculative}"
        for fact in compare(baseline.facts, speculative.facts, scenario.accept_differences)
        if fact.state == "differs"
    ]
    unlike = refused_fields(scenario)
    if unlike:
        differing.append(f"their requests differ in {', '.join(unlike)}")
    if differing:
        unequal = "; ".join(differing)
        raise RefusedError(
            f"the arms differ in more than speculation: {unequal}; make them equal, or name it in accept_differences"
        )


def fairness_notes(scenario: Scenario, endpoints: Sequence[Endpoint]) -> tuple[str, ...]:
    """What to know of the arms besides a refusal: the design, unknown facts, accepted differences, contradictions, proxies."""
    notes = [_DESIGNS[scenario.design]] if scenario.design != "plain" else []
    if scenario.design == "aa" and scenario.place_runs:
        notes.append(f"An A/A cites no other run, so `place:` was not read ({', '.join(scenario.place_runs)}).")
    if len(endpoints) < len(ARMS):
        return tuple(notes)
    baseline, speculative = endpoints
    accepted = scenario.accept_differences
    facts = compare(baseline.facts, speculative.facts, accepted)
    of_facts = [name for name in accepted if name not in accepted_fields(scenario)]
    notes += [ONE_ENDPOINT] if shares_server(scenario) else comparison_notes(facts, of_facts)
    if (fields := differing_fields(scenario)) and not refused_fields(scenario):
        notes.append(f"Accepted difference between the arms' requests: {', '.join(fields)}")
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
    return (f"arms.{endpoint.arm}: {endpoint.url} is reached by the proxy {proxy}: times include it",)


def comparison_notes(facts: Sequence[FactPair], accepted: Collection[str]) -> list[str]:
    """What to know of two arms' facts besides refusals: what is unknown, who speculates, which differences are accepted."""
    notes: list[str] = []
    unknown = [fact.name for fact in facts if fact.state == "not known"]
    if unknown:
        notes.append(f"Not compared (not reported): {', '.join(unknown)}. Declare them under arms.*.declare")
    baseline, speculative = next((fact.baseline, fact.speculative) for fact in facts if fact.name == "speculation")
    if baseline == speculative and baseline is not None:
        notes.append(f"Speculation is {baseline} in both arms: the run compares only what else differs")
    elif baseline == "on":
        notes.append("The baseline reports that it speculates. Check that the arms are not swapped")
    agreed = [fact for fact in facts if fact.state == "accepted"]
    notes += [
        f"Accepted difference: {fact.name} is {fact.baseline} in the baseline, {fact.speculative} in the speculative arm"
        for fact in agreed
    ]
    idle = sorted({*accepted} - {fact.name for fact in agreed})
    if idle:
        notes.append(f"Accepted differences that do not exist: {', '.join(idle)}")
    return notes


def contradictions(endpoint: Endpoint, declared: Mapping[str, str]) -> tuple[str, ...]:
    """Sentences for what the scenario declares of an arm and the endpoint itself tells otherwise."""
    return tuple(
        f"arms.{endpoint.arm}.declare.{name}: declared {value}, but the endpoint reports {endpoint.facts[name]}"
        for name, value in declared.items()
        if endpoint.sources.get(name) == "read" and endpoint.facts[name] != value
    )


def _refuse_design(endpoint: Endpoint, scenario: Scenario) -> None:
    """Nothing, where the endpoint speculates or not as the design asks, as far as it tells."""
    speculates = endpoint.facts.get("speculation")
    where = f"arms.{endpoint.arm}: {endpoint.url}"
    if scenario.design == "aa" and speculates == "on":
        raise RefusedError(
            f"{where} speculates, but an A/A (--aa) runs the baseline in both arms; serve the baseline there, then run again"
        )
    if scenario.design == "swap" and speculates == ("on" if endpoint.arm == "baseline" else "off"):
        serves = "still speculates" if speculates == "on" else "does not speculate"
        raise RefusedError(
            f"{where} {serves}, but --swap needs the arms exchanged; serve the baseline where speculation was, and speculation"
            " where the baseline was, then run again"
        )


def _refuse_exchanged(baseline: Endpoint, speculative: Endpoint, scenario: Scenario) -> None:
    """Nothing, where the speculative arm speculates too, as the baseline says that it does: then methods are compared."""
    if speculative.facts.get("speculation") == "on":
        return
    silent = "speculation" not in speculative.facts
    other = f"{speculative.url} {'does not report it' if silent else 'does not'}"
    methods = 'to compare two methods, declare speculation: "on" in arms.speculative' if silent else ""
    if scenario.baseline.url is None or scenario.speculative.url is None:
        remedy = f"exchange the arms in {scenario.path}, or remove the baseline's speculation"
    else:
        remedy = f"are the arms exchanged? {_exchanged(scenario, scenario.baseline.url, scenario.speculative.url)}"
    raise RefusedError(
        f"arms.baseline: {baseline.url} speculates, and {other}: {'; '.join(part for part in (remedy, methods) if part)}"
    )


def _exchanged(scenario: Scenario, baseline: str, speculative: str) -> str:
    """The command of this run with the URLs in each other's place."""
    flags = iter(scenario.flags)
    kept = [word for flag in flags for word in (flag, next(flags)) if flag not in ("--baseline", "--speculative")]
    words = ["specbench", "run", scenario.path, "--profile", scenario.profile]
    return " ".join(map(quote, (*words, "--baseline", speculative, "--speculative", baseline, *kept)))


def _unknown_speculation(endpoint: Endpoint, scenario: Scenario) -> list[str]:
    if scenario.design == "plain" or "speculation" in endpoint.facts:
        return []
    wanted = "speculates" if (scenario.design, endpoint.arm) == ("swap", "speculative") else "does not speculate"
    return [f"{endpoint.url} does not report whether it speculates. Make sure that it {wanted}: this run depends on it."]
