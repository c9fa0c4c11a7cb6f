"""Replicas over one period: who was there throughout is counted, who was not is left out and counted as such."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from specbench.analysis.live import live_figures as figures
from specbench.live.replica_pages import PeriodSpan, ReplicaPages, engine_in, live_period
from specbench.telemetry import ENGINES
from specbench.telemetry.metrics_pages import Page, page_of
from tests.support.scrapes import answer, recorded

SPAN = PeriodSpan(arm="speculative", start_s=1000.0, end_s=1300.0)
BEFORE, AFTER = recorded("embedded-before.txt"), recorded("embedded-after.txt")


def page(text: str, url: str) -> Page:
    """A page of this text at that address."""
    return page_of(answer(text, f"http://{url}/metrics"))


def replica(name: str, *pages: tuple[float, str]) -> ReplicaPages:
    """A replica with these pages."""
    return ReplicaPages(name=name, host="gpu-a", pages=tuple((at, page(text, name)) for at, text in pages))


def period(replicas: Sequence[ReplicaPages]):  # type: ignore[no-untyped-def]
    """The period that these replicas make."""
    return live_period(SPAN, replicas, engine_in(replicas))


WHOLE = replica("a", (995.0, BEFORE), (1150.0, AFTER), (1299.0, AFTER))


def test_one_replica_is_its_differences() -> None:
    """The recorded block of the embedded engine: requests, tokens, rounds."""
    found = period([WHOLE])

    assert found.problem is None
    assert (found.replicas, found.left_out, found.models) == (1, {}, ("specbench-ngram",))
    assert found.finished is not None
    assert found.finished > 0
    assert found.told.acceptance is not None
    assert figures.tokens_per_step(found) is not None
    assert figures.batch_size(found) is not None
    assert found.seconds == 304.0


def test_two_replicas_add_up() -> None:
    """Twice the same counts."""
    one, two = period([WHOLE]), period([WHOLE, replica("b", *((at, t) for at, t in ((995.0, BEFORE), (1299.0, AFTER))))])

    assert two.replicas == 2
    assert one.finished is not None
    assert two.finished == 2 * one.finished


LEFT_OUT = {
    "restarted": replica("b", (995.0, AFTER), (1150.0, BEFORE), (1299.0, BEFORE)),
    "came": replica("b", (1150.0, BEFORE), (1299.0, AFTER)),
    "went": replica("b", (980.0, BEFORE), (995.0, BEFORE), (1010.0, AFTER), (1025.0, AFTER)),
    "unread": ReplicaPages(name="b", host="gpu-b", pages=((995.0, page_of(answer("", status=None))),)),
}


@pytest.mark.parametrize("reason", LEFT_OUT)
def test_who_was_not_there_throughout_is_left_out_and_counted(reason: str) -> None:
    """The other replica stands."""
    found = period([WHOLE, LEFT_OUT[reason]])

    assert (found.replicas, found.left_out, found.problem) == (1, {reason: 1}, None)
    assert found.finished == period([WHOLE]).finished


def test_the_end_of_a_replica_costs_one_period() -> None:
    """One that went before is not counted again, nor is its model; one whose address is still asked for stays unread."""
    gone = replica("b", *((at, BEFORE.replace("specbench-ngram", "old")) for at in (880.0, 895.0, 910.0)))
    silent = page_of(answer("", status=None))
    dead = replica("b", *((at, BEFORE) for at in (700.0, 715.0, 730.0)))
    dead = replace(dead, pages=(*dead.pages, *((at, silent) for at in (745.0, 760.0, 775.0, 1010.0))))
    after, unread = period([WHOLE, gone]), period([WHOLE, dead])

    assert (after.replicas, after.left_out, after.models, after.problem) == (1, {}, ("specbench-ngram",), None)
    assert (unread.replicas, unread.left_out) == (1, {"unread": 1})
    assert period([gone]).problem == "no_series"


def test_nothing_is_left_where_all_restarted() -> None:
    """A problem with a name, no counts."""
    found = period([LEFT_OUT["restarted"]])

    assert (found.problem, found.left_out, found.observed) == ("no_replica_throughout", {"restarted": 1}, {})


def test_series_of_two_models_are_refused() -> None:
    """Their names are kept for the sentence."""
    other = replica("b", *((at, text.replace("specbench-ngram", "other")) for at, text in ((995.0, BEFORE), (1299.0, AFTER))))
    found = period([WHOLE, other])

    assert (found.problem, found.models) == ("several_models", ("other", "specbench-ngram"))


def test_pages_without_a_known_engine_and_no_pages_have_names() -> None:
    """Neither is taken for silence of an engine."""
    assert period([]).problem == "no_series"
    assert period([replica("a", (995.0, "up 1\n"), (1299.0, "up 1\n"))]).problem == "no_engine"
    assert period([LEFT_OUT["unread"]]).problem == "unread"


@pytest.mark.parametrize(("file", "engine"), [("vllm-base-metrics.txt", "vllm"), ("sglang-after.txt", "sglang")])
def test_an_engine_is_known_by_the_names_of_its_series(file: str, engine: str) -> None:
    """As Prometheus keeps no list of models."""
    found = engine_in([replica("a", (0.0, recorded(file)))])

    assert found is ENGINES[engine]


BROKEN = {
    "no_buckets": lambda text: "\n".join(line for line in text.splitlines() if "e2e_request_latency_seconds_bucket" not in line),
    "no_top_bucket": lambda text: "\n".join(
        line for line in text.splitlines() if "e2e_request_latency" not in line or '"+Inf"' not in line
    ),
}


@pytest.mark.parametrize("reason", BROKEN)
def test_a_histogram_that_is_none_is_absent_with_its_reason(reason: str) -> None:
    """The others stand."""
    found = period([replica("a", *((at, BROKEN[reason](text) + "\n") for at, text in ((995.0, BEFORE), (1299.0, AFTER))))])

    assert found.absent["e2e"].startswith(reason)
    assert "tpot" in found.observed


def test_edges_that_changed_and_counters_that_are_no_number_are_absent() -> None:
    """Neither is 0."""
    changed = period([replica("a", (995.0, BEFORE), (1299.0, AFTER.replace('le="0.3"', 'le="0.35"')))])
    nan = AFTER.replace("vllm:time_to_first_token_seconds_count", "vllm:was") + (
        'vllm:time_to_first_token_seconds_count{engine="0",model_name="specbench-ngram"} NaN\n'
    )
    broken = period([replica("a", (995.0, BEFORE), (1299.0, nan))])

    assert changed.absent["e2e"].startswith("edges_changed")
    assert "ttft" in broken.absent
