"""vLLM is read right: recorded pages, its renamed series, its V0 engine refused, and what its answers and pages tell."""

import pytest

from specbench.model.records import SpeculationCounts
from specbench.telemetry import ENGINES
from specbench.telemetry.engines.vllm import answer_counts
from specbench.telemetry.metrics_pages import HttpAnswer
from tests.support.scrapes import answer, recorded, told

VLLM = ENGINES["vllm"]
COUNTERS = "vllm:spec_decode_num_"


def from_start(name: str) -> tuple[str, str]:
    """The ends of a block that began right after the recorded process did: its start, and the recording."""
    text = recorded(name)
    start = next(line for line in text.splitlines() if line.startswith("process_start_time_seconds "))
    return start, text


def test_the_recorded_ngram_arm() -> None:
    """The whole life of a real vLLM 0.32 with n-gram speculation, four requests."""
    telemetry = told("vllm", *from_start("vllm-ngram-metrics.txt"))

    assert telemetry.acceptance == SpeculationCounts(rounds=70, drafted=280, accepted=208, per_position=(58, 55, 50, 45))
    assert (telemetry.generated_tokens, telemetry.prompt_tokens, telemetry.decode_steps) == (384, 950, 175)
    assert (telemetry.prefix_queries, telemetry.prefix_hits, telemetry.preemptions) == (950, 256, 0)
    assert telemetry.queue_time_s_mean == pytest.approx(0.00020779000033144257 / 4)
    assert telemetry.server_itl_s_mean == pytest.approx(12.221678390000307 / 175)
    assert telemetry.server_ttft_s_mean == pytest.approx(3.1480486392974854 / 4)
    assert (telemetry.restarts, telemetry.reset) == (0, False)
    assert telemetry.memory_bytes_peak is None
    assert "memory_bytes_peak" in telemetry.absent


def test_the_recorded_draft_model_arm() -> None:
    """The same of the draft-model arm: 193 of 236 tokens accepted in 59 rounds."""
    telemetry = told("vllm", *from_start("vllm-draft-metrics.txt"))

    assert telemetry.acceptance == SpeculationCounts(rounds=59, drafted=236, accepted=193, per_position=(55, 55, 43, 40))
    assert (telemetry.generated_tokens, telemetry.decode_steps) == (248, 59)


def test_the_recorded_baseline_has_no_acceptance_rather_than_none_accepted() -> None:
    """M-05 (b): vLLM without speculation has no such series."""
    telemetry = told("vllm", *from_start("vllm-base-metrics.txt"))

    assert telemetry.acceptance is None
    assert telemetry.absent["acceptance"].startswith("not_exposed")
    assert telemetry.generated_tokens is not None
    assert telemetry.generated_tokens > 0


def test_an_arm_that_drafted_nothing_in_the_block_counted_zero() -> None:
    """Series that exist and stand still are counts of 0, which is another thing than no series."""
    text = recorded("vllm-ngram-metrics.txt")

    assert told("vllm", text, text).acceptance == SpeculationCounts(rounds=0, drafted=0, accepted=0, per_position=(0, 0, 0, 0))


def counters(engine: str, drafts: int, tokens: int, accepted: int, positions: tuple[int, ...]) -> str:
    """Speculative counters of one engine of a process."""
    rows = [
        f'{COUNTERS}{name}_total{{engine="{engine}"}} {value}' for name, value in [("drafts", drafts), ("draft_tokens", tokens)]
    ]
    rows.append(f'{COUNTERS}accepted_tokens_total{{engine="{engine}"}} {accepted}')
    rows += [
        f'{COUNTERS}accepted_tokens_per_pos_total{{engine="{engine}",position="{i}"}} {value}'
        for i, value in enumerate(positions)
    ]
    return "\n".join(rows) + "\n"


def test_engines_and_positions_are_summed() -> None:
    """M-01: 96 of 240 in 80 rounds, positions 60, 26, 10; not engine 0 alone and not a mean of rates."""
    before = counters("0", 100, 300, 200, (100, 60, 40)) + counters("1", 7, 21, 9, (5, 3, 1))
    after = counters("0", 160, 480, 290, (155, 85, 50)) + counters("1", 27, 81, 15, (10, 4, 1))

    assert told("vllm", before, after).acceptance == SpeculationCounts(
        rounds=80, drafted=240, accepted=96, per_position=(60, 26, 10)
    )


def test_counts_come_as_counts() -> None:
    """M-06: drafts 50, drafted 200, accepted 110, so that every rate can be formed from them under its own name."""
    acceptance = told("vllm", counters("0", 0, 0, 0, ()), counters("0", 50, 200, 110, (45, 35, 20, 10))).acceptance

    assert acceptance == SpeculationCounts(rounds=50, drafted=200, accepted=110, per_position=(45, 35, 20, 10))


def test_a_restart_in_the_block_gives_no_acceptance() -> None:
    """M-03: accepted 1000 → 120, drafted 2000 → 300 is null with its reason, and the block is marked."""
    telemetry = told("vllm", counters("0", 500, 2000, 1000, (9,)), counters("0", 75, 300, 120, (9,)))

    assert telemetry.acceptance is None
    assert telemetry.absent["acceptance"].startswith("counter_reset")
    assert (telemetry.reset, telemetry.restarts) == (True, 1)


def test_more_accepted_than_drafted_is_refused() -> None:
    """Counters that contradict each other give no number."""
    telemetry = told("vllm", counters("0", 0, 0, 0, ()), counters("0", 10, 40, 41, ()))

    assert telemetry.acceptance is None
    assert telemetry.absent["acceptance"] == "inconsistent: 41 tokens accepted of 40 drafted"


def test_versions_without_a_draft_counter_give_what_they_have() -> None:
    """vLLM 0.8.3 and 0.8.4 count tokens only."""
    text = f"{COUNTERS}draft_tokens_total {{}}\n{COUNTERS}accepted_tokens_total {{}}\n"
    telemetry = told("vllm", text.replace("{}", "0"), text.replace("{}", "10"))

    assert telemetry.acceptance == SpeculationCounts(rounds=None, drafted=10, accepted=10, per_position=None)
    assert telemetry.absent["acceptance.rounds"].startswith("not_exposed")


@pytest.mark.parametrize("gauge", ["vllm:spec_decode_efficiency", "vllm:spec_decode_draft_acceptance_rate"])
def test_the_v0_engine_is_refused_with_a_word(gauge: str) -> None:
    """V0 adds lifetime totals at each log interval, so its differences mean nothing."""
    telemetry = told("vllm", counters("0", 0, 0, 0, ()) + f"{gauge} 0.5\n", counters("0", 9, 90, 80, ()) + f"{gauge} 0.5\n")

    assert telemetry.acceptance is None
    assert telemetry.absent["acceptance"].startswith("broken_counters")


def test_old_names_are_read_where_the_new_are_missing() -> None:
    """`gpu_cache_usage_perc`, `gpu_prefix_cache_*` and `time_per_output_token_seconds` of earlier releases."""
    text = (
        "# TYPE vllm:gpu_cache_usage_perc gauge\nvllm:gpu_cache_usage_perc 0.5\nvllm:gpu_prefix_cache_queries_total {0}\n"
        "vllm:gpu_prefix_cache_hits_total {0}\nvllm:time_per_output_token_seconds_count {0}\n"
        "vllm:time_per_output_token_seconds_sum {0}\n"
    )
    telemetry = told("vllm", text.replace("{0}", "1"), text.replace("{0}", "8"))

    assert (telemetry.prefix_queries, telemetry.prefix_hits, telemetry.decode_steps) == (7, 7, 7)
    assert (telemetry.kv_usage_peak, telemetry.server_itl_s_mean) == (0.5, 1.0)


def test_ray_s_names_are_vllm_s() -> None:
    """Ray's metrics agent turns the colon into an underscore, prefixes its own name and adds a label."""
    text = 'ray_vllm_generation_tokens_total{ReplicaId="a"} %d\nray_vllm_spec_decode_num_draft_tokens_total{ReplicaId="a"} %d\n'
    telemetry = told("vllm", text % (1, 0), text % (5, 40))

    assert telemetry.generated_tokens == 4
    assert telemetry.acceptance is not None
    assert telemetry.acceptance.drafted == 40


def test_load_gauges_are_read_from_the_samples_within() -> None:
    """Running and waiting as means under load, KV use as a peak; engines add up, KV use does not."""
    busy = (
        'vllm:num_requests_running{engine="0"} 3\nvllm:num_requests_running{engine="1"} 2\n'
        'vllm:num_requests_waiting{engine="0"} 4\n'
        'vllm:kv_cache_usage_perc{engine="0"} 0.75\nvllm:kv_cache_usage_perc{engine="1"} 0.5\n'
    )
    idle = 'vllm:num_requests_running{engine="0"} 0\n'
    telemetry = told("vllm", idle, idle, busy, busy)

    assert (telemetry.running_mean, telemetry.waiting_mean, telemetry.kv_usage_peak) == (5.0, 4.0, 0.75)


def test_a_chat_request_asks_for_ids_and_running_usage() -> None:
    """Without a stream, `stream_options` would be refused with 400."""
    assert VLLM.request_extras("chat", True) == {
        "return_token_ids": True,
        "stream_options": {"include_usage": True, "continuous_usage_stats": True},
    }
    assert VLLM.request_extras("chat", False) == {"return_token_ids": True}


def test_an_answer_with_per_request_metrics_counts_itself() -> None:
    """vLLM 0.33 with --per-request-spec-decode-metrics; entry j of the histogram counts rounds that accepted j."""
    event = {
        "choices": [],
        "usage": {"completion_tokens": 20},
        "metrics": {
            "speculative_decoding": {
                "mean_acceptance_length": 2.6,
                "draft_acceptance_rate": 0.53,
                "acceptance_histogram": [3, 2, 1, 4],
                "num_spec_steps": 10,
                "num_accepted_draft_tokens": 16,
                "num_draft_tokens": 30,
            }
        },
    }

    assert answer_counts(event) == SpeculationCounts(rounds=10, drafted=30, accepted=16, per_position=(7, 5, 4))
    assert answer_counts({"choices": [], "metrics": None}) is None


def answers(metrics: str, **others: str) -> dict[str, HttpAnswer]:
    """Answers to vLLM's paths, from recordings unless given."""
    bodies = {"/version": recorded("vllm-base-version.txt"), "/v1/models": recorded("vllm-base-models.txt"), "/metrics": metrics}
    return {path: answer(body) for path, body in (bodies | others).items()}


def test_the_recorded_endpoints_tell_what_they_are() -> None:
    """Model, version, context, KV capacity and prefix caching; speculation by the series that only then exist."""
    base = VLLM.facts(answers(recorded("vllm-base-metrics.txt")))
    ngram = VLLM.facts(answers(recorded("vllm-ngram-metrics.txt")))

    assert base == {
        "model": "models/smollm2-135m-hf",
        "context_length": "2048",
        "engine_version": "0.32.0",
        "kv_dtype": "auto",
        "prefix_caching": "on",
        "speculation": "off",
        "kv_capacity_tokens": "46592",
        "memory_share": "0.92",
    }
    assert {name for name in base if base[name] != ngram.get(name)} == {"speculation"}


def test_the_development_mode_tells_more() -> None:
    """`/server_info` in JSON has the configuration, the speculative one included."""
    info = (
        '{"vllm_config": {"model_config": {"revision": "abc", "quantization": "fp8", "enforce_eager": true},'
        ' "speculative_config": {"num_speculative_tokens": 4, "method": "ngram"}}}'
    )
    facts = VLLM.facts(answers(recorded("vllm-ngram-metrics.txt"), **{"/server_info?config_format=json": info}))

    assert (facts["revision"], facts["quantization"], facts["graph_mode"]) == ("abc", "fp8", "off")
    assert facts["speculation_config"] == '{"method": "ngram", "num_speculative_tokens": 4}'


def test_the_rust_frontend_s_counters_at_zero_say_nothing() -> None:
    """Its series exist without speculation too, always as OpenMetrics; above 0 they prove it."""
    text = "# TYPE vllm:spec_decode_num_drafts counter\nvllm:spec_decode_num_drafts_total {}\n# EOF\n"

    assert "speculation" not in VLLM.facts(answers(text.replace("{}", "0")))
    assert VLLM.facts(answers(text.replace("{}", "5")))["speculation"] == "on"


def test_an_endpoint_that_tells_nothing_gives_no_fact() -> None:
    """No answer is no fact, and no failure."""
    assert VLLM.facts({"/version": answer("", status=404), "/metrics": answer("", status=None)}) == {}


def test_the_batch_size_is_requests_per_engine_step() -> None:
    """(decode steps of requests + first tokens) ÷ engine steps: 1 with one stream, 233 ÷ 139 with two; unknown without steps."""
    start, text = from_start("vllm-ngram-metrics.txt")
    without = "\n".join(line for line in text.splitlines() if "iteration_tokens_total_count" not in line)
    unknown = told("vllm", start, without)

    assert told("vllm", start, text).batch_size == (175 + 4) / 179
    assert told("embedded", recorded("embedded-before.txt"), recorded("embedded-after.txt")).batch_size == (231 + 2) / 139
    assert (unknown.batch_size, unknown.absent["batch_size"].partition(":")[0]) == (None, "not_exposed")
    assert told("vllm", text, text).absent["batch_size"].startswith("no_observation")
