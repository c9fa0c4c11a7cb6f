"""llama.cpp is read right: recorded pages and slots, bursts of one-token events, and its counters' habits."""

import json

import pytest

from specbench.model.records import SpeculationCounts, Telemetry
from specbench.telemetry import ENGINES, telemetry_of
from specbench.telemetry.engines.llamacpp import answer_counts
from specbench.telemetry.metrics_pages import HttpAnswer
from tests.support.scrapes import answer, recorded, scrape_of, told

LLAMACPP = ENGINES["llamacpp"]
HEADER = {"process-start-time-unix": "2236882172"}


def whole_life(name: str) -> Telemetry:
    """The recorded page as a block of a process that had counted nothing before."""
    return told("llamacpp", answer("", headers=HEADER), answer(recorded(name), headers=HEADER))


@pytest.mark.parametrize(
    ("name", "counts", "positions", "generated"),
    [
        ("llamacpp-ngram-metrics.txt", (16, 252, 162), 16, 528),
        ("xlc-q4_0-B-metrics.txt", (57, 1197, 1051), 24, 2112),
        ("xlc-x3draft-metrics.txt", (18, 72, 44), 4, 64),
    ],
)
def test_the_recorded_speculative_arms(name: str, counts: tuple[int, int, int], positions: int, generated: int) -> None:
    """Rounds, drafted and accepted as the engine printed them; positions add up to what was accepted."""
    telemetry = whole_life(name)
    acceptance = telemetry.acceptance

    assert acceptance is not None
    assert (acceptance.rounds, acceptance.drafted, acceptance.accepted) == counts
    assert acceptance.per_position is not None
    assert len(acceptance.per_position) == positions
    assert sum(acceptance.per_position) == counts[2]
    assert sorted(acceptance.per_position, reverse=True) == list(acceptance.per_position)
    assert telemetry.generated_tokens == generated


def test_the_recorded_draft_model_arm_by_position() -> None:
    """The four positions of a draft of 4."""
    acceptance = whole_life("xlc-x3draft-metrics.txt").acceptance

    assert acceptance is not None
    assert acceptance.per_position == (15, 13, 8, 8)


def test_the_recorded_baseline_drafted_zero_and_has_no_positions() -> None:
    """llama.cpp has its counters at 0 without speculation; the family by position appears with the first draft."""
    telemetry = whole_life("llamacpp-base-metrics.txt")

    assert telemetry.acceptance == SpeculationCounts(rounds=0, drafted=0, accepted=0, per_position=None)
    assert telemetry.absent["acceptance.per_position"].startswith("not_exposed")


def test_cached_prompt_tokens_count_as_prompt_tokens() -> None:
    """Its own counter leaves cached tokens out; other engines count them, and so do we."""
    telemetry = whole_life("xlc-q4_0-B-metrics.txt")

    assert (telemetry.prompt_tokens, telemetry.prefix_queries, telemetry.prefix_hits) == (3140, 3140, 1962)


def test_gauges_that_a_scrape_resets_are_not_read() -> None:
    """Tokens per second comes from counters: the engine's own rate covers the time since anybody's last scrape."""
    assert whole_life("llamacpp-base-metrics.txt").server_itl_s_mean == pytest.approx(14.3582 / 528)


def test_another_start_header_gives_no_difference() -> None:
    """The response header tells of another process, which rising counters would hide."""
    later = {"process-start-time-unix": "2246641990"}
    page = "llamacpp:tokens_predicted_total "
    telemetry = told("llamacpp", answer(page + "1", headers=HEADER), answer(page + "9", headers=later))

    assert telemetry.generated_tokens is None
    assert telemetry.absent["generated_tokens"].startswith("mixed_replicas")


def slot(busy: bool, prompt: int, decoded: int) -> str:
    """A page of one slot in the recorded form."""
    [one] = json.loads(recorded("llamacpp-ngram-slots.txt"))
    one |= {"is_processing": busy, "n_prompt_tokens": prompt}
    one["next_token"][0]["n_decoded"] = decoded
    return json.dumps([one])


def test_kv_use_is_that_of_the_fullest_busy_slot() -> None:
    """(prompt + generated) ÷ context; an idle slot keeps old numbers, which are no pressure."""
    pages = [answer(recorded("llamacpp-ngram-metrics.txt"), headers=HEADER)]
    moments = [
        [*pages, answer(page, "http://engine:8000/slots")]
        for page in (slot(True, 1000, 24), slot(True, 500, 12), slot(False, 4000, 0))
    ]
    scrapes = [scrape_of(*moment, second=second) for second, moment in enumerate(moments)]

    assert telemetry_of(scrapes[0], [scrapes[0], scrapes[1]], scrapes[2], LLAMACPP).kv_usage_peak == 0.25
    idle = telemetry_of(scrapes[2], [scrapes[2]], scrapes[2], LLAMACPP)
    assert (idle.kv_usage_peak, idle.absent["kv_usage_peak"]) == (None, "not_sampled: no slot was busy at any scrape")


def test_without_slots_its_counters_stand_and_without_a_replica_they_do_not() -> None:
    """A page that is switched off is no replica; one that is gone is."""

    def block(silent: str) -> Telemetry:
        page = answer(recorded("llamacpp-base-metrics.txt"), "http://gw/r1/metrics", headers=HEADER)
        ends = [scrape_of(page, answer("", silent, status=501), second=second) for second in (0, 1)]
        return telemetry_of(ends[0], [], ends[1], LLAMACPP)

    assert block("http://gw/r1/slots").generated_tokens == 0
    assert block("http://gw/r2/metrics").absent["generated_tokens"].startswith("http_501")


def test_one_event_is_one_token_and_bursts_are_steps() -> None:
    """The threshold lies between what one batch and what two steps showed in the recordings."""
    rule = LLAMACPP.stream

    assert not rule.event_is_step
    assert rule.burst_ns == 1_500_000
    assert rule.token_sources == ("token_ids", "engine_counts", "events")


def test_an_answer_counts_its_drafts_but_not_its_rounds() -> None:
    """`timings` has no draft keys at all where nothing was drafted: that is no count, not 0."""
    assert answer_counts({"timings": {"predicted_n": 20, "draft_n": 30, "draft_n_accepted": 12}}) == SpeculationCounts(
        rounds=None, drafted=30, accepted=12, per_position=None
    )
    assert answer_counts({"timings": {"predicted_n": 20}}) is None
    assert answer_counts({"choices": []}) is None


def test_the_fork_counts_by_depth_from_one() -> None:
    """ik_llama.cpp's `draft_by_depth` is 1-based."""
    depths = [{"depth": 2, "draft_n": 5, "draft_n_accepted": 3}, {"depth": 1, "draft_n": 7, "draft_n_accepted": 6}]
    counts = answer_counts({"timings": {"draft_n": 12, "draft_n_accepted": 9, "draft_by_depth": depths}})

    assert counts == SpeculationCounts(rounds=None, drafted=12, accepted=9, per_position=(6, 3))


def answers(arm: str) -> dict[str, HttpAnswer]:
    """The recorded answers of one arm."""
    return {
        path: answer(recorded(f"llamacpp-{arm}-{name}.txt"))
        for path, name in (("/props", "props"), ("/slots", "slots"), ("/v1/models", "v1_models"), ("/metrics", "metrics"))
    }


def test_the_recorded_servers_differ_in_speculation_alone() -> None:
    """`/props` says "none" on both; the slots tell the truth, and the method with it."""
    base, ngram = LLAMACPP.facts(answers("base")), LLAMACPP.facts(answers("ngram"))

    assert base == {
        "model": "smollm2-135m-q4_1.gguf",
        "quantization": "Q4_1",
        "context_length": "4096",
        "chat_template": "872be49dbb63",
        "engine_version": "b0-unknown",
        "sampling_defaults": "temperature 0.8, top_k 40, top_p 0.95, min_p 0.05, typical_p 1, repeat_penalty 1,"
        " presence_penalty 0, frequency_penalty 0",
        "speculation": "off",
        "kv_capacity_tokens": "4096",
        "max_running": "1",
    }
    assert ngram == base | {"speculation": "on", "speculation_config": "ngram-simple"}
