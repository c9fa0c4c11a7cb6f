"""The other engines' documented forms are read right, and each engine's traps are avoided."""

import json

import pytest

from specbench.model.records import SpeculationCounts
from specbench.model.scenario import Route
from specbench.telemetry import ENGINES, telemetry_of
from specbench.telemetry.engine import EngineSupport
from specbench.telemetry.engines.sglang import answer_counts
from specbench.telemetry.metrics_pages import HttpAnswer, Scrape
from tests.support.scrapes import answer, recorded, scrape_of, told

SGLANG, TGI, TRTLLM, LMDEPLOY = (ENGINES[name] for name in ("sglang", "tgi", "trtllm", "lmdeploy"))


def test_sglang_counts_rounds_once_per_rank_and_seconds_of_drafting() -> None:
    """Ranks tell the same work; only rounds are counted on the page, and acceptance gauges are never read."""
    before = recorded("sglang-before.txt")
    telemetry = told("sglang", before, recorded("sglang-after.txt"), before + recorded("sglang-during.txt"))

    assert telemetry.acceptance == SpeculationCounts(rounds=100, drafted=None, accepted=None, per_position=None)
    assert (telemetry.generated_tokens, telemetry.decode_steps) == (250, 100)
    assert (telemetry.prompt_tokens, telemetry.prefix_queries, telemetry.prefix_hits) == (600, 600, 80)
    assert (telemetry.running_mean, telemetry.waiting_mean, telemetry.kv_usage_peak) == (3.0, 3.0, 0.625)
    assert (telemetry.draft_s, telemetry.verify_s) == (0.75, 2.0)
    assert (telemetry.preemptions, telemetry.queue_time_s_mean) == (2, 0.25)
    assert (telemetry.server_ttft_s_mean, telemetry.server_itl_s_mean) == (0.5, 0.02)
    assert telemetry.absent["acceptance.accepted"].startswith("not_told")


def test_sglang_s_series_are_its_own_with_an_underscore_too() -> None:
    """N-20: `sglang_` for `sglang:`, as routers and exporters write it; a router's own series are none of the engine's."""
    text = "sglang_spec_verify_calls_total %d\nsglang_generation_tokens_total %d\nsglang_num_running_reqs %d\n"
    telemetry = told("sglang", text % (100, 300, 0), text % (110, 320, 0), text % (105, 310, 3))

    assert telemetry.acceptance == SpeculationCounts(rounds=10, drafted=None, accepted=None, per_position=None)
    assert (telemetry.generated_tokens, telemetry.decode_steps, telemetry.running_mean) == (20, 10, 3.0)
    assert SGLANG.recognises({"/metrics": answer(text % (1, 1, 0))})
    assert SGLANG.recognises({"/engine_metrics": answer(text % (1, 1, 0), "http://h/engine_metrics")})
    assert not SGLANG.recognises({"/metrics": answer("sglang_router_requests_total 3\nsmg_requests_total 1\n")})
    both = text % (1, 1, 0) + "sglang:generation_tokens_total %d\n"
    assert told("sglang", both % 5, both % 9).generated_tokens == 4


def test_a_router_s_page_of_its_engines_is_read_once() -> None:
    """`/engine_metrics` alone, and beside a `/metrics` that says the same or only what is the router's own."""
    engine, router = "sglang_generation_tokens_total %d\n", "smg_requests_total %d\n"

    def generated(*pages: tuple[str, str]) -> int | None:
        ends = [scrape_of(*(answer(text % count, f"http://h{path}") for path, text in pages), second=count) for count in (3, 9)]
        return telemetry_of(ends[0], (), ends[1], SGLANG).generated_tokens

    assert generated(("/metrics", router), ("/engine_metrics", engine)) == 6
    assert generated(("/metrics", engine), ("/engine_metrics", engine)) == 6
    assert generated(("/metrics", "# nothing %d\n"), ("/engine_metrics", engine)) == 6


def sglang_ranks(rounds: int, ranks: list[tuple[int, str]], running: int = 0, usage: float = 0.0) -> str:
    """A page on which each rank tells as many rounds, running requests and share of its cache, times its place."""
    return "".join(
        f"sglang:spec_verify_calls_total{{{labels}}} {rounds * place}\n"
        f"sglang:num_running_reqs{{{labels}}} {running * place}\n"
        f"sglang:token_usage{{{labels}}} {usage * place}\n"
        for place, labels in ranks
    )


def test_sglang_s_data_parallel_ranks_are_summed_and_their_tensor_ranks_count_once() -> None:
    """Under DP attention tp_rank counts on from one dp_rank to the next: 10 + 20 rounds of two groups of two, whatever order."""
    ranks = [(place, f'dp_rank="{place - 1}",pp_rank="0",tp_rank="{tp}"') for place, tp in ((1, 9), (1, 8), (2, 11), (2, 10))]
    telemetry = told("sglang", sglang_ranks(0, ranks), sglang_ranks(10, ranks), sglang_ranks(5, ranks, running=3, usage=0.25))

    assert telemetry.acceptance == SpeculationCounts(rounds=30, drafted=None, accepted=None, per_position=None)
    assert (telemetry.running_mean, telemetry.kv_usage_peak) == (9.0, 0.5)


@pytest.mark.parametrize("dp_rank", ["", 'dp_rank="0",'])
def test_sglang_s_tensor_ranks_alone_are_no_sum(dp_rank: str) -> None:
    """Two ranks and two stages tell the same 10 rounds."""
    ranks = [(1, f'{dp_rank}pp_rank="{pp}",tp_rank="{tp}"') for pp in (0, 1) for tp in (0, 1)]
    telemetry = told("sglang", sglang_ranks(0, ranks), sglang_ranks(10, ranks), sglang_ranks(5, ranks, running=3))

    assert (telemetry.decode_steps, telemetry.running_mean) == (10, 3.0)


def test_another_sglang_rank_does_not_step_in_for_one_that_tells_no_number() -> None:
    """NaN at the lowest rank is a reason, not the next rank's figure."""
    page = 'sglang:spec_verify_calls_total{tp_rank="0"} %s\nsglang:spec_verify_calls_total{tp_rank="1"} %s\n'

    assert told("sglang", page % (1, 1), page % (9, "NaN")).decode_steps == 8
    assert told("sglang", page % (1, 1), page % ("NaN", 9)).absent["decode_steps"].startswith("not_a_number")


def test_an_sglang_without_a_round_has_no_step_count() -> None:
    """A baseline's counter at 0 is no count of 0 decode steps."""
    text = "sglang:spec_verify_calls_total 0\nsglang:generation_tokens_total %d\n"
    telemetry = told("sglang", text % 1, text % 9)

    assert telemetry.decode_steps is None
    assert telemetry.acceptance == SpeculationCounts(rounds=0, drafted=None, accepted=None, per_position=None)


@pytest.mark.parametrize(
    "details",
    [
        {"spec_num_correct_drafts": 12, "spec_num_proposed_drafts": 24, "spec_correct_drafts_histogram": [1, 3, 3, 1]},
        {"spec_accept_token_num": 12, "spec_draft_token_num": 24, "spec_accept_histogram": [1, 3, 3, 1]},
    ],
)
def test_sglang_s_answers_carry_the_counts_under_old_and_new_names(details: dict[str, object]) -> None:
    """12 accepted in 8 rounds make 2.5 a round; its own `spec_accept_length` says 2.625, which is not taken."""
    counted = {"spec_verify_ct": 8, "spec_accept_length": 2.625, **details}
    expected = SpeculationCounts(rounds=8, drafted=24, accepted=12, per_position=(7, 4, 1))

    assert answer_counts({"text": "x", "meta_info": counted}) == expected
    assert answer_counts({"choices": [], "usage": None, "sglext": {"spec_tokens_details": counted}}) == expected


def test_sglang_s_server_info_tells_the_whole_setting() -> None:
    """Resolved arguments: quantisation, prefix caching, graphs and how it drafts."""
    facts = SGLANG.facts(
        {"/server_info": answer(recorded("sglang-server_info.json")), "/metrics": answer(recorded("sglang-after.txt"))}
    )

    assert facts == {
        "model": "Llama-3.1-8B-Instruct",
        "quantization": "fp8",
        "kv_dtype": "auto",
        "context_length": "8192",
        "engine_version": "0.5.23",
        "prefix_caching": "off",
        "speculation": "on",
        "speculation_config": "speculative_algorithm EAGLE3, speculative_num_steps 3, speculative_eagle_topk 1,"
        " speculative_num_draft_tokens 4",
        "kv_capacity_tokens": "406000",
        "memory_share": "0.85",
        "max_running": "64",
        "graph_mode": "on",
    }


def test_sglang_tells_thresholds_at_which_drafts_change_the_answers() -> None:
    """Below 1; 1 is the default and changes nothing."""
    info = {"speculative_algorithm": "EAGLE", "speculative_accept_threshold_single": 0.9, "speculative_accept_threshold_acc": 1.0}
    facts = SGLANG.facts({"/server_info": answer(json.dumps(info))})

    assert facts["speculation_config"] == "speculative_algorithm EAGLE, speculative_accept_threshold_single 0.9"


def trtllm_scrape(end: str, second: int) -> Scrape:
    """Both of its pages at one moment; within the block the counters stand still."""
    counters = recorded(f"trtllm-prometheus-{'before' if end == 'during' else end}.txt")
    pages = [(recorded(f"trtllm-iterations-{end}.json"), "http://t:8000/metrics"), (counters, "http://t:8000/prometheus/metrics")]
    return scrape_of(*(answer(text, url) for text, url in pages), second=second)


def test_trtllm_sums_the_iterations_of_the_block() -> None:
    """Records drained before the block do not count; 6 rounds, 24 drafted, 10 accepted; time weighs the means."""
    ends = [trtllm_scrape(end, second) for second, end in enumerate(("before", "during", "after"))]
    telemetry = telemetry_of(ends[0], [ends[1]], ends[2], TRTLLM)

    assert telemetry.acceptance == SpeculationCounts(rounds=6, drafted=24, accepted=10, per_position=None)
    assert (telemetry.generated_tokens, telemetry.prompt_tokens) == (18, 120)
    assert telemetry.running_mean == pytest.approx((2 * 10 + 4 * 30 + 1 * 10) / 50)
    assert telemetry.waiting_mean == pytest.approx(0.2)
    assert (telemetry.kv_usage_peak, telemetry.memory_bytes_peak) == (0.6, 2_000_000)
    assert telemetry.draft_s == pytest.approx(0.006)
    assert (telemetry.prefix_queries, telemetry.prefix_hits, telemetry.queue_time_s_mean) == (10, 3, 0.125)
    assert telemetry.preemptions is None


def test_trtllm_rounds_are_refused_where_iterations_were_lost() -> None:
    """Another reader, or a full buffer: the list and the counter disagree, so the list is not whole."""
    before, after = trtllm_scrape("before", 0), trtllm_scrape("after", 1)
    telemetry = telemetry_of(before, [], after, TRTLLM)

    assert telemetry.acceptance == SpeculationCounts(rounds=None, drafted=24, accepted=10, per_position=None)
    assert telemetry.absent["acceptance.rounds"] == "inconsistent: the iterations list 4 drafted tokens, the counter 24"


def test_trtllm_without_iteration_records_counts_tokens_alone() -> None:
    """Its counters have no rounds, and its gauge of the last iteration stands for nothing."""
    before, after = recorded("trtllm-prometheus-before.txt"), recorded("trtllm-prometheus-after.txt")
    telemetry = told("trtllm", before, after)

    assert telemetry.acceptance == SpeculationCounts(rounds=None, drafted=24, accepted=10, per_position=None)
    assert telemetry.kv_usage_peak == 0.05
    assert telemetry.draft_s is None
    bare = told("trtllm", before.replace("trtllm_", ""), after.replace("trtllm_", ""))
    assert bare.acceptance == telemetry.acceptance


def test_a_drafting_time_of_zero_is_unknown() -> None:
    """Only the two-model drafter fills the field."""
    record = '[{"iterLatencyMS": 5, "specDecodingStats": {"numDraftTokens": 4, "iterLatencyMS": 0.0}}]'

    assert told("trtllm", "[]", record).draft_s is None


def test_tgi_counts_accepted_tokens_and_steps_without_prefills() -> None:
    """60 accepted; 64 observed steps less the 4 prefills; the summary's NaN quantile harms nothing."""
    before = recorded("tgi-before.txt")
    telemetry = told("tgi", before, recorded("tgi-after.txt"), before + recorded("tgi-during.txt"))

    assert telemetry.acceptance == SpeculationCounts(rounds=None, drafted=None, accepted=60, per_position=None)
    assert (telemetry.generated_tokens, telemetry.decode_steps, telemetry.prompt_tokens) == (124, 60, 800)
    # Tokens after the first of each request, over steps: 1 + 60 ÷ 60.
    assert (124 - 4) / 60 == 1 + 60 / 60
    assert (telemetry.queue_time_s_mean, telemetry.server_itl_s_mean) == (0.2, 0.02)
    assert (telemetry.running_mean, telemetry.waiting_mean) == (6.0, 2.0)
    assert telemetry.kv_usage_peak is None
    assert telemetry.preemptions is None


def test_tgi_tells_its_revision_but_not_its_speculation() -> None:
    """`--speculate` appears on no endpoint."""
    facts = TGI.facts({"/info": answer(recorded("tgi-info.json"))})

    assert facts == {
        "model": "HuggingFaceH4/zephyr-7b-beta",
        "revision": "b70e0c9a2d9e14bd1e812d3c398e5f313e93b473",
        "context_length": "4096",
        "engine_version": "3.3.7",
        "max_running": "128",
    }


def test_lmdeploy_sums_ranks_and_leaves_lifetime_gauges_alone() -> None:
    """M-01's figures under LMDeploy's names; a rank that appears in the block counts from 0."""
    telemetry = told("lmdeploy", recorded("lmdeploy-before.txt"), recorded("lmdeploy-after.txt"))

    assert telemetry.acceptance == SpeculationCounts(rounds=80, drafted=240, accepted=96, per_position=(60, 26, 10))
    assert (telemetry.generated_tokens, telemetry.decode_steps, telemetry.kv_usage_peak) == (178, 80, 0.25)
    assert (telemetry.prefix_queries, telemetry.prefix_hits, telemetry.queue_time_s_mean) == (300, 64, 0.05)
    assert telemetry.preemptions is None


def test_lmdeploy_without_drafts_has_no_step_count() -> None:
    """Its counters stand at 0 where nothing is drafted, which is no count of steps and no sign of speculation."""
    text = recorded("lmdeploy-before.txt")

    assert told("lmdeploy", text, text).decode_steps is None
    assert "speculation" not in LMDEPLOY.facts({"/metrics": answer(text)})
    assert LMDEPLOY.facts({"/metrics": answer(recorded("lmdeploy-after.txt"))})["speculation"] == "on"


def test_an_unknown_engine_tells_nothing_and_says_so() -> None:
    """Every quantity has a reason."""
    telemetry = telemetry_of(scrape_of(), [], scrape_of(second=1), ENGINES["openai"])

    assert telemetry.generated_tokens is None
    assert telemetry.absent["generated_tokens"] == "not_told: an OpenAI-compatible endpoint does not report it"


@pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
def test_every_quantity_is_a_value_or_has_a_reason(engine: EngineSupport) -> None:
    """Of an empty page, a refused one and none at all, no engine makes a number or leaves a gap unexplained."""
    for page in (answer(""), answer("", status=404), answer("", status=None), answer("[]")):
        telemetry = telemetry_of(scrape_of(page), [scrape_of(page, second=1)], scrape_of(page, second=2), engine)
        values = {name: getattr(telemetry, name) for name in telemetry.__slots__ if name not in ("absent", "reset")}

        assert {name for name, value in values.items() if value is None} <= telemetry.absent.keys()
        assert all(value is None or name == "restarts" for name, value in values.items())


@pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
@pytest.mark.parametrize("route", ["chat", "completions"])
def test_a_stream_always_brings_its_usage(engine: EngineSupport, route: Route) -> None:
    """Every engine is asked for the final count; a request without a stream never carries stream options."""
    assert engine.request_extras(route, True)["stream_options"]["include_usage"] is True
    assert "stream_options" not in engine.request_extras(route, False)


@pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
def test_an_event_is_a_step_or_bursts_have_a_threshold(engine: EngineSupport) -> None:
    """llama.cpp and TGI write one event per token; everywhere else an event is a step."""
    assert engine.stream.engine == engine.name
    assert engine.stream.event_is_step is (engine.stream.burst_ns is None)
    assert engine.stream.event_is_step is (engine.name not in ("llamacpp", "tgi"))


@pytest.mark.parametrize(
    ("name", "pages"),
    [
        ("embedded", {"/v1/models": '{"data": [{"id": "m", "owned_by": "specbench"}]}', "/metrics": "vllm:x_total 1\n"}),
        ("vllm", {"/version": '{"version": "0.33.0"}', "/metrics": "# TYPE vllm:x gauge\nvllm:x 1\n"}),
        ("vllm", {"/v1/models": '{"data": [{"id": "m", "owned_by": "vllm"}]}'}),
        ("sglang", {"/server_info": '{"internal_states": []}'}),
        ("sglang", {"/metrics": "sglang:x_total 1\n"}),
        ("llamacpp", {"/props": '{"build_info": "b1"}', "/metrics": ""}),
        ("llamacpp", {"/v1/models": '{"data": [{"id": "m", "owned_by": "llamacpp"}]}'}),
        ("tgi", {"/info": '{"max_total_tokens": 4096}'}),
        ("trtllm", {"/version": '{"version": "1.2"}', "/metrics": "[]"}),
        ("trtllm", {"/prometheus/metrics": "trtllm_x_total 1\n"}),
        ("lmdeploy", {"/metrics": "lmdeploy:x_total 1\n", "/v1/models": '{"data": [{"id": "m", "owned_by": "lmdeploy"}]}'}),
        ("openai", {"/v1/models": '{"data": [{"id": "gpt", "owned_by": "somebody"}]}', "/version": '{"version": "1"}'}),
        (None, {"/v1/models": "<html>", "/metrics": "go_goroutines 5\n"}),
    ],
)
def test_an_engine_is_recognised_by_what_it_answers(name: str | None, pages: dict[str, str]) -> None:
    """The first engine of the table that knows itself; a plain list of models is a plain OpenAI endpoint."""
    answers: dict[str, HttpAnswer] = {path: answer(body) for path, body in pages.items()}

    assert next((engine.name for engine in ENGINES.values() if engine.recognises(answers)), None) == name


def test_the_embedded_engine_is_read_as_its_truth_says() -> None:
    """What its own /truth said of the recorded requests."""
    telemetry = told("embedded", *(recorded(f"embedded-{end}.txt") for end in ("before", "after", "during")))

    assert telemetry.acceptance == SpeculationCounts(rounds=231, drafted=924, accepted=467, per_position=(172, 128, 96, 71))
    assert (telemetry.generated_tokens, telemetry.prompt_tokens, telemetry.decode_steps) == (700, 29, 231)
    assert (telemetry.running_mean, telemetry.waiting_mean, telemetry.prefix_queries) == (2.0, 0.0, 29)
    assert telemetry.queue_time_s_mean == pytest.approx(0.0087, abs=1e-4)
    assert telemetry.server_ttft_s_mean == pytest.approx(0.0275, abs=1e-4)
    assert telemetry.server_itl_s_mean == pytest.approx(0.0190, abs=1e-4)  # a step's, as vLLM has it
    assert (telemetry.restarts, telemetry.preemptions, telemetry.prefix_hits) == (0, 0, 0)


def test_the_embedded_engine_tells_who_it_is() -> None:
    """Its model list names its owner, which no other engine does."""
    answers = {"/v1/models": answer(recorded("embedded-models.json")), "/metrics": answer(recorded("embedded-after.txt"))}

    assert ENGINES["embedded"].recognises(answers)
    assert ENGINES["embedded"].facts(answers) == {
        "model": "specbench-ngram",
        "revision": "15df32539bb01d70",
        "quantization": "Qwen2.5-14B-Instruct-GPTQ-Int4",
        "hardware": "NVIDIA GeForce RTX 3090 (virtual)",
        "context_length": "8192",
        "prefix_caching": "on",
        "speculation": "on",
        "speculation_config": '{"method": "draft_model", "num_speculative_tokens": 4, "draft_sampling": "sampled",'
        ' "prompt_lookup_min": 2, "prompt_lookup_max": 4}',
        "kv_capacity_tokens": "51600",
    }
