"""What a result shows and never judges: distributions and courses to draw, and the traffic that was asked for."""

from dataclasses import dataclass

from specbench.model.scenario import ArmName


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """Quantiles of one metric of one arm at the shared probabilities, for drawing; values in `unit`."""

    metric: str
    unit: str
    arm: ArmName
    n: int
    probabilities: tuple[float, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """One block over time, for drawing: from its first request to the end of its steady window, in slots of equal length.

    `tokens_per_s` are tokens that arrived, `in_flight` the requests sent and not yet ended, on average over each slot.
    `backlog` are requests that were due and not yet sent, empty in a closed loop.
    """

    arm: ArmName
    block: str
    pair: int
    slot_s: float
    window_open_s: float
    tokens_per_s: tuple[float, ...]
    in_flight: tuple[float, ...]
    backlog: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RampCourse:
    """What one arm did while the load rose, over all of its rises, in slots of equal length, for drawing.

    `offered_rps` are requests that come, `in_flight` those under way, `backlog` those due and not yet sent, all on average;
    `ttft_ms` from the scheduled moment and `tpot_ms` are medians of what came in the slot, None where nothing did.
    """

    arm: ArmName
    blocks: int
    offered_rps: tuple[float, ...]
    in_flight: tuple[float, ...]
    ttft_ms: tuple[float | None, ...]
    tpot_ms: tuple[float | None, ...]
    backlog: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockSample:
    """One block as a point in the course of the run, for drawing: what was accepted there, and how late the generator was.

    `acceptance_length` is of the block's pair, None in the baseline and where it is not known.
    """

    arm: ArmName
    block: str
    pair: int
    acceptance_length: float | None
    read_lag_ms_p99: float | None
    send_delay_ms_p95: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficBin:
    """One bin of the traffic that was asked for: its bands in tokens and its share of the requests."""

    name: str
    input_tokens: tuple[int, int]
    output_tokens: tuple[int, int]
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerTexts:
    """What the answers of both arms have in common: characters a token, and texts that are the same.

    `greedy_compared`: prompts that both arms answered at temperature 0, `greedy_same`: those with the same text in both.
    """

    characters_per_token_baseline: float | None
    characters_per_token_speculative: float | None
    greedy_compared: int
    greedy_same: int
