"""What exported files say to people: why an alarm fired and what to do, remarks at the head of a file, names of panels."""

from collections.abc import Mapping

_VALUE = '{{ printf "%.2f" $value }}'
_MODEL = "{{ $labels.model_name }}"

ALARMS: Mapping[str, str] = {
    "SpeculationAcceptanceLow": f"Alpha of {_MODEL} is {_VALUE}, below its limit.",
    "SpeculationAcceptanceFell": f"Alpha of {_MODEL} is {_VALUE}; the run had more. Measure again.",
    "SpeculationDepthChanged": f"{_MODEL} drafts {_VALUE} tokens a round. These rules were made for another number, "
    "so alpha is unknown. Export the rules again.",
    "SpeculationBelowBreakEven": f"The modelled speed-up of {_MODEL} is {_VALUE}: by the step cost of the run, speculation "
    "slows answers at this load. Check whether the batch grew or acceptance fell.",
    "SpeculationStopped": f"{_MODEL} answers and drafts nothing. Check whether the engine was started without speculation.",
    "SpeculationMemoryShort": f"The KV cache of {_MODEL} is full and requests are preempted.",
    "SpeculationNotScraped": "No engine of the speculative arm is scraped. See its targets and the selector of these rules.",
    "SpeculationBaselineNotScraped": "No engine of the baseline is scraped. See its targets and the selector of these rules.",
    "SpeculationRerunNeeded": "The run no longer holds: {{ $labels.reason }}. Measure again.",
    "SpeculationWatchSilent": "specbench watch has completed no window for half an hour, or is not scraped.",
}


def over_limit_alarm(percentile: int, quantity: str, limit_ms: float) -> str:
    """The text of an alarm of a limit on a quantile."""
    return f"{quantity.upper()} p{percentile} is over {limit_ms:g} ms: the share of requests above it is {_VALUE}."


def no_edge_alarm(quantity: str, limit_ms: float) -> str:
    """The text of an alarm of a limit that the engine's buckets do not tell."""
    return f"{_MODEL} has no {quantity.upper()} bucket at {limit_ms:g} ms, so that this limit goes unwatched. Export again."


def left_out(alarm: str, lacks: str) -> str:
    """A remark on an alarm that a file does not hold, by what it lacks."""
    needs = {
        "depth": "it needs the number of drafted tokens: a RUN, or --depth",
        "run": "it needs a RUN",
        "run alpha": "the RUN does not tell alpha",
        "loads": "it needs a RUN that tells its step cost",
        "watch": "it needs specbench watch --listen, scraped: --watch SELECTOR",
        "baseline": "it needs --baseline",
    }
    return f"Without {alarm}: {needs[lacks]}."


def made_of(run: str | None, verdict: str | None) -> str:
    """The first remark of a file: which run it is made of."""
    return "Made by specbench export, of no run." if run is None else f"Made by specbench export, of the run {run} ({verdict})."


DEMONSTRATION = "The run is a demonstration: its figures decide nothing about a real server."
VLLM = "For vLLM's names and its default edges."
NOTHING_ENABLED = "The run lets no traffic go to the speculative arm: all of it goes to the baseline."
SLICES = "A caller names its slice in the header; whoever names none gets the baseline."
ALL_TRAFFIC = "All traffic"


def not_confirmed(count: int) -> str:
    """A remark on caps that are proposals."""
    parts = "One part of the traffic is" if count == 1 else f"{count} parts of the traffic are"
    return f"{parts} left with the baseline, as no run has confirmed the cap (--allow-capped takes it nevertheless)."


def cap_remark(part: str, streams: float | None, rate: float | None, setting: str | None) -> str:
    """A remark on a cap that a route cannot hold, with what can."""
    caps = [f"{streams:g} at once in one engine"] if streams is not None else []
    caps += [f"{rate:g} a second"] if rate is not None else []
    own = f"Confirmed with {setting}." if setting else "vLLM does by its table of depths by batch size."
    return f"{part}: tested up to this many requests: {' and '.join(caps)}. A route does not hold this. {own}"


PANELS: Mapping[str, str] = {
    "alpha": "Alpha: chance that one drafted token is accepted",
    "length": "Acceptance length",
    "positions": "Accepted by position",
    "depth": "Drafted tokens per round",
    "steps": "Tokens per step, and what breaks even",
    "speed_up": "Speed-up by the model: tokens per step ÷ break-even",
    "tpot": "Mean TPOT",
    "over": "Requests over their limit",
    "ttft": "Mean TTFT",
    "batch": "Requests per engine step",
    "arrivals": "Arrivals per replica",
    "kv": "KV cache in use (largest)",
}
DASHBOARD_TITLE = "Speculative decoding against its baseline"
OWN_DASHBOARDS = "vLLM's own dashboards"

TPOT_ALARM = "TPOT p99 of the speculative arm is over {limit:g} ms in two periods."
ALPHA_ALARM = "Alpha of the speculative arm is below {limit:g} in three periods."
QUERIES: Mapping[str, str] = {
    "alpha": "Alpha over time; acceptance_rate is the chance per drafted token",
    "speed_up": "Speed-up by load; speedup_source tells whether it was measured or modelled",
    "slow": "Windows over the limit of TPOT p99",
}
NO_RULE_TESTS = "No tests are written beside the rules: of an expression in a selector no label can be made. Write labels with =."
