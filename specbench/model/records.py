"""What was measured: from the raw capture of one answer to the facts of a whole run. Times are whole nanoseconds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from specbench.model.answers.compared_answers import AnswerComparison
from specbench.model.capacity.capacity_values import CapacityPlan
from specbench.model.data.datasets import Census
from specbench.model.facts import RepeatedPrompt
from specbench.model.previous_runs import PreviousRun
from specbench.model.scenario import ArmName, Scenario

StampSource = Literal["kernel", "user"]
TokenSource = Literal["token_ids", "running_usage", "engine_counts", "logprobs", "final_usage_spread", "tokenizer", "events"]
Grouping = Literal["single", "interval", "hidden", "drafts", "unclear"]
Outcome = Literal[
    "ok",
    "cut",  # sent outside the steady window, and in flight when the block ended: neither success nor failure
    "unanswered",  # sent inside the steady window, and still open when the drain of its block ended
    "connect_failed",
    "client_resource",  # our own limits (descriptors, memory): never the endpoint's fault
    "http_error",
    "timeout_connect",
    "timeout_first_token",
    "stalled",
    "timeout_total",
    "disconnected",
    "protocol_error",
    "line_too_long",
    "not_streamed",
    "in_band_error",
    "truncated_stream",
    "empty_output",
    "prompt_too_long",
    "worker_lost",  # under way at a worker of the fleet that was lost: neither success nor failure
]


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamFormat:
    """How one engine streams: whether an event is an engine step, and which token counts its events can carry, best first.

    `burst_ns` is set where an event is one token: events no further apart than this belong to one step, unless
    the engine tells which do. `answer_counts` gives the speculation counted for one request from the event that carries it, None
    from any other; it is None where no answer of the engine tells.
    """

    engine: str
    event_is_step: bool
    burst_ns: int | None
    token_sources: tuple[TokenSource, ...]
    answer_counts: "Callable[[Mapping[str, Any]], SpeculationCounts | None] | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeculationCounts:
    """Speculation as counted: verification rounds, drafted and accepted tokens, rounds that accepted position i."""

    rounds: int | None
    drafted: int | None
    accepted: int | None
    per_position: tuple[int, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestRecord:
    """The facts of one request; a failed one is a record with an outcome. Times are since `sent_ns`.

    `event_ns`, `event_tokens`: one entry per content event. `step_events`: how many consecutive content events each
    engine step holds, None where every event is a step. `censored`: indices of content events whose time is only an upper
    bound, as a later step's event was read with them under the same stamp. `burst_ns`: up to which gap events were taken for
    one step, None where an event is a step, or the engine told which events its step brought.

    `output_tokens` were streamed, `hidden_tokens` only counted (reasoning that was not shown), each None where not known.
    `grouping`: what the tokens of its events look like (stream/grouping.py), None in records of older versions.

    `marks`: what is wrong with the form of an answer that ended well (stream/answers/marks.py). `scripts`: the Unicode scripts of
    its letters, with U+FFFD as one more; `foreign_scripts`: those of them that its prompt lacks.
    """

    block: str  # its id
    index: int  # in the block, from 0
    stream: int  # the one that carried it, from 0
    bin: str  # its name
    sampling: str  # its name
    max_tokens: int  # the most that were asked for
    scheduled_ns: int | None  # clock of the generator; None in a closed loop
    sent_ns: int  # clock of the generator
    connect_ns: int | None  # how long connecting took; None where the connection was open
    retries: int  # times it was sent anew
    outcome: Outcome  # how it ended
    reason: str | None  # of a failure, in words
    status: int | None  # of HTTP; None without an answer
    stamp_source: StampSource  # who took the times
    token_source: TokenSource | None  # how tokens of events were counted; None without events
    prompt_tokens: int | None  # as told; None where not
    output_tokens: int | None  # None where not known
    cached_tokens: int | None  # of the prompt, as told
    finish_reason: str | None  # as told
    event_ns: Sequence[int]  # arrival of each content event
    event_tokens: tuple[int, ...]  # of each content event
    step_events: tuple[int, ...] | None  # content events of each engine step
    censored: tuple[int, ...]  # indices of content events
    first_answer_ns: int | None  # arrival of the first event that is no reasoning; None without one
    end_ns: int  # end of the exchange
    text_chars: int  # of the generated text
    text_sha256: str  # of the generated text
    looping: bool  # the text repeats itself at its end
    acceptance: SpeculationCounts | None  # drafts as the answer itself tells
    flags: tuple[str, ...]  # stable codes of what was odd
    burst_ns: int | None = None  # None where events need no grouping by time
    hidden_tokens: int | None = None  # counted and not streamed; None where not known
    grouping: Grouping | None = None  # what the tokens of its events look like
    session: int | None = None  # of its pair, from 0; None where prompts stand alone
    turn: int | None = None  # of its session, from 0
    marks: tuple[str, ...] = ()  # what is wrong with the form of the answer
    scripts: tuple[str, ...] = ()  # of the answer's letters
    foreign_scripts: tuple[str, ...] = ()  # of the answer, not of its prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class Telemetry:
    """What the engine said of itself over one block: counters as differences, gauges as peak and mean.

    A quantity that the engine does not tell is None, and `absent` says why, by field name (a part of one by a dotted name,
    such as `acceptance.rounds`): a word for scripts, a colon, words for people. `server_ttft_s_mean` and `server_itl_s_mean`
    follow the engine's own definitions (docs/engines.md): never compared between engines, nor where one observation is a step.
    """

    acceptance: SpeculationCounts | None = None
    generated_tokens: int | None = None
    prompt_tokens: int | None = None
    prefix_queries: int | None = None
    prefix_hits: int | None = None
    preemptions: int | None = None
    decode_steps: int | None = None
    queue_time_s_mean: float | None = None
    kv_usage_peak: float | None = None
    running_mean: float | None = None
    batch_size: float | None = None  # requests per engine step
    waiting_mean: float | None = None
    draft_s: float | None = None
    verify_s: float | None = None
    memory_bytes_peak: int | None = None
    oom_events: int | None = None
    restarts: int | None = None
    server_ttft_s_mean: float | None = None
    server_itl_s_mean: float | None = None
    power_w_mean: float | None = None
    energy_j: float | None = None
    reset: bool = False
    absent: dict[str, str] = field(default_factory=dict)

    def why_absent(self, name: str) -> str | None:
        """Why this quantity is None, in words for people; None where nothing is said."""
        word, _, words = self.absent.get(name, "").partition(": ")
        return words or word or None


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratorHealth:
    """Whether the load generator was in time during one block, and how much it had to do.

    `cpu_share` is of one core, `machine_cpu_share` of all of them, whoever used them; `loop_lag_ms_p99` is how much later than
    asked for the generator's event loop woke up. `events_per_stamp` is how many events, of whatever kind, one read brought on
    average. `achieved_concurrency` leaves out streams that are stuck in a request that never ended; `stuck_share` is how many
    those were, on average over the window ÷ planned, None in records of older versions, where they counted as in flight.
    """

    cpu_share: float | None
    read_lag_ms_p99: float | None
    send_delay_ms_p95: float | None
    achieved_concurrency: float | None
    chunks: int
    clock_steps: int
    machine_cpu_share: float | None = None
    loop_lag_ms_p99: float | None = None
    events_per_stamp: float | None = None
    stuck_share: float | None = None


MOST_CLOCK_ERROR_MS = 5.0
"""How far apart the clocks of a fleet's machines may be, doubt and drift together."""

Void = Literal["worker_lost", "workers_missing", "workers_changed", "requests_missing", "clocks_disagree"]
"""Why a block counts for nothing, for the client alone, so that its pair is measured again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerFacts:
    """One worker's part of a block: its streams, its health, and how closely its clock was known, None where it was lost.

    `clock_offset_ms` is how far its clock is ahead of the master's, `clock_error_ms` the doubt of that, `clock_drift_ms` how far
    the two moved apart meanwhile.
    """

    name: str
    streams: int
    lost: bool = False
    health: GeneratorHealth | None = None
    clock_offset_ms: float | None = None
    clock_error_ms: float | None = None
    clock_drift_ms: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetFacts:
    """How a block was driven by several workers; `void` is why it counts for nothing, None where it counts.

    `lost_requests`: dealt to a worker that was lost, and never reported. `refused`: how many connections, or messages on accepted
    ones, were refused until then, in the whole run.
    """

    workers: tuple[WorkerFacts, ...]
    void: Void | None = None
    lost_requests: int = 0
    refused: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadFacts:
    """How the load of a block went. Window bounds are on the generator's monotonic clock, None if it never opened.

    `in_flight_limit_reached`: a request of the open loop was due while the most that may be under way at once were. `fleet`: None
    where one process drove it.
    """

    window_open_ns: int | None
    window_close_ns: int | None
    short: bool
    end_reason: str
    health: GeneratorHealth
    in_flight_limit_reached: bool = False
    fleet: FleetFacts | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Block(LoadFacts):
    """One arm under steady load, as executed.

    `launch` counts the starts of the arm's engine from 0. `engine_exit` says how an engine that specbench had started ended by
    itself. `attempt`: which try at its pair it belongs to, from 1. `workers`: how many drove it, None for one generator.
    `backlog`: how many requests were due and not yet sent, at each second of the block; none in a closed loop.
    """

    id: str
    cell: str
    pair: int
    arm: ArmName
    order: int
    concurrency: int | None
    rate: float | None
    bin: str | None
    launch: int
    started: str
    telemetry: Telemetry | None
    engine_truth: dict[str, float] | None
    engine_exit: str | None = None
    attempt: int = 1
    workers: int | None = None
    backlog: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """What one arm's endpoint said of itself before load; `facts` are by name, as read or declared (`sources` says which)."""

    arm: ArmName
    url: str
    model: str
    engine: str
    engine_version: str | None
    facts: dict[str, str]
    sources: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One point of the load matrix: the mix of bins (or one bin) at one concurrency or rate."""

    id: str
    concurrency: int | None
    rate: float | None
    bin: str | None
    sampling: str | None
    required: bool
    traffic_share: float | None

    @property
    def level(self) -> float:
        """How much load the cell puts on: its streams, or its requests per second."""
        return self.rate if self.rate is not None else float(self.concurrency or 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """Everything needed to know what a run was, written before its first request.

    `previous_runs`: the runs that the scenario cites for the places of the arms, as they were read then. `accelerators`: how many
    this machine has, None in the folders of older versions. `repeated`: the prompts that were asked twice; none in runs of older
    versions. `census`: what the dataset held; None where a corpus was used, and in runs of older versions.
    `until_resolved`: the data are looked at on the way. `capacity`: what a capacity search was asked; None in every other run.
    """

    format_version: int
    run_id: str
    tool_version: str
    python: str
    platform: str
    started: str
    scenario: Scenario
    cells: tuple[Cell, ...]
    endpoints: tuple[Endpoint, ...]
    notes: tuple[str, ...]
    previous_runs: tuple[PreviousRun, ...] = ()
    accelerators: int | None = None
    repeated: tuple[RepeatedPrompt, ...] = ()
    census: Census | None = None
    until_resolved: bool = False
    capacity: CapacityPlan | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunData:
    """All facts of a run, as read from its folder. `finished` is None where the run was cut off.

    `looks`: how many pairs were complete each time that the data were looked at to decide on stopping, the last look included;
    empty where they are looked at once, at the end. `resumed`: how many times it was interrupted and taken up again.
    `void_blocks` were taken out of `blocks`, as they count for nothing. `answers`: what is known of both arms' answers to one
    prompt; None in runs of older versions, and in those that ended before they were compared.
    """

    manifest: Manifest
    blocks: tuple[Block, ...]
    records: tuple[RequestRecord, ...]
    finished: str | None
    problems: tuple[str, ...]
    looks: tuple[int, ...] = ()
    resumed: int = 0
    void_blocks: tuple[Block, ...] = ()
    answers: AnswerComparison | None = None

    @property
    def partial(self) -> bool:
        """Whether the run ended before its plan did: it was cut off, an engine died, or workers were missing for good, after
        which no block is run."""
        blocks = (*self.blocks, *self.void_blocks)
        gone = any(block.fleet is not None and block.fleet.void == "workers_missing" for block in blocks)
        return self.finished is None or gone or any(block.engine_exit is not None for block in self.blocks)
