"""What `watch` prints: one line per window, and a block where the state changes."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from specbench.explain.numbers import figure, listed, one_of
from specbench.model.live.watch_result import WatchResult
from specbench.model.result import Reason

MEANINGS = {
    "KEEP": "no reason to change what is live",
    "HOLD": "not decided yet",
    "RERUN": "the run no longer describes what is live: run it again",
    "ALARM": "something needs a person",
    "ROLLBACK": "harm is shown: send all traffic to the baseline",
    "INVALID": "nothing can be read",
}
PROMISE = (
    "With random assignment, equal arms end in ROLLBACK in at most 5 % of launches, however long the watch lasts "
    "(simulated: 2 % without correlation between windows, 5 % at .6, 10 % at .8)."
)


def window_line(window: Mapping[str, object]) -> str:
    """One arm's window in a line, from its object."""
    at = str(window["window_end"])[11:16]
    if "problem" in window:
        return f"{at}  {window['arm']}: {window['problem']}"
    parts = [one_of(round(_number(window.get("requests")) or 0), "request")]
    for name, label in (("tpot", "TPOT"), ("ttft", "TTFT")):
        mean = _number(window.get(f"{name}_ms_mean"))
        if mean is not None:
            parts.append(f"{label} {figure(mean)} ms{_tail(window.get(f'{name}_ms_p99'))}")
    for key, label in (("acceptance_rate", "alpha"), ("acceptance_length", "length"), ("batch_size", "batch")):
        value = _number(window.get(key))
        parts += [] if value is None else [f"{label} {figure(value)}"]
    speed = _number(window.get("speedup_ratio"))
    parts += [] if speed is None else [f"speed-up {figure(speed)} ({window['speedup_source']})"]
    return f"{at}  {window['arm']}: {', '.join(parts)}"


def state_block(result: WatchResult, run: str | None) -> list[str]:
    """The state, why, and what to know beside it."""
    lines = [f"{result.state}: {MEANINGS[result.state]}"]
    lines += [f"  - {one.message}" for one in result.reasons]
    lines += [f"  note: {one.message}" for one in result.warnings]
    if result.not_watched:
        lines.append(f"  not watched (not reported by run or endpoint): {listed(result.not_watched)}")
    if result.assignment == "random":
        lines.append(f"  {PROMISE}")
    if run is not None:
        lines.append(f"  run: {run}")
    return lines


def empty_policy(reason: str) -> str:
    """Why the policy that is served sends everything to the baseline."""
    return f"nothing is enabled now: {reason}"


def left_behind(at_s: float) -> str:
    """When the last period ended, for those who ask whether the watch is alive."""
    return datetime.fromtimestamp(at_s, UTC).isoformat(timespec="seconds")


def codes(reasons: Sequence[Reason]) -> str:
    """The codes of these reasons."""
    return ", ".join(one.code for one in reasons)


def _tail(edges: object) -> str:
    if not isinstance(edges, list) or len(edges) != 2:
        return ""
    low, high = _number(edges[0]), _number(edges[1])
    return f" (p99 above {figure(low)})" if high is None else f" (p99 {figure(low)} to {figure(high)})"


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
