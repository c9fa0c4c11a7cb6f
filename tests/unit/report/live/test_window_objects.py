"""A window as JSON and as an EMF line: valid by CloudWatch's rules, exact at edges, silent about what is unknown."""

import json
from dataclasses import replace
from typing import Any

from specbench.analysis.live.live_judge import LiveEvidence, judged
from specbench.model.live.live_period import LivePeriod
from specbench.model.live.watch_result import WatchRules
from specbench.report.live.window_objects import emf_line, window_object
from tests.support.live import buckets, period, run

STATE = judged(LiveEvidence(speculative=(period(0),), run=run()), WatchRules())
EDGES = (0.01, 0.025, 0.05, 0.075)


def emf(window: LivePeriod) -> dict[str, Any]:
    """The line of this window, decoded."""
    return dict(json.loads(emf_line(window, STATE)))


def with_tpot(values: list[float]) -> LivePeriod:
    """A window with these times per token."""
    one = period(0)
    return replace(one, observed={**one.observed, "tpot": buckets(values, EDGES)})


def violations(event: dict[str, Any]) -> list[str]:
    """What the published rules of the format find wrong: a timestamp, names of targets on the root, numbers, limits."""
    found = [] if isinstance(event["_aws"]["Timestamp"], int) else ["no timestamp in ms"]
    for directive in event["_aws"]["CloudWatchMetrics"]:
        found += [] if 1 <= len(directive["Namespace"]) <= 1024 else ["namespace"]
        found += ["more than 100 metrics"] if len(directive["Metrics"]) > 100 else []
        for names in directive["Dimensions"]:
            found += ["more than 30 dimensions"] if len(names) > 30 else []
            found += [f"dimension {name} is no text" for name in names if not isinstance(event.get(name), str)]
        for metric in directive["Metrics"]:
            value = event.get(metric["Name"])
            found += [f"{metric['Name']} is no number"] if not isinstance(value, int | float) or isinstance(value, bool) else []
    return found


def alarms(events: list[dict[str, Any]], periods: int = 2, threshold: float = 50.0) -> bool:
    """The guide's alarm: the maximum of TPOT_P99 without dimensions in each of two periods of 300 s above 50."""
    newest: dict[int, float] = {}
    for event in events:
        directive = event["_aws"]["CloudWatchMetrics"][0]
        if [] in directive["Dimensions"] and "TPOT_P99" in [metric["Name"] for metric in directive["Metrics"]]:
            slot = (event["_aws"]["Timestamp"] - 1) // 300_000
            newest[slot] = max(newest.get(slot, 0.0), event["TPOT_P99"])
    last = [newest[slot] for slot in sorted(newest)[-periods:]]
    return len(last) == periods and all(value > threshold for value in last)


def test_a_line_is_valid_for_both_arms() -> None:
    """The empty set of dimensions is the speculative arm's alone."""
    spec, base = emf(period(0)), emf(period(0, "baseline"))

    assert (violations(spec), violations(base)) == ([], [])
    assert spec["_aws"]["CloudWatchMetrics"][0]["Namespace"] == "VLLMSpeculative"
    assert spec["_aws"]["CloudWatchMetrics"][0]["Dimensions"] == [[], ["arm", "model_name"]]
    assert base["_aws"]["CloudWatchMetrics"][0]["Dimensions"] == [["arm", "model_name"]]


def test_the_guides_names_are_in_the_line() -> None:
    """alpha is the acceptance rate, the engine's own has another name, the batch is whole."""
    line = emf(period(0, batch=14.6))

    assert line["acceptance_rate"] == STATE.figures.alpha
    assert 0.5 < line["draft_acceptance_rate"] < line["acceptance_rate"]
    assert (line["batch_size"], line["num_speculative_tokens"], line["speedup_source"]) == (15, 4, "modelled")


def test_the_p99_is_the_upper_edge_of_its_bucket() -> None:
    """At 50 ms it is not above 50; above the edge it is, exactly; above all edges it is the last one, and says so."""
    assert emf(with_tpot([0.030] * 99 + [0.045]))["TPOT_P99"] == 50.0
    assert emf(with_tpot([0.030] * 97 + [0.051] * 3))["TPOT_P99"] == 75.0
    beyond = emf(with_tpot([0.5] * 10))
    assert (beyond["TPOT_P99"], beyond["TPOT_P99_censored"]) == (75.0, True)


def test_the_guides_alarm_fires_on_the_speculative_arm_alone() -> None:
    """Two periods above 50 ms; one is none, and the baseline never counts."""
    slow = with_tpot([0.060] * 10)
    later = replace(slow, start_s=300.0, end_s=600.0)
    base = [replace(one, arm="baseline") for one in (slow, later)]

    assert alarms([emf(slow), emf(later)])
    assert not alarms([emf(slow), emf(with_tpot([0.030] * 10)), emf(replace(period(1)))])
    assert not alarms([emf(one) for one in base])


def test_what_is_unknown_is_not_in_the_line() -> None:
    """A baseline has no acceptance, a window that was not read has no figure: no key, no metric."""
    base = emf(period(0, "baseline"))
    unread = emf(LivePeriod(arm="speculative", start_s=0, end_s=300, replicas=0, problem="unread"))

    assert "acceptance_rate" not in base
    assert "acceptance_rate" not in [one["Name"] for one in base["_aws"]["CloudWatchMetrics"][0]["Metrics"]]
    assert unread["problem"] == "unread"
    assert "TPOT_P99" not in unread
    assert violations(unread) == []


def test_an_object_has_brackets_and_reasons() -> None:
    """A percentile is two edges, the last one open; why a quantity is missing stands under `absent`."""
    told = window_object(with_tpot([0.5] * 10), STATE)

    assert told["tpot_ms_p99"] == [75.0, None]
    assert told["window_start"] == "1970-01-01T00:00:00+00:00"
