"""The sentences of integrity checks: what was seen, what is allowed, and what to do where that was exceeded.

Values in, text out. Whether a check holds may not be decided here; `ok` says so, and is not True where something must be done.
"""

from collections.abc import Mapping, Sequence

from specbench.explain.brief.changes import compared
from specbench.explain.labels import SPECULATION_FLAGS
from specbench.explain.numbers import figure, percentage
from specbench.explain.phrases import place_of
from specbench.model.records import Cell
from specbench.model.result import PerArm
from specbench.model.scenario import ARMS, ArmName

FEWER_STREAMS = "Run fewer streams per process, or more processes"
_EXCESSES = {"looping": "answers that loop", "truncated": "truncated answers", "empty": "empty answers"}


def steady(place: str, arm: ArmName, change: float | None, limit: float, ok: bool | None) -> str:
    """How the time per token moved inside blocks; `change` is a fraction."""
    if ok is None or change is None:
        return f"{place}, the {arm} arm has too few long blocks to check that it is steady."
    moved = (
        f"{place}, the {arm} arm's time per token changed by {figure(100 * change)} % from a block's first half"
        f" to its second (limit {figure(100 * limit)} %)."
    )
    return moved + ("" if ok else " It was not steady. Lengthen the ramp of blocks (matrix.block).")


def arms_equal(facts: PerArm[dict[str, str]] | None, states: Mapping[str, str], fields: Sequence[str] = ()) -> str:
    """Whether the arms are alike, by the state of each fact that must be equal, and the fields of requests that are not."""
    if facts is None:
        return "The arms are not compared: what the endpoints report was not recorded."
    unequal, agreed = ([name for name, state in states.items() if state == wanted] for wanted in ("differs", "accepted"))
    differing = [f"{name} is {facts.baseline[name]} and {facts.speculative[name]}" for name in unequal]
    differing += [f"their requests differ in {', '.join(fields)}"] if fields else []
    if differing:
        named = "; ".join(differing)
        return f"The arms differ in more than speculation: {named}. Make them equal, or list it in accept_differences."
    alike = sum(state == "equal" for state in states.values())
    but = f", except {', '.join(agreed)} (accepted)" if agreed else ""
    return f"The arms are equal in all {alike} facts that both report{but}."


def not_speculating(why: str, engine: str, url: str | None, launched: bool) -> str:
    """That nothing was drafted in the whole run, and how to change that: by the engine's own option where it has a known one."""
    option = SPECULATION_FLAGS.get(engine) or "its option for speculation"
    if url is not None:
        remedy = f"Start the engine at {url} with {option}. Check it with `specbench doctor {url}`"
    elif launched:
        remedy = f"Start its engine with {option}, in `launch` or by a `speculative:` block"
    else:
        remedy = f"Give it a `speculative:` block, which starts its engine with {option}"
    return f"The speculative arm does not speculate: {why}. {remedy}."


def setting_in_effect(cell: Cell, depth: int, value: float | None, ok: bool | None) -> str:
    """How deep the speculative arm drafts, where its table by batch size says `depth`; where that is 0, in how many steps."""
    if value is None:
        return f"{place_of(cell)}, nothing tells whether the table by batch size is in effect (depth {depth})."
    found = f"drafts in {figure(100 * value)} % of its steps" if depth == 0 else f"drafts {figure(value)} tokens a round"
    message = f"{place_of(cell)}, the speculative arm {found}; the table by batch size says {depth}."
    if ok:
        return message
    return f"{message} The table is not in effect. Check the engine's log: data parallelism drops it, and so may its version."


def repeated_prompts(counts: PerArm[tuple[int, int]], sooner: float, ok: bool | None, accepted: bool) -> str:
    """How many of the prompts that were asked twice had their first token much sooner the second time, in each arm."""
    had = " and ".join(f"{counts.of(arm)[0]} of {counts.of(arm)[1]} in the {arm} arm" for arm in ARMS)
    message = f"Repeated prompts with a first token in at most {figure(sooner)} of the first time: {had}."
    if ok is None:
        return f"{message} This does not show whether both arms cache prompts."
    if ok:
        return f"{message} Both arms cache prompts, or neither does."
    if accepted:
        return f"{message} Only one arm caches prompts, which is accepted (prefix_caching)."
    return (
        f"{message} Only one arm caches prompts, or a proxy before it does. Set the cache equal in both arms,"
        " or accept it (accept_differences: [prefix_caching])."
    )


def not_declared(silent: Sequence[str]) -> str:
    """The facts that an endpoint did not report."""
    return f"Not compared (not reported, not declared): {', '.join(silent)}."


def counters_whole(cell: Cell, reset: int, told: int) -> str:
    """In how many of the blocks that tell counters these were reset."""
    if not told:
        return f"{place_of(cell)}, the engines report no counters."
    message = f"{place_of(cell)}, counters were reset in {reset} of {told} blocks (limit 0)."
    return message + (" The engine restarted under load, or several replicas answer at its metrics URL." if reset else "")


def foreign_traffic(cell: Cell, worst: float | None, allowed: float, ok: bool | None) -> str:
    """Which share of what an engine generated this run did not ask for."""
    if worst is None:
        return f"{place_of(cell)}, the engines do not report their generated tokens."
    return (
        f"{place_of(cell)}, {percentage(max(worst, 0.0))} of the generated tokens are not of this run"
        f" (limit {percentage(allowed)}).{'' if ok else ' Keep other traffic away from both endpoints.'}"
    )


def prefix_cache(cell: Cell, rates: PerArm[float | None], allowed: float, ok: bool | None) -> str:
    """How much of the prompts each arm found in a cache."""
    if rates.baseline is None or rates.speculative is None:
        return f"{place_of(cell)}, the engines do not report prefix cache hits."
    return (
        f"{place_of(cell)}, prefix cache hits are {percentage(rates.baseline)} in the baseline,"
        f" {percentage(rates.speculative)} with speculation (limit {percentage(allowed)} apart)."
        f"{'' if ok else ' Salt the prompts, reset the caches, or alternate the arms.'}"
    )


def speculation(cell: Cell, arm: ArmName, drafting: Sequence[bool], wanted: bool, off_by_schedule: bool) -> str:
    """In how many of the blocks that report drafts the arm drafted, and in how many the scenario declares it."""
    if not drafting:
        return f"{place_of(cell)}, the {arm} engine does not report draft counts."
    rule = "all" if wanted else "none"
    if off_by_schedule:
        rule = "any number, as the declared schedule switches it off here"
    return f"{place_of(cell)}, the {arm} arm drafted throughout {sum(drafting)} of {len(drafting)} blocks (expected: {rule})."


def no_gaps(cell: Cell, arms: Sequence[ArmName]) -> str:
    """That nothing of these arms could have been read together."""
    return (
        f"{place_of(cell)}, no gap of the {' and of the '.join(arms)} arm lies inside the steady window,"
        " so untimed gaps were not counted."
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
        FEWER_STREAMS if at_once is None else f"Set its stream interval to 1, or turn buffering off: {several_at_once(at_once)}"
    )
    untimed = "no gap" if share is None else f"{percentage(share)} of the {worse} arm's gaps"
    return (
        f"{place_of(cell)}, {untimed} and {count} of the {hit} arm's first tokens have no time of their own"
        f" (limit {percentage(allowed[0])} and {allowed[1]}). The client read events together.{'' if ok else f' {remedy}.'}"
    )


def several_at_once(events: int) -> str:
    """That an endpoint writes so many events in one go."""
    return f"the endpoint always sends {events} events at once, which more processes do not separate"


def reads_in_time(cell: Cell, lag_ms: float | None) -> str:
    """How late the client read."""
    if lag_ms is None:
        return f"{place_of(cell)}, timestamps are of reading, not of arrival, so read lag is unknown."
    return f"{place_of(cell)}, read lag p99 is {figure(lag_ms)} ms; timestamps are taken on arrival."


def sends_in_time(cell: Cell, seen_ms: tuple[float, float] | None, allowed_ms: tuple[float, float], ok: bool | None) -> str:
    """How late requests left: on average over the blocks, and in the latest block."""
    if seen_ms is None:
        return f"{place_of(cell)}, send delay was not measured."
    return (
        f"{place_of(cell)}, send delay p95 is {figure(seen_ms[0])} ms, mean over blocks (limit {figure(allowed_ms[0])} ms),"
        f" and {figure(seen_ms[1])} ms in the worst block (limit {figure(allowed_ms[1])} ms).{'' if ok else f' {FEWER_STREAMS}.'}"
    )


def machine_free(cell: Cell, busy: float | None, lag_ms: float | None, events: float | None) -> str:
    """How busy the machine and the client's loop were, as far as it is known."""
    known = [
        f"machine CPU {percentage(busy)} busy" if busy is not None else "",
        f"event loop delay p99 {figure(lag_ms)} ms" if lag_ms is not None else "",
        f"{figure(events)} events a read" if events is not None else "",
    ]
    said = "; ".join(each for each in known if each) or "the load of the client's machine was not measured"
    return f"{place_of(cell)}, {said}{' (worst block of each)' if any(known) else ''}."


def cpu_free(cell: Cell, share: float | None, allowed: float, ok: bool | None) -> str:
    """How busy the client's core was."""
    if share is None:
        return f"{place_of(cell)}, client CPU was not measured."
    return (
        f"{place_of(cell)}, the client's core was {percentage(share)} busy"
        f" (limit {percentage(allowed)}).{'' if ok else f' {FEWER_STREAMS}.'}"
    )


def concurrency_held(cell: Cell, held: float | None, stuck: float, allowed: float, ok: bool | None) -> str:
    """How many requests were in flight in the emptiest block, and how many streams were stuck there."""
    if held is None:
        return f"{place_of(cell)}, requests in flight were not held constant, or not measured."
    beside = f" and {figure(stuck)} streams hung" if stuck else ""
    return (
        f"{place_of(cell)}, {figure(held)} requests were in flight on average in the emptiest block{beside}"
        f" (limit ≥ {figure(allowed)}).{'' if ok else ' The client did not keep up the load.'}"
    )


def clock_steady(cell: Cell, steps: int, allowed: float, ok: bool) -> str:
    """How often the machine's clock was set."""
    message = f"{place_of(cell)}, the machine's clock was set during {steps} answers (limit {percentage(allowed)} of them)."
    return message + ("" if ok else " Stop the time service that steps it, then run again.")


def same_prompts(cell: Cell, unlike: int, refused: int, common: int) -> str:
    """How many of the prompts put to both arms were put in other terms, or were too long for one arm alone."""
    if not common:
        return f"{place_of(cell)}, no prompt went to both arms."
    return (
        f"{place_of(cell)}, {unlike} of {common} prompts differed between the arms in bin, sampling or token limit,"
        f" and {refused} were too long for one arm only (limit 0)."
    )


def prompt_tokens(cell: Cell, ratio: float, allowed: float, ok: bool) -> str:
    """How the endpoints count the tokens of the same prompts."""
    return (
        f"{place_of(cell)}, prompt tokens are {compared(ratio)} for the same prompts"
        f" (limit ±{percentage(allowed)}).{'' if ok else ' The tokenizer or the chat template differs.'}"
    )


def excess(cell: Cell, name: str, shares: PerArm[float] | None, allowed: float, ok: bool | None) -> str:
    """The shares of answers that looped, broke off or were empty."""
    if shares is None:
        return f"{place_of(cell)}, no pair has answers of both arms."
    with_it, without = percentage(shares.speculative), percentage(shares.baseline)
    return (
        f"{place_of(cell)}, {_EXCESSES[name]}: {with_it} with speculation, {without} without"
        f" (limit {percentage(allowed)} apart, beyond chance).{'' if ok else ' The arms did different work.'}"
    )


def pairs_present(cell: Cell, measured: int, planned: int, allowed: float) -> str:
    """How many pairs of blocks were measured."""
    return f"{place_of(cell)}, {measured} of {planned} planned pairs were measured (limit ≥ {percentage(allowed)})."
