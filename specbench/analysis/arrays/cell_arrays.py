"""The facts of one arm in one cell as arrays, so that a million gaps are handled at the speed of numpy.

No metric is computed here: this module only lays records out, in the order of their pair, block and index.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import numpy as np

from specbench.analysis.arrays.events import Bools, Events, Ints, Steps, events_of, opening_of, steps_of, sum_by_request
from specbench.analysis.arrays.samples import Samples, Totals
from specbench.errors import InternalError
from specbench.model.records import Block, Outcome, RequestRecord
from specbench.units import NS_PER_S

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
# Neither success nor failure of the endpoint: cut by our own clock, our own limits, or work it rightly refused.
SET_ASIDE: frozenset[Outcome] = frozenset({"cut", "client_resource", "prompt_too_long"})
# The answer ended, but not with what was asked; it has no latency to speak of, and it is an error.
WITHOUT_LATENCY: frozenset[Outcome] = frozenset({"empty_output", "not_streamed"})
# Everything else that is not "ok": the answer never came, so that its latency lies beyond every number.
FAILED: frozenset[Outcome] = frozenset(OUTCOMES) - SET_ASIDE - WITHOUT_LATENCY - {"ok"}
NOT_REPORTED = -1
TURNS = ("first turn", "later turns")  # of sessions: parts of a cell that no bin's name can be
PER_REQUEST = (
    *("block", "index", "bin", "sampling", "start_ns", "outcome", "prompt_tokens", "output_tokens", "counted", "turn"),
    *("rounds", "drafted", "accepted", "per_position", "step_count", "step_tokens", "step_gap_ns", "drafts"),
    *("streamed_tokens", "tokens_inside", "opening_tokens"),
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CellArrays:
    """One arm of one cell. A unit is one pair's blocks of this arm, which comparisons take as one observation.

    Requests are in the order of their unit: unit u holds the requests first_request[u] to first_request[u + 1], request i the
    events first_event[i] to first_event[i + 1]. Counts that nobody reported are NOT_REPORTED.
    """

    blocks: tuple[Block, ...]  # by pair and order
    pairs: tuple[int, ...]  # the number of each unit's pair
    whole: bool  # no bin was selected: what the engine counts is ours
    unit: Ints  # (n_blocks,) into `pairs`
    open_ns: Ints  # (n_blocks,) steady window on the clock of the generator; 0 to 0 where it never opened
    close_ns: Ints  # (n_blocks,)
    bins: tuple[str, ...]  # names
    samplings: tuple[str, ...]  # names
    block: Ints  # (n_requests,) into `blocks`
    index: Ints  # (n_requests,) number of the request's prompt in its pair, the same in both arms
    bin: Ints  # (n_requests,) into `bins`
    sampling: Ints  # (n_requests,) into `samplings`
    start_ns: Ints  # (n_requests,) what latency counts from: as scheduled in an open loop, else as sent
    outcome: Ints  # (n_requests,) into OUTCOMES
    prompt_tokens: Ints  # (n_requests,) tokens
    output_tokens: Ints  # (n_requests,) tokens
    counted: Bools  # (n_requests,) False where each event was taken for one token
    turn: Ints  # (n_requests,) of its session, from 0; NOT_REPORTED where prompts stand alone
    rounds: Ints  # (n_requests,) of verification
    drafted: Ints  # (n_requests,) tokens
    accepted: Ints  # (n_requests,) tokens
    per_position: Ints  # (n_requests, n_positions) rounds that accepted it; 0 where not told
    step_count: Ints  # (n_requests,) steps inside the window
    step_tokens: Ints  # (n_requests,) tokens
    step_gap_ns: Ints  # (n_requests,) sum of the times between steps
    streamed_tokens: Ints  # (n_requests,) tokens of all its events
    tokens_inside: Ints  # (n_requests,) tokens of its events inside the window
    opening_tokens: Ints  # (n_requests,) tokens of its first step, and of what shares the first event's stamp
    drafts: Bools  # (n_requests,) whether its stream alone looks as accepted drafts make it
    first_request: Ints  # (n_units + 1,) into requests
    first_event: Ints  # (n_requests + 1,) into events
    events: Events  # every content event
    steps: Steps  # every engine step
    speculates: bool | None = None  # None where nothing says
    stall_after_ns: int = NS_PER_S  # an answer that is silent for longer has stalled
    known: dict[str, Samples | Totals] = field(default_factory=dict, init=False, repr=False)  # by quantity, each worked out once

    def unit_of_requests(self) -> Ints:
        """The unit of each request, (n_requests,); it never falls."""
        return self.unit[self.block]

    def is_outcome(self, outcomes: Iterable[Outcome]) -> Bools:
        """Which requests ended in one of these ways, (n_requests,)."""
        wanted = set(outcomes)
        return np.array([outcome in wanted for outcome in OUTCOMES])[self.outcome]

    def started_inside(self) -> Bools:
        """Which requests began inside their block's steady window, (n_requests,)."""
        return (self.start_ns >= self.open_ns[self.block]) & (self.start_ns < self.close_ns[self.block])


def arrays_of(blocks: Sequence[Block], records: Sequence[RequestRecord], *, speculates: bool | None = None) -> CellArrays:
    """The blocks of one arm in one cell and the records made in them, laid out as arrays.

    Args:
        blocks: Of one arm and one cell, in any order.
        records: Of these blocks, in any order.
        speculates: Whether the scenario or the endpoint says that this arm does, None where neither does.

    Raises:
        InternalError: A record of another block, or one whose event columns differ in length.
    """
    ordered = sorted(blocks, key=lambda block: (block.pair, block.order, block.id))
    place = {block.id: index for index, block in enumerate(ordered)}
    strangers = {record.block for record in records if record.block not in place}
    if strangers:
        raise InternalError(f"analysis: records of block {min(strangers)!r}, which is not among the blocks given with them")
    kept = sorted(records, key=lambda record: (place[record.block], record.index))
    pairs = tuple(sorted({block.pair for block in ordered}))
    windows = [_window(block) for block in ordered]
    bins, bin_codes = _coded([record.bin for record in kept])
    samplings, sampling_codes = _coded([record.sampling for record in kept])
    counts = _ints(len(record.event_ns) for record in kept)
    block = _ints(place[record.block] for record in kept)
    unit = _ints(pairs.index(each.pair) for each in ordered)
    opened, closed = _ints(start for start, _ in windows), _ints(end for _, end in windows)
    events = events_of(kept, opened[block], closed[block])
    first_event = np.concatenate(([0], np.cumsum(counts)))
    steps = steps_of(events)
    whole_steps = steps.request[steps.inside]
    return CellArrays(
        blocks=tuple(ordered),
        pairs=pairs,
        whole=True,
        unit=unit,
        open_ns=opened,
        close_ns=closed,
        bins=bins,
        samplings=samplings,
        block=block,
        index=_ints(record.index for record in kept),
        bin=bin_codes,
        sampling=sampling_codes,
        start_ns=_ints(record.sent_ns if record.scheduled_ns is None else record.scheduled_ns for record in kept),
        outcome=_ints(OUTCOMES.index(record.outcome) for record in kept),
        prompt_tokens=_reported(record.prompt_tokens for record in kept),
        output_tokens=_reported(record.output_tokens for record in kept),
        counted=np.array([record.token_source not in (None, "events") for record in kept], dtype=np.bool_),
        turn=_reported(record.turn for record in kept),
        rounds=_reported(record.acceptance.rounds if record.acceptance else None for record in kept),
        drafted=_reported(record.acceptance.drafted if record.acceptance else None for record in kept),
        accepted=_reported(record.acceptance.accepted if record.acceptance else None for record in kept),
        per_position=_positions(kept),
        step_count=np.bincount(whole_steps, minlength=len(kept)),
        step_tokens=_summed(whole_steps, steps.tokens[steps.inside], len(kept)),
        step_gap_ns=_summed(whole_steps, steps.gap_ns[steps.inside], len(kept)),
        streamed_tokens=sum_by_request(events.tokens, first_event),
        tokens_inside=sum_by_request(np.where(events.inside, events.tokens, 0), first_event),
        opening_tokens=sum_by_request(np.where(opening_of(events, first_event), events.tokens, 0), first_event),
        drafts=np.array([record.grouping == "drafts" for record in kept], dtype=np.bool_),
        first_request=_first_request(unit[block], len(pairs)),
        first_event=first_event,
        events=events,
        steps=steps,
        speculates=speculates,
    )


def select(columns: CellArrays, requests: Bools) -> CellArrays:
    """The same blocks with only these requests, `requests` (n_requests,), and their events."""
    renumbered = np.cumsum(requests) - 1
    kept: dict[str, Any] = {name: getattr(columns, name)[requests] for name in PER_REQUEST}
    return replace(
        columns,
        whole=False,
        first_request=_first_request(columns.unit_of_requests()[requests], len(columns.pairs)),
        first_event=np.concatenate(([0], np.cumsum(np.diff(columns.first_event)[requests]))),
        events=columns.events.of(requests, renumbered),
        steps=columns.steps.of(requests, renumbered),
        **kept,
    )


def select_bin(columns: CellArrays, bin_name: str, sampling: str) -> CellArrays:
    """The same blocks with only the requests of one bin and sampling; no request where neither occurs."""
    wanted = np.zeros(len(columns.block), dtype=np.bool_)
    if bin_name in columns.bins and sampling in columns.samplings:
        wanted = (columns.bin == columns.bins.index(bin_name)) & (columns.sampling == columns.samplings.index(sampling))
    return select(columns, wanted)


def select_turns(columns: CellArrays, name: str) -> CellArrays:
    """The same blocks with only the first turns of sessions, or only the later ones, by the names of `TURNS`."""
    return select(columns, columns.turn == 0 if name == TURNS[0] else columns.turn > 0)


def _window(block: Block) -> tuple[int, int]:
    if block.window_open_ns is None or block.window_close_ns is None:
        return (0, 0)
    return (block.window_open_ns, block.window_close_ns)


def _ints(values: Iterable[int]) -> Ints:
    return np.fromiter(values, dtype=np.int64)


def _reported(values: Iterable[int | None]) -> Ints:
    return _ints([NOT_REPORTED if value is None else value for value in values])


def _summed(places: Ints, values: Ints, n: int) -> Ints:
    """The sum of values (n_values,) over their places, (n,). Sums stay far below 2^53, where a double is exact."""
    return np.bincount(places, weights=values, minlength=n).astype(np.int64)


def _coded(names: Sequence[str]) -> tuple[tuple[str, ...], Ints]:
    """The distinct names, sorted, and each name's index among them."""
    distinct = tuple(sorted(set(names)))
    place = {name: index for index, name in enumerate(distinct)}
    return distinct, _ints(place[name] for name in names)


def _first_request(units: Ints, n_units: int) -> Ints:
    return np.searchsorted(units, np.arange(n_units + 1))


def _positions(records: Sequence[RequestRecord]) -> Ints:
    told = [record.acceptance.per_position or () if record.acceptance else () for record in records]
    width = max((len(row) for row in told), default=0)
    return np.array([tuple(row) + (0,) * (width - len(row)) for row in told], dtype=np.int64).reshape(len(records), width)
