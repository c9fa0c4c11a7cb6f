"""The sentences of integrity checks: what was seen, what is allowed, and what to do where that was exceeded.

Values in, text out. Whether a check holds may not be decided here; `ok` says so, and is not True where something must be done.
"""

from collections.abc import Mapping, Sequence

from specbench.explain.labels import SPECULATION_FLAGS
from specbench.explain.numbers import figure, percentage
from specbench.explain.phrases import place_of
from specbench.model.records import Cell
from specbench.model.result import PerArm
from specbench.model.scenario import ARMS, ArmName

FEWER_STREAMS = "run fewer streams per process or more processes"
_EXCESSES = {"looping": "ran in a loop", "truncated": "broke off", "empty": "were empty"}


def steady(place: str, arm: ArmName, change: float | None, limit: float, ok: bool | None) -> str:
    """How the time per token moved inside blocks; `change` is a fraction."""
    if ok is None or change is None:
        return f"{place} the {arm} arm ran too few blocks that are long enough to tell whether it was steady."
    moved = (
        f"{place} the time per token of the {arm} arm changed by {figure(100 * change)} % from the first half"
        f" of a block to the second (allowed: {figure(100 * limit)} %)"
    )
    return moved + ("." if ok else ", so it was not in a steady state: let blocks warm up longer (matrix.block).")


def arms_equal(facts: PerArm[dict[str, str]] | None, states: Mapping[str, str], fields: Sequence[str] = ()) -> str:
    """Whether the arms are alike, by the state of each fact that must be equal, and the fields of requests that are not."""
    if facts is None:
        return "What the endpoints say of themselves was not recorded, so it is not known whether the arms are alike."
    unequal, agreed = ([name for name, state in states.items() if state == wanted] for wanted in ("differs", "accepted"))
    differing = [f"{name} is {facts.baseline[name]} and {facts.speculative[name]}" for name in unequal]
    differing += [f"their requests differ in {', '.join(fields)}"] if fields else []
    if differing:
        named = "; ".join(differing)
        return f"The arms differ in more than speculation: {named}; make them equal, or accept it by name (accept_differences)."
    alike = sum(state == "equal" for state in states.values())
    but = f", but for {', '.join(agreed)}, whose difference was accepted" if agreed else ""
    return f"The arms are alike in every fact that both of them tell ({alike}){but}."


def not_speculating(why: str, engine: str, url: str | None, launched: bool) -> str:
    """That nothing was drafted in the whole run, and how to change that: by the engine's own option where it has a known one."""
    option = SPECULATION_FLAGS.get(engine) or "its option for speculation"
    if url is not None:
        remedy = f"start the engine at {url} with {option}, and see by `specbench doctor {url}` what it sends"
    elif launched:
        remedy = f"start its engine with {option}, in launch or by a `speculative:` block"
    else:
        remedy = f"give it a `speculative:` block, which starts its engine with {option}"
    return f"The speculative arm does not speculate ({why}): {remedy}."


def repeated_prompts(counts: PerArm[tuple[int, int]], sooner: float, ok: bool | None, accepted: bool) -> str:
    """How many of the prompts that were asked twice had their first token much sooner the second time, in each arm."""
    had = " and ".join(f"{counts.of(arm)[0]} of {counts.of(arm)[1]} in the {arm} arm" for arm in ARMS)
    asked = "Of the prompts that were asked twice before load"
    message = f"{asked}, the first token took at most {figure(sooner)} times as long again for {had}"
    if ok is None:
        return f"{message}, which does not tell whether both keep prompts in a cache."
    if ok:
        return f"{message}: both keep prompts in a cache, or neither does."
    if accepted:
        return f"{message}: one arm alone keeps prompts in a cache, which was accepted (prefix_caching)."
    return (
        f"{message}: one arm alone keeps prompts, or what is in front of it does. Switch the cache off, or on in both arms, or"
        " accept the difference (accept_differences: [prefix_caching])."
    )


def not_declared(silent: Sequence[str]) -> str:
    """The facts that an endpoint did not tell."""
    return f"Not declared, so not compared: {', '.join(silent)}."


def counters_whole(cell: Cell, reset: int, told: int) -> str:
    """In how many of the blocks that tell counters these were reset."""
    if not told:
        return f"{place_of(cell)} the engines tell no counters."
    message = f"{place_of(cell)} counters were reset in {reset} of {told} blocks (allowed: none)"
    return message + (": the engine restarted under load, or its metrics come from several replicas." if reset else ".")


def foreign_traffic(cell: Cell, worst: float | None, allowed: float, ok: bool | None) -> str:
    """Which share of what an engine generated this run did not ask for."""
    if worst is None:
        return f"{place_of(cell)} the engines do not tell what they generated."
    return (
        f"{place_of(cell)} {percentage(max(worst, 0.0))} of the tokens that an engine generated were not asked for by this run"
        f" (allowed: {percentage(allowed)}){'' if ok else ': keep other traffic away from both endpoints'}."
    )


def prefix_cache(cell: Cell, rates: PerArm[float | None], allowed: float, ok: bool | None) -> str:
    """How much of the prompts each arm found in a cache."""
    if rates.baseline is None or rates.speculative is None:
        return f"{place_of(cell)} the engines do not tell how much of the prompts they found in a cache."
    return (
        f"{place_of(cell)} {percentage(rates.baseline)} of the prompt tokens came from a cache in the baseline and"
        f" {percentage(rates.speculative)} with speculation (allowed: {percentage(allowed)} apart)"
        f"{'' if ok else ': salt the prompts, reset the caches, or alternate the arms'}."
    )


def speculation(cell: Cell, arm: ArmName, drafting: Sequence[bool], wanted: bool, off_by_schedule: bool) -> str:
    """In which of the blocks that tell it the arm drafted, and in which it should have; in any, where a schedule says off."""
    if not drafting:
        return f"{place_of(cell)} the {arm} engine does not tell its drafts."
    rule = "in all of them, as the scenario declares a method" if wanted else "in none, as the scenario declares no method"
    if off_by_schedule:
        rule = "anything, as the scenario declares that its schedule switches speculation off here"
    return f"{place_of(cell)} the {arm} arm drafted throughout {sum(drafting)} of {len(drafting)} blocks (expected: {rule})."


def no_gaps(cell: Cell, arms: Sequence[ArmName]) -> str:
    """That nothing of these arms could have been read together."""
    return (
        f"{place_of(cell)} no gap of the {' and of the '.join(arms)} arm lies inside the steady window,"
        " so it is not known how many could not be timed."
    )


def events_apart(
    cell: Cell,
    gaps: tuple[ArmName, float | None],
    firsts: tuple[ArmName, int],
    allowed: tuple[float, int],
    ok: bool,
    at_once: int | None,
) -> str:
    """The share of gaps and the number of first tokens without a time, each of the arm that has more.

    Args:
        at_once: how many events that arm's endpoint always writes in one go, None where it does not.
    """
    (worse, share), (hit, count) = gaps, firsts
    remedy = (
        FEWER_STREAMS if at_once is None else f"{several_at_once(at_once)}; set its stream interval to 1, or turn buffering off"
    )
    untimed = "no gap" if share is None else f"{percentage(share)} of the {worse} arm's gaps"
    return (
        f"{place_of(cell)} {untimed} and {count} of the {hit} arm's first"
        f" tokens could not be timed, as the client read events together (allowed: {percentage(allowed[0])} and {allowed[1]})"
        f"{'' if ok else ': ' + remedy}."
    )


def several_at_once(events: int) -> str:
    """That an endpoint writes so many events in one go."""
    return f"the endpoint sends {events} events at once, always as many, which no number of processes tells apart"


def reads_in_time(cell: Cell, lag_ms: float | None) -> str:
    """How late the client read."""
    if lag_ms is None:
        return f"{place_of(cell)} stamps were taken on reading, not on arrival, so it is not known how late the client read."
    return f"{place_of(cell)} 1 in 100 reads came {figure(lag_ms)} ms or more after the data, stamped on arrival."


def sends_in_time(cell: Cell, seen_ms: tuple[float, float] | None, allowed_ms: tuple[float, float], ok: bool | None) -> str:
    """How late requests left: on average over the blocks, and in the latest block."""
    if seen_ms is None:
        return f"{place_of(cell)} it is not known how late requests were sent."
    return (
        f"{place_of(cell)} 1 in 20 requests left {figure(seen_ms[0])} ms or more after its time on average over the blocks,"
        f" {figure(seen_ms[1])} ms in the latest block (allowed: {figure(allowed_ms[0])} and {figure(allowed_ms[1])} ms)"
        f"{'' if ok else ': ' + FEWER_STREAMS}."
    )


def machine_free(cell: Cell, busy: float | None, lag_ms: float | None, events: float | None) -> str:
    """How busy the machine and the client's loop were, as far as it is known."""
    known = [
        f"the machine's processors were busy {percentage(busy)} of the time" if busy is not None else "",
        f"1 in 100 times the client's loop woke {figure(lag_ms)} ms late or more" if lag_ms is not None else "",
        f"one read brought {figure(events)} events on average" if events is not None else "",
    ]
    said = "; ".join(each for each in known if each) or "it is not known how busy the client's machine was"
    return f"{place_of(cell)} {said}{' (in the worst block of each)' if any(known) else ''}."


def cpu_free(cell: Cell, share: float | None, allowed: float, ok: bool | None) -> str:
    """How busy the client's core was."""
    if share is None:
        return f"{place_of(cell)} the client's CPU was not measured."
    return (
        f"{place_of(cell)} the client's core was busy {percentage(share)} of the time"
        f" (allowed: {percentage(allowed)}){'' if ok else ': ' + FEWER_STREAMS}."
    )


def concurrency_held(cell: Cell, held: float | None, stuck: float, allowed: float, ok: bool | None) -> str:
    """How many requests were in flight in the emptiest block, and how many streams were stuck there."""
    if held is None:
        return f"{place_of(cell)} the number of requests in flight was not held, or not measured."
    beside = f", and {figure(stuck)} streams stuck in requests of which nothing more came," if stuck else ""
    return (
        f"{place_of(cell)} {figure(held)} requests were in flight on average in the emptiest block{beside}"
        f" (allowed: {figure(allowed)} or more){'' if ok else ', so the client did not keep the load up'}."
    )


def clock_steady(cell: Cell, steps: int, allowed: float, ok: bool) -> str:
    """How often the machine's clock was set."""
    message = f"{place_of(cell)} the machine's clock was set during {steps} answers (allowed: {percentage(allowed)} of them)"
    return message + ("." if ok else ": stop what sets it (a time service that steps) and run again.")


def same_prompts(cell: Cell, unlike: int, refused: int, common: int) -> str:
    """How many of the prompts put to both arms were put in other terms, or were too long for one arm alone."""
    if not common:
        return f"{place_of(cell)} no prompt was put to both arms."
    return (
        f"{place_of(cell)} {unlike} of {common} prompts were put to the arms in different terms, and {refused} were too"
        " long for one arm alone (allowed: none)."
    )


def prompt_tokens(cell: Cell, ratio: float, allowed: float, ok: bool) -> str:
    """How the endpoints count the tokens of the same prompts."""
    return (
        f"{place_of(cell)} the speculative endpoint counts {figure(ratio)} times the baseline's tokens in the same"
        f" prompts (allowed: {percentage(allowed)} apart){'' if ok else ': another tokenizer or chat template'}."
    )


def excess(cell: Cell, name: str, shares: PerArm[float] | None, allowed: float, ok: bool | None) -> str:
    """The shares of answers that looped, broke off or were empty."""
    if shares is None:
        return f"{place_of(cell)} no pair has answers of both arms."
    return (
        f"{place_of(cell)} {percentage(shares.speculative)} of the answers {_EXCESSES[name]} with speculation and"
        f" {percentage(shares.baseline)} without"
        f" (allowed: {percentage(allowed)} apart, unless by chance){'' if ok else ', so the arms did different work'}."
    )


def pairs_present(cell: Cell, measured: int, planned: int, allowed: float) -> str:
    """How many pairs of blocks were measured."""
    of = f"{measured} of {planned} planned pairs of blocks were measured"
    return f"{place_of(cell)} {of} (allowed: {percentage(allowed)} or more)."
